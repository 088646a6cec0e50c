//! The paper's tables: real studies, ranked by its eight methods and by iss.
//!
//! | paper | here |
//! |---|---|
//! | robust methods flag 5% | the same |
//! | hlasso, lasso-l2: order of outliers | 100 λ down to 0.01 λ_max; of one λ, by winner and loser |
//! | xgb_linear | ridge with a = 1 |
//! | LBI (50, 1/25000) | κ = 50, Δt = 1/25000, Algorithm 3, up to the last step before the next vote enters |
//! | iht, ilts, pc-lasso: settings not given | K = 5%; pc-lasso by default |
//!
//! The folder holds `pc-vqa/ref01.csv` …, `pc-iqa/ref01.csv` …, `human-age.csv` and the published
//! tables as `golden/NAME.csv`. Small settings take the first study of each kind. The public Human
//! Age file is not the one behind the paper's Table 3, and none of the public PC-IQA files is the one
//! behind Table 2, so that their figures are not compared.
//!
//! Where LBI stops is read off Table 1: its scores are those of the last step before the next vote
//! enters, once 5% are flagged. At the step where they come to 5% they are off by 4e-3: γ of the
//! last vote is still on its way.

mod claims;
mod published;

use std::path::Path as FilePath;
use std::sync::Arc;

use hodgerank::fit::Fit;
use hodgerank::kendall;
use hodgerank::path::StopAt;
use hodgerank::select::OutlierRule;
use hodgerank::solve::bregman::{self, BregmanOptions};
use hodgerank::{ComparisonGraph, Method};
use hodgerank_io::write::{Column, Table};
use hodgerank_io::{ReadOptions, read};
use hodgerank_report::chart::Chart;

use crate::columns::{counts, numbers, table, texts};
use crate::draw::bump;
use crate::error::{Error, Result};
use crate::methods::{self, METHODS};
use crate::outlier_map::OutlierMap;
use crate::progress::Steps;
use crate::{Findings, Progress, Settings};

const SHARE: f64 = 0.05;
const DT: f64 = 1.0 / 25_000.0;

/// A study with all methods on it.
struct Ranked {
    /// `pc-vqa-ref01` and so on.
    name: String,
    items: Vec<String>,
    graph: ComparisonGraph,
    fits: Vec<Fit>,
    /// Ranks of the items, method by method.
    ranks: Vec<Vec<u32>>,
}

/// Repeats the experiment.
///
/// # Errors
/// [`Error::NoData`] without a folder; otherwise if a file cannot be read or a solver fails.
pub fn run(settings: &Settings, progress: &Progress<'_>) -> Result<Findings> {
    let data = settings.data.as_deref().ok_or(Error::NoData)?;
    let mut names: Vec<String> = Vec::new();
    for folder in ["pc-vqa", "pc-iqa"] {
        let most = if settings.full { 99 } else { 1 };
        let numbered = (1..=most).map(|k| format!("{folder}/ref{k:02}.csv"));
        names.extend(numbered.take_while(|name| data.join(name).exists()));
    }
    names.extend(Some("human-age.csv".to_owned()).filter(|name| data.join(name).exists()));
    if names.is_empty() {
        let problem = "neither pc-vqa/ref01.csv nor pc-iqa/ref01.csv nor human-age.csv is here";
        let problem = problem.to_owned();
        return Err(Error::PublishedTable { file: data.to_owned(), problem });
    }
    let steps = Steps::new(names.len(), progress);
    let (mut claims, mut tables, mut charts) = (Vec::new(), Vec::new(), Vec::new());
    let mut summaries = Vec::new();
    for name in &names {
        let study = Ranked::read(data, name)?;
        claims.extend(claims::of(&study, data)?);
        tables.push((study.name.clone(), study.table()));
        charts.extend(study.charts());
        summaries.extend(study.summary());
        steps.one_more();
    }
    tables.insert(0, ("tables".to_owned(), summary_table(&summaries)));
    Ok(Findings {
        title: format!(
            "Real studies with nine methods, 5% of the votes flagged: {}",
            names.join(", ")
        ),
        claims,
        tables,
        charts,
    })
}

impl Ranked {
    fn read(data: &FilePath, name: &str) -> Result<Self> {
        let file = data.join(name).to_string_lossy().into_owned();
        let input = read(&[file], &ReadOptions::default(), &Arc::default())?;
        // Without a column to part them there is one study.
        let study = input.studies.into_iter().next().ok_or(Error::NoData)?;
        let items: Vec<String> = study.items.iter().map(str::to_owned).collect();
        let graph = ComparisonGraph::new(items.len(), study.groups)?;
        let fits = methods::fits(&graph, |method| {
            let outliers = match method {
                Method::Bregman => OutlierRule::Time(last_time(&graph)?),
                _ => OutlierRule::Share(SHARE),
            };
            Ok(methods::options(method, outliers).dt(DT))
        })?;
        let ranks = fits.iter().map(|fit| methods::ranks(&graph, &fit.scores)).collect();
        let name = name.trim_end_matches(".csv").replace('/', "-");
        Ok(Self { name, items, graph, fits, ranks })
    }

    fn fit(&self, method: Method) -> &Fit {
        &self.fits[place(method)]
    }

    fn ranks(&self, method: Method) -> &[u32] {
        &self.ranks[place(method)]
    }

    /// Items that have another rank than by lasso-l2.
    fn differences(&self, method: Method) -> usize {
        let lead = self.ranks(Method::LassoL2);
        self.ranks(method).iter().zip(lead).filter(|(a, b)| a != b).count()
    }

    fn map(&self) -> OutlierMap<'_> {
        OutlierMap {
            graph: &self.graph,
            items: &self.items,
            l2: &self.fit(Method::L2).scores,
            first: self.fit(Method::LassoL2),
            second: self.fit(Method::Bregman),
        }
    }

    /// As in the paper: items in the order of lasso-l2, ranks and scores of all methods.
    fn table(&self) -> Table {
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        order.sort_by_key(|&item| self.ranks[0][item]);
        let items = texts(order.iter().map(|&item| self.items[item].clone()));
        let mut table = table([("item", items)]);
        for (fit, ranks) in self.fits.iter().zip(&self.ranks) {
            let name = fit.method.as_str();
            let own = order.iter().map(|&item| u64::from(ranks[item]));
            table.push(format!("{name}_rank"), counts(own));
            table.push(format!("{name}_score"), numbers(order.iter().map(|&i| fit.scores[i])));
            let differs = order.iter().map(|&item| ranks[item] != self.ranks[0][item]).collect();
            table.push(format!("{name}_differs"), Column::Truth(differs));
        }
        table
    }

    fn charts(&self) -> Vec<Chart> {
        let (name, map) = (&self.name, self.map());
        let names = METHODS.map(Method::as_str);
        let title = format!("Ranks by method, {name}");
        vec![
            bump(&format!("{name}-ranks"), &title, &names, &self.items, &self.ranks),
            map.map(&format!("{name}-outliers"), &format!("Suspicious votes, {name}")),
            map.arrows(&format!("{name}-arrows"), &format!("The top 5% of outliers, {name}")),
        ]
    }

    fn summary(&self) -> Vec<Summary> {
        let lead = &self.fits[0].scores;
        let of = |fit: &Fit| Summary {
            study: self.name.clone(),
            method: fit.method.as_str(),
            differences: self.differences(fit.method) as u64,
            tau: kendall::tau(&fit.scores, lead),
            flagged: fit.flagged.iter().sum::<f64>() as u64,
            status: fit.status.as_str(),
        };
        self.fits.iter().map(of).collect()
    }
}

/// The last step of LBI before another vote enters, once the share is flagged.
fn last_time(graph: &ComparisonGraph) -> Result<f64> {
    let options =
        BregmanOptions { kappa: Some(methods::KAPPA), dt: Some(DT), ..Default::default() };
    let groups = graph.groups();
    let path = bregman::compute_path(graph, &options, StopAt::Flagged(SHARE * groups.votes()))?;
    let votes: f64 = path.entries().iter().map(|e| groups.weight[e.group as usize]).sum();
    let path = bregman::compute_path(graph, &options, StopAt::Flagged(votes + 1.0))?;
    // Votes that agree in full have a path of one knot, at 0.
    Ok((path.knots[path.knots.len() - 1] - DT).max(DT))
}

fn place(method: Method) -> usize {
    METHODS.iter().position(|&m| m == method).unwrap_or(0)
}

/// How a method stands beside lasso-l2 on a study.
struct Summary {
    study: String,
    method: &'static str,
    differences: u64,
    tau: f64,
    flagged: u64,
    status: &'static str,
}

fn summary_table(rows: &[Summary]) -> Table {
    table([
        ("study", texts(rows.iter().map(|row| row.study.clone()))),
        ("method", texts(rows.iter().map(|row| row.method))),
        ("ranks_unlike_lasso_l2", counts(rows.iter().map(|row| row.differences))),
        ("kendall_tau_with_lasso_l2", numbers(rows.iter().map(|row| row.tau))),
        ("votes_flagged", counts(rows.iter().map(|row| row.flagged))),
        ("status", texts(rows.iter().map(|row| row.status))),
    ])
}

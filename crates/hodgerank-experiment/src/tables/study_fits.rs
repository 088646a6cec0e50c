//! A real study with the fits of all methods.

use std::path::Path as FilePath;
use std::sync::Arc;

use hodgerank::fit::Fit;
use hodgerank::kendall;
use hodgerank::path::StopAt;
use hodgerank::select::OutlierRule;
use hodgerank::solve::bregman::{self, BregmanOptions};
use hodgerank::{ComparisonGraph, Method};
use hodgerank_io::write::{Column, Table};
use hodgerank_io::{ColumnNames, ReadOptions, Ties, read};
use hodgerank_report::chart::Chart;

use super::claims::published_table;
use crate::charts::bump;
use crate::columns::{counts, numbers, table, texts};
use crate::error::{Error, Result};
use crate::methods;
use crate::outlier_map::OutlierMap;

const SHARE: f64 = 0.05;
const DT: f64 = 1.0 / 25_000.0;

/// A study with the fits of all methods.
pub(super) struct StudyFits {
    /// The study's name, such as `pc-vqa-ref01`.
    pub(super) name: String,
    pub(super) items: Vec<String>,
    pub(super) graph: ComparisonGraph,
    fits: Vec<Fit>,
    /// Ranks of the items by each method.
    ranks: Vec<Vec<u32>>,
}

impl StudyFits {
    pub(super) fn read(data: &FilePath, name: &str) -> Result<Self> {
        let file = data.join(name).to_string_lossy().into_owned();
        let name = study_name(name);
        let published = published_table(&name);
        let ties = published.map_or(Ties::Zero, |published| published.ties);
        let columns = ColumnNames { ties, ..ColumnNames::default() };
        let options = ReadOptions { columns, ..ReadOptions::default() };
        let input = read(&[file], &options, &Arc::default())?;
        // Without `--by` there is exactly one study.
        let study = input.studies.into_iter().next().ok_or(Error::NoData)?;
        let items: Vec<String> = study.items.iter().map(str::to_owned).collect();
        let graph = ComparisonGraph::new(items.len(), study.groups)?;
        let fits = methods::fits(&graph, |method| {
            let outliers = match method {
                Method::Bregman => OutlierRule::Time(match published {
                    Some(published) => published.lbi_time,
                    None => last_time(&graph)?,
                }),
                _ => OutlierRule::Share(SHARE),
            };
            Ok(methods::options(method, outliers).dt(DT))
        })?;
        let ranks = fits.iter().map(|fit| methods::ranks(&graph, &fit.scores)).collect();
        Ok(Self { name, items, graph, fits, ranks })
    }

    pub(super) fn fit(&self, method: Method) -> &Fit {
        &self.fits[methods::index(method)]
    }

    pub(super) fn ranks(&self, method: Method) -> &[u32] {
        &self.ranks[methods::index(method)]
    }

    /// Returns how many items have a different rank than by lasso-l2.
    pub(super) fn differences(&self, method: Method) -> usize {
        let reference = self.ranks(Method::LassoL2);
        self.ranks(method).iter().zip(reference).filter(|(a, b)| a != b).count()
    }

    pub(super) fn map(&self) -> OutlierMap<'_> {
        OutlierMap {
            graph: &self.graph,
            items: &self.items,
            l2: &self.fit(Method::L2).scores,
            first: self.fit(Method::LassoL2),
            second: self.fit(Method::Bregman),
        }
    }

    /// Returns ranks and scores by all methods, with items in the order of lasso-l2 as in the paper.
    pub(super) fn table(&self) -> Table {
        let reference = self.ranks(Method::LassoL2);
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        order.sort_by_key(|&item| reference[item]);
        let items = texts(order.iter().map(|&item| self.items[item].clone()));
        let mut table = table([("item", items)]);
        for (fit, ranks) in self.fits.iter().zip(&self.ranks) {
            let name = fit.method.as_str();
            let own = order.iter().map(|&item| u64::from(ranks[item]));
            table.push(format!("{name}_rank"), counts(own));
            table.push(format!("{name}_score"), numbers(order.iter().map(|&i| fit.scores[i])));
            let differs = order.iter().map(|&item| ranks[item] != reference[item]).collect();
            table.push(format!("{name}_differs"), Column::Truth(differs));
        }
        table
    }

    pub(super) fn charts(&self) -> Vec<Chart> {
        let (name, map) = (&self.name, self.map());
        let names: Vec<&str> = self.fits.iter().map(|fit| fit.method.as_str()).collect();
        let title = format!("Ranks by method, {name}");
        vec![
            bump(&format!("{name}-ranks"), &title, &names, &self.items, &self.ranks),
            map.map(&format!("{name}-outliers"), &format!("Flagged votes, {name}")),
            map.arrows(&format!("{name}-arrows"), &format!("The most suspicious 5%, {name}")),
        ]
    }

    pub(super) fn summary(&self) -> Vec<MethodDifference> {
        let reference = &self.fit(Method::LassoL2).scores;
        let of = |fit: &Fit| MethodDifference {
            study: self.name.clone(),
            method: fit.method.as_str(),
            differences: self.differences(fit.method) as u64,
            tau: kendall::tau(&fit.scores, reference),
            flagged: fit.flagged.iter().sum::<f64>() as u64,
            status: fit.status.as_str(),
        };
        self.fits.iter().map(of).collect()
    }
}

/// Returns the name of the study in a file, such as `pc-vqa-ref01`.
pub(super) fn study_name(file: &str) -> String {
    file.trim_end_matches(".csv").replace('/', "-")
}

/// Returns the time of the last step of LBI before another vote enters, after [`SHARE`] is flagged.
fn last_time(graph: &ComparisonGraph) -> Result<f64> {
    let options =
        BregmanOptions { kappa: Some(methods::KAPPA), dt: Some(DT), ..Default::default() };
    let groups = graph.groups();
    let path = bregman::compute_path(graph, &options, StopAt::Flagged(SHARE * groups.votes()))?;
    let votes: f64 = path.entries().iter().map(|e| groups.weight[e.group as usize]).sum();
    let path = bregman::compute_path(graph, &options, StopAt::Flagged(votes + 1.0))?;
    // If all votes agree, the path has a single knot at 0.
    Ok((path.knots[path.knots.len() - 1] - DT).max(DT))
}

/// How a method differs from lasso-l2 on a study.
pub(super) struct MethodDifference {
    pub(super) study: String,
    pub(super) method: &'static str,
    pub(super) differences: u64,
    pub(super) tau: f64,
    pub(super) flagged: u64,
    pub(super) status: &'static str,
}

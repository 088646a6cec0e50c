//! The paper's tables: real studies ranked by all methods, which are those of the paper and iss.
//!
//! | paper | here |
//! |---|---|
//! | robust methods flag 5% | the same |
//! | hlasso, lasso-l2: order of outliers | 100 values of λ down to 0.01 λ_max; at the same λ, by winner and loser |
//! | xgb_linear | ridge with a = 1 |
//! | LBI (50, 1/25000) | κ = 50, Δt = 1/25000, Algorithm 3, up to the last step before the next vote enters |
//! | iht, ilts, pc-lasso: settings not given | K = 5%; pc-lasso by default |
//!
//! The folder contains `pc-vqa/ref01.csv` …, `pc-iqa/ref01.csv` …, `human-age.csv` and the published
//! tables as `golden/NAME.csv`. Table 1 is `pc-vqa/ref01.csv`, Table 2 is `pc-iqa/ref10.csv`, and Table 3 is
//! `human-age.csv` with ties counted as votes for the left item. Small settings use these three.
//!
//! The stopping times of LBI are not in the paper; they were found from its scores. Elsewhere it is the last
//! step before the next vote enters, after 5% are flagged. At the step that reaches 5%, γ of the last
//! vote has not converged yet.

mod claims;
mod published;
mod study_fits;
use hodgerank::Method;
use hodgerank_io::write::Table;

use crate::columns::{counts, numbers, table, texts};
use crate::error::{Error, Result};
use crate::findings::Findings;
use crate::progress::{ProgressCallback, StepCounter};
use crate::settings::Settings;
use claims::published_table;
use study_fits::{MethodDifference, StudyFits, study_name};

/// Repeats the experiment.
///
/// # Errors
/// [`Error::NoData`] without a folder; otherwise if a file cannot be read or a solver fails.
pub fn run(settings: &Settings, progress: &ProgressCallback<'_>) -> Result<Findings> {
    let data = settings.data.as_deref().ok_or(Error::NoData)?;
    let mut names: Vec<String> = Vec::new();
    let is_there = |name: &String| data.join(name).exists();
    for folder in ["pc-vqa", "pc-iqa"] {
        let numbered = (1..=99).map(|k| format!("{folder}/ref{k:02}.csv"));
        names.extend(numbered.filter(is_there));
    }
    names.extend(Some("human-age.csv".to_owned()).filter(is_there));
    if !settings.full && names.iter().any(|name| published_table(&study_name(name)).is_some()) {
        names.retain(|name| published_table(&study_name(name)).is_some());
    }
    if names.is_empty() {
        let problem =
            "the folder contains none of pc-vqa/ref01.csv, pc-iqa/ref01.csv and human-age.csv";
        let problem = problem.to_owned();
        return Err(Error::PublishedTable { file: data.to_owned(), problem });
    }
    let steps = StepCounter::new(names.len(), progress);
    let (mut claims, mut tables, mut charts) = (Vec::new(), Vec::new(), Vec::new());
    let mut summaries = Vec::new();
    for name in &names {
        let study = StudyFits::read(data, name)?;
        claims.extend(claims::of(&study, data)?);
        tables.push((study.name.clone(), study.table()));
        charts.extend(study.charts());
        summaries.extend(study.summary());
        steps.advance();
    }
    tables.insert(0, ("tables".to_owned(), summary_table(&summaries)));
    Ok(Findings {
        title: format!(
            "Real studies with {} methods, 5% of the votes flagged: {}",
            Method::PAPER.len(),
            names.join(", ")
        ),
        claims,
        tables,
        charts,
    })
}

fn summary_table(rows: &[MethodDifference]) -> Table {
    table([
        ("study", texts(rows.iter().map(|row| row.study.clone()))),
        ("method", texts(rows.iter().map(|row| row.method))),
        ("ranks_unlike_lasso_l2", counts(rows.iter().map(|row| row.differences))),
        ("kendall_tau_with_lasso_l2", numbers(rows.iter().map(|row| row.tau))),
        ("votes_flagged", counts(rows.iter().map(|row| row.flagged))),
        ("status", texts(rows.iter().map(|row| row.status))),
    ])
}

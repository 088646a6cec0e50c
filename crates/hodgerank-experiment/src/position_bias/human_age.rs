//! Human Age: the annotators and scores of the paper's tables.

use std::path::Path;
use std::sync::Arc;

use hodgerank::position_bias::{PositionBiasOptions, position_bias, without_bias};
use hodgerank::solve::{L2Options, l2};
use hodgerank::{ComparisonGraph, Groups, Study};
use hodgerank_io::write::{Column, Table};
use hodgerank_io::{ColumnNames, ReadOptions, Ties, read};

use crate::columns::{counts, numbers, table, texts};
use crate::error::{Error, Result};
use crate::findings::Claim;

/// Maximum difference to a published score: half a unit of the fourth digit, plus a margin.
const MAX_SCORE_DIFFERENCE: f64 = 6e-5;
/// How many of the paper's annotators must be selected at 10%.
const MIN_SELECTED: usize = 12;

/// The claims about Human Age, and its annotators.
pub(super) fn compare(data: &Path) -> Result<(Vec<Claim>, Table)> {
    let study = read_study(data, Ties::Zero)?;
    let votes = study.annotator_votes.as_ref().ok_or(hodgerank::Error::NoAnnotators)?;
    let graph = ComparisonGraph::new(study.items.len(), study.groups.clone())?;
    let found = position_bias(&graph, votes, &PositionBiasOptions::default())?;
    let published = column(data, "human-age-biased-annotators", "annotator")?;
    let listed: Vec<u32> =
        published.iter().filter_map(|(name, _)| study.annotators.get(name.as_bytes())).collect();
    let of = |a: &&u32| &found.annotators[**a as usize];
    let first = listed.iter().filter(|a| of(a).order <= Some(listed.len() as u32)).count();
    let selected = listed.iter().filter(|a| of(a).selected).count();
    let scores = |groups: Groups| -> Result<Vec<f64>> {
        let graph = ComparisonGraph::new(study.items.len(), groups)?;
        Ok(l2::solve(&graph, &L2Options::default())?.scores)
    };
    let corrected = scores(without_bias(study.items.len(), votes, &listed)?.0)?;
    let original = scores(read_study(data, Ties::Left)?.groups)?;
    let matching = |scores: &[f64], name: &str| -> Result<(usize, usize)> {
        let published = column(data, "human-age-position-bias", name)?;
        let close = published.iter().filter(|(item, expected)| {
            let item = study.items.get(item.as_bytes());
            item.is_some_and(|i| (scores[i as usize] - expected).abs() < MAX_SCORE_DIFFERENCE)
        });
        Ok((close.count(), published.len()))
    };
    let same = |claim: &str, (close, all): (usize, usize), paper: &str| {
        let found = format!("{close} of {all} scores within 6e-5");
        Claim::new(claim, found, close == all && all > 0).in_paper(paper)
    };
    let claims = vec![
        Claim::new(
            "human-age: the first annotators to enter the path are those of the paper",
            format!("{first} of {}", listed.len()),
            first == listed.len() && first > 0,
        )
        .in_paper("Table 3: 17 annotators"),
        Claim::new(
            format!("human-age: at least {MIN_SELECTED} of them are selected at 10%"),
            format!("{selected}, and {} others", found.selected().count() - selected),
            selected >= MIN_SELECTED,
        ),
        same(
            "human-age: scores without the bias of these annotators",
            matching(&corrected, "corrected")?,
            "Table 4, corrected",
        ),
        same(
            "human-age: scores of all votes, ties counted for the left item",
            matching(&original, "original")?,
            "Table 4, original",
        ),
    ];
    let mut order: Vec<usize> = (0..found.annotators.len()).collect();
    order.sort_by_key(|&a| found.annotators[a].order.unwrap_or(u32::MAX));
    let rows = || order.iter().map(|&a| (a, &found.annotators[a]));
    let table = table([
        ("annotator", texts(rows().map(|(a, _)| study.annotators.name(a as u32)))),
        ("votes", counts(rows().map(|(_, bias)| bias.votes))),
        ("mean_vote", numbers(rows().map(|(_, bias)| bias.mean_outcome))),
        ("position_bias", numbers(rows().map(|(_, bias)| bias.bias.unwrap_or(f64::NAN)))),
        ("position_bias_se", numbers(rows().map(|(_, bias)| bias.se.unwrap_or(f64::NAN)))),
        ("e_value", numbers(rows().map(|(_, bias)| bias.e_value))),
        ("selected", Column::Truth(rows().map(|(_, bias)| bias.selected).collect())),
        ("in_paper", Column::Truth(rows().map(|(a, _)| listed.contains(&(a as u32))).collect())),
    ]);
    Ok((claims, table))
}

fn read_study(data: &Path, ties: Ties) -> Result<Study> {
    let file = data.join("human-age.csv").to_string_lossy().into_owned();
    let columns = ColumnNames { ties, ..ColumnNames::default() };
    let options = ReadOptions { columns, annotator_votes: true, ..ReadOptions::default() };
    let input = read(&[file], &options, &Arc::default())?;
    // Without `--by` there is exactly one study.
    input.studies.into_iter().next().ok_or(Error::NoData)
}

/// The first column of a published table and the numbers in another.
fn column(data: &Path, stem: &str, name: &str) -> Result<Vec<(String, f64)>> {
    let file = data.join("golden").join(format!("{stem}.csv"));
    let bad = |problem: &str| Error::PublishedTable { file: file.clone(), problem: problem.into() };
    let text = std::fs::read_to_string(&file).map_err(|error| bad(&error.to_string()))?;
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().ok_or_else(|| bad("the file is empty"))?;
    let index = header.iter().position(|column| *column == name);
    let index = index.ok_or_else(|| bad("a column is missing"))?;
    let row = |cells: Vec<&str>| {
        let number = cells.get(index).and_then(|cell| cell.parse().ok());
        number.map(|number| (cells[0].to_owned(), number)).ok_or_else(|| bad("expected numbers"))
    };
    lines.map(row).collect()
}

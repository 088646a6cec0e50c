//! The paper's claims about its tables.

use hodgerank::Method;
use hodgerank_io::Ties;
use std::path::Path;

use super::published::PublishedTable;
use super::study_fits::StudyFits;
use crate::error::Result;
use crate::findings::Claim;
use crate::methods;
use crate::statistics::largest_difference;

/// Maximum difference to a published score: half a unit of the fourth digit, plus a margin.
const MAX_SCORE_DIFFERENCE: f64 = 6e-5;
/// Methods whose settings are known: their scores must match the published table.
const EXACT: [Method; 5] =
    [Method::L2, Method::Ridge, Method::HuberLasso, Method::LassoL2, Method::Bregman];
/// The study of Table 1.
const PC_VQA: &str = "pc-vqa-ref01";
/// The study of Table 3.
const HUMAN_AGE: &str = "human-age";

/// A study with a table in the paper, and what the paper does not say about it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PublishedStudy {
    study: &'static str,
    table: &'static str,
    /// How ties count.
    pub(super) ties: Ties,
    /// When LBI stops.
    pub(super) lbi_time: f64,
}

const PUBLISHED: [PublishedStudy; 3] = [
    PublishedStudy { study: PC_VQA, table: "Table 1", ties: Ties::Zero, lbi_time: 0.66756 },
    PublishedStudy { study: "pc-iqa-ref10", table: "Table 2", ties: Ties::Zero, lbi_time: 0.83212 },
    PublishedStudy { study: HUMAN_AGE, table: "Table 3", ties: Ties::Left, lbi_time: 0.68136 },
];

/// The table of a study in the paper.
pub(super) fn published_table(study: &str) -> Option<PublishedStudy> {
    PUBLISHED.into_iter().find(|published| published.study == study)
}

pub(super) fn of(study: &StudyFits, data: &Path) -> Result<Vec<Claim>> {
    let mut claims = Vec::new();
    if let Some(known) = published_table(&study.name)
        && let Some(published) = PublishedTable::read(data, &study.name)?
    {
        claims.extend(columns(study, &published, known.table));
    }
    if study.name == PC_VQA {
        claims.push(against_l2(study));
    }
    claims.push(lbi_is_nearest(study));
    match study.name.as_str() {
        HUMAN_AGE => claims.push(same_outliers(study, 4, "they disagree four times")),
        PC_VQA => claims.push(same_outliers(study, 0, "exactly the same")),
        _ => {}
    }
    if study.name != HUMAN_AGE {
        claims.push(ranks_agree(study));
    }
    Ok(claims)
}

fn columns(study: &StudyFits, published: &PublishedTable, table: &str) -> Vec<Claim> {
    let claim = |method: Method| {
        let expected = published.scores(method, &study.items)?;
        let scores = &study.fit(method).scores;
        let difference = largest_difference(scores, &expected);
        let ranks = methods::ranks(&study.graph, &expected);
        let equal = ranks.iter().zip(study.ranks(method)).filter(|(a, b)| a == b).count();
        let items = study.items.len();
        let found = format!("largest difference {difference:.1e}; {equal} of {items} ranks equal");
        let claim = if EXACT.contains(&method) {
            let claim =
                format!("{}: {method} matches the published scores within 6e-5", study.name);
            Claim::new(claim, found, difference < MAX_SCORE_DIFFERENCE)
        } else {
            let claim = format!("{}: {method} ranks as published (settings unknown)", study.name);
            Claim::new(claim, found, equal == items)
        };
        Some(claim.in_paper(table))
    };
    Method::PAPER.iter().copied().filter_map(claim).collect()
}

/// No other method has fewer ranks that differ from those of lasso-l2.
fn lbi_is_nearest(study: &StudyFits) -> Claim {
    let others = Method::PAPER.iter().copied().filter(|&method| {
        !matches!(method, Method::LassoL2 | Method::Bregman | Method::InverseScaleSpace)
    });
    let own = study.differences(Method::Bregman);
    let counts: Vec<(&str, usize)> =
        others.map(|method| (method.as_str(), study.differences(method))).collect();
    let min = counts.iter().map(|count| count.1).min().unwrap_or(0);
    let list: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    Claim::new(
        format!("{}: of all methods lbi agrees best with lasso-l2", study.name),
        format!("ranks that differ from lasso-l2: lbi {own}; {}", list.join(", ")),
        own <= min,
    )
    .in_paper("LBI gives the most consistent result with LASSO+L2")
}

fn ranks_agree(study: &StudyFits) -> Claim {
    let (iss, lbi) =
        (study.differences(Method::InverseScaleSpace), study.differences(Method::Bregman));
    Claim::new(
        format!("{}: lbi and iss rank as lasso-l2 does", study.name),
        format!("ranks that differ from lasso-l2: lbi {lbi}, iss {iss}"),
        iss == 0 && lbi == 0,
    )
    .in_paper("LBI: no rank differs in Tables 1 and 2")
}

fn same_outliers(study: &StudyFits, max_differences: usize, paper: &str) -> Claim {
    let [both, only_lasso, only_lbi] = study.map().counts();
    let claim = match max_differences {
        0 => format!("{}: lasso-l2 and lbi flag the same distinct votes", study.name),
        max => format!("{}: lasso-l2 and lbi differ in at most {max} distinct votes", study.name),
    };
    Claim::new(
        claim,
        format!(
            "{both} distinct votes in both, {only_lasso} only in lasso-l2, {only_lbi} only in lbi"
        ),
        only_lasso + only_lbi <= max_differences,
    )
    .in_paper(paper)
}

fn against_l2(study: &StudyFits) -> Claim {
    let (against, all) = study.map().against_l2();
    Claim::new(
        format!("{}: all of the most suspicious 5% contradict the ranking of l2", study.name),
        format!("{against} of {all} distinct votes"),
        against == all,
    )
    .in_paper("all the top 5% outliers show reverse results")
}

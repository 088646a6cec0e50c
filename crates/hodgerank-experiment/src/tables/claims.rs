//! What the paper says of its tables.

use hodgerank::Method;
use std::path::Path;

use super::published::Published;
use super::{METHODS, Ranked};
use crate::Claim;
use crate::columns::largest_difference;
use crate::error::Result;
use crate::methods;

/// Half a unit of the fourth digit, and a hair for its rounding.
const ROUNDING: f64 = 6e-5;
/// Columns whose settings are known: they must meet the published table.
const EXACT: [Method; 5] =
    [Method::L2, Method::Ridge, Method::HuberLasso, Method::LassoL2, Method::Bregman];
/// The study whose table is known to come from the same file.
const SAME_FILE: &str = "pc-vqa-ref01";
/// Its public file is not the paper's.
const HUMAN_AGE: &str = "human-age";

pub(super) fn of(study: &Ranked, data: &Path) -> Result<Vec<Claim>> {
    let mut claims = Vec::new();
    if study.name == SAME_FILE
        && let Some(published) = Published::read(data, &study.name)?
    {
        claims.extend(columns(study, &published));
        claims.push(against_l2(study));
    }
    claims.push(lbi_is_nearest(study));
    match study.name.as_str() {
        HUMAN_AGE => claims.push(same_outliers(study, 4, "they disagree four times")),
        SAME_FILE => claims.push(same_outliers(study, 0, "exactly the same")),
        _ => {}
    }
    if study.name != HUMAN_AGE {
        claims.push(ranks_agree(study));
    }
    Ok(claims)
}

fn columns(study: &Ranked, published: &Published) -> Vec<Claim> {
    let claim = |method: Method| {
        let expected = published.scores(method, &study.items)?;
        let scores = &study.fit(method).scores;
        let apart = largest_difference(scores, &expected);
        let ranks = methods::ranks(&study.graph, &expected);
        let alike = ranks.iter().zip(study.ranks(method)).filter(|(a, b)| a == b).count();
        let (name, items) = (method.as_str(), study.items.len());
        let found = format!("largest difference {apart:.1e}; {alike} of {items} ranks alike");
        let claim = if EXACT.contains(&method) {
            let claim = format!("{}: {name} meets the published column within 6e-5", study.name);
            Claim::new(claim, found, apart < ROUNDING)
        } else {
            let claim = format!("{}: ranks of {name} as published (settings unknown)", study.name);
            Claim::new(claim, found, alike == items)
        };
        Some(claim.in_paper("Table 1"))
    };
    METHODS.into_iter().filter_map(claim).collect()
}

/// No method but lasso-l2 itself has fewer ranks unlike those of lasso-l2.
fn lbi_is_nearest(study: &Ranked) -> Claim {
    let others = METHODS.into_iter().filter(|&method| {
        !matches!(method, Method::LassoL2 | Method::Bregman | Method::InverseScaleSpace)
    });
    let own = study.differences(Method::Bregman);
    let counts: Vec<(&str, usize)> =
        others.map(|method| (method.as_str(), study.differences(method))).collect();
    let least = counts.iter().map(|count| count.1).min().unwrap_or(0);
    let list: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    Claim::new(
        format!("{}: of all methods lbi agrees best with lasso-l2", study.name),
        format!("ranks unlike lasso-l2: lbi {own}; {}", list.join(", ")),
        own <= least,
    )
    .in_paper("LBI gives the most consistent result with LASSO+L2")
}

fn ranks_agree(study: &Ranked) -> Claim {
    let (iss, lbi) =
        (study.differences(Method::InverseScaleSpace), study.differences(Method::Bregman));
    Claim::new(
        format!("{}: lbi and iss rank as lasso-l2 does", study.name),
        format!("ranks unlike lasso-l2: lbi {lbi}, iss {iss}"),
        iss == 0 && lbi == 0,
    )
    .in_paper("LBI: no rank differs in Tables 1 and 2")
}

fn same_outliers(study: &Ranked, most: usize, paper: &str) -> Claim {
    let [both, only_lasso, only_lbi] = study.map().counts();
    Claim::new(
        format!("{}: the top 5% of lasso-l2 and lbi are the same but for {most}", study.name),
        format!("{both} groups in both, {only_lasso} in lasso-l2 alone, {only_lbi} in lbi alone"),
        only_lasso + only_lbi <= most,
    )
    .in_paper(paper)
}

fn against_l2(study: &Ranked) -> Claim {
    let (against, all) = study.map().against_l2();
    Claim::new(
        format!("{}: all of the top 5% go against the ranking of l2", study.name),
        format!("{against} of {all} groups"),
        against == all,
    )
    .in_paper("all the top 5% outliers show reverse results")
}

//! The path of a robust method: which votes are flagged first, and how the scores change.

use hodgerank::path::Change;
use hodgerank::{Method, OutlierRule, Ranker, Votes};

fn main() -> hodgerank::Result<()> {
    let mut votes = Votes::new();
    for _ in 0..5 {
        votes.prefer("cat", "dog");
        votes.prefer("dog", "cow");
        votes.prefer("cat", "cow");
    }
    // One vote against all others.
    votes.prefer("cow", "cat");

    let study = votes.study()?;
    let ranker = Ranker::new().method(Method::InverseScaleSpace).outliers(OutlierRule::Count(3));
    let path = ranker.path(&study)?;
    println!(
        "{} along {} knots, status {}",
        path.parameter.as_str(),
        path.knots.len(),
        path.status
    );
    let name = |item: u32| study.items.name(item);
    for event in &path.events {
        let group = event.group as usize;
        let (left, right) = (study.groups.left[group], study.groups.right[group]);
        let outcome = study.groups.y[group];
        let change = match event.change {
            Change::Entered(residual) => format!("flagged, residual {residual:.3}"),
            Change::Left => "trusted again".to_owned(),
        };
        let at = path.knots[event.knot as usize];
        println!(
            "t = {at:.3}: {} against {}, outcome {outcome}: {change}",
            name(left),
            name(right)
        );
    }
    for (item, score) in (0..).zip(path.last_scores()) {
        println!("{:3} {score:+.4}", name(item));
    }
    Ok(())
}

//! Who votes against everyone else? Votes with annotators and sides, flagged votes, and statistics
//! per annotator.

use hodgerank::{Ranker, Vote, Votes};

const COFFEES: [&str; 5] = ["espresso", "filter", "latte", "mocha", "instant"];

fn main() -> hodgerank::Result<()> {
    let mut votes = Votes::new();
    for (k, left) in COFFEES.iter().enumerate() {
        for (l, right) in COFFEES.iter().enumerate().filter(|&(l, _)| l != k) {
            // Coffees are listed from best to worst.
            let outcome = if k < l { 1.0 } else { -1.0 };
            for annotator in ["ann", "bob", "eve"] {
                votes.add(Vote::new(left, right, outcome).annotator(annotator).count(2));
            }
            // Mallory always clicks left.
            votes.add(Vote::new(left, right, 1.0).annotator("mallory"));
        }
    }

    let ranked = Ranker::new().rank(&votes)?;
    for row in ranked.ranking() {
        println!("{row}");
    }
    println!("\n{} flagged votes, such as:", ranked.flagged().len());
    for vote in ranked.flagged().take(3) {
        println!("  {vote}");
    }
    println!("\nannotator  votes  flagged  left share");
    for report in ranked.annotators() {
        let left = report.left_share.unwrap_or(0.5);
        println!(
            "{:9}  {:5}  {:6.0}%  {:9.0}%",
            report.annotator,
            report.votes,
            100.0 * report.flagged_share,
            100.0 * left,
        );
    }
    Ok(())
}

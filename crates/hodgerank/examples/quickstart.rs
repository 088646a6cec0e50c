use hodgerank::{Ranker, Votes};

fn main() -> hodgerank::Result<()> {
    let mut votes = Votes::new();
    votes.prefer("cat", "dog");
    votes.prefer("dog", "cow");
    votes.tie("cat", "cow");
    let ranked = Ranker::new().rank(&votes)?;
    for row in ranked.ranking() {
        println!("{row}");
    }
    for vote in ranked.flagged() {
        println!("{vote}");
    }
    Ok(())
}

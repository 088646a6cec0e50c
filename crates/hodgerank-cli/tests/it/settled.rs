//! What `diagnose` and the report say about places that are not settled.

use serde_json::Value;

use crate::support::TestDir;

/// Votes on 12 items with a clear order, the best first, and 8 votes that a new item won.
fn votes_with_new_item() -> String {
    let mut text = String::from("winner,loser,count\n");
    for left in 0..12 {
        for right in left + 1..12 {
            let lost = 16 - (right - left);
            text.push_str(&format!("m{left},m{right},{}\nm{right},m{left},{lost}\n", 40 - lost));
        }
    }
    (0..8).for_each(|item| text.push_str(&format!("new,m{item},1\n")));
    text
}

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("votes.csv", votes_with_new_item());
    dir
}

#[test]
fn an_item_with_eight_votes_is_not_first_without_a_mark() {
    let dir = dir();
    let ranking = dir.json(&["rank", "votes.csv"], b"");
    assert_eq!(ranking["ranking"][0]["item"], "new");
    let found = dir.json(&["diagnose", "votes.csv"], b"");
    assert_eq!(found["verdict"]["can_rank"], true);
    assert_eq!(found["verdict"]["first_place"], "provisional");
    assert_eq!(found["settled"]["places"], 0);
    let next = &found["settled"]["next"];
    assert_eq!((&next["item"], &next["estimate"]), (&"new".into(), &"few-votes".into()));
    let text = dir.run(&["diagnose", "votes.csv"]).success().text().to_owned();
    for part in [
        "Settled places: 0 of 13, first place is provisional",
        "- new is ranked first after 8 votes, of which it lost none: this place is provisional.",
        "more votes on new first",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    dir.run(&["report", "votes.csv", "-o", "r.html"]).success();
    let page = String::from_utf8(dir.read("r.html")).unwrap();
    assert!(page.contains("First place is provisional"));
    assert!(!page.contains("The data support this ranking"));
}

#[test]
fn the_verdict_says_what_more_votes_would_settle() {
    let dir = dir();
    let rows = votes_with_new_item();
    let rest: Vec<&str> = rows.lines().filter(|row| !row.starts_with("new,")).collect();
    dir.write("rest.csv", rest.join("\n"));
    let found = dir.json(&["diagnose", "rest.csv"], b"");
    let next = &found["settled"]["next"];
    let number = |value: &Value| value.as_u64().unwrap();
    assert_eq!(number(&next["places"]), number(&found["settled"]["places"]) + 1);
    assert_eq!(next["estimate"], "about");
    assert!(number(&next["more_votes_on_rivals"]) < number(&next["more_votes"]));
    let tiers = found["settled"]["tiers"].as_array().unwrap();
    assert_eq!((&tiers[0]["first"], &tiers[tiers.len() - 1]["last"]), (&1.into(), &12.into()));
    let text = dir.run(&["diagnose", "rest.csv"]).success().text().to_owned();
    assert!(text.contains("more votes would settle "), "{text}");
}

#[test]
fn without_intervals_the_verdict_says_what_to_do() {
    let dir = dir();
    for (arguments, help) in [
        (&["--method", "lasso-l2"][..], "Use --method bt, crowd, l2 or hlasso"),
        (&["--intervals", "none"], "Add --intervals sandwich"),
    ] {
        let arguments = [&["diagnose", "votes.csv"], arguments].concat();
        let found = dir.json(&arguments, b"");
        assert!(found["settled"].is_null());
        // The mark does not need intervals.
        assert_eq!(found["verdict"]["first_place"], "provisional");
        let text = dir.run(&arguments).success().text().to_owned();
        assert!(text.contains("It is not known which places are settled"), "{text}");
        assert!(text.contains(help), "{text}");
    }
}

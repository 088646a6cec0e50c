//! `experiment`: claims on standard output, data in the folder.

mod support;

use support::Place;

#[test]
fn findings_are_printed_and_written() {
    let place = Place::new();
    let run = place.run(&["experiment", "shoes", "--out", "new/folder", "--seed", "7"]).good();
    let text = run.text();
    assert!(text.contains("── shoes ──") && text.contains("claims hold; seed 7"), "{text}");
    let claims = String::from_utf8(place.get("new/folder/shoes-claims.csv")).unwrap();
    assert!(
        claims.starts_with("claim,paper,found,holds\n")
            && claims.contains("iss: one score per cluster")
    );
    let scores = String::from_utf8(place.get("new/folder/shoes-scores.csv")).unwrap();
    assert_eq!(scores.lines().count(), 41);
    assert!(scores.starts_with("item,cluster,lasso-l2,l2,"));
    assert!(place.get("new/folder/shoes-scores.svg").starts_with(b"<svg"));
    assert!(place.get("new/folder/shoes-scores.png").starts_with(b"\x89PNG"));
}

#[test]
fn what_is_missing_is_named() {
    let place = Place::new();
    let run = place.run(&["experiment", "tables", "--out", "out"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("--data DIR"), "{}", run.stderr);
    let run = place.run(&["experiment", "nothing", "--out", "out"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("bias, c2, auc"), "{}", run.stderr);
    place.put("picture.pgm", "P2 2 2 9 1 2");
    let run = place.run(&["experiment", "image", "--image", "picture.pgm", "--out", "out"]);
    assert_eq!(run.code, Some(2));
    assert!(
        run.stderr.contains("picture.pgm: the file ends before the last pixel"),
        "{}",
        run.stderr
    );
}

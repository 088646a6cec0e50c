//! `experiment`: claims on standard output, data in the output folder.

use crate::support::TestDir;

#[test]
fn findings_are_printed_and_written() {
    let dir = TestDir::new();
    let run = dir.run(&["experiment", "shoes", "--out", "new/folder", "--seed", "7"]).success();
    let text = run.text();
    assert!(text.contains("── shoes ──") && text.contains("claims hold; seed 7"), "{text}");
    let claims = String::from_utf8(dir.read("new/folder/shoes-claims.csv")).unwrap();
    assert!(
        claims.starts_with("claim,paper,found,holds\n")
            && claims.contains("iss: one score per cluster")
    );
    let scores = String::from_utf8(dir.read("new/folder/shoes-scores.csv")).unwrap();
    assert_eq!(scores.lines().count(), 41);
    assert!(scores.starts_with("item,cluster,lasso-l2,l2,"));
    assert!(dir.read("new/folder/shoes-scores.svg").starts_with(b"<svg"));
    assert!(dir.read("new/folder/shoes-scores.png").starts_with(b"\x89PNG"));
}

#[test]
fn missing_and_invalid_inputs_are_errors() {
    let dir = TestDir::new();
    let run = dir.run(&["experiment", "tables", "--out", "out"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("--data DIR"), "{}", run.stderr);
    let run = dir.run(&["experiment", "nothing", "--out", "out"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("bias, c2, auc"), "{}", run.stderr);
    dir.write("picture.pgm", "P2 2 2 9 1 2");
    let run = dir.run(&["experiment", "image", "--image", "picture.pgm", "--out", "out"]);
    assert_eq!(run.code, Some(2));
    assert!(
        run.stderr.contains("picture.pgm: the file ends before the last pixel"),
        "{}",
        run.stderr
    );
}

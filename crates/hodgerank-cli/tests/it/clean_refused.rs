//! What `clean` refuses before any work: inputs that do not go together, and outputs that would
//! replace the input or each other.

use crate::support::Place;
use crate::support::files::{self, study};

#[test]
fn what_cannot_be_put_together_is_refused() {
    let (study, place) = (study(), Place::new());
    place.put("v.csv", files::separated(&study, ","));
    place.put("semicolon.csv", files::separated(&study, ";"));
    place.put("other.csv", "right,left,winner\na,b,left\n");
    place.put("bad.csv", "left,right,winner\na,b,lft\n");
    place.put("v.jsonl", files::json_lines(&study));
    place.put("v.parquet", files::parquet(&files::batch(&study), 999));
    let before = place.names();
    for (arguments, part) in [
        (&["v.csv", "v.jsonl"][..], "one is CSV, the other JSON lines"),
        (&["v.csv", "semicolon.csv"], "separated by different characters"),
        (&["v.csv", "other.csv"], "their columns differ"),
        (&["v.parquet", "v.csv"], "one is Parquet, the other CSV"),
        (&["v.csv", "-o", "out.parquet"], "the format of the input"),
        (&["v.csv", "--flagged", "out.jsonl.gz"], "the format of the input"),
        (&["v.csv", "-o", "x.csv", "--flagged", "x.csv"], "cannot go to the same place"),
        (&["v.csv", "-o", "x.csv", "--flagged", "./x.csv"], "cannot go to the same place"),
        (&["v.csv", "--flagged", "-"], "cannot go to the same place"),
        (&["none.csv", "-o", "x.csv", "--flagged", "./x.csv"], "cannot go to the same place"),
        (&["v.csv", "-o", "v.csv"], "--output v.csv would replace the input v.csv"),
        (&["v.csv", "--flagged", "./v.csv"], "--flagged ./v.csv would replace the input v.csv"),
        (&["bad.csv", "-o", "x.csv", "--flagged", "y.csv"], "unknown outcome"),
    ] {
        let run = place.run(&[&["clean"], arguments].concat());
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(part) && run.stderr.contains("help: "), "{}", run.stderr);
        assert!(run.stdout.is_empty(), "{arguments:?}");
        assert_eq!(place.names(), before, "{arguments:?}");
    }
}

/// A link is another spelling of the file that it points to.
#[cfg(unix)]
#[test]
fn links_lead_to_the_same_place() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    place.put("v.csv", files::separated(&study(), ","));
    place.put("old.csv", "old");
    symlink("v.csv", place.path().join("input.csv")).unwrap();
    symlink("old.csv", place.path().join("link.csv")).unwrap();
    let before = place.names();
    for (arguments, part) in [
        (["v.csv", "-o", "old.csv", "--flagged", "link.csv"], "cannot go to the same place"),
        (["v.csv", "-o", "input.csv", "--flagged", "f.csv"], "would replace the input v.csv"),
        (["input.csv", "-o", "x.csv", "--flagged", "v.csv"], "would replace the input input.csv"),
    ] {
        let run = place.run(&[&["clean"], &arguments[..]].concat());
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(part), "{}", run.stderr);
        assert_eq!((place.names(), place.get("old.csv")), (before.clone(), b"old".to_vec()));
    }
    // What the shell opened has a place too.
    let kept = std::fs::File::create(place.path().join("kept.csv")).unwrap();
    let mut command = place.command(&["clean", "v.csv", "--flagged", "kept.csv"]);
    assert_eq!(command.stdout(kept).output().unwrap().status.code(), Some(2));
    // A terminal or pipe may be both ends; devices are nobody's input.
    place.run_with(&["clean", "-", "--flagged", "/dev/null"], &place.get("v.csv")).good();
}

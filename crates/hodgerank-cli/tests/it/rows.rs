//! Which rows are votes: spellings, given meanings, filters, folders and studies by file.

use crate::support::TestDir;

const MIXED: &str = "left,right,winner\n\
    Cat,Dog,Cat\n\
    cat ,Dog,cat\n\
    Cat,Bird,Cat\n\
    Dog,CAT,cat\n\
    Dog,Bird,Dog\n\
    Bird,Dog,Dog\n\
    Bird,  Cat,Cat\n";

fn items(found: &serde_json::Value) -> Vec<&str> {
    let rows = found["ranking"].as_array().expect("a ranking");
    rows.iter().filter_map(|row| row["item"].as_str()).collect()
}

#[test]
fn spellings_are_joined_on_request() {
    let folder = TestDir::new();
    folder.write("votes.csv", MIXED);
    let stopped = folder.run(&["rank", "votes.csv"]);
    assert_eq!(stopped.code, Some(2));
    let said = &stopped.stderr;
    assert!(
        said.contains("line 5, column 3 (`winner`): the outcome is another spelling"),
        "{said}"
    );
    assert!(said.contains("--normalise labels. Do not skip such rows"), "{said}");
    assert!(said.contains("try: hodgerank rank votes.csv --normalise labels\n"), "{said}");
    assert!(!said.contains("--on-error skip"), "{said}");
    let skipped = folder.run(&["rank", "votes.csv", "--on-error", "skip"]).success();
    assert!(skipped.stderr.contains("the ranking is biased"), "{}", skipped.stderr);
    assert!(skipped.stderr.contains("\"cat\" = \"Cat\""), "{}", skipped.stderr);
    let found = folder.rank_json(&["votes.csv", "--normalise", "labels"]);
    assert_eq!(items(&found), ["Cat", "Dog", "Bird"]);
    assert_eq!(found["input"]["rows"], 7);
}

#[test]
fn every_command_and_format_resolves_spellings() {
    let folder = TestDir::new();
    folder.write("votes.csv", MIXED);
    let json: String = MIXED
        .lines()
        .skip(1)
        .map(|row| row.split(',').collect::<Vec<_>>())
        .map(|row| {
            format!(
                "{{\"left\":\"{}\",\"right\":\"{}\",\"winner\":\"{}\"}}\n",
                row[0], row[1], row[2]
            )
        })
        .collect();
    folder.write("votes.jsonl", json);
    let joined = ["--normalise", "labels"];
    let expected = folder.rank_csv(&[&["votes.csv"], &joined[..]].concat());
    assert_eq!(folder.rank_csv(&[&["votes.jsonl"], &joined[..]].concat()), expected);
    let piped = [&["rank", "-", "--format", "csv"], &joined[..]].concat();
    assert_eq!(folder.run_with_stdin(&piped, MIXED.as_bytes()).success().text(), expected);
    for command in ["outliers", "diagnose", "compare", "decompose"] {
        folder.run(&[&[command, "votes.csv"], &joined[..]].concat()).success();
    }
    let clean = ["clean", "votes.csv", "-o", "kept.csv", "--method", "lasso-l2", "--outliers", "0"];
    folder.run(&[&clean[..], &joined[..]].concat()).success();
    assert_eq!(String::from_utf8(folder.read("kept.csv")).unwrap(), MIXED, "rows as they are");
}

#[test]
fn answers_have_given_meanings() {
    let folder = TestDir::new();
    folder.write(
        "votes.csv",
        "left,right,winner\na,b,First is better\nb,c,First is better\nc,a,Second is better\n\
         a,c,Weiß nicht\nb,a,N/A\nc,b,\n",
    );
    let flags = [
        "--prefer-left",
        "first is better",
        "--prefer-right",
        "Second is better",
        "--tie",
        "weiß  nicht",
        "--ignore",
        "n/a",
        "--ignore",
        "",
    ];
    let found = folder.rank_json(&[&["votes.csv"], &flags[..]].concat());
    assert_eq!(items(&found), ["a", "b", "c"]);
    assert_eq!((&found["input"]["rows"], &found["passed_over"]["ignored"]), (&4.into(), &2.into()));
    let two = folder.run(&["rank", "votes.csv", "--tie", "n/a", "--ignore", "N/A"]);
    assert!(two.stderr.contains("is given two meanings"), "{}", two.stderr);
    let clean = [&["clean", "votes.csv", "-o", "kept.csv"], &flags[..]].concat();
    let said = folder.run(&clean).success().stderr;
    assert!(said.contains("2 ignored rows and 0 rows that do not match"), "{said}");
    let stopped = folder.run(&["rank", "votes.csv"]).stderr;
    let command = "try: hodgerank rank votes.csv --prefer-left \"First is better\" --prefer-right \
         \"Second is better\" --ignore \"Weiß nicht\" --ignore N/A --ignore \"\"\n";
    assert!(stopped.contains(command), "{stopped}");
    let some = ["--prefer-right", "second is better", "--tie", "n/a", "--on-error", "skip"];
    let said = folder.run(&[&["rank", "votes.csv"], &some[..]].concat()).success().stderr;
    assert!(said.contains("\"First is better\" (2 such rows)"), "{said}");
}

const SCENES: &str = "scene,codec,left,right,winner\n\
    park,av1,a,b,a\npark,av1,b,c,b\npark,vp9,b,a,b\npark,vp9,c,b,c\nsea,av1,a,c,c\nsea,av1,b,c,b\n";

#[test]
fn rows_are_filtered_and_divided_by_two_columns() {
    let folder = TestDir::new();
    folder.write("votes.csv", SCENES);
    let filtered =
        folder.rank_json(&["votes.csv", "--where", "scene=park", "--where", "codec=av1"]);
    assert_eq!(items(&filtered), ["a", "b", "c"]);
    assert_eq!(filtered["passed_over"]["filtered"], 4);
    let either = ["votes.csv", "--where", "codec=av1", "--where", "codec=vp9"];
    assert_eq!(folder.rank_json(&either)["input"]["rows"], 6);
    let none = folder.run(&["rank", "votes.csv", "--where", "scene=city"]);
    assert!(none.stderr.contains("of 6 rows, 6 do not match"), "{}", none.stderr);
    let by = folder.rank_json(&["votes.csv", "--by", "scene,codec"]);
    let groups = by["groups_by"].as_array().unwrap();
    let names: Vec<&str> = groups.iter().filter_map(|group| group["by"].as_str()).collect();
    assert_eq!(names, ["scene=park, codec=av1", "scene=park, codec=vp9", "scene=sea, codec=av1"]);
    assert_eq!(items(&groups[1]), ["c", "b", "a"]);
    folder
        .run(&["outliers", "votes.csv", "--by", "scene,codec", "--where", "scene=park"])
        .success();
    let clean = ["clean", "votes.csv", "--by", "scene,codec", "--where", "scene=park"];
    let kept =
        folder.run(&[&clean[..], &["--outliers", "0", "--method", "lasso-l2"]].concat()).success();
    let expected: Vec<&str> = SCENES.lines().filter(|row| !row.starts_with("sea")).collect();
    assert_eq!(kept.text().lines().collect::<Vec<_>>(), expected);
}

#[test]
fn folders_and_files_as_studies() {
    let folder = TestDir::new();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    folder.write("data/b.csv", "left,right,winner\nx,y,x\ny,z,y\n");
    folder.write("data/a.csv", "left,right,winner\nx,y,y\ny,z,z\n");
    folder.write("data/notes.txt", "nothing\n");
    let run = folder.run(&["rank", "data", "--by-file", "--format", "json"]).success();
    assert!(run.stderr.contains("the format is not known: data/notes.txt"), "{}", run.stderr);
    let found = run.json();
    let groups = found["groups_by"].as_array().unwrap();
    assert_eq!(
        (groups[0]["by"].as_str(), groups[1]["by"].as_str()),
        (Some("a.csv"), Some("b.csv"))
    );
    assert_eq!((items(&groups[0]), items(&groups[1])), (vec!["z", "y", "x"], vec!["x", "y", "z"]));
    assert_eq!(folder.rank_json(&["data"])["input"]["rows"], 4);
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let empty = folder.run(&["rank", "empty"]);
    assert_eq!(empty.code, Some(2));
    assert!(empty.stderr.contains("no file of a known format"), "{}", empty.stderr);
}

/// Votes on ten numbered items, whose quality is rotated by `turn`.
fn numbered(turn: usize, day: usize) -> String {
    let mut text = "left,right,winner\n".to_owned();
    for k in 0..400 {
        let (i, j) = (k * 7 % 10, (k * 7 + 1 + k / 10 % 9) % 10);
        let is_careless = (k * 31 + day * 17).is_multiple_of(6);
        let better = if (i * 3 + turn) % 10 > (j * 3 + turn) % 10 { i } else { j };
        let winner = if is_careless { i + j - better } else { better };
        text += &format!("{i},{j},{winner}\n");
    }
    text
}

#[test]
fn files_that_look_like_different_studies_bring_a_note() {
    let folder = TestDir::new();
    for k in 0..3 {
        folder.write(&format!("study{k}.csv"), numbered(3 * k, k));
        folder.write(&format!("day{k}.csv"), numbered(0, k));
    }
    let rank = |kind: &str, more: &[&str]| {
        let files: Vec<String> = (0..3).map(|k| format!("{kind}{k}.csv")).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        folder.run(&[&["rank"], &files[..], more].concat()).success().stderr
    };
    let note = "the 3 files have the same labels, but their votes do not agree";
    assert!(rank("study", &[]).contains(note), "{}", rank("study", &[]));
    assert!(!rank("study", &["--by-file"]).contains(note));
    assert!(!rank("day", &[]).contains(note), "{}", rank("day", &[]));
}

#[test]
fn a_copy_under_another_name_is_noticed() {
    let folder = TestDir::new();
    folder.write("monday.csv", MIXED.replace("cat", "Cat").replace("CAT", "Cat"));
    folder.write("monday (1).csv", MIXED.replace("cat", "Cat").replace("CAT", "Cat"));
    let said = folder.run(&["rank", "monday.csv", "monday (1).csv"]).success().stderr;
    assert!(said.contains("monday.csv and monday (1).csv have the same content"), "{said}");
}

#[test]
fn decimal_commas_and_old_workbooks_are_named() {
    let folder = TestDir::new();
    folder.write("votes.csv", "left,right,y\na,b,\"0,5\"\n");
    let said = folder.run(&["rank", "votes.csv"]).stderr;
    assert!(said.contains("the outcome has a decimal comma: \"0,5\""), "{said}");
    folder.write("votes.xls", [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1]);
    let said = folder.run(&["rank", "votes.xls"]).stderr;
    assert!(said.contains("Excel 97 to 2003") && said.contains("save it as .xlsx"), "{said}");
}

//! Labels, columns and file names reach the terminal without control characters and without
//! characters that reorder or hide text. Data formats hold them as they are.

use crate::support::TestDir;

/// Clears the screen, rings, reverses the rest of the line, hides itself.
const NAME: &str = "\x1b[2J\x07\u{202e}\u{2066}\u{200b}\u{9b}1mname";

fn is_hidden(character: char) -> bool {
    let is_line_end = character == '\n';
    character.is_control() && !is_line_end
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}')
}

#[track_caller]
fn assert_visible(dir: &TestDir, arguments: &[&str]) -> String {
    let run = dir.run(arguments);
    let all = format!("{}{}", run.text(), run.stderr);
    assert!(all.contains("name"), "{arguments:?}: {all}");
    assert!(!all.contains(is_hidden), "{arguments:?}: {all:?}");
    all
}

#[test]
fn labels_and_columns_are_visible() {
    let dir = TestDir::new();
    let rows = format!("{NAME},b,{NAME}\nb,c,{NAME}\n{NAME},c,q\nc,{NAME},q\nx,y,{NAME}\n");
    dir.write("v.csv", format!("winner,loser,annotator\n{rows}"));
    dir.write("connected.csv", format!("winner,loser\n{NAME},b\n"));
    dir.write("bad.csv", format!("winner,loser,{NAME}\n{NAME},{NAME},1\na,b,c\n"));
    for arguments in [
        &["rank", "v.csv"][..],
        &["rank", "v.csv", "--by", "annotator"],
        &["rank", "v.csv", "--require-connected"],
        &["compare", "v.csv", "--methods", "l2,hlasso"],
        &["path", "v.csv", "--method", "hlasso"],
        &["outliers", "v.csv", "--all"],
        &["annotators", "v.csv"],
        &["certify", "v.csv", "--method", "l2"],
        &["decompose", "v.csv"],
        &["diagnose", "connected.csv"],
        &["predict", "v.csv"],
        &["predict", "v.csv", "--matrix"],
        &["predict", "v.csv", "--items", NAME],
        &["predict", "v.csv", "--items", &format!("b,no {NAME}")],
        &["rank", "bad.csv"],
        &["rank", "bad.csv", "--on-error", "skip", "--count", NAME],
        &["rank", "bad.csv", "--left", "winner", "--right", "loser", "--outcome", NAME],
        &["rank", "bad.csv", "--by", &format!("no {NAME}")],
    ] {
        assert_visible(&dir, arguments);
    }
    // In data, labels are exact.
    let csv = dir.rank_csv(&["v.csv"]);
    assert!(csv.contains(NAME));
    assert!(dir.rank_json(&["v.csv"])["ranking"].to_string().contains('\u{202e}'));
}

/// A name on several lines could imitate other messages.
#[test]
fn file_names_are_visible() {
    let dir = TestDir::new();
    let file = format!("{NAME}\nerror: fake.csv");
    let other = format!("{file}.parquet");
    dir.write(&file, "winner,loser\na,b\nb,c\n");
    dir.write(&other, "winner,loser\na,b\n");
    dir.write("bad.csv", "winner,loser\na,a\n");
    dir.write(&format!("bad{file}"), "winner,loser\na,a\n");
    dir.write(&format!("empty{file}"), "");
    std::fs::create_dir(dir.path().join(format!("folder{file}"))).unwrap();
    for arguments in [
        &["rank", &file, &file][..],
        &["rank", &file, &format!("./{file}")],
        &["rank", &format!("none{file}")],
        &["rank", &format!("bad{file}")],
        &["rank", &format!("bad{file}"), "--on-error", "skip"],
        &["rank", &format!("empty{file}")],
        &["rank", &other],
        &["rank", &file, "--left", &file, "--right", "y"],
        &["rank", &file, "-o", &format!("{file}.xyz")],
        &["rank", &file, "-o", &file],
        &["rank", &file, "-o", &format!("folder{file}"), "--format", "csv"],
        &["rank", &file, "-o", &format!("no/{file}")],
        &["clean", &file, "--flagged", &other],
        &["clean", &file, &format!("bad{file}"), "--input-format", "tsv"],
        &["report", &file, "-o", &format!("{file}.html"), "--figures", &format!("{file}.d")],
        &["simulate", "-o", &format!("{file}.xyz")],
        &["simulate", "-o", &file, "--truth", &file],
        &["demo", "-o", &format!("{file}.html")],
        &["rank", &file, &format!("--{file}")],
        &["rank", &file, "--method", &file],
        &["experiment", "image", "--image", &file, "--out", "out"],
    ] {
        let all = assert_visible(&dir, arguments);
        assert!(!all.lines().any(|line| line.starts_with("error: fake")), "{arguments:?}: {all}");
    }
}

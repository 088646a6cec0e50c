//! Every command's tables as Markdown and as LaTeX.

use crate::support::TestDir;

const COMMANDS: [&str; 14] = [
    "rank v.csv",
    "rank v.csv --method l2 --against old.json",
    "outliers v.csv --outliers 10%",
    "annotators v.csv",
    "annotators v.csv --explain w_0",
    "predict v.csv",
    "predict v.csv --matrix",
    "predict v.csv --holdout 20%",
    "next v.csv",
    "certify v.csv --method l2",
    "compare v.csv",
    "decompose v.csv",
    "diagnose v.csv",
    "path v.csv --method iss",
];

/// Labels with every character that is special in Markdown or LaTeX.
fn dir() -> TestDir {
    let dir = TestDir::new();
    let names = [r"50% off_{x}", r"a|b*c", r"\\R&D $5 #1", "[x] ~^", "plain", "a--b <i>"];
    let mut rows = String::from("left,right,winner,annotator\n");
    for (i, left) in names.iter().enumerate() {
        for right in &names[i + 1..] {
            for annotator in 0..6 {
                let winner = if annotator == 5 { right } else { left };
                rows += &format!("{left},{right},{winner},w_{annotator}\n");
            }
        }
    }
    dir.write("v.csv", rows);
    dir.run(&["rank", "v.csv", "-o", "old.json", "-q"]).success();
    dir
}

fn page(dir: &TestDir, command: &str, format: &str) -> String {
    let arguments: Vec<&str> = command.split(' ').chain(["--format", format, "-q"]).collect();
    dir.run(&arguments).success().text().to_owned()
}

#[test]
fn rows_of_markdown_tables_have_equal_numbers_of_cells() {
    let dir = dir();
    for command in COMMANDS {
        let text = page(&dir, command, "markdown");
        // Bars that separate cells, not those in labels.
        let bars = |line: &str| line.replace(r"\|", "").matches('|').count();
        let lines: Vec<&str> = text.lines().collect();
        let tables = lines.chunk_by(|a, b| a.starts_with('|') == b.starts_with('|'));
        let tables: Vec<&[&str]> = tables.filter(|lines| lines[0].starts_with('|')).collect();
        assert!(!tables.is_empty(), "{command}: {text}");
        for table in tables {
            assert!(table.len() > 2 && table[1].starts_with("| --"), "{command}: {text}");
            assert!(table.iter().all(|line| bars(line) == bars(table[0])), "{command}: {text}");
        }
        assert!(!text.contains('█') && !text.contains("wider terminal"), "{command}: {text}");
    }
}

#[test]
fn rows_of_latex_tables_have_equal_numbers_of_cells() {
    let dir = dir();
    for command in COMMANDS {
        let text = page(&dir, command, "latex");
        assert!(text.contains("\\toprule") && text.contains("\\bottomrule"), "{command}: {text}");
        let cells = |line: &str| line.replace("\\&", "").matches('&').count();
        let mut expected = None;
        for line in text.lines() {
            if line.starts_with("\\begin{tabular}") || line.starts_with("\\begin{longtable}") {
                expected = None;
            } else if line.ends_with("\\\\") {
                let own = cells(line);
                assert_eq!(own, *expected.get_or_insert(own), "{command}: {line}");
            }
            // No special character is left as it is.
            let plain = line.replace("\\%", "").replace("\\#", "").replace("\\_", "");
            let has_special = plain.contains(['#', '_', '~', '^']);
            assert!(!has_special || line.starts_with('%'), "{command}: {line}");
        }
        let count = |part: &str| text.matches(part).count();
        assert_eq!(count("\\begin{"), count("\\end{"), "{command}: {text}");
    }
    let text = page(&dir, "rank v.csv", "latex");
    assert!(text.contains(r"50\% off\_\{x\}") && text.contains(r"a-{}-b \textless{}i"), "{text}");
    assert!(text.contains("$-$"), "{text}");
}

#[test]
fn the_extension_selects_the_format() {
    let dir = dir();
    dir.run(&["rank", "v.csv", "-q", "-o", "ranking.md"]).success();
    dir.run(&["rank", "v.csv", "-q", "-o", "ranking.tex"]).success();
    assert!(dir.read("ranking.md").starts_with(b"| rank | item | score |"));
    assert!(dir.read("ranking.tex").starts_with(b"\\begin{tabular}{rl"));
}

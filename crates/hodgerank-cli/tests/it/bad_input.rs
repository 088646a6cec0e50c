//! Invalid text and conflicting flags: a clear error, exit code 2, no output.

use crate::support::TestDir;

struct Case {
    name: &'static str,
    file: &'static str,
    bytes: &'static [u8],
    arguments: &'static [&'static str],
    /// Texts that standard error must contain.
    parts: &'static [&'static str],
}

const fn case(
    name: &'static str,
    file: &'static str,
    bytes: &'static [u8],
    parts: &'static [&'static str],
) -> Case {
    Case { name, file, bytes, arguments: &[], parts }
}

const fn with(
    arguments: &'static [&'static str],
    name: &'static str,
    file: &'static str,
    bytes: &'static [u8],
    parts: &'static [&'static str],
) -> Case {
    Case { name, file, bytes, arguments, parts }
}

const GOOD: &[u8] = b"left,right,winner\na,b,left\n";
const HELP: &str = "help: ";
const SKIP: &str = "--on-error skip";

#[rustfmt::skip]
const ROWS: &[Case] = &[
    case("unknown word", "v.csv", b"left,right,winner\na,b,left\na,c,lft\n",
        &["v.csv, line 3, column 3 (`winner`): unknown outcome: \"lft\"", "accepted: left, right, tie", "  3 | a,c,lft\n    |     ^^^", SKIP]),
    case("unknown word, tabs", "v.tsv", b"left\tright\twinner\na\tb\tyes\n",
        &["v.tsv, line 2, column 3 (`winner`): unknown outcome: \"yes\"", HELP]),
    case("unknown word, JSON", "v.jsonl", b"{\"left\":\"a\",\"right\":\"b\",\"winner\":\"both?\"}\n",
        &["v.jsonl, line 1, column 3 (`winner`): unknown outcome: \"both?\"", HELP]),
    case("another item's label", "v.csv", b"left,right,winner\na1,b1,c1\n",
        &["v.csv, line 2, column 3 (`winner`): unknown outcome: \"c1\"", "the label of one of the two items"]),
    with(&["--outcome-as", "word"], "a label where words are asked for", "v.csv", b"left,right,winner\nx,z,x\n",
        &["line 2, column 3 (`winner`): unknown outcome: \"x\"", "accepted: left, right, tie"]),
    case("a word in a column of numbers", "v.csv", b"left,right,y\na,b,left\n",
        &["v.csv, line 2, column 3 (`y`): unknown outcome: \"left\"", "a finite number, positive when the left"]),
    case("a word in a column of selections", "v.csv", b"condition_A,condition_B,is_A_selected\na,b,2\n",
        &["v.csv, line 2, column 3 (`is_A_selected`): unknown outcome: \"2\"", "1 or true"]),
    case("empty outcome", "v.csv", b"left,right,winner\na,b,\n",
        &["v.csv, line 2, column 3 (`winner`): the value is missing", HELP]),
    case("infinite number", "v.csv", b"left,right,y\na,b,1\na,b,-inf\n",
        &["v.csv, line 3, column 3 (`y`): the outcome is not a finite number: \"-inf\"", HELP]),
    case("not a number", "v.csv", b"item_a,item_b,y\na,b,NaN\n",
        &["v.csv, line 2, column 3 (`y`): the outcome is not a finite number: \"NaN\"", HELP]),
    case("number too large", "v.csv", b"left,right,winner\na,b,1e999\n",
        &["v.csv, line 2, column 3 (`winner`): the outcome is not a finite number: \"1e999\""]),
    case("negative count", "v.csv", b"winner,loser,count\na,b,2\na,b,-1\n",
        &["v.csv, line 3, column 3 (`count`): the count is not a whole number from 0 up: \"-1\"", HELP]),
    case("fractional count", "v.csv", b"count,winner,loser\n1.5,a,b\n",
        &["v.csv, line 2, column 1 (`count`): the count is not a whole number from 0 up: \"1.5\"", HELP]),
    case("fractional count, JSON", "v.ndjson", b"{\"winner\":\"a\",\"loser\":\"b\",\"count\":0.5}\n",
        &["v.ndjson, line 1, column 3 (`count`): the count is not a whole number from 0 up: \"0.5\""]),
    with(&["--count", "times"], "count in words", "v.csv", b"winner,loser,times\na,b,two\n",
        &["v.csv, line 2, column 3 (`times`): the count is not a whole number from 0 up: \"two\""]),
    case("count too large", "v.csv", b"winner,loser,count\na,b,1e300\n",
        &["v.csv, line 2, column 3 (`count`): the count is larger than 2^53", "\"1e300\""]),
    case("empty count", "v.csv", b"winner,loser,count\na,b,\n",
        &["v.csv, line 2, column 3 (`count`): the value is missing"]),
    case("an item against itself", "v.csv", b"winner,loser\na,b\nc,c\n",
        &["v.csv, line 3, column 2 (`loser`): an item is compared with itself: \"c\"", "two different items"]),
    case("an item against itself, JSON", "v.jsonl", b"{\"winner\":7,\"loser\":7}\n",
        &["v.jsonl, line 1, column 2 (`loser`): an item is compared with itself: \"7\""]),
    case("empty item", "v.csv", b"winner,loser\n,b\n",
        &["v.csv, line 2, column 1 (`winner`): the item's name is empty", HELP]),
    with(&["--by", "scene"], "empty value of --by", "v.csv", b"winner,loser,scene\na,b,x\na,b,\n",
        &["v.csv, line 3, column 3 (`scene`): the value is missing"]),
    case("not UTF-8", "v.csv", b"winner,loser\na,b\na,caf\xe9\n",
        &["v.csv, line 3, column 2 (`loser`): the text is not UTF-8: \"caf\u{fffd}\"", "save the file as UTF-8"]),
    case("not UTF-8 in a column that is not used", "v.csv", b"note,winner,loser\nok,a,b\n\"\xff\",a,b\n",
        &["v.csv, line 3, column 1 (`note`): the text is not UTF-8"]),
    case("not UTF-8, JSON", "v.jsonl", b"{\"winner\":\"a\",\"loser\":\"b\"}\n{\"winner\":\"\xff\",\"loser\":\"b\"}\n",
        &["v.jsonl, line 2: the text is not UTF-8"]),
    case("short row", "v.csv", b"left,right,winner\na,b,left\na,b\n",
        &["v.csv, line 3, column 3 (`winner`): the row has 2 fields, the header 3: \"a,b\"", HELP]),
    case("long row", "v.csv", b"left,right,winner\na,b,left,more\n",
        &["v.csv, line 2: the row has 4 fields, the header 3: \"a,b,left,more\"", "double quotes"]),
    case("short row after a quoted newline", "v.csv", b"left,right,winner\n\"a\nb\",c,left\nx,y\n",
        &["v.csv, line 4, column 3 (`winner`): the row has 2 fields, the header 3: \"x,y\""]),
    case("one field", "v.csv", b"left,right,winner\na,b,left\n a\n",
        &["v.csv, line 3, column 2 (`right`): the row has 1 fields, the header 3"]),
    case("unclosed quote", "v.csv", b"left,right,winner\na,b,left\na,\"b,left\nc,d,left\ne,f,left\n",
        &["v.csv, line 3: a quote is opened and never closed: \"a,\\\"b,left", "close the quote"]),
    case("text after a closing quote", "v.csv", b"left,right,winner\na,\"b\"x,left\n",
        &["v.csv, line 2, column 2 (`right`): text after a closing quote: \"\\\"b\\\"x", "written twice"]),
    case("nested value", "v.jsonl", b"{\"left\":\"a\",\"right\":{\"id\":1},\"winner\":\"left\"}\n",
        &["v.jsonl, line 1, column 2 (`right`): the value has a type that cannot be used here: \"{…}\"", HELP]),
    case("list as a value", "v.jsonl", b"{\"left\":\"a\",\"right\":\"b\",\"winner\":[\"left\"]}\n",
        &["v.jsonl, line 1, column 3 (`winner`): the value has a type that cannot be used here: \"[…]\""]),
    case("decimal item, JSON", "v.jsonl", b"{\"winner\":1.5,\"loser\":2}\n",
        &["v.jsonl, line 1, column 1 (`winner`): the value has a type that cannot be used here: \"1.5\""]),
    case("truth value as an item, JSON", "v.jsonl", b"{\"winner\":true,\"loser\":2}\n",
        &["column 1 (`winner`): the value has a type that cannot be used here: \"true\""]),
    case("null, JSON", "v.jsonl", b"{\"winner\":\"a\",\"loser\":\"b\"}\n{\"winner\":null,\"loser\":\"b\"}\n",
        &["v.jsonl, line 2, column 1 (`winner`): the value is missing", HELP]),
    case("key left out, JSON", "v.jsonl", b"{\"winner\":\"a\",\"loser\":\"b\"}\n{\"winner\":\"a\"}\n",
        &["v.jsonl, line 2, column 2 (`loser`): the value is missing"]),
    case("count only in some objects", "v.jsonl", b"{\"winner\":\"a\",\"loser\":\"b\"}\n{\"winner\":\"a\",\"loser\":\"b\",\"count\":5}\n",
        &["v.jsonl, line 1, column 3 (`count`): the value is missing"]),
    case("key twice, JSON", "v.jsonl", b"{\"winner\":\"a\",\"loser\":\"b\",\"loser\":\"c\"}\n",
        &["v.jsonl, line 1: not a JSON object (`loser` appears twice"]),
    case("a list as a line", "v.jsonl", b"[\"a\",\"b\"]\n",
        &["v.jsonl, line 1: not a JSON object", "expected an object", "each line is one object"]),
    case("half a line, JSON", "v.jsonl", b"{\"winner\":\"a\",\"loser\":\"b\"}\n\n{\"winner\":\"a\",\"los\n",
        &["v.jsonl, line 3: not a JSON object", "\"{\\\"winner\\\":\\\"a\\\",\\\"los\""]),
    case("two objects in a line", "v.jsonl", b"{\"winner\":\"a\",\"loser\":\"b\"} {\"winner\":\"a\",\"loser\":\"b\"}\n",
        &["v.jsonl, line 1: not a JSON object (trailing characters"]),
    case("not a number, JSON", "v.jsonl", b"{\"left\":\"a\",\"right\":\"b\",\"y\":1}\n{\"left\":\"a\",\"right\":\"b\",\"y\":NaN}\n",
        &["v.jsonl, line 2: not a JSON object"]),
    case("number too large, JSON", "v.jsonl", b"{\"left\":\"a\",\"right\":\"b\",\"y\":1e999}\n",
        &["v.jsonl, line 1: not a JSON object (number out of range"]),
];

#[rustfmt::skip]
const FILES: &[Case] = &[
    case("empty file", "v.csv", b"", &["v.csv: the file is empty", HELP]),
    case("empty Parquet file", "v.parquet", b"", &["v.parquet: the file is empty", HELP]),
    case("blank lines alone", "v.csv", b"\n\r\n\n", &["v.csv: the file is empty", HELP]),
    case("blank lines alone, JSON", "v.jsonl", b"\n\n", &["v.jsonl: the file is empty", HELP]),
    case("header alone", "v.csv", b"winner,loser\r\n\r\n", &["v.csv: there is a header but no vote", HELP]),
    case("header alone without line end", "v.tsv", b"winner\tloser", &["v.tsv: there is a header but no vote", HELP]),
    case("no item columns", "v.csv", b"first,second\na,b\n",
        &["v.csv: no pair of item columns was found among `first`, `second`", "--winner and --loser"]),
    case("header that looks like data", "v.csv", b"3,4\n1,2\n",
        &["no pair of item columns was found among `3`, `4`", "the first row looks like a vote: add a header"]),
    case("no outcome column", "v.csv", b"left,right,who\na,b,left\n",
        &["v.csv: there is no outcome column among `left`, `right`, `who`", "--outcome NAME"]),
    case("two outcome columns", "v.csv", b"left,right,label,winner\na,b,left,left\n",
        &["v.csv: two columns could be the outcome: `winner` and `label`", "--outcome winner"]),
    case("column twice", "v.csv", b"winner,loser,Winner\na,b,c\n",
        &["v.csv: the column `winner` appears more than once", HELP]),
    with(&["--by", "scene"], "no such --by", "v.csv", GOOD,
        &["v.csv: there is no column `scene` (by); the columns are `left`, `right`, `winner`", "names to --by"]),
    with(&["--annotator", "who"], "no such --annotator", "v.csv", GOOD, &["no column `who` (annotator)", "names to --annotator"]),
    with(&["--left", "a", "--right", "right"], "no such --left", "v.csv", GOOD, &["no column `a` (left)", "names to --left"]),
    with(&["--winner", "left", "--loser", "left"], "one column for both items", "v.csv", GOOD,
        &["v.csv: the column `left` was given twice", "different columns"]),
    with(&["--outcome", "right"], "an item column as outcome", "v.csv", GOOD, &["the column `right` was given twice"]),
    case("ambiguous outcomes", "v.csv", b"left,right,winner\n1,2,2\n3,4,1\n3,4,left\n",
        &["the outcome column is ambiguous: \"2\"", "--outcome-as label, --outcome-as word or --outcome-as number"]),
    case("UTF-16", "v.csv", b"\xff\xfew\0i\0n\0", &["v.csv: this is not UTF-8 text: it is UTF-16", "CSV UTF-8"]),
    case("UTF-16, other end first", "v.jsonl", b"\xfe\xff\0{\0}", &["v.jsonl: this is not UTF-8 text: it is UTF-16"]),
    case("carriage returns alone", "v.csv", b"winner,loser\ra,b\rc,d\r",
        &["v.csv: this is not a text file with line ends", "bare carriage return", "ordinary line ends"]),
    case("unclosed quote in the header", "v.csv", b"left,\"right,winner\na,b,left\n",
        &["v.csv: the header, column 2: a quote is opened and never closed", HELP]),
    case("header not UTF-8", "v.csv", b"left,right,gagn\xe9\na,b,left\n",
        &["v.csv: the header, column 3: the text is not UTF-8: \"gagn\u{fffd}\"", HELP]),
    case("text in a Parquet file", "v.parquet", GOOD, &["v.parquet: the content is not Parquet: its first bytes do not match", HELP]),
    case("text in an Arrow file", "v.arrow", GOOD, &["v.arrow: the content is not Arrow", HELP]),
    case("Parquet in a CSV file", "v.csv", b"PAR1 and more", &["v.csv: the content is not CSV but Parquet", HELP]),
    with(&["--input-format", "arrow"], "wrong --input-format", "v.csv", GOOD, &["v.csv: the content is not Arrow", "--input-format csv|tsv|jsonl|parquet|arrow|xlsx"]),
];

const OPTIONS: &[(&[&str], &[&str])] = &[
    (&["none.csv"], &["none.csv: cannot be opened: No such file"]),
    (&["v.csv", "none.parquet"], &["none.parquet: cannot be opened"]),
    (&["folder"], &["folder: the folder has no file of a known format"]),
    (&["v.csv", "--ridge", "1"], &["--ridge is an option of --method ridge", HELP]),
    (&["v.csv", "--method", "ridge", "--ridge", "-1"], &["ridge = -1: expected a finite number"]),
    (&["v.csv", "--method", "ridge", "--ridge", "nan"], &["ridge = NaN"]),
    (&["v.csv", "--tolerance", "0"], &["tolerance = 0: expected"]),
    (&["v.csv", "--max-iterations", "0"], &["max-iterations = 0: expected"]),
    (&["v.csv", "--threads", "0"], &["invalid value '0' for '--threads <N>'"]),
    (&["v.csv", "--threads", "many"], &["invalid value 'many' for '--threads <N>'"]),
    (&["v.csv", "--winner", "left"], &["--loser <COLUMN>"]),
    (
        &["v.csv", "--winner", "left", "--loser", "right", "--outcome", "winner"],
        &["cannot be used"],
    ),
    (&["v.csv", "--delimiter", "ab"], &["expected one ASCII character"]),
    (&["v.csv", "--method", "magic"], &["invalid value 'magic'", "possible values: lasso-l2, l2"]),
    (&["v.csv", "--outcome-as", "luck"], &["invalid value 'luck'"]),
    (&["v.csv", "--nonsense"], &["unexpected argument '--nonsense'"]),
    (&[], &["<FILE>"]),
];

/// Asserts that `rank` fails with one and with two threads, and leaves no files behind.
#[track_caller]
fn refuses(dir: &TestDir, name: &str, arguments: &[&str], parts: &[&str]) {
    let before = dir.file_names();
    let (mut runs, threads_given) = (Vec::new(), arguments.contains(&"--threads"));
    for threads in ["1", "2"] {
        let threads: &[&str] = if threads_given { &[] } else { &["--threads", threads] };
        let all = [&["rank", "-o", "out.json"], arguments, threads].concat();
        runs.push(dir.run(&all));
    }
    let run = &runs[0];
    assert_eq!(run.code, Some(2), "{name}: {}", run.stderr);
    for part in parts {
        assert!(run.stderr.contains(part), "{name}: no {part:?} in\n{}", run.stderr);
    }
    assert!(!run.stderr.contains("panicked"), "{name}: {}", run.stderr);
    assert!(run.stdout.is_empty(), "{name}: something on standard output");
    assert_eq!(dir.file_names(), before, "{name}: something was left behind");
    let [one, two] = [0, 1].map(|k| runs[k].without_suggestion());
    assert_eq!(one, two, "{name}: the threads matter");
}

#[test]
fn invalid_rows_and_files_are_rejected() {
    for Case { name, file, bytes, arguments, parts } in ROWS.iter().chain(FILES) {
        let dir = TestDir::new();
        dir.write(file, bytes);
        refuses(&dir, name, &[&[*file], *arguments].concat(), parts);
    }
}

#[test]
fn invalid_rows_are_rejected_on_standard_input_and_compressed() {
    for Case { name, file, bytes, arguments, parts } in ROWS {
        let dir = TestDir::new();
        let format = file.rsplit_once('.').expect("an ending").1.replace("nd", "");
        let format = if format == "json" { "jsonl" } else { &format };
        let input = [&["rank", "-", "--input-format", format], *arguments].concat();
        let run = dir.run_with_stdin(&input, bytes);
        assert_eq!(run.code, Some(2), "{name}: {}", run.stderr);
        let first = parts[0].replacen(file, "standard input", 1);
        assert!(run.stderr.contains(&first), "{name}: {}", run.stderr);

        let packed = format!("{file}.gz");
        dir.write(&packed, crate::support::files::gzip(bytes));
        let first = parts[0].replacen(file, &packed, 1);
        refuses(&dir, name, &[&[packed.as_str()], *arguments].concat(), &[&first]);
    }
}

#[test]
fn invalid_rows_can_be_skipped() {
    for Case { name, file, bytes, arguments, parts } in ROWS {
        let dir = TestDir::new();
        dir.write(file, bytes);
        let skip: &[&str] = &["rank", file, "--format", "json", "--on-error", "skip"];
        let run = dir.run(&[skip, *arguments].concat());
        if *name == "unclosed quote" {
            // The start of the next row is unknown, so that the file cannot be read on.
            assert_eq!(run.code, Some(2), "{name}");
            assert!(run.stderr.contains(parts[0]) && !run.stderr.contains(SKIP), "{name}");
        } else if run.code == Some(0) {
            assert_eq!(run.json()["rejected"]["rows"], 1, "{name}");
            assert!(run.stderr.contains("warning: 1 row was rejected"), "{name}: {}", run.stderr);
            assert!(run.stderr.contains(parts[0]), "{name}: {}", run.stderr);
        } else {
            let nothing = "no vote is left: every row was rejected (1 in all); the first: ";
            let said = run.stderr.contains(nothing) || run.stderr.contains("not a JSON object");
            assert!(said && run.stderr.contains(parts[0]), "{name}: {}", run.stderr);
        }
    }
}

#[test]
fn invalid_options_are_rejected() {
    for (arguments, parts) in OPTIONS {
        let dir = TestDir::new();
        dir.write("v.csv", GOOD);
        std::fs::create_dir(dir.path().join("folder")).unwrap();
        refuses(&dir, &arguments.join(" "), arguments, parts);
    }
}

#[test]
fn unknown_output_endings_are_rejected() {
    let dir = TestDir::new();
    dir.write("v.csv", GOOD);
    for name in ["out.xlsx", "out", "out.gz"] {
        let run = dir.run(&["rank", "v.csv", "-o", name]);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(
            run.stderr.contains(&format!("{name}: the extension does not determine")),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains("help: use the extension .csv"), "{}", run.stderr);
        assert_eq!(dir.file_names(), ["v.csv"]);
    }
}

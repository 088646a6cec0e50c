//! Queries that count votes in a data warehouse. python/tests/test_sql.py runs them on DuckDB.

use crate::support::TestDir;

fn query(arguments: &[&str]) -> String {
    let mut all = vec!["sql"];
    all.extend(arguments);
    TestDir::new().run(&all).success().text().to_owned()
}

#[test]
fn the_default_method_needs_annotators_and_sides() {
    let columns = ["--columns", "id,model_a,model_b,winner,judge"];
    let text = query(
        &[&["rank", "--dialect", "postgres", "--table", "arena.votes"], &columns[..]].concat(),
    );
    assert_eq!(
        text,
        "-- Save the result as counts.csv or counts.parquet, then: hodgerank rank counts.csv\n\
         SELECT\n    \"model_a\",\n    \"model_b\",\n    \"winner\",\n    \"judge\",\n    COUNT(*) AS \"count\"\n\
         FROM \"arena\".\"votes\"\nGROUP BY 1, 2, 3, 4\n"
    );
}

#[test]
fn sides_and_annotators_are_merged_where_they_are_not_used() {
    let named =
        ["--left", "a", "--right", "b", "--outcome", "y", "--annotator", "who", "--count", "n"];
    let options = ["decompose", "--dialect", "spark", "--table", "votes", "--method", "iss"];
    let text = query(&[&options[..], &named[..]].concat());
    assert!(text.contains("CASE WHEN `a` > `b` THEN `b` ELSE `a` END AS `a`"), "{text}");
    assert!(text.contains("CASE WHEN `a` > `b` THEN -`y` ELSE `y` END AS `y`"), "{text}");
    assert!(text.contains("CAST(SUM(`n`) AS BIGINT) AS `n`"), "{text}");
    assert!(!text.contains("`who`"), "{text}");
    // The command finds the counts although nothing else is named `n`.
    assert!(text.contains("--count n --method iss\n"), "{text}");
}

/// The options that decide what the query keeps are those of the command that reads the counts.
#[test]
fn the_command_has_the_options_of_the_query() {
    let columns = ["--columns", "left,right,winner,annotator"];
    let options = ["--method", "l2", "--intervals", "none", "--outcome-as", "1=left,2=right"];
    let table = ["rank", "--dialect", "postgres", "--table", "votes"];
    let text = query(&[&table[..], &columns[..], &options[..]].concat());
    let command =
        "hodgerank rank counts.csv --outcome-as 1=left,2=right --method l2 --intervals none\n";
    assert!(text.contains(command), "{text}");
    assert!(!text.contains("annotator"), "{text}");
}

#[test]
fn names_are_quoted_in_queries_and_commands() {
    let text = query(&[
        "rank",
        "--dialect",
        "snowflake",
        "--table",
        "votes",
        "--winner",
        "Better one",
        "--loser",
        "worse",
        "--by",
        "scene",
    ]);
    assert!(text.contains("    scene,\n    \"Better one\",\n    worse,\n"), "{text}");
    assert!(text.contains("--winner \"Better one\" --loser worse --by scene\n"), "{text}");
}

#[test]
fn missing_columns_are_an_error_that_says_what_to_do() {
    let dir = TestDir::new();
    let plain = ["sql", "rank", "--dialect", "duckdb", "--table", "votes"];
    for (more, parts) in [
        (&[][..], &["not known", "--columns"][..]),
        (&["--columns", "x,y,z"], &["votes", "--left"]),
        (&["--columns", "left,right"], &["outcome"]),
    ] {
        let run = dir.run(&[&plain[..], more].concat());
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        for part in parts {
            assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
        }
    }
    let run = dir.run(&[
        "sql",
        "annotators",
        "--dialect",
        "duckdb",
        "--table",
        "votes",
        "--winner",
        "w",
        "--loser",
        "l",
    ]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("--annotator"), "{}", run.stderr);
    // `clean` needs the rows themselves.
    assert_eq!(dir.run(&["sql", "clean", "--dialect", "duckdb", "--table", "votes"]).code, Some(2));
}

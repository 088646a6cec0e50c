//! Options that would change nothing are refused, or named in a warning if the method was not given.

use crate::support::TestDir;

fn dir() -> TestDir {
    let dir = TestDir::new();
    let row = |k: usize| match k % 3 {
        0 => "a,b\n",
        1 => "b,c\n",
        _ => "a,c\n",
    };
    dir.write("v.csv", format!("winner,loser\n{}b,a\n", (0..60).map(row).collect::<String>()));
    dir
}

#[test]
fn options_that_the_method_ignores_are_refused() {
    let dir = dir();
    for (arguments, problem) in [
        (
            "rank v.csv --method l2 --outliers 5%",
            "--outliers is an option of --method lasso-l2, ilts, iht, hlasso, lbi, iss, bt or crowd",
        ),
        ("outliers v.csv --method ridge --outliers 3", "--outliers is an option of"),
        ("rank v.csv --method pc-lasso --backend cg", "--backend is an option of"),
        ("rank v.csv --method bt --tolerance 1e-3", "--tolerance is an option of"),
        ("rank v.csv --method bt --max-iterations 5", "--max-iterations is an option of"),
        ("rank v.csv --method iss --lambda 1", "--lambda is an option of"),
        ("predict v.csv --ranks each", "predict has no ranges of ranks"),
        ("predict v.csv --draws 500", "only --intervals bootstrap draws at random"),
        ("predict v.csv --holdout 20% --level 0.9", "--holdout evaluates probabilities"),
        ("predict v.csv --holdout 20% --draws 500", "--holdout evaluates probabilities"),
    ] {
        let run = dir.run(&arguments.split(' ').collect::<Vec<_>>());
        assert_eq!(run.code, Some(2), "{arguments}: {}", run.stderr);
        assert!(run.stderr.contains(problem), "{arguments}: {}", run.stderr);
        assert!(run.stderr.contains("help: "), "{arguments}: {}", run.stderr);
    }
}

#[test]
fn options_that_a_chosen_method_ignores_bring_a_warning() {
    let dir = dir();
    let run = dir.run(&["rank", "v.csv", "--tolerance", "1e-3", "--format", "json"]).success();
    let warning = "--tolerance changes nothing: method bt, which was chosen for these votes";
    assert!(run.stderr.contains(warning), "{}", run.stderr);
    assert!(run.json()["warnings"].to_string().contains(warning), "{}", run.text());
    for arguments in [
        &["rank", "v.csv", "--outliers", "3"][..],
        &["rank", "v.csv", "--method", "l2", "--tolerance", "1e-3"],
        &["rank", "v.csv", "--method", "l2", "--outliers", "auto"],
        &["predict", "v.csv", "--intervals", "bootstrap", "--draws", "100"],
    ] {
        let run = dir.run(arguments).success();
        assert!(!run.stderr.contains("changes nothing"), "{arguments:?}: {}", run.stderr);
    }
}

//! Rules that need no expected output: the same votes written in another way give the same result.
//!
//! Every rule is checked for every command on every study of [`crate::metamorphic_studies`]. Results
//! are compared as JSON, exactly; only scaled outcomes and swapped sides are compared within a tolerance.

use crate::metamorphic_studies::{self as studies, Row};
use crate::support::TestDir;
use serde_json::{Map, Value, json};

/// A command whose results are compared.
struct Command {
    name: &'static str,
    /// Arguments without the file. `LAMBDA` and `TIME` stand for a parameter in the units of the
    /// outcomes.
    arguments: &'static [&'static str],
    kind: Kind,
}

enum Kind {
    /// Writes JSON.
    Json,
    /// Writes a page.
    Report,
    /// Writes two files of votes; they are ranked to compare them.
    Clean,
}

const fn json_command(name: &'static str, arguments: &'static [&'static str]) -> Command {
    Command { name, arguments, kind: Kind::Json }
}

/// Methods whose scores are in the unit of the outcomes.
const LEAST_SQUARES: &str = "lasso-l2,l2,ridge,pc-lasso,ilts,iht,hlasso,lbi,iss";

const COMMANDS: &[Command] = &[
    json_command("rank", &["rank"]),
    json_command("rank l2", &["rank", "--method", "l2"]),
    json_command("rank ridge", &["rank", "--method", "ridge", "--ridge", "0.5"]),
    json_command("rank hlasso", &["rank", "--method", "hlasso", "--lambda", "LAMBDA"]),
    json_command("rank lasso-l2", &["rank", "--method", "lasso-l2", "--lambda", "LAMBDA"]),
    json_command("rank lbi", &["rank", "--method", "lbi", "--outliers", "5%"]),
    json_command("rank iss", &["rank", "--method", "iss", "--time", "TIME"]),
    json_command("rank iht", &["rank", "--method", "iht", "--outliers", "7"]),
    json_command("rank ilts", &["rank", "--method", "ilts", "--outliers", "7"]),
    json_command("rank pc-lasso", &["rank", "--method", "pc-lasso"]),
    json_command("rank bt", &["rank", "--method", "bt"]),
    json_command("rank elo", &["rank", "--method", "l2", "--scale", "elo"]),
    json_command("rank scaled", &["rank", "--outliers", "scaled"]),
    json_command("outliers", &["outliers", "--outliers", "8%"]),
    json_command("outliers all", &["outliers", "--all"]),
    json_command("outliers per group", &["outliers", "--per-group", "--all"]),
    json_command("rank share", &["rank", "--outliers", "8%"]),
    json_command("rank iss auto", &["rank", "--method", "iss"]),
    json_command("outliers iss", &["outliers", "--method", "iss", "--outliers", "8%"]),
    json_command("outliers iss all", &["outliers", "--method", "iss", "--all"]),
    json_command("annotators", &["annotators"]),
    json_command("certify", &["certify", "--method", "l2"]),
    json_command("certify places", &["certify", "--method", "iss", "--places", "2"]),
    json_command("compare", &["compare", "--outliers", "8%", "--methods", LEAST_SQUARES]),
    json_command("decompose", &["decompose"]),
    json_command("diagnose", &["diagnose"]),
    json_command("diagnose iss", &["diagnose", "--method", "iss"]),
    json_command("path", &["path", "--method", "iss", "--outliers", "8%"]),
    json_command("predict", &["predict"]),
    json_command("predict l2", &["predict", "--method", "l2"]),
    json_command("predict matrix", &["predict", "--method", "bt", "--matrix"]),
    json_command("predict holdout", &["predict", "--holdout", "20%", "--seed", "1"]),
    json_command("predict holdout l2", &["predict", "--holdout", "20%", "--method", "l2"]),
    Command { name: "clean", arguments: &["clean", "--outliers", "8%"], kind: Kind::Clean },
    Command { name: "report", arguments: &["report", "--outliers", "8%"], kind: Kind::Report },
];

/// What two results may differ in; removed from both before they are compared.
#[derive(Clone, Copy, PartialEq)]
enum Ignore {
    /// The number of rows.
    RowCount,
    /// The order and division of listed votes: equal votes are listed as one.
    RowOrder,
    /// Which side an item was on: votes are listed with the first label on the left.
    Sides,
    /// Sentences, which can quote numbers.
    Sentences,
}

/// One way of writing the votes of a study.
#[derive(Clone)]
struct Variant {
    name: String,
    file: String,
    content: Vec<u8>,
    threads: &'static str,
    /// The unit of the outcomes.
    scale: f64,
}

impl Variant {
    fn csv(rows: &[Row]) -> Self {
        Self {
            name: "csv".to_owned(),
            file: "votes.csv".to_owned(),
            content: studies::separated(rows, ","),
            threads: "1",
            scale: 1.0,
        }
    }

    /// The result of a command as JSON.
    #[track_caller]
    fn run(&self, command: &Command) -> Value {
        let dir = TestDir::new();
        dir.write(&self.file, &self.content);
        let argument = |argument: &&str| match *argument {
            "LAMBDA" => (1.25 * self.scale).to_string(),
            "TIME" => (0.75 / self.scale).to_string(),
            other => other.to_owned(),
        };
        let mut arguments: Vec<String> = command.arguments.iter().map(argument).collect();
        arguments.extend([&self.file, "--threads", self.threads, "--quiet"].map(String::from));
        // Rows of a database are written as CSV.
        let extension = match self.file.strip_prefix("votes.") {
            Some("db") | None => "csv",
            Some(extension) => extension,
        };
        let [kept, flagged] = ["kept", "flagged"].map(|name| format!("{name}.{extension}"));
        match command.kind {
            Kind::Json => arguments.extend(["--format", "json"].map(String::from)),
            Kind::Report => arguments.extend(["-o", "report.html"].map(String::from)),
            Kind::Clean => {
                arguments.extend(["-o", &kept, "--flagged", &flagged].map(String::from));
            }
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let run = dir.run(&arguments).success();
        let rank = |file: &str| {
            let run = dir.run(&["rank", "--method", "l2", "--format", "json", "--quiet", file]);
            // A file without votes cannot be ranked.
            if run.code == Some(0) { run.json() } else { Value::Null }
        };
        match command.kind {
            Kind::Json => run.json(),
            Kind::Clean => json!({"kept": rank(&kept), "removed": rank(&flagged)}),
            Kind::Report => String::from_utf8(dir.read("report.html"))
                .unwrap()
                .replace(&self.file, "FILE")
                .into(),
        }
    }
}

/// Checks that the variants of each study give the same results as its rows in a CSV file, for all
/// commands but `excluded`.
///
/// `restore` undoes in a result's text what the variant has changed.
fn check(
    variants: impl Fn(&[Row]) -> Vec<Variant> + Sync,
    excluded: &[&str],
    ignore: &[Ignore],
    restore: impl Fn(String) -> String + Sync,
) {
    // Sums over an annotator's votes are in the order of the votes, which is that of their sides.
    let rounding = if ignore.contains(&Ignore::Sides) { 1e-9 } else { 0.0 };
    let check_study = |study: &str, rows: &[Row]| {
        let (base, variants) = (Variant::csv(rows), variants(rows));
        let mut failures = Vec::new();
        for command in COMMANDS.iter().filter(|command| !excluded.contains(&command.name)) {
            let expected = canonical(base.run(command), ignore, 1.0);
            for variant in &variants {
                let text = restore(variant.run(command).to_string());
                let result = serde_json::from_str(&text).expect("still JSON");
                let found = canonical(result, ignore, variant.scale);
                let tolerance = if variant.scale == 1.0 { rounding } else { 1e-9 };
                if let Some(difference) = difference("", &expected, &found, tolerance) {
                    failures
                        .push(format!("{study}, {}, {}: {difference}", variant.name, command.name));
                }
            }
        }
        failures
    };
    let all = studies::all();
    let failures: Vec<String> = std::thread::scope(|scope| {
        let check_study = &check_study;
        let threads: Vec<_> =
            all.iter().map(|(study, rows)| scope.spawn(move || check_study(study, rows))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("every command runs")).collect()
    });
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// A result in the units of the original votes, without what is ignored.
fn canonical(mut value: Value, ignore: &[Ignore], scale: f64) -> Value {
    rewrite("", &mut value, ignore, scale);
    value
}

fn rewrite(key: &str, value: &mut Value, ignore: &[Ignore], scale: f64) {
    match value {
        Value::Object(fields) => {
            if ignore.contains(&Ignore::RowCount) {
                fields.remove("rows");
            }
            if ignore.contains(&Ignore::Sides) {
                // The link has the shares and the advantage of both sides.
                let is_sided = |key: &str| {
                    key.starts_with("left_") || key == "expected_left_share" || key == "link"
                };
                fields.retain(|key, _| !is_sided(key));
                forget_sides(fields);
            }
            if ignore.contains(&Ignore::Sentences) {
                fields.retain(|key, _| !["findings", "advice", "warnings"].contains(&key.as_str()));
            }
            // The rule is an option as it was given: for scaled votes another λ or time.
            fields.remove("rule");
            // Intervals of scores have the unit of the scores; those of probabilities have none.
            if fields.contains_key("score") {
                for (key, new) in [("low", "score_low"), ("high", "score_high")] {
                    if let Some(end) = fields.remove(key) {
                        fields.insert(new.to_owned(), end);
                    }
                }
            }
            // Shares have no unit, but the names of quantities that have one.
            let scale = if key == "shares" { 1.0 } else { scale };
            fields.iter_mut().for_each(|(key, value)| rewrite(key, value, ignore, scale));
        }
        Value::Array(values) => {
            values.iter_mut().for_each(|value| rewrite(key, value, ignore, scale));
            if key == "votes" && values.iter().all(|vote| vote.get("outcome").is_some()) {
                if ignore.contains(&Ignore::Sides) {
                    values.iter_mut().for_each(orient);
                }
                if ignore.contains(&Ignore::RowOrder) {
                    *values = distinct(values);
                }
            }
            // The most suspicious annotator is first, and sides are a reason for suspicion.
            if key == "annotators" && ignore.contains(&Ignore::Sides) {
                values.sort_by_key(|annotator| annotator["annotator"].to_string());
            }
        }
        Value::Number(number) if scale != 1.0 => {
            let power = unit(key);
            if let Some(scaled) = number.as_f64().filter(|_| power != 0) {
                *value = json!(scaled / scale.powi(power));
            }
        }
        _ => {}
    }
}

/// Left and right people are one-sided.
fn forget_sides(fields: &mut Map<String, Value>) {
    for key in ["class", "verdict", "reason"] {
        if let Some(Value::String(text)) = fields.get_mut(key) {
            *text = text.replace("right", "left");
        }
    }
    if let Some(Value::Number(advantage)) = fields.get_mut("side_advantage") {
        let size = advantage.as_f64().expect("a number").abs();
        fields.insert("side_advantage".to_owned(), json!(size));
    }
    if let Some(Value::Object(classes)) = fields.get_mut("classes") {
        let [left, right] =
            ["left", "right"].map(|side| classes.remove(side).and_then(|share| share.as_f64()));
        classes.insert("one-sided".to_owned(), json!(left.unwrap_or(0.0) + right.unwrap_or(0.0)));
    }
}

/// The power of the outcomes' unit that a number has. Times and entries are those of `iss`.
fn unit(key: &str) -> i32 {
    match key {
        "score" | "scores" | "se" | "score_low" | "score_high" | "outcome" | "expected_outcome"
        | "residual" | "size" | "lambda" | "curl" | "flows" | "sigma" | "gamma_min"
        | "gamma_max" | "gamma_needed" | "lambda_bar" | "flow" => 1,
        "energy" | "inconsistent" => 2,
        "time" | "entry" | "at" | "tau_bar" => -1,
        _ => 0,
    }
}

/// Turns a listed vote so that the first label is on the left.
fn orient(vote: &mut Value) {
    if vote["left"].as_str() > vote["right"].as_str() {
        let left = vote["left"].take();
        vote["left"] = std::mem::replace(&mut vote["right"], left);
        for key in ["outcome", "residual"] {
            let turned = 0.0 - vote[key].as_f64().expect("a number");
            vote[key] = json!(turned);
        }
    }
}

/// Equal votes as one, sorted, without their places in the list.
fn distinct(votes: &[Value]) -> Vec<Value> {
    let mut found: Vec<(String, Map<String, Value>)> = Vec::new();
    for vote in votes {
        let mut vote = vote.as_object().expect("a vote").clone();
        vote.remove("order");
        vote.remove("row");
        let [count, flagged] =
            ["count", "flagged"].map(|key| vote.remove(key).and_then(|n| n.as_u64()));
        let key = Value::Object(vote.clone()).to_string();
        match found.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => {
                for (key, more) in [("count", count), ("flagged", flagged)] {
                    known[key] = json!(known[key].as_u64().unwrap_or(0) + more.unwrap_or(0));
                }
            }
            None => {
                vote.insert("count".to_owned(), json!(count));
                vote.insert("flagged".to_owned(), json!(flagged));
                found.push((key, vote));
            }
        }
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found.into_iter().map(|(_, vote)| Value::Object(vote)).collect()
}

/// Where two results differ first, if they do.
fn difference(path: &str, one: &Value, other: &Value, tolerance: f64) -> Option<String> {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) if one.len() == other.len() => {
            one.iter().find_map(|(key, value)| {
                let found = other.get(key).unwrap_or(&Value::Null);
                difference(&format!("{path}.{key}"), value, found, tolerance)
            })
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            one.iter().zip(other).enumerate().find_map(|(k, (one, other))| {
                difference(&format!("{path}[{k}]"), one, other, tolerance)
            })
        }
        (Value::Number(one), Value::Number(other)) if tolerance > 0.0 => {
            let (one, other) = (one.as_f64()?, other.as_f64()?);
            let is_close = (one - other).abs() <= tolerance * (1.0 + one.abs());
            (!is_close).then(|| format!("{path}: {one} and {other}"))
        }
        (Value::String(one), Value::String(other)) if one.len() > 1000 => {
            let at = one.bytes().zip(other.bytes()).position(|(a, b)| a != b)?;
            let near = |text: &str| {
                String::from_utf8_lossy(
                    &text.as_bytes()[at.saturating_sub(60)..(at + 60).min(text.len())],
                )
                .into_owned()
            };
            Some(format!("{path}: …{}… and …{}…", near(one), near(other)))
        }
        _ => (one != other).then(|| {
            let short = |value: &Value| value.to_string().chars().take(200).collect::<String>();
            format!("{path}: {} and {}", short(one), short(other))
        }),
    }
}

fn as_csv(name: &str, rows: &[Row]) -> Vec<Variant> {
    vec![Variant { name: name.to_owned(), ..Variant::csv(rows) }]
}

/// The studies have what the rules are about.
#[test]
fn studies_have_flagged_votes_ties_counts_and_components() {
    let annotators = COMMANDS.iter().find(|command| command.name == "rank share").unwrap();
    for (study, rows) in studies::all() {
        let found = Variant::csv(&rows).run(annotators);
        assert!(found["outliers"]["comparisons"].as_u64() > Some(0), "{study}");
        assert_eq!(found["input"]["components"], if study == "components" { 2 } else { 1 });
        assert_eq!(found["annotators"].as_array().map(Vec::len), Some(9), "{study}");
        assert!(rows.iter().any(|row| row.y == 0.0), "{study}");
        assert_eq!(rows.iter().any(|row| row.count > 1), study == "votes");
        assert!(studies::merged(&rows).len() < rows.len(), "{study}");
    }
}

#[test]
fn row_order() {
    check(
        |rows| as_csv("shuffled", &studies::shuffled(rows)),
        &[],
        &[Ignore::RowOrder],
        |text| text,
    );
}

#[test]
fn sides() {
    // The page shows votes with their sides.
    let ignore = [Ignore::Sides, Ignore::RowOrder];
    let all = |rows: &[Row]| as_csv("swapped", &studies::swapped(rows, 1));
    // Votes are drawn in the order in which they are sorted, with their sides.
    let excluded = ["report", "predict holdout", "predict holdout l2"];
    check(all, &excluded, &ignore, |text| text);
    // Who favours a side can be seen as long as all votes are swapped. Other methods do not use sides.
    let excluded = [
        "predict",
        "predict holdout",
        "predict holdout l2",
        "predict matrix",
        "report",
        "rank",
        "rank bt",
        "rank share",
        "outliers",
        "outliers all",
        "outliers per group",
        "annotators",
        "diagnose",
        "clean",
    ];
    let half = |rows: &[Row]| as_csv("half swapped", &studies::swapped(rows, 2));
    check(half, &excluded, &ignore, |text| text);
}

#[test]
fn labels() {
    let restore = |text: String| text.replace("yeti-", "wolf-").replace("bob-", "ann-");
    check(|rows| as_csv("renamed", &studies::renamed(rows)), &[], &[], restore);
}

#[test]
fn counts() {
    let variants = |rows: &[Row]| {
        [as_csv("split", &studies::split(rows)), as_csv("merged", &studies::merged(rows))].concat()
    };
    // The page shows the number of rows, and votes as rows.
    let ignore = [Ignore::RowCount, Ignore::RowOrder];
    check(variants, &["report"], &ignore, |text| text);
}

#[test]
fn scale() {
    let variants = |rows: &[Row]| {
        let scaled = |scale: f64| Variant {
            name: format!("times {scale}"),
            scale,
            ..Variant::csv(&studies::scaled(rows, scale))
        };
        vec![scaled(4.0), scaled(3.0)]
    };
    // The page shows scores. Scores of bt and crowd, which are the default, are log-odds, and those of
    // elo are points. The penalties of ridge and pc-lasso have no unit of outcomes.
    let excluded = [
        "predict",
        "predict matrix",
        "predict holdout",
        "report",
        "rank",
        "rank bt",
        "rank elo",
        "rank share",
        "outliers",
        "outliers all",
        "outliers per group",
        "annotators",
        "diagnose",
    ];
    check(variants, &excluded, &[Ignore::Sentences], |text| text);
}

#[test]
fn threads() {
    let variants = |rows: &[Row]| {
        let on = |threads: &'static str| Variant {
            name: threads.to_owned() + " threads",
            threads,
            ..Variant::csv(rows)
        };
        vec![on("2"), on("4")]
    };
    check(variants, &[], &[], |text| text);
}

#[test]
fn formats() {
    let variants = |rows: &[Row]| {
        let variant = |(extension, content): (&str, Vec<u8>)| Variant {
            name: extension.to_owned(),
            file: format!("votes.{extension}"),
            content,
            ..Variant::csv(rows)
        };
        studies::formats(rows).into_iter().map(variant).collect()
    };
    check(variants, &[], &[], |text| text);
}

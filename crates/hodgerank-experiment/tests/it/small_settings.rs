//! Every experiment with small settings: claims, data and charts. Timings are not checked.

use hodgerank_experiment::{Error, Experiment, Findings, Settings, run};
use hodgerank_report::chart::{Chart, Hover, Mark};

fn settings() -> Settings {
    Settings::default()
}

#[track_caller]
fn find(experiment: Experiment, settings: &Settings) -> Findings {
    let findings = run(experiment, settings, &|_, _| ()).unwrap();
    assert!(!findings.claims.is_empty() && !findings.tables.is_empty());
    for (stem, table) in &findings.tables {
        assert!(table.rows() > 0, "{stem}");
    }
    let mut ids: Vec<&str> = findings.charts.iter().map(|chart| chart.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), findings.charts.len(), "chart names are unique");
    findings.charts.iter().for_each(check_chart);
    findings
}

#[track_caller]
fn assert_all_hold(findings: &Findings) {
    for claim in &findings.claims {
        assert!(claim.holds, "{}: {}", claim.claim, claim.found);
    }
}

/// All columns of a mark have the same length and finite values.
#[track_caller]
fn check_chart(chart: &Chart) {
    assert!(!chart.alt.is_empty() && !chart.title.is_empty() && !chart.marks.is_empty());
    assert!(chart.x.from != chart.x.to && chart.y.from != chart.y.to, "{}", chart.id);
    let finite = |values: &[f64]| assert!(values.iter().all(|v| v.is_finite()), "{}", chart.id);
    for mark in &chart.marks {
        let (columns, hover): (Vec<&Vec<f64>>, Option<&Hover>) = match mark {
            Mark::Points { x, y, hover, .. } => (vec![x, y], Some(hover)),
            Mark::Line { x, y, .. } | Mark::Texts { x, y, .. } => (vec![x, y], None),
            Mark::Segments { x0, y0, x1, y1, hover, .. } => (vec![x0, y0, x1, y1], Some(hover)),
            Mark::Bars { x0, x1, y0, y1, hover, .. } => (vec![x0, x1, y0, y1], Some(hover)),
            Mark::Intervals { x0, x1, y, .. } => (vec![x0, x1, y], None),
            Mark::Bands { y0, y1, .. } => (vec![y0, y1], None),
            Mark::Cells { x, y, value, hover, .. } => {
                assert!(value.iter().all(|v| (0.0..=1.0).contains(v)), "{}", chart.id);
                (vec![x, y, value], Some(hover))
            }
        };
        columns.iter().for_each(|column| finite(column));
        assert!(columns.iter().all(|column| column.len() == columns[0].len()), "{}", chart.id);
        if let Some(Hover::Words { words }) = hover {
            assert_eq!(words.len(), columns[0].len(), "{}", chart.id);
        }
    }
}

#[test]
fn bias() {
    assert_all_hold(&find(Experiment::Bias, &settings()));
}

#[test]
fn c2() {
    assert_all_hold(&find(Experiment::C2, &settings()));
}

#[test]
fn auc() {
    assert_all_hold(&find(Experiment::Auc, &settings()));
}

#[test]
fn image() {
    assert_all_hold(&find(Experiment::Image, &settings()));
}

#[test]
fn faces() {
    assert_all_hold(&find(Experiment::Faces, &settings()));
}

#[test]
fn selection() {
    let mut findings = find(Experiment::Selection, &settings());
    // Lapses are in the model if they predict votes better, so that few votes with flips are flagged less often than by a
    // fixed λ (docs/selection.md); the ranking is better all the same.
    let all = findings.claims.len();
    findings.claims.retain(|claim| !claim.claim.contains("mean F1"));
    assert_eq!(findings.claims.len(), all - 1);
    assert_all_hold(&findings);
}

#[test]
fn accuracy() {
    let data = hodgerank_testdata::find_published_studies();
    assert_all_hold(&find(Experiment::Accuracy, &Settings { data, ..settings() }));
}

#[test]
fn findings_do_not_depend_on_threads() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| find(Experiment::Bias, &settings()).tables)
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn other_seeds_give_other_votes() {
    let of = |seed| find(Experiment::Bias, &Settings { seed, ..settings() }).tables;
    assert_ne!(of(1), of(2));
}

#[test]
fn position_bias() {
    let data = hodgerank_testdata::find_published_studies();
    assert_all_hold(&find(Experiment::PositionBias, &Settings { data, ..settings() }));
}

#[test]
fn tables_need_a_data_folder() {
    let without = run(Experiment::Tables, &settings(), &|_, _| ());
    assert!(matches!(without, Err(Error::NoData)));
    let empty = tempfile::tempdir().unwrap();
    let data = Some(empty.path().to_owned());
    let missing = run(Experiment::Tables, &Settings { data, ..settings() }, &|_, _| ());
    assert!(missing.unwrap_err().to_string().contains("pc-vqa/ref01.csv"));
}

#[test]
fn tables() {
    let Some(data) = hodgerank_testdata::published_studies() else { return };
    let findings = find(Experiment::Tables, &Settings { data: Some(data), ..settings() });
    let of = |part: &str| -> Vec<_> {
        findings.claims.iter().filter(|claim| claim.claim.contains(part)).collect()
    };
    let exact = of("within 6e-5");
    assert_eq!(exact.len(), 15);
    for claim in exact.into_iter().chain(of("pc-vqa-ref01: lbi and iss rank as lasso-l2 does")) {
        assert!(claim.holds, "{}: {}", claim.claim, claim.found);
    }
}

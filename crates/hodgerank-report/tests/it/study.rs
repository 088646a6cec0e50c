//! Reports show the results of the solvers.

use hodgerank::select::OutlierRule;
use hodgerank::simulate::{Noise, SimulateOptions, Simulation};
use hodgerank::{FitOptions, Groups, IntervalOptions, Labels, Method, RankedStudy, Ranking, Study};
use hodgerank_report::chart::{Chart, Hover, Mark};
use hodgerank_report::document::{RANKING, SUSPECTS, StudyPage};
use hodgerank_report::findings::{ReportInput, StudyFindings};
use hodgerank_report::study::{self, Limits};
use hodgerank_report::table::{PageTable, Values};

pub(crate) struct TestStudy(RankedStudy);

impl std::ops::Deref for TestStudy {
    type Target = RankedStudy;

    fn deref(&self) -> &RankedStudy {
        &self.0
    }
}

impl TestStudy {
    pub(crate) fn new(names: &[&str], groups: Groups, options: FitOptions) -> Self {
        let votes = groups.votes() as u64;
        let study = Study {
            by: None,
            items: names.iter().copied().collect(),
            groups,
            annotators: Labels::new(),
            annotator_votes: None,
            sides: None,
            rows: votes,
            comparisons: votes,
        };
        let ranked = RankedStudy::new(study, 0, &options).unwrap();
        Self(ranked.with_uncertainty(&IntervalOptions::default()).unwrap())
    }

    pub(crate) fn simulated(items: usize, votes: u64, options: FitOptions) -> Self {
        let simulation = Simulation::new(&SimulateOptions {
            items,
            votes,
            flips: 0.1,
            ties: 0.05,
            noise: Noise::BradleyTerry { scale: 0.2 },
            seed: 7,
            ..SimulateOptions::default()
        });
        let votes: Vec<_> = simulation.unwrap().map(|vote| vote.comparison()).collect();
        let names: Vec<String> = (0..items).map(|k| format!("item {k}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Self::new(&names, Groups::merge(items, &votes).unwrap().groups, options)
    }

    pub(crate) fn findings(&self) -> StudyFindings<'_> {
        StudyFindings::new(ReportInput::new(&self.0, &[])).unwrap()
    }

    pub(crate) fn page(&self) -> StudyPage {
        study::page(&self.findings(), &Limits::default())
    }
}

pub(crate) fn votes(votes: &[(u32, u32, f64, f64)]) -> Groups {
    Groups {
        left: votes.iter().map(|vote| vote.0).collect(),
        right: votes.iter().map(|vote| vote.1).collect(),
        y: votes.iter().map(|vote| vote.2).collect(),
        weight: votes.iter().map(|vote| vote.3).collect(),
    }
}

pub(crate) fn tables(page: &StudyPage) -> impl Iterator<Item = &PageTable> {
    page.sections.iter().flat_map(|section| &section.tables)
}

pub(crate) fn charts(page: &StudyPage) -> impl Iterator<Item = &Chart> {
    page.sections.iter().flat_map(|section| &section.charts)
}

pub(crate) fn table<'a>(page: &'a StudyPage, id: &str) -> &'a PageTable {
    tables(page).find(|table| table.id == id).unwrap()
}

pub(crate) fn length(values: &Values) -> usize {
    match values {
        Values::Text(values) => values.len(),
        Values::Rank(values) => values.len(),
        Values::Item(values) => values.len(),
        Values::Whole(values) => values.len(),
        Values::Number(values) | Values::Share(values) | Values::Probability(values) => {
            values.len()
        }
        Values::Interval(values) => values.len(),
    }
}

/// Asserts columns of equal length, valid items and rows, and finite positions.
pub(crate) fn check(page: &StudyPage) {
    for table in tables(page) {
        let rows = length(&table.columns[0].values);
        for column in &table.columns {
            assert_eq!(length(&column.values), rows, "{} of {}", column.id, table.id);
            if let Values::Item(items) = &column.values {
                assert!(items.iter().all(|&item| (item as usize) < page.items.len()));
            }
        }
    }
    let mut ids = std::collections::HashSet::new();
    for chart in charts(page) {
        assert!(ids.insert(&chart.id), "{} is not unique", chart.id);
        assert!(!chart.title.is_empty() && !chart.alt.is_empty(), "{}", chart.id);
        for end in [chart.x.from, chart.x.to, chart.y.from, chart.y.to, chart.aspect] {
            assert!(end.is_finite(), "{}", chart.id);
        }
        for mark in &chart.marks {
            let (places, hover): (Vec<&Vec<f64>>, Option<&Hover>) = match mark {
                Mark::Points { x, y, hover, .. } | Mark::Cells { x, y, hover, .. } => {
                    (vec![x, y], Some(hover))
                }
                Mark::Line { x, y, .. } | Mark::Texts { x, y, .. } => (vec![x, y], None),
                Mark::Segments { x0, y0, x1, y1, hover, .. }
                | Mark::Bars { x0, x1, y0, y1, hover, .. } => (vec![x0, y0, x1, y1], Some(hover)),
                Mark::Intervals { x0, x1, y, .. } => (vec![x0, x1, y], None),
                Mark::Bands { y0, y1, .. } => (vec![y0, y1], None),
            };
            for column in &places {
                assert_eq!(column.len(), places[0].len(), "{}", chart.id);
                assert!(column.iter().all(|place| place.is_finite()), "{}", chart.id);
            }
            match hover {
                Some(Hover::Words { words }) => assert_eq!(words.len(), places[0].len()),
                Some(Hover::Rows { table: id, rows }) => {
                    assert_eq!(rows.len(), places[0].len());
                    let all = length(&table(page, id).columns[0].values);
                    assert!(rows.iter().all(|&row| (row as usize) < all), "{}", chart.id);
                }
                Some(Hover::Cells { intervals, .. }) => {
                    assert!(intervals.is_empty() || intervals.len() == places[0].len());
                }
                Some(Hover::Nothing) | None => {}
            }
        }
    }
}

/// A study with a twelfth of the votes flagged.
pub(crate) fn options(method: Method) -> FitOptions {
    let outliers = OutlierRule::Share(1.0 / 12.0);
    FitOptions::new().method(method).outliers(outliers)
}

/// The slider's values at each stop are those of the path there.
fn check_slider(study: &TestStudy) {
    let findings = study.findings();
    let page = study::page(&findings, &Limits::default());
    check(&page);
    let slider = page.slider.as_ref().expect("a robust method has a path");
    let (method, path) = findings.path.as_ref().unwrap();
    assert_eq!(*method, study.fit.method);
    let groups = study.graph.groups();
    let Values::Item(rows) = &table(&page, RANKING).columns[1].values else { panic!("items") };
    let item = |row: usize| study.items.get(page.items[rows[row] as usize].as_bytes()).unwrap();
    assert_eq!(length(&table(&page, SUSPECTS).columns[0].values), slider.turns.len());
    assert_eq!(slider.flagged[0], 0, "the first stop trusts everything");
    let size = study.fit.scores.iter().fold(0.0f64, |most, score| most.max(score.abs()));
    for s in 0..slider.at.len() {
        let (scores, flagged) = if s == slider.chosen {
            let flagged = (0..groups.len()).filter(|&g| study.fit.flagged[g] > 0.0);
            (study.fit.scores.clone(), flagged.map(|g| g as u32).collect())
        } else {
            (path.scores_at(slider.at[s]), path.flagged_at(slider.at[s]))
        };
        let flags: Vec<f64> = (0..groups.len() as u32)
            .map(|g| if flagged.contains(&g) { groups.weight[g as usize] } else { 0.0 })
            .collect();
        assert_eq!(slider.flagged[s] as f64, flags.iter().sum::<f64>(), "stop {s}");
        let ranking = Ranking::new(&study.graph, &scores).with_flagged(&study.graph, &flags);
        for row in &ranking.items {
            let k = (0..rows.len()).find(|&k| item(k) == row.item).unwrap();
            assert_eq!(slider.ranks[s][k], row.rank, "stop {s}");
            assert_eq!(slider.item_flagged[s][k], row.flagged, "stop {s}");
            assert!((slider.scores[s][k] - row.score).abs() < 2e-5 * size, "stop {s}");
        }
        let is_on =
            |turns: &&Vec<u32>| turns.iter().filter(|&&turn| turn as usize <= s).count() % 2;
        assert_eq!(slider.turns.iter().filter(|turns| is_on(turns) == 1).count(), flagged.len());
        let (mut agree, mut disagree) = (0.0, 0.0);
        for (g, flagged) in flags.iter().enumerate() {
            let ends = [groups.left[g], groups.right[g]].map(|item| scores[item as usize]);
            let trusted = groups.weight[g] - flagged;
            agree += if groups.y[g] * (ends[0] - ends[1]) > 0.0 { trusted } else { 0.0 };
            disagree += if groups.y[g] * (ends[0] - ends[1]) < 0.0 { trusted } else { 0.0 };
        }
        assert!((slider.agree[s] - agree / groups.votes()).abs() < 1e-4, "stop {s}");
        assert!((slider.disagree[s] - disagree / groups.votes()).abs() < 1e-4, "stop {s}");
    }
}

#[test]
fn the_slider_has_the_values_of_the_path() {
    let auto = FitOptions::new().method(Method::InverseScaleSpace);
    check_slider(&TestStudy::simulated(12, 1500, auto));
    check_slider(&TestStudy::simulated(12, 1500, options(Method::InverseScaleSpace)));
    check_slider(&TestStudy::simulated(12, 1500, options(Method::Bregman)));
    check_slider(&TestStudy::simulated(20, 3000, options(Method::HuberLasso)));
}

#[test]
fn methods_without_a_path_show_another_one() {
    for method in [Method::L2, Method::HardThreshold, Method::LassoL2] {
        let page = TestStudy::simulated(10, 800, options(method)).page();
        check(&page);
        let slider = page.slider.as_ref().expect("a borrowed path");
        let scores = &table(&page, RANKING).columns[2].values;
        let Values::Number(scores) = scores else { panic!("scores") };
        for (row, score) in scores.iter().enumerate() {
            let shown = slider.scores[slider.chosen][row];
            assert!((shown - score.unwrap()).abs() < 1e-4, "{method:?}");
        }
    }
}

#[test]
fn small_and_unusual_studies_have_pages() {
    let one_pair = votes(&[(0, 1, 1.0, 1.0)]);
    let page = TestStudy::new(&["a", "b"], one_pair, FitOptions::default()).page();
    check(&page);
    assert!(page.summary.iter().any(|sentence| sentence.text.contains("2 items")));

    let ties = votes(&[(0, 1, 0.0, 4.0), (1, 2, 0.0, 2.0)]);
    let page = TestStudy::new(&["a", "b", "c"], ties, FitOptions::default()).page();
    check(&page);
    assert!(
        page.summary.iter().any(|sentence| sentence.text.contains("ties")),
        "{:?}",
        page.summary
    );

    let apart = votes(&[(0, 1, 1.0, 3.0), (0, 1, -1.0, 1.0), (2, 3, 1.0, 2.0)]);
    let page = TestStudy::new(&["a", "b", "c", "d", "e"], apart, FitOptions::default()).page();
    check(&page);
    assert!(tables(&page).any(|table| table.id == "components"));
    assert!(page.summary.last().unwrap().text.contains("cannot"), "{:?}", page.summary);
    assert_eq!(
        page.overview.unwrap().note.as_deref().map(|note| note.contains("component")),
        Some(true)
    );
}

#[test]
fn limits_hold_and_are_reported() {
    let study = TestStudy::simulated(40, 6000, FitOptions::default());
    let limits = Limits { items: 10, suspects: 15, stops: 8, ..Limits::default() };
    let page = study::page(&study.findings(), &limits);
    check(&page);
    let slider = page.slider.as_ref().unwrap();
    assert!(slider.at.len() <= 10, "{}", slider.at.len());
    assert_eq!(length(&table(&page, RANKING).columns[0].values), 10);
    assert_eq!(length(&table(&page, SUSPECTS).columns[0].values), 15);
    assert!(table(&page, RANKING).note.as_ref().unwrap().contains("of 40"));
    assert!(table(&page, SUSPECTS).note.is_some());
}

#[test]
fn figures_show_what_the_ranking_flags() {
    let study = TestStudy::simulated(12, 1500, options(Method::InverseScaleSpace));
    let figures = study::figures(&study.findings());
    let map = figures.iter().find(|chart| chart.id == "outlier-map").unwrap();
    let points = |mark: &Mark| if let Mark::Points { x, .. } = mark { x.len() } else { 0 };
    let drawn: usize = map.marks.iter().map(points).sum();
    assert_eq!(drawn, study.fit.flagged.iter().filter(|&&votes| votes > 0.0).count());
    let names: Vec<&str> = figures.iter().map(|chart| chart.id.as_str()).collect();
    for name in
        ["ranking", "predictions", "path", "outlier-map", "arrows", "bump", "shares", "comparisons"]
    {
        assert!(names.contains(&name), "{names:?}");
    }
}

/// Returns the chart with this name.
pub(crate) fn chart<'a>(page: &'a StudyPage, id: &str) -> &'a Chart {
    charts(page).find(|chart| chart.id == id).unwrap()
}

#[test]
fn the_ranking_shows_how_certain_it_is() {
    let study = TestStudy::simulated(20, 3000, FitOptions::new().method(Method::BradleyTerry));
    let page = study.page();
    check(&page);
    let ranking = chart(&page, RANKING);
    let bars = ranking.marks.iter().find_map(|mark| match mark {
        Mark::Intervals { x0, x1, y, .. } => Some((x0, x1, y)),
        _ => None,
    });
    let (low, high, y) = bars.expect("error bars");
    let rows = &study.ranking.items;
    assert_eq!(y.len(), rows.len());
    for (k, row) in rows.iter().enumerate() {
        assert_eq!((low[k], high[k]), row.interval.unwrap());
        assert!(ranking.x.from < low[k] && high[k] < ranking.x.to, "bars are not cut off");
    }
    let bands = ranking.marks.iter().find_map(|mark| match mark {
        Mark::Bands { y0, y1, .. } => Some((y0, y1)),
        _ => None,
    });
    let (first, last) = bands.expect("tiers");
    assert_eq!(first.len() as u32, rows.last().unwrap().tier.unwrap());
    for (k, row) in rows.iter().enumerate() {
        let tier = row.tier.unwrap() as usize - 1;
        assert!(first[tier] < k as f64 && (k as f64) < last[tier], "row {k} is in its band");
    }
    let column = |id: &str| table(&page, RANKING).columns.iter().find(|column| column.id == id);
    let Values::Rank(ranks) = &column("rank").unwrap().values else { panic!("ranks") };
    for (shown, row) in ranks.iter().zip(rows) {
        let (best, worst) = row.rank_range.unwrap();
        assert_eq!(*shown, (row.rank, best, worst, row.provisional));
    }
    assert!(column("margin").is_some() && column("tier").is_some());
    let first = &page.summary[0].text;
    assert!(first.contains("settled") || first.contains("certain"), "{first}");
}

#[test]
fn provisional_items_and_missing_intervals_are_explained() {
    // Item d is compared once.
    let mut few = vec![(0, 1, 1.0, 60.0), (0, 1, -1.0, 40.0), (1, 2, 1.0, 60.0)];
    few.extend([(1, 2, -1.0, 40.0), (2, 3, -1.0, 1.0)]);
    let plain = FitOptions::new().method(Method::BradleyTerry);
    let page = TestStudy::new(&["a", "b", "c", "d"], votes(&few), plain).page();
    check(&page);
    let ranking = chart(&page, RANKING);
    let note = ranking.note.as_ref().expect("a note");
    assert!(note.contains("* provisional"), "{note}");
    let hodgerank_report::chart::Ticks::Labels { labels } = &ranking.y.ticks else { panic!() };
    assert!(labels.contains(&"d *".to_owned()), "{labels:?}");
    assert!(table(&page, RANKING).note.as_ref().unwrap().contains("* provisional"));

    let page = TestStudy::simulated(8, 400, options(Method::InverseScaleSpace)).page();
    assert!(page.summary[0].text.contains("iss has no intervals"), "{:?}", page.summary);
    assert!(!chart(&page, RANKING).marks.iter().any(|mark| matches!(mark, Mark::Bands { .. })));
    let columns = &table(&page, RANKING).columns;
    assert!(!columns.iter().any(|column| column.id == "margin"));

    let apart = votes(&[(0, 1, 1.0, 9.0), (0, 1, -1.0, 1.0), (2, 3, 1.0, 2.0)]);
    let page = TestStudy::new(&["a", "b", "c", "d"], apart, FitOptions::default()).page();
    check(&page);
    assert!(page.summary[0].text.starts_with("In the largest component, "), "{:?}", page.summary);
}

#[test]
fn predictions_are_those_of_the_predictor() {
    let study = TestStudy::simulated(70, 9000, FitOptions::new().method(Method::BradleyTerry));
    let findings = study.findings();
    let page = study::page(&findings, &Limits::default());
    check(&page);
    let matrix = chart(&page, "predictions");
    assert!(matrix.note.as_ref().unwrap().contains("best 60 of 70"), "{:?}", matrix.note);
    let Mark::Cells { x, y, value, hover: Hover::Cells { intervals, .. }, .. } = &matrix.marks[0]
    else {
        panic!("cells")
    };
    assert_eq!((value.len(), intervals.len()), (60 * 59, 60 * 59));
    let item = |place: f64| study.ranking.items[place as usize].item;
    for k in (0..value.len()).step_by(97) {
        let found = findings.predictor.predict(item(y[k]), item(x[k]));
        assert!((value[k] - found.probability.unwrap()).abs() <= 0.0005);
        assert!((intervals[k].0 - found.low.unwrap()).abs() <= 0.0005);
        assert_eq!(value[k] >= 0.5, y[k] < x[k], "the better item is preferred");
    }
    assert_eq!(length(&table(&page, "neighbours").columns[0].values), 69);
    // Several studies share the size of one page.
    let small = study::page(&findings, &Limits::shared_by(200));
    let Mark::Cells { value, .. } = &chart(&small, "predictions").marks[0] else { panic!("cells") };
    assert_eq!(value.len(), 13 * 12);

    let agreed = votes(&[(0, 1, 1.0, 3.0), (1, 2, 1.0, 2.0)]);
    let options = FitOptions::new().method(Method::L2);
    let page = TestStudy::new(&["a", "b", "c"], agreed, options).page();
    check(&page);
    let section = page.sections.iter().find(|section| section.id == "predictions").unwrap();
    assert!(section.text[0].contains("no vote contradicts"), "{:?}", section.text);
    assert!(section.charts.is_empty() && section.tables.is_empty());
}

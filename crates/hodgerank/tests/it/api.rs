//! The public API: `Votes`, `Ranker`, `Ranked`.

use hodgerank::{
    Comparison, ComparisonGraph, Error, FitOptions, Groups, Method, OutlierRule, RankedItem,
    Ranker, Status, Vote, Votes, fit,
};

/// Five items, best first; everybody agrees but `mallory`, who always chooses the left item.
fn coffees() -> Votes {
    let items = ["espresso", "filter", "latte", "mocha", "instant"];
    let mut votes = Votes::new();
    for (k, left) in items.iter().enumerate() {
        for (l, right) in items.iter().enumerate().filter(|&(l, _)| l != k) {
            let outcome = if k < l { 1.0 } else { -1.0 };
            for annotator in ["ann", "bob", "eve"] {
                votes.add(Vote::new(left, right, outcome).annotator(annotator).count(2));
            }
            votes.add(Vote::new(left, right, 1.0).annotator("mallory"));
        }
    }
    votes
}

#[test]
fn the_first_program_ranks_the_cat_first() {
    let mut votes = Votes::new();
    votes.prefer("cat", "dog");
    votes.prefer("dog", "cow");
    votes.tie("cat", "cow");
    let ranked = Ranker::new().rank(&votes).unwrap();
    let rows: Vec<String> = ranked.ranking().map(|row| row.to_string()).collect();
    assert_eq!(rows, ["1. cat (0.1000)", "2. dog (0.0000)", "3. cow (-0.1000)"]);
    assert_eq!(ranked.flagged().len(), 0);
    assert_eq!(ranked.status(), Status::Solved);
    assert_eq!(ranked.score("cow"), ranked.ranking().last().map(|row| row.score));
    assert_eq!(ranked.score("cat food"), None);
}

#[test]
fn scores_are_those_of_the_indexed_interface() {
    let mut votes = Votes::new();
    let graded = [("b", "a", 2.0), ("c", "b", 0.5), ("a", "c", -1.5), ("b", "a", -1.0)];
    votes.extend(graded.map(|(left, right, y)| Vote::new(left, right, y)));
    let ranked = Ranker::new().method(Method::L2).rank(&votes).unwrap();
    // Items are numbered in the order of their labels.
    let index = |label: &str| u32::from(label.as_bytes()[0] - b'a');
    let comparisons = graded.map(|(left, right, y)| Comparison::new(index(left), index(right), y));
    let groups = Groups::merge(3, &comparisons).unwrap().groups;
    let graph = ComparisonGraph::new(3, groups).unwrap();
    let expected = fit(&graph, &FitOptions::new().method(Method::L2)).unwrap();
    assert_eq!(ranked.study().fit.scores, expected.scores);
}

#[test]
fn a_count_is_as_many_votes_and_their_order_does_not_matter() {
    let mut counted = Votes::new();
    counted.add(Vote::prefer("a", "b").count(3));
    counted.add(Vote::prefer("b", "c"));
    let mut repeated = Votes::new();
    for (winner, loser) in [("a", "b"), ("b", "c"), ("a", "b"), ("a", "b")] {
        repeated.prefer(winner, loser);
    }
    let ranked = |votes: &Votes| Ranker::new().rank(votes).unwrap();
    let (a, b) = (ranked(&counted), ranked(&repeated));
    let rows = |ranked: &hodgerank::Ranked| -> Vec<String> {
        ranked.ranking().map(|row: RankedItem<&str>| format!("{row:?}")).collect()
    };
    assert_eq!(rows(&a), rows(&b));
    assert_eq!((a.study().input.rows, b.study().input.rows), (2, 4));
    assert_eq!((a.study().input.comparisons, b.study().input.comparisons), (4, 4));
}

#[test]
fn flagged_votes_and_annotators_have_names() {
    let ranked = Ranker::new().outliers(OutlierRule::Count(10)).rank(&coffees()).unwrap();
    let first = ranked.ranking().next().unwrap();
    assert_eq!((first.item, first.rank), ("espresso", 1));
    // All of mallory's votes are equally bad.
    assert_eq!(ranked.flagged().len(), 20);
    for vote in ranked.flagged() {
        assert_eq!(vote.annotator, Some("mallory"));
        let (left, right) = (ranked.score(vote.left).unwrap(), ranked.score(vote.right).unwrap());
        assert_eq!(vote.residual, vote.outcome - (left - right));
        assert!(vote.outcome > 0.0);
        let text = format!("{} over {}, annotator mallory", vote.left, vote.right);
        assert_eq!(vote.to_string(), text);
    }
    let reports: Vec<_> = ranked.annotators().collect();
    assert_eq!((reports[0].annotator, reports[0].flagged), ("mallory", 20));
    assert_eq!((reports[0].left_share, reports[1].left_share), (Some(1.0), Some(0.5)));
}

#[test]
fn without_sides_there_is_no_left_share() {
    let mut votes = Votes::new();
    votes.add(Vote::prefer("a", "b").annotator("ann"));
    votes.add(Vote::prefer("b", "c").annotator("bob"));
    assert!(!votes.has_sides());
    let ranked = Ranker::new().rank(&votes).unwrap();
    assert!(ranked.annotators().all(|report| report.left_p.is_none()));
    assert!(ranked.annotators().all(|report| report.agreement == Some(1.0)));
}

#[test]
fn every_option_has_a_setter_and_is_checked() {
    let ranker = Ranker::new()
        .method(Method::Bregman)
        .outliers("5%".parse::<OutlierRule>().unwrap())
        .kappa(50.0)
        .dt(0.001)
        .tolerance(1e-9)
        .max_iterations(500_usize);
    let options = FitOptions::new()
        .method(Method::Bregman)
        .outliers(OutlierRule::Share(0.05))
        .kappa(50.0)
        .dt(0.001)
        .tolerance(1e-9)
        .max_iterations(500_usize);
    assert_eq!(*ranker.options(), options);
    let votes = coffees();
    assert!(ranker.rank(&votes).is_ok());
    let unused = Ranker::new().method(Method::L2).kappa(50.0).rank(&votes).unwrap_err();
    assert_eq!(unused, Error::UnusedOption { option: "kappa", methods: vec!["lbi"] });
    assert_eq!(Ranker::new().seed(1).rank(&votes).unwrap_err(), Error::UnusedSeed);
    let bad = Ranker::new().method(Method::Ridge).ridge(-1.0).rank(&votes).unwrap_err();
    assert!(matches!(bad, Error::BadOption { option: "ridge", .. }), "{bad}");
}

#[test]
fn lambda_and_time_are_short_for_outlier_rules() {
    let rule = |options: FitOptions| options.rule();
    let hlasso = FitOptions::new().method(Method::HuberLasso);
    assert_eq!(rule(hlasso.lambda(1.5)), OutlierRule::Lambda(1.5));
    assert_eq!(rule(FitOptions::new().method(Method::Bregman).time(0.7)), OutlierRule::Time(0.7));
    // The penalty of pc-lasso is not an outlier rule.
    assert_eq!(rule(FitOptions::new().method(Method::PcLasso).lambda(1.5)), OutlierRule::Auto);
    let cv = "cv=3".parse::<OutlierRule>().unwrap();
    let OutlierRule::CrossValidation(options) = rule(FitOptions::new().outliers(cv).seed(9)) else {
        panic!("still a cross-validation")
    };
    assert_eq!((options.folds, options.seed), (3, 9));
}

#[test]
fn names_of_methods_read_back() {
    for &method in Method::ALL {
        assert_eq!(method.to_string().parse(), Ok(method));
        assert_eq!(method.info().method, method);
    }
    let error = "lsq".parse::<Method>().unwrap_err();
    assert!(error.to_string().contains("pc-lasso"), "{error}");
    assert_eq!(Status::ALL.map(|status| status.to_string())[3], "iteration-limit");
}

#[test]
fn bad_votes_are_errors() {
    let rank = |votes: &Votes| Ranker::new().rank(votes).unwrap_err();
    assert_eq!(rank(&Votes::new()), Error::NoVotes);
    let mut votes = Votes::new();
    votes.prefer("a", "b");
    votes.prefer("a", "a");
    assert!(matches!(rank(&votes), Error::SelfComparison { vote: 1, .. }));
    let mut votes = Votes::new();
    votes.add(Vote::new("a", "b", f64::NAN));
    assert!(matches!(rank(&votes), Error::NonFinite { vote: 0, .. }));
}

#[test]
fn a_path_refers_to_the_items_of_its_study() {
    let study = coffees().study().unwrap();
    let ranker = Ranker::new().method(Method::InverseScaleSpace).outliers(OutlierRule::Count(4));
    let path = ranker.path(&study).unwrap();
    assert_eq!(path.last_scores().len(), study.items.len());
    assert!(!path.events.is_empty());
    let error = Ranker::new().method(Method::L2).path(&study).unwrap_err();
    assert!(matches!(error, Error::BadOption { option: "method", .. }));
}

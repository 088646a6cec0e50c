//! `crowd` on several processes: each has all votes of some annotators, and owns some pairs.

use crate::thread_communicator::{MemoryCheckpoint, SavedState, distribute, pick, run_processes};
use hodgerank::annotators::{JudgedAnnotator, judge, judge_parts};
use hodgerank::fit::{Fit, Model, fit_with_annotators};
use hodgerank::select::OutlierRule;
use hodgerank::solve::crowd::AnnotatorClass;
use hodgerank::{
    AnnotatorVotes, Comparison, ComparisonGraph, Error, FitOptions, Groups, Labels, Method,
};

/// A crowd: items, votes with annotators, the number of annotators, and whether items have sides.
struct Study {
    items: usize,
    votes: Vec<Comparison>,
    annotators: usize,
    has_sides: bool,
}

/// A fit, and the annotators of the process.
type JudgedFit = (Fit, Vec<JudgedAnnotator<String>>);

/// What an annotator does.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Careful,
    Contrary,
    Left,
    Coin,
    /// Has an order of their own.
    Taste,
}

/// Uniform numbers below one.
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as f64 / u64::MAX as f64
    }
}

impl Study {
    /// Votes on random pairs of items that are at most `reach` apart.
    fn new(items: usize, reach: usize, kinds: &[Kind], votes: usize, seed: u64) -> Self {
        let mut random = numbers(seed);
        let mut all = Vec::new();
        for (annotator, kind) in kinds.iter().enumerate() {
            for _ in 0..votes {
                let left = (random() * items as f64) as usize % items;
                let right = (left + 1 + (random() * reach as f64) as usize % reach) % items;
                let (left, right) = if random() < 0.5 { (left, right) } else { (right, left) };
                let score = |item: usize| match kind {
                    Kind::Taste => 5.0 * (7 * item % items) as f64 / items as f64,
                    _ => 5.0 * item as f64 / items as f64,
                };
                let p = 1.0 / (1.0 + (score(right) - score(left)).exp());
                let p = match kind {
                    Kind::Careful | Kind::Taste => p,
                    Kind::Contrary => 1.0 - p,
                    Kind::Left => 1.0,
                    Kind::Coin => 0.5,
                };
                let y = match random() {
                    u if u < 0.08 => 0.0,
                    _ if random() < p => 1.0,
                    _ => -1.0,
                };
                let vote = Comparison::new(left as u32, right as u32, y);
                all.push(Comparison { annotator: Some(annotator as u32), ..vote });
            }
        }
        Self { items, votes: all, annotators: kinds.len(), has_sides: true }
    }

    fn mixed(seed: u64) -> Self {
        let mut kinds = vec![Kind::Careful; 26];
        kinds.extend([Kind::Contrary; 4]);
        kinds.extend([Kind::Left; 5]);
        kinds.extend([Kind::Coin; 4]);
        Self::new(20, 19, &kinds, 70, seed)
    }

    fn tastes() -> Self {
        let mut kinds = vec![Kind::Careful; 26];
        kinds.extend([Kind::Taste; 14]);
        Self::new(20, 19, &kinds, 150, 5)
    }

    /// The votes of the last annotators are those of nobody.
    fn without_names(mut self, annotators: usize) -> Self {
        self.annotators -= annotators;
        for vote in &mut self.votes {
            vote.annotator = vote.annotator.filter(|&a| (a as usize) < self.annotators);
        }
        self
    }

    /// Every vote has its winner on the left.
    fn without_sides(mut self) -> Self {
        self.has_sides = false;
        for vote in self.votes.iter_mut().filter(|vote| vote.y < 0.0) {
            (vote.left, vote.right, vote.y) = (vote.right, vote.left, 1.0);
        }
        self
    }

    fn groups(&self) -> Groups {
        Groups::merge(self.items, &self.votes).unwrap().groups
    }

    /// Names of the annotators of one of several processes; with one process, of all.
    fn names(&self, process: usize, processes: usize) -> Vec<usize> {
        (0..self.annotators).filter(|a| owner_of_annotator(*a, processes) == process).collect()
    }

    /// The votes that a process holds: all of its annotators', and a part of those without.
    fn part(&self, process: usize, processes: usize) -> (AnnotatorVotes, Labels) {
        let names = self.names(process, processes);
        let number = |annotator: u32| names.binary_search(&(annotator as usize)).ok();
        let own = self.votes.iter().enumerate().filter_map(|(row, vote)| match vote.annotator {
            Some(annotator) => {
                number(annotator).map(|a| Comparison { annotator: Some(a as u32), ..*vote })
            }
            None => (row % processes == process).then_some(*vote),
        });
        let own: Vec<Comparison> = own.collect();
        let texts: Vec<String> = names.iter().map(usize::to_string).collect();
        let labels: Labels = texts.iter().map(String::as_str).collect();
        (AnnotatorVotes::from_comparisons(names.len(), &own, self.has_sides), labels)
    }

    fn distributed(&self, processes: usize) -> Vec<Vec<usize>> {
        distribute(&self.groups(), processes, |i, j| (5 * i + 3 * j) as usize)
    }

    fn fit_on(
        &self,
        processes: usize,
        options: &FitOptions,
        checkpoints: Vec<Option<MemoryCheckpoint>>,
    ) -> Vec<(JudgedFit, Vec<SavedState>)> {
        let (groups, distributed) = (self.groups(), self.distributed(processes));
        run_processes(self.items, &groups, &distributed, checkpoints, |process, graph| {
            let (votes, labels) = self.part(process, processes);
            let fit = fit_with_annotators(graph, Some(&votes), options).unwrap();
            let judged = judge(fit.crowd().unwrap(), &votes, &labels);
            (fit, judged)
        })
    }

    fn fit(&self, options: &FitOptions) -> JudgedFit {
        let graph = ComparisonGraph::new(self.items, self.groups()).unwrap();
        let (votes, labels) = self.part(0, 1);
        let fit = fit_with_annotators(&graph, Some(&votes), options).unwrap();
        let judged = judge(fit.crowd().unwrap(), &votes, &labels);
        (fit, judged)
    }
}

fn owner_of_annotator(annotator: usize, processes: usize) -> usize {
    (annotator * annotator + 3 * annotator) % 7 % processes
}

fn crowd() -> FitOptions {
    FitOptions::new().method(Method::Crowd)
}

fn assert_close(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{what}: {a} {b}");
}

fn classes(judged: &[JudgedAnnotator<String>]) -> Vec<(String, Option<AnnotatorClass>, u64)> {
    judged.iter().map(|a| (a.annotator.clone(), a.class, a.votes)).collect()
}

#[track_caller]
fn check_same(study: &Study, options: &FitOptions) -> Fit {
    let (single, judged) = study.fit(options);
    let groups = study.groups();
    for processes in [2, 3, 4] {
        let found = study.fit_on(processes, options, (0..processes).map(|_| None).collect());
        let what = format!("{processes} processes, {options:?}");
        let mut flagged = vec![0.0; groups.len()];
        for (((fit, _), _), own) in found.iter().zip(study.distributed(processes)) {
            assert_eq!(fit.scores, found[0].0.0.scores, "all processes have the same bits");
            assert_eq!(fit.status, single.status, "{what}");
            assert_eq!(fit.certificate.asked, single.certificate.asked);
            assert_eq!(fit.certificate.reached, single.certificate.reached);
            assert_eq!(pick(&groups, &own).len(), fit.flagged.len());
            own.iter().zip(&fit.flagged).for_each(|(&g, &votes)| flagged[g] = votes);
        }
        assert_eq!(flagged, single.flagged, "{what}");
        let spread = single.scores.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        for (a, b) in found[0].0.0.scores.iter().zip(&single.scores) {
            assert!((a - b).abs() < 1e-9 * spread, "{what}: {a} {b}");
        }
        let estimates = |fit: &Fit| fit.crowd().unwrap().estimates.clone();
        let (a, b) = (estimates(&found[0].0.0), estimates(&single));
        assert_eq!(a.class_counts, b.class_counts, "{what}");
        assert_eq!((a.unknown_votes, a.iterations), (b.unknown_votes, b.iterations), "{what}");
        assert_eq!(a.is_direction_uncertain, b.is_direction_uncertain);
        assert_close(a.log_likelihood, b.log_likelihood, &what);
        assert_close(a.log_likelihood_careful, b.log_likelihood_careful, &what);
        assert_close(a.side_advantage, b.side_advantage, &what);
        assert_close(a.tie_odds, b.tie_odds, &what);
        assert_eq!(a.prior.kind, b.prior.kind, "{what}");
        assert_close(a.prior.precision, b.prior.precision, &what);
        for ((class, a), (_, b)) in a.class_shares.iter().zip(&b.class_shares) {
            assert_close(*a, *b, &format!("{what}, {class}"));
        }
        let parts = found.into_iter().map(|((_, judged), _)| judged).collect();
        let together = judge_parts(parts);
        assert_eq!(classes(&together), classes(&judged), "{what}");
        for (a, b) in together.iter().zip(&judged) {
            let p = |a: &JudgedAnnotator<String>| a.agreement_p_adjusted.unwrap_or(-1.0);
            assert_close(p(a), p(b), &what);
        }
    }
    single
}

#[test]
fn several_processes_judge_as_one() {
    let fit = check_same(&Study::mixed(1), &crowd());
    let flagged: f64 = fit.flagged.iter().sum();
    assert!(flagged > 500.0, "{flagged}");
    let counts = &fit.crowd().unwrap().estimates.class_counts;
    assert!(counts.contains(&(AnnotatorClass::Contrary, 4)), "{counts:?}");
}

#[test]
fn votes_without_names_and_without_sides() {
    let fit = check_same(&Study::mixed(2).without_names(12), &crowd());
    assert_eq!(fit.crowd().unwrap().estimates.unknown_votes, 12 * 70);
    check_same(&Study::mixed(3).without_sides(), &crowd());
    check_same(&Study::mixed(4).without_sides().without_names(20), &crowd());
}

#[test]
fn people_with_one_vote_are_judged_as_the_crowd_is() {
    let mut study = Study::mixed(11);
    let (first, passers_by) = (study.annotators as u32, 5000);
    let mut one_each = Study::new(20, 19, &[Kind::Careful], passers_by, 12).votes;
    for (vote, annotator) in one_each.iter_mut().zip(first..) {
        vote.annotator = Some(annotator);
    }
    study.votes.extend(one_each);
    study.annotators += passers_by;
    let fit = check_same(&study, &crowd());
    let annotators = &fit.crowd().unwrap().annotators;
    assert_eq!(annotators.len(), study.annotators);
    let passers_by = &annotators[first as usize..];
    assert!(passers_by.iter().all(|own| own.class == AnnotatorClass::Careful));
}

#[test]
fn pairs_that_a_single_process_solves_directly() {
    // Every item is compared with four others: a single process factors the matrix.
    let kinds = [[Kind::Careful; 20].as_slice(), &[Kind::Left; 5]].concat();
    check_same(&Study::new(60, 2, &kinds, 90, 6), &crowd());
}

#[test]
fn numbers_of_votes_are_flagged_as_on_one_process() {
    let study = Study::mixed(7);
    for rule in [OutlierRule::Share(0.1), OutlierRule::Count(30), OutlierRule::Count(0)] {
        let fit = check_same(&study, &crowd().outliers(rule));
        let asked = if rule == OutlierRule::Share(0.1) { 273.0 } else { fit.flagged_votes() };
        assert!(fit.flagged_votes() >= asked, "{rule:?}");
    }
}

#[test]
fn resuming_from_any_checkpoint_gives_the_same_bits() {
    for study in [Study::mixed(8), Study::tastes()] {
        let saving = || (0..3).map(|_| Some(MemoryCheckpoint::new(1, None))).collect();
        let complete = study.fit_on(3, &crowd(), saving());
        let mut names: Vec<&str> = complete[0].1.iter().map(|(work, _)| work.as_str()).collect();
        let states = names.len();
        assert!(states >= 2, "{names:?}");
        names.dedup();
        assert_eq!(names, ["crowd"]);
        for state in 0..states {
            let resume = |(_, kept): &(_, Vec<SavedState>)| {
                Some(MemoryCheckpoint::new(u64::MAX, Some(kept[state].clone())))
            };
            let resumed = study.fit_on(3, &crowd(), complete.iter().map(resume).collect());
            for (((a, _), _), ((b, _), _)) in complete.iter().zip(&resumed) {
                assert_eq!((&a.scores, &a.flagged), (&b.scores, &b.flagged), "state {state}");
                let crowd = |fit: &Fit| match &fit.model {
                    Some(Model::Crowd(flags)) => {
                        (flags.crowd.estimates.clone(), flags.crowd.annotators.clone())
                    }
                    _ => panic!("a crowd"),
                };
                assert_eq!(crowd(a), crowd(b), "state {state}");
            }
        }
    }
}

#[test]
fn a_state_of_other_votes_is_refused() {
    let saving = || vec![Some(MemoryCheckpoint::new(1, None))];
    let kept = Study::mixed(9).fit_on(1, &crowd(), saving()).remove(0).1;
    let other = Study::tastes();
    let checkpoints = vec![Some(MemoryCheckpoint::new(1, Some(kept[0].clone())))];
    let distributed = other.distributed(1);
    let found =
        run_processes(other.items, &other.groups(), &distributed, checkpoints, |_, graph| {
            fit_with_annotators(graph, Some(&other.part(0, 1).0), &crowd())
        });
    assert_eq!(found[0].0, Err(Error::UnusableState { work: "crowd" }));
}

#[test]
fn a_process_may_have_no_annotators_but_not_all() {
    let study = Study::mixed(10);
    let (groups, distributed) = (study.groups(), study.distributed(2));
    let fit = |names: bool| {
        let checkpoints = vec![None, None];
        run_processes(study.items, &groups, &distributed, checkpoints, |process, graph| {
            let votes = match (names, process) {
                (true, 0) => study.part(0, 1).0,
                _ => AnnotatorVotes::from_comparisons(0, &[], true),
            };
            fit_with_annotators(graph, Some(&votes), &crowd()).map(|fit| fit.scores)
        })
    };
    let (single, _) = study.fit(&crowd());
    for (scores, _) in fit(true) {
        for (a, b) in scores.unwrap().iter().zip(&single.scores) {
            assert_close(*a, *b, "scores");
        }
    }
    for (scores, _) in fit(false) {
        assert_eq!(scores, Err(Error::NoAnnotators));
    }
}

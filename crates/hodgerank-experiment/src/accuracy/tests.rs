use super::crowds::{AnswerKind, CrowdKind, Design};
use super::simulated_crowd::CrowdVote;
use super::*;

fn cell(crowd: CrowdKind) -> Cell {
    Cell { crowd, design: Design::Uniform, answers: AnswerKind::Side }
}

fn tiny(crowds: &[CrowdKind]) -> Plan {
    let cells = crowds.iter().map(|&crowd| cell(crowd)).collect();
    Plan { cells, sizes: SIZES[..2].to_vec(), first_seed: FIRST_SEED, seeds: 2 }
}

#[test]
fn crowd_is_better_than_plain_where_annotators_are_bad() {
    let plan = tiny(&[CrowdKind::Contrary, CrowdKind::OneSided]);
    let results = plan.run(&|_, _| ()).unwrap();
    assert_eq!(results.len(), 8);
    for means in plan.summary(&results).cells {
        let of = |estimator: Estimator| means.tau[estimator as usize];
        let (plain, crowd) = (of(Estimator::Plain), of(Estimator::Crowd));
        assert!(crowd > plain + 0.02, "{}: {crowd} {plain}", means.cell.crowd_name());
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let plan = tiny(&[CrowdKind::Mixed]);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| plan.table(&plan.run(&|_, _| ()).unwrap()))
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn clean_crowds_have_no_bad_votes() {
    let study = SimulatedCrowd::new(&cell(CrowdKind::Clean), &SIZES[1], 1);
    assert_eq!(study.bad_share(), 0.0);
    assert_eq!((study.truth.len(), study.annotators), (50, 40));
    assert!((1000..2500).contains(&study.votes.len()), "{}", study.votes.len());
    assert!(study.truth.iter().sum::<f64>().abs() < 1e-9);
}

#[test]
fn bad_annotators_cast_the_bad_votes() {
    let study = SimulatedCrowd::new(&cell(CrowdKind::Left), &SIZES[2], 2);
    let is_left = study.votes.iter().filter(|vote| vote.is_bad).all(|vote| vote.y == 1.0);
    assert!(is_left && (0.05..0.5).contains(&study.bad_share()), "{}", study.bad_share());
    // Fans are bad only where their item is shown: in about 2 of 50 votes.
    let study = SimulatedCrowd::new(&cell(CrowdKind::Fans), &SIZES[1], 3);
    assert!((0.0..0.05).contains(&study.bad_share()), "{}", study.bad_share());
}

#[test]
fn passers_by_have_one_or_two_votes() {
    let study = SimulatedCrowd::new(&cell(CrowdKind::Passers), &SIZES[0], 4);
    let votes = study.annotator_votes();
    assert_eq!(votes.annotators(), 20 + 400);
    let number = |a: usize| votes.of(a).iter().map(|vote| vote.count).sum::<u32>();
    assert!((0..20).all(|a| number(a) >= 20));
    assert!((20..420).all(|a| [1, 2].contains(&number(a))));
}

#[test]
fn ties_replace_answers_and_change_nothing_else() {
    let ties = Cell { answers: AnswerKind::SideOrTie, ..cell(CrowdKind::Mixed) };
    let with = SimulatedCrowd::new(&ties, &SIZES[1], 5);
    let without = SimulatedCrowd::new(&cell(CrowdKind::Mixed), &SIZES[1], 5);
    let tied = with.votes.iter().filter(|vote| vote.y == 0.0).count() as f64;
    let share = tied / with.votes.len() as f64;
    assert!((0.05..0.2).contains(&share), "{share}");
    for (a, b) in with.votes.iter().zip(&without.votes) {
        assert!(a.y == 0.0 || a == b);
    }
}

#[test]
fn graded_answers_have_sizes() {
    let graded = Cell { answers: AnswerKind::Graded, ..cell(CrowdKind::Mixed) };
    let study = SimulatedCrowd::new(&graded, &SIZES[1], 5);
    assert!(study.is_graded());
    assert!(study.votes.iter().all(|vote| vote.y.fract() == 0.0 && vote.y.abs() <= 3.0));
    let agrees = |vote: &&CrowdVote| {
        let difference = study.truth[vote.left as usize] - study.truth[vote.right as usize];
        vote.y * difference > 0.0
    };
    let honest = || study.votes.iter().filter(|vote| !vote.is_bad && vote.y != 0.0);
    let share = honest().filter(agrees).count() as f64 / honest().count() as f64;
    assert!((0.7..0.95).contains(&share), "{share}");
}

#[test]
fn matched_pairs_are_closer_than_others() {
    let distance = |design| {
        let study = SimulatedCrowd::new(&Cell { design, ..cell(CrowdKind::Clean) }, &SIZES[2], 6);
        let d = |i: u32, j: u32| (study.truth[i as usize] - study.truth[j as usize]).abs();
        let squares = study.truth.iter().map(|t| t * t).sum::<f64>() / study.truth.len() as f64;
        let sum: f64 = study.votes.iter().map(|vote| d(vote.left, vote.right)).sum();
        sum / study.votes.len() as f64 / squares.sqrt()
    };
    assert!(distance(Design::Matched) < 0.7 * distance(Design::Uniform));
}

//! Bytes as a valid study with extreme values, a method and its options; the fit is checked.
//!
//! Extreme: counts up to 2⁵³, outcomes from 1e-300 to 1e300, weak links between strongly connected
//! items, several components, contradicting votes, ties.

use hodgerank::laplacian::{Backend, BackendChoice};
use hodgerank::path::Parameter;
use hodgerank::{
    Comparison, ComparisonGraph, Error, Fit, FitOptions, Groups, Method, OutlierRule, Status,
};

use crate::Signature;
use crate::choices::Choices;
use crate::optimality::{self, largest_violation};

const MAX_VOTES: usize = 48;

/// Cross-validation is cubic in the number of votes, counts included, and accepts 4,000 of them.
const MAX_CROSS_VALIDATED: f64 = 1000.0;

/// Relative tolerance of the optimality conditions.
pub(crate) const TOLERANCE: f64 = 1e-6;

const EXTREME_OUTCOMES: [f64; 12] =
    [1.0, -1.0, 0.0, 1e12, -1e12, 1e-12, 1e-300, -1e-300, 1e300, -1e300, 1e150, 4e-5];
const EXTREME_COUNTS: [u64; 8] =
    [1, 2, 1_000, 100_000_000, 1_000_000_000_000, 1 << 52, (1 << 53) - 1, 1 << 53];
const BACKENDS: [BackendChoice; 4] = [
    BackendChoice::Auto,
    BackendChoice::Fixed(Backend::Dense),
    BackendChoice::Fixed(Backend::Sparse),
    BackendChoice::Fixed(Backend::ConjugateGradient),
];
/// Parameters of paths, relative to the largest outcome.
const RELATIVE: [f64; 8] = [1.0, 0.5, 1.5, 0.1, 1e-3, 1e-9, 3.0, 1e3];
const SHARES: [f64; 4] = [0.05, 0.2, 0.5, 0.01];

pub(crate) fn check(bytes: &[u8]) -> Signature {
    let mut choices = Choices::new(bytes);
    let method = choices.below(Method::PAPER.len() + 1);
    let rule = choices.byte();
    let (backend, value) = (choices.one_of(&BACKENDS), choices.byte());
    let Some(graph) = graph(&mut choices) else { return Signature::of("no votes") };
    let largest = graph.groups().y.iter().fold(0.0_f64, |all, y| all.max(y.abs()));
    let method = Method::PAPER.get(method).copied();
    let options = options(&graph, largest, method, (rule, value)).backend(backend);
    if options.validate().is_err() {
        return Signature::of("invalid options");
    }
    match hodgerank::fit(&graph, &options) {
        Ok(fit) => {
            check_fit(&graph, &options, &fit);
            Signature::of(&format!("{} {}", fit.method, fit.status))
        }
        // The library may refuse options that do not suit the votes, and sums that overflow.
        Err(
            error @ (Error::BadOption { .. }
            | Error::UnusedOption { .. }
            | Error::TooFewCycles { .. }
            | Error::StepTooLarge { .. }
            | Error::TooLarge { .. }
            | Error::EnergyOverflow { .. }
            | Error::Overflow { .. }),
        ) => Signature::of(&error.to_string()),
        // A backend that was asked for may be unable to factorise weights of very different sizes.
        Err(Error::Factorisation { backend, .. }) if options.backend != BackendChoice::Auto => {
            Signature::of(backend)
        }
        Err(error) => panic!("{error}\n{options:?}\n{:?}", graph.groups()),
    }
}

/// A study of two to eight items; `None` without votes.
fn graph(choices: &mut Choices<'_>) -> Option<ComparisonGraph> {
    let items = 2 + choices.below(7);
    let kinds = choices.byte();
    let mut votes = Vec::new();
    // Studies with more votes are refused before they are ranked.
    let mut room = hodgerank::MAX_VOTES;
    while !choices.is_empty() && votes.len() < MAX_VOTES {
        let (left, right) = (choices.below(items), choices.below(items));
        let y = match kinds & 3 {
            0 => choices.one_of(&[1.0, -1.0, 0.0]),
            1 => choices.one_of(&[1.0, -1.0, 0.0, 2.0, -2.0, 0.5, 3.25, 1000.0]),
            2 => choices.one_of(&EXTREME_OUTCOMES),
            _ => f64::from_bits(choices.bits()),
        };
        let count = match kinds >> 2 & 3 {
            0 => 1,
            1 => choices.below(6) as u64,
            2 => choices.one_of(&EXTREME_COUNTS),
            _ => choices.bits() >> (11 + choices.below(53)),
        };
        let is_extreme = y != 0.0 && !(1e-300..=1e300).contains(&y.abs());
        if left != right && !is_extreme && y.is_finite() {
            let count = count.min(room);
            room -= count;
            votes.push(Comparison::new(left as u32, right as u32, y).with_count(count));
        }
    }
    let groups = Groups::merge(items, &votes).expect("valid votes").groups;
    (!groups.is_empty()).then(|| ComparisonGraph::new(items, groups).expect("items in range"))
}

fn options(
    graph: &ComparisonGraph,
    largest: f64,
    method: Option<Method>,
    (rule, value): (u8, u8),
) -> FitOptions {
    let size = if largest > 0.0 { largest } else { 1.0 };
    let relative = RELATIVE[usize::from(value) % RELATIVE.len()];
    let rule = match rule % 8 {
        0 => OutlierRule::Auto,
        1 => OutlierRule::Share(SHARES[usize::from(value) % SHARES.len()]),
        2 => OutlierRule::Count((graph.votes() * f64::from(value) / 512.0) as u64),
        3 => OutlierRule::Count(u64::from(value % 8)),
        4 => OutlierRule::Lambda(relative * size),
        5 => OutlierRule::Time(1.0 / (relative * size)),
        6 => OutlierRule::Scaled { m: 1.35 },
        7 if graph.votes() <= MAX_CROSS_VALIDATED => {
            OutlierRule::CrossValidation(Default::default())
        }
        _ => OutlierRule::Auto,
    };
    FitOptions::new().method(method).outliers(rule)
}

fn check_fit(graph: &ComparisonGraph, options: &FitOptions, fit: &Fit) {
    let groups = graph.groups();
    let show = || format!("{}, {options:?}\n{groups:?}\n{fit:?}", fit.status);
    let method = fit.method;
    let is_finite = fit.scores.iter().all(|score| score.is_finite());
    assert!(is_finite, "{method}: infinite scores: {}", show());
    for members in fit.components.iter() {
        let (sum, size) = optimality::sums(members.iter().map(|&item| fit.scores[item as usize]));
        assert!(sum.abs() <= 1e-9 * size, "{method}: scores of mean {sum}: {}", show());
    }
    for (flagged, weight) in fit.flagged.iter().zip(&groups.weight) {
        assert!(
            (0.0..=*weight).contains(flagged),
            "{method}: flagged {flagged} of {weight}: {}",
            show()
        );
    }
    if !matches!(fit.status, Status::Solved | Status::Complete) {
        let may_fail = fit.status != Status::Inaccurate || !is_moderate(groups, options);
        assert!(may_fail, "{method}: inaccurate on moderate votes: {}", show());
        return;
    }
    assert!(fit.certificate.is_accurate(), "{method}: not certified: {}", show());
    check_request(graph, options, fit, &show);
    let trusted: Vec<f64> =
        groups.weight.iter().zip(&fit.flagged).map(|(weight, flagged)| weight - flagged).collect();
    let violation = match (fit.method, fit.stop) {
        (Method::L2, _) => largest_violation(graph, &fit.scores, &groups.weight, |r| r, 0.0),
        (Method::Ridge, _) => largest_violation(graph, &fit.scores, &groups.weight, |r| r, 1.0),
        (Method::HuberLasso, Some((Parameter::Lambda, lambda))) => {
            let influence = |r: f64| r.clamp(-lambda, lambda);
            largest_violation(graph, &fit.scores, &groups.weight, influence, 0.0)
        }
        (
            Method::LassoL2 | Method::HardThreshold | Method::Trimmed | Method::InverseScaleSpace,
            _,
        ) => {
            assert_eq!(
                optimality::components(graph, &trusted),
                graph.components().len(),
                "{method}: the trusted votes connect fewer items: {}",
                show()
            );
            largest_violation(graph, &fit.scores, &trusted, |r| r, 0.0)
        }
        // `lbi` has no objective; `pc-lasso` has conditions of its own.
        _ => 0.0,
    };
    assert!(violation <= TOLERANCE, "{method}: {violation:e} from optimal: {}", show());
}

/// Whether outcomes, counts and λ are those of ordinary studies, on which every method must succeed.
fn is_moderate(groups: &Groups, options: &FitOptions) -> bool {
    let is_ordinary = |&y: &f64| y == 0.0 || (1e-3..=1e3).contains(&y.abs());
    // Next to a much smaller λ, rounding errors of the outcomes decide which votes are flagged.
    let is_rounding = matches!(options.rule(), OutlierRule::Lambda(lambda) if lambda < 1e-6);
    !is_rounding
        && groups.y.iter().all(is_ordinary)
        && groups.weight.iter().all(|&weight| weight <= 1e4)
}

/// What was asked for was reached, and not more than that.
fn check_request(
    graph: &ComparisonGraph,
    options: &FitOptions,
    fit: &Fit,
    show: &dyn Fn() -> String,
) {
    let flagged: f64 = fit.flagged.iter().sum();
    let asked = match options.rule() {
        OutlierRule::Count(count) => Some(count as f64),
        OutlierRule::Share(share) => Some(share * graph.votes()),
        _ => None,
    };
    match (fit.method, asked) {
        (Method::L2 | Method::Ridge | Method::PcLasso, _) => assert_eq!(flagged, 0.0, "{}", show()),
        (Method::HardThreshold | Method::Trimmed, Some(asked)) => {
            assert!(
                flagged <= asked,
                "{}: {flagged} flagged, {asked} asked for: {}",
                fit.method,
                show()
            );
        }
        _ => {}
    }
    if let (OutlierRule::Lambda(lambda), Some((Parameter::Lambda, reached))) =
        (options.rule(), fit.stop)
    {
        let residuals = graph.gradient(&fit.scores).into_iter().zip(&graph.groups().y);
        let largest = residuals.map(|(fitted, y)| (y - fitted).abs()).fold(0.0, f64::max);
        let is_reached = reached <= lambda * (1.0 + 1e-9) || largest <= lambda * (1.0 + 1e-6);
        assert!(
            is_reached,
            "{}: λ = {lambda:e} asked for, {reached:e} reached: {}",
            fit.method,
            show()
        );
    }
}

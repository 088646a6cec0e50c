//! The program and the library compute the same numbers, bit by bit. Python's tests compare with
//! the program.

use std::sync::Arc;

use crate::support::TestDir;
use hodgerank::fit::fit_with_annotators;
use hodgerank::select::OutlierRule;
use hodgerank::solve::bregman::Algorithm;
use hodgerank::solve::lasso_l2::Protocol;
use hodgerank::{ComparisonGraph, FitOptions, Method};
use hodgerank_io::{ReadOptions, read};

/// Flags, and the same settings as options; among them those behind the published tables.
fn settings() -> Vec<(&'static str, FitOptions)> {
    let (share, default) = (OutlierRule::Share(0.05), FitOptions::default());
    let of = |method: Method| FitOptions::new().method(method);
    let paper = |method| of(method).outliers(share).protocol(Protocol::Paper);
    let lbi = |algorithm: Algorithm, dt: Option<f64>| {
        let time = OutlierRule::Time(0.66756);
        of(Method::Bregman).outliers(time).kappa(50.0).dt(dt).algorithm(algorithm)
    };
    vec![
        ("--method l2", of(Method::L2)),
        ("--method ridge", of(Method::Ridge)),
        ("--method pc-lasso", of(Method::PcLasso)),
        ("--method ilts", of(Method::Trimmed)),
        ("--method iht --outliers 5%", of(Method::HardThreshold).outliers(share)),
        ("--method hlasso --outliers 5% --protocol paper", paper(Method::HuberLasso)),
        ("--method lasso-l2 --outliers 5% --protocol paper", paper(Method::LassoL2)),
        (
            "--method lbi --kappa 50 --dt 0.00004 --time 0.66756",
            lbi(Algorithm::Exact, Some(0.00004)),
        ),
        ("--method lbi --kappa 50 --time 0.66756 --algorithm 2", lbi(Algorithm::Gradient, None)),
        ("--method iss", of(Method::InverseScaleSpace)),
        ("--threads 1", default),
    ]
}

#[test]
fn program_and_library_agree_bit_by_bit() {
    for file in ["complete.csv", "annotators.csv"] {
        let file = hodgerank_testdata::file(file).to_str().unwrap().to_owned();
        let kept = ReadOptions { annotator_votes: true, sides: true, ..Default::default() };
        let input = read(std::slice::from_ref(&file), &kept, &Arc::default()).unwrap();
        let study = &input.studies[0];
        let graph = ComparisonGraph::new(study.items.len(), study.groups.clone()).unwrap();
        let graph = graph.with_sides(study.sides.clone());
        for (flags, options) in settings() {
            let votes = study.annotator_votes.as_ref();
            let scores = fit_with_annotators(&graph, votes, &options).unwrap().scores;
            let arguments = [&[file.as_str()][..], &flags.split(' ').collect::<Vec<_>>()].concat();
            let json = TestDir::new().rank_json(&arguments);
            let ranking = json["ranking"].as_array().unwrap();
            assert_eq!(ranking.len(), scores.len());
            for row in ranking {
                let item = study.items.get(row["item"].as_str().unwrap().as_bytes()).unwrap();
                let (program, library) = (row["score"].as_f64().unwrap(), scores[item as usize]);
                assert_eq!(program.to_bits(), library.to_bits(), "{file} {flags}");
            }
        }
    }
}

//! Real votes on which of two faces is younger, compared with the true ages.
//!
//! `fgnet-age.csv` has no annotators. The age of a face stands in its label, after the `A`: 43 in
//! `001A43a.JPG`. Younger faces have higher scores.

use std::path::Path;
use std::sync::Arc;

use hodgerank::{ComparisonGraph, Method, kendall};
use hodgerank_io::write::Table;
use hodgerank_io::{ReadOptions, read};

use super::estimator::fitted;
use crate::columns::{numbers, table, texts};
use crate::error::{Error, Result};
use crate::findings::Claim;
use crate::settings::Settings;

const FILE: &str = "fgnet-age.csv";
const METHODS: [Method; 3] = [Method::L2, Method::InverseScaleSpace, Method::BradleyTerry];
const MIN_TAU: f64 = 0.795;

/// τ of each of [`METHODS`] with the true ages.
pub(super) struct Ages {
    tau: [f64; METHODS.len()],
}

/// Ranks the faces; `None` if there is no folder, or no such file in it.
pub(super) fn find(settings: &Settings) -> Result<Option<Ages>> {
    let file = settings.data.as_ref().map(|data| data.join(FILE)).filter(|file| file.exists());
    file.as_deref().map(Ages::read).transpose()
}

impl Ages {
    fn read(file: &Path) -> Result<Self> {
        let name = file.to_string_lossy().into_owned();
        let input = read(&[name], &ReadOptions::default(), &Arc::default())?;
        // Without `--by` there is exactly one study.
        let study = input.studies.into_iter().next().ok_or(Error::NoData)?;
        let youth = |label: &str| {
            let problem = || format!("{label}: expected an age after the letter A");
            let bad = || Error::PublishedTable { file: file.to_owned(), problem: problem() };
            age(label).map(|age| -age).ok_or_else(bad)
        };
        let truth: Vec<f64> = study.items.iter().map(youth).collect::<Result<_>>()?;
        let graph = ComparisonGraph::new(truth.len(), study.groups)?;
        let mut tau = [f64::NAN; METHODS.len()];
        for (tau, method) in tau.iter_mut().zip(METHODS) {
            *tau = kendall::tau(&fitted(&graph, method)?, &truth);
        }
        Ok(Self { tau })
    }

    pub(super) fn claim(&self) -> Claim {
        let rows = METHODS.iter().zip(&self.tau);
        let found: Vec<String> = rows.map(|(method, tau)| format!("{method} {tau:.4}")).collect();
        Claim::new(
            format!("fgnet-age: τ of bt with the true ages is at least {MIN_TAU}"),
            found.join(", "),
            self.tau[METHODS.len() - 1] >= MIN_TAU,
        )
    }

    pub(super) fn table(&self) -> Table {
        table([
            ("method", texts(METHODS.map(Method::as_str))),
            ("tau", numbers(self.tau.iter().copied())),
        ])
    }
}

/// Returns the number after the `A` of a label.
fn age(label: &str) -> Option<f64> {
    let after = label.split_once('A')?.1;
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    after[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::age;

    #[test]
    fn ages_stand_after_the_letter() {
        assert_eq!(age("040A00.JPG"), Some(0.0));
        assert_eq!(age("001A43a.JPG"), Some(43.0));
        assert_eq!(age("face.jpg"), None);
        assert_eq!(age("001A.JPG"), None);
    }
}

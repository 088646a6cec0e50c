//! [`OutlierRule`] as text.

use std::fmt;
use std::str::FromStr;

use super::OutlierRule;
use super::cross_validation::CrossValidationOptions;
use crate::error::{Error, Result};

/// Huber's choice of M, for 95% efficiency under normal noise.
const HUBER_M: f64 = 1.35;

const EXPECTED: &str =
    "a share (5%), a count (200), lambda=L, time=T, scaled, scaled=M, cv, cv=FOLDS or auto";

impl FromStr for OutlierRule {
    type Err = Error;

    /// Reads `5%`, `200`, `lambda=1`, `time=0.7`, `scaled`, `scaled=1.35`, `cv`, `cv=5` or `auto`.
    fn from_str(text: &str) -> Result<Self> {
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let rule = match text.split_once('=') {
            Some(("lambda", value)) => number(value).map(Self::Lambda),
            Some(("time", value)) => number(value).map(Self::Time),
            Some(("scaled", value)) => number(value).map(|m| Self::Scaled { m }),
            Some(("cv", folds)) => folds.trim().parse().ok().map(cross_validation),
            Some(_) => None,
            None if text == "cv" => Some(cross_validation(CrossValidationOptions::default().folds)),
            None if text == "auto" => Some(Self::Auto),
            None if text == "scaled" => Some(Self::Scaled { m: HUBER_M }),
            None if text.ends_with('%') => share(text).map(Self::Share),
            None => text.parse().ok().map(Self::Count),
        };
        let value = text.to_owned();
        rule.ok_or(Error::BadOption { option: "outliers", value, expected: EXPECTED })
    }
}

impl OutlierRule {
    /// One example of every kind of rule, with its meaning.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Share(0.05), "the most suspicious 5% of all votes"),
        (Self::Count(200), "the 200 most suspicious votes"),
        (Self::Lambda(1.0), "votes with a residual above 1 (hlasso, lasso-l2)"),
        (Self::Time(0.7), "votes that have entered the path by time 0.7 (lbi, iss)"),
        (Self::Scaled { m: HUBER_M }, "votes with a residual above 1.35 times the noise"),
        (
            Self::CrossValidation(CrossValidationOptions { folds: 5, seed: 0 }),
            "votes with a residual above a λ found by 5-fold cross-validation",
        ),
        (Self::Auto, "as many votes as the data calls for"),
    ];
}

impl fmt::Display for OutlierRule {
    /// Writes what [`OutlierRule::from_str`] reads. The seed of a cross-validation is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Share(share) => write!(f, "{}%", percent(share)),
            Self::Count(count) => write!(f, "{count}"),
            Self::Lambda(lambda) => write!(f, "lambda={lambda}"),
            Self::Time(time) => write!(f, "time={time}"),
            Self::Scaled { m } => write!(f, "scaled={m}"),
            Self::CrossValidation(options) => write!(f, "cv={}", options.folds),
            Self::Auto => f.write_str("auto"),
        }
    }
}

/// The shortest number of percent that reads back as `share`: 7 and not 7.000000000000001.
fn percent(share: f64) -> f64 {
    let exact = 100.0 * share;
    let rounded = (exact * 1e9).round() / 1e9;
    if rounded * 0.01 == share { rounded } else { exact }
}

/// The seed is a separate option.
fn cross_validation(folds: usize) -> OutlierRule {
    OutlierRule::CrossValidation(CrossValidationOptions { folds, ..Default::default() })
}

/// A share of a whole, from 0 to 1, written as `5%` or `0.05`; `None` if the text is none.
#[must_use]
pub fn share(text: &str) -> Option<f64> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(percent) => (percent, 0.01),
        None => (text, 1.0),
    };
    let share = number.trim().parse::<f64>().ok()? * scale;
    (0.0..=1.0).contains(&share).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_reads_back_as_written() {
        for (rule, meaning) in OutlierRule::ALL {
            assert_eq!(rule.to_string().parse(), Ok(rule), "{meaning}");
        }
        for share in [0.01, 0.07, 0.29, 0.333, 1.0 / 3.0] {
            let rule = OutlierRule::Share(share);
            let Ok(OutlierRule::Share(read)) = rule.to_string().parse() else { panic!("{rule}") };
            assert!((read - share).abs() <= f64::EPSILON * share, "{rule}");
        }
        assert_eq!(OutlierRule::Share(0.07).to_string(), "7%");
    }

    #[test]
    fn rules() {
        let parse = |text: &str| text.parse::<OutlierRule>();
        assert_eq!(parse("5%"), Ok(OutlierRule::Share(0.05)));
        assert_eq!(parse("200"), Ok(OutlierRule::Count(200)));
        assert_eq!(parse("lambda=1.5"), Ok(OutlierRule::Lambda(1.5)));
        assert_eq!(parse("time=0.6"), Ok(OutlierRule::Time(0.6)));
        assert_eq!(parse("scaled"), Ok(OutlierRule::Scaled { m: 1.35 }));
        assert_eq!(parse("auto"), Ok(OutlierRule::Auto));
        assert_eq!(parse("cv"), Ok(cross_validation(5)));
        assert_eq!(parse("cv=10"), Ok(cross_validation(10)));
        for bad in ["cv=", "cv=2.5", "", "five", "0.05", "-3", "110%", "lambda=", "size=3"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}

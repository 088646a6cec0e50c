//! [`OutlierRule`] as text.

use std::str::FromStr;

use super::OutlierRule;
use super::cross_validation::CrossValidationOptions;
use crate::error::{Error, Result};

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
            None if text == "scaled" => Some(Self::Scaled { m: 1.35 }),
            None if text.ends_with('%') => share(text).map(Self::Share),
            None => text.parse().ok().map(Self::Count),
        };
        let value = text.to_owned();
        rule.ok_or(Error::BadOption { option: "outliers", value, expected: EXPECTED })
    }
}

/// The seed is an option of its own.
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

//! How many requests are accepted: token buckets for each voter, and for everything that has no voter.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Requests of one voter per second, and at once.
const VOTER: (f64, f64) = (20.0, 40.0);
/// Requests without a valid secret, and new voters, per second and at once.
const STRANGERS: (f64, f64) = (50.0, 400.0);
/// All requests per second, and at once.
const ALL: (f64, f64) = (5000.0, 10_000.0);

#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    filled: Instant,
}

impl Bucket {
    fn new((_, most): (f64, f64)) -> Self {
        Self { tokens: most, filled: Instant::now() }
    }

    fn take(&mut self, (rate, most): (f64, f64)) -> bool {
        let now = Instant::now();
        let gained = now.duration_since(self.filled).as_secs_f64() * rate;
        *self = Self { tokens: (self.tokens + gained).min(most), filled: now };
        let is_allowed = self.tokens >= 1.0;
        self.tokens -= if is_allowed { 1.0 } else { 0.0 };
        is_allowed
    }
}

/// The buckets. There is one for each voter, so that their number is bounded.
#[derive(Debug)]
pub(super) struct Limits {
    voters: Mutex<HashMap<i64, Bucket>>,
    strangers: Mutex<Bucket>,
    all: Mutex<Bucket>,
}

impl Default for Limits {
    fn default() -> Self {
        let bucket = |limit| Mutex::new(Bucket::new(limit));
        Self { voters: Mutex::default(), strangers: bucket(STRANGERS), all: bucket(ALL) }
    }
}

impl Limits {
    pub(super) fn allows_voter(&self, voter: i64) -> bool {
        let mut voters = self.voters.lock().unwrap_or_else(PoisonError::into_inner);
        voters.entry(voter).or_insert_with(|| Bucket::new(VOTER)).take(VOTER)
    }

    pub(super) fn allows_stranger(&self) -> bool {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner).take(STRANGERS)
    }

    pub(super) fn allows_any(&self) -> bool {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).take(ALL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_voter_does_not_use_up_what_others_have() {
        let limits = Limits::default();
        let accepted = (0..100).filter(|_| limits.allows_voter(1)).count();
        assert!((40..60).contains(&accepted), "{accepted}");
        assert!(limits.allows_voter(2) && limits.allows_any());
    }
}

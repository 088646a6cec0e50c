//! Secrets in links. The database has only their hashes, so that a copy of it lets nobody vote.

use std::fmt;

use rand::TryRng as _;
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};

/// 160 random bits, written as 40 hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// The hash of a secret.
pub(crate) type SecretHash = [u8; 32];

const BYTES: usize = 20;

impl Secret {
    /// A new secret from the system's random numbers.
    ///
    /// # Errors
    /// If the system has none.
    pub fn new() -> Result<Self> {
        let mut bytes = [0_u8; BYTES];
        rand::rngs::SysRng.try_fill_bytes(&mut bytes).map_err(|_| Error::Random)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn hash(&self) -> SecretHash {
        hash(&self.0)
    }
}

/// Secrets do not get into logs by accident.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The hash of what somebody claims to be a secret.
pub(crate) fn hash(claimed: &str) -> SecretHash {
    Sha256::digest(claimed.as_bytes()).into()
}

/// Compares in a time that does not depend on where the hashes differ.
pub(crate) fn equal(a: &SecretHash, b: &SecretHash) -> bool {
    let difference = a.iter().zip(b).fold(0_u8, |sum, (a, b)| sum | (a ^ b));
    std::hint::black_box(difference) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_long_different_and_hidden() {
        let (a, b) = (Secret::new().unwrap(), Secret::new().unwrap());
        assert!(a != b && a.as_str().len() == 40);
        assert!(equal(&a.hash(), &hash(a.as_str())) && !equal(&a.hash(), &b.hash()));
        assert!(!format!("{a:?}").contains(a.as_str()));
    }
}

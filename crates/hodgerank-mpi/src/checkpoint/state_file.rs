//! Files of a checkpoint: each appears on disk whole or not at all, and damage is detected.
//!
//! A state file is a line that names the format, the solver's state, and the SHA-256 of both. The
//! state is bytes to this crate (the solvers encode it with postcard), so nothing is left to encode
//! here; postcard's own checksums are CRCs, which are weaker.

use std::path::Path;
use std::{fs, io};

use hodgerank_io::write::write_whole;
use sha2::{Digest as _, Sha256};

const HEADER: &[u8] = b"hodgerank-mpi state 2\n";
const DIGEST_BYTES: usize = 32;

/// Writes a state.
pub(super) fn write_state(path: &Path, state: &[u8]) -> io::Result<()> {
    write_whole(path, &[HEADER, state, &digest(&[HEADER, state])])
}

/// Reads a state.
///
/// # Errors
/// If the file cannot be read, is of another format, or is damaged.
pub(super) fn read_state(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = fs::read(path)?;
    let damaged = || io::Error::other("the saved state is damaged");
    let (content, expected) = bytes.split_last_chunk::<DIGEST_BYTES>().ok_or_else(damaged)?;
    if !content.starts_with(HEADER) || digest(&[content]) != *expected {
        return Err(damaged());
    }
    bytes.truncate(bytes.len() - DIGEST_BYTES);
    bytes.drain(..HEADER.len());
    Ok(bytes)
}

fn digest(parts: &[&[u8]]) -> [u8; DIGEST_BYTES] {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_back_or_known_to_be_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("process");
        for state in [&b""[..], b"x", &[7; 100_000]] {
            write_state(&path, state).unwrap();
            assert_eq!(read_state(&path).unwrap(), state);
            let whole = fs::read(&path).unwrap();
            for index in [0, HEADER.len(), whole.len() - 1] {
                let mut changed = whole.clone();
                changed[index] ^= 1;
                fs::write(&path, &changed).unwrap();
                assert!(read_state(&path).is_err(), "byte {index}");
            }
            fs::write(&path, &whole[..whole.len() - 1]).unwrap();
            assert!(read_state(&path).is_err(), "truncated");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

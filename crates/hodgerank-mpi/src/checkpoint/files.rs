//! Files of a checkpoint: each on disk whole or not at all, and known when damaged.
//!
//! A state file is a line that names the format, the state, and the SHA-256 of both.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};

const HEAD: &[u8] = b"hodgerank-mpi state 1\n";
const DIGEST: usize = 32;

/// Writes a file so that after a crash at any moment it is there whole, or not there.
pub(super) fn write_whole(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let beside = path.with_extension("part");
    let mut file = File::create(&beside)?;
    parts.iter().try_for_each(|part| file.write_all(part))?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    // The name is on disk once the folder is.
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// Writes a state.
pub(super) fn write_state(path: &Path, state: &[u8]) -> io::Result<()> {
    write_whole(path, &[HEAD, state, &digest(&[HEAD, state])])
}

/// Reads a state.
pub(super) fn read_state(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = fs::read(path)?;
    let damaged = || io::Error::other("the kept state is damaged");
    let (content, sum) = bytes.split_last_chunk::<DIGEST>().ok_or_else(damaged)?;
    if !content.starts_with(HEAD) || digest(&[content]) != *sum {
        return Err(damaged());
    }
    bytes.truncate(bytes.len() - DIGEST);
    bytes.drain(..HEAD.len());
    Ok(bytes)
}

fn digest(parts: &[&[u8]]) -> [u8; DIGEST] {
    let mut sum = Sha256::new();
    parts.iter().for_each(|part| sum.update(part));
    sum.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_comes_back_or_is_known_to_be_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rank");
        for state in [&b""[..], b"x", &[7; 100_000]] {
            write_state(&path, state).unwrap();
            assert_eq!(read_state(&path).unwrap(), state);
            let whole = fs::read(&path).unwrap();
            for place in [0, HEAD.len(), whole.len() - 1] {
                let mut changed = whole.clone();
                changed[place] ^= 1;
                fs::write(&path, &changed).unwrap();
                assert!(read_state(&path).is_err(), "byte {place}");
            }
            fs::write(&path, &whole[..whole.len() - 1]).unwrap();
            assert!(read_state(&path).is_err(), "cut off");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

//! Permissions of a file that replaces another one.

use std::fs::File;
use std::io;
use std::path::Path;

/// Gives `new` the permissions of the file at `old`, and its owner and group where the system
/// allows it. Does nothing if there is no such file.
#[cfg(unix)]
pub(super) fn keep(old: &Path, new: &File) -> io::Result<()> {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    const SPECIAL_BITS: u32 = 0o7000;

    let old = match std::fs::metadata(old) {
        Ok(old) if old.is_file() => old,
        _ => return Ok(()),
    };
    let created = new.metadata()?;
    let mut mode = old.mode() & 0o7777;
    // Changing the owner needs privileges; changing the group may not.
    let has_owner = created.uid() == old.uid() || fchown(new, Some(old.uid()), None).is_ok();
    let has_group = created.gid() == old.gid() || fchown(new, None, Some(old.gid())).is_ok();
    if !has_owner || !has_group {
        mode &= !SPECIAL_BITS;
    }
    if !has_group {
        // The file's group is now another one: it may do what everyone may do.
        mode &= !0o070 | (mode & 0o007) << 3;
    }
    if mode & 0o7777 == created.mode() & 0o7777 {
        return Ok(());
    }
    new.set_permissions(Permissions::from_mode(mode))
}

/// Other systems: a new file has the permissions of its folder.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the signature of the other systems")]
pub(super) fn keep(_: &Path, _: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    #[test]
    fn the_mode_of_the_old_file_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        let created = File::create(&new).unwrap();
        let before = created.metadata().unwrap().mode();
        keep(&old, &created).unwrap();
        assert_eq!(created.metadata().unwrap().mode(), before, "there is no old file");
        fs::write(&old, "").unwrap();
        for mode in [0o600, 0o640, 0o444, 0o755] {
            fs::set_permissions(&old, Permissions::from_mode(mode)).unwrap();
            keep(&old, &created).unwrap();
            assert_eq!(created.metadata().unwrap().mode() & 0o7777, mode);
        }
    }
}

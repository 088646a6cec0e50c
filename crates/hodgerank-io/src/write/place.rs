//! Which file a name leads to: two names can be spellings of one path, links to one file, or a
//! standard stream and the file that the shell redirected it to.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Names of the standard streams as files.
const STANDARD_INPUT: &str = "/dev/stdin";
const STANDARD_OUTPUT: &str = "/dev/stdout";

/// The file that a name leads to. Two places are equal if they are the same file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place(Identity);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Identity {
    /// A file that exists, by device and inode: the same for hard links too.
    #[cfg(unix)]
    File { device: u64, inode: u64 },
    /// A file that does not exist yet: the real path of its folder, and its name.
    Path(PathBuf),
}

impl Place {
    /// The file or folder that an input is read from; `-` is standard input. `None` if there is
    /// none, and for pipes and devices: nothing that is written destroys their content.
    #[must_use]
    pub fn of_input(name: &str) -> Option<Self> {
        let path = Path::new(if name == "-" { STANDARD_INPUT } else { name });
        let metadata = fs::metadata(path).ok().filter(|found| found.is_file() || found.is_dir())?;
        Some(Self::existing(path, &metadata))
    }

    /// A folder that an output is written to, which may not exist yet.
    pub(super) fn of_folder(name: &str) -> Self {
        let path = Path::new(name);
        match (fs::metadata(path), folder_of(path).canonicalize(), path.file_name()) {
            (Ok(metadata), _, _) => Self::existing(path, &metadata),
            (Err(_), Ok(folder), Some(name)) => Self(Identity::Path(folder.join(name))),
            _ => Self(Identity::Path(path.to_owned())),
        }
    }

    fn existing(path: &Path, metadata: &Metadata) -> Self {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let _ = path;
            Self(Identity::File { device: metadata.dev(), inode: metadata.ino() })
        }
        #[cfg(not(unix))]
        {
            let _ = metadata;
            Self(Identity::Path(path.canonicalize().unwrap_or_else(|_| path.to_owned())))
        }
    }
}

/// How an output is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// Standard output.
    Standard,
    /// A pipe, a device or an open descriptor (`/dev/fd/3`): it cannot be replaced by renaming.
    Direct(PathBuf),
    /// A regular file, or a file that does not exist yet. Links are resolved, so that the file they
    /// point to is replaced and not the link.
    File(PathBuf),
}

impl Target {
    /// Finds out how to write to `name`; `-` is standard output.
    pub(super) fn of_output(name: &str) -> io::Result<Self> {
        if name == "-" {
            return Ok(Self::Standard);
        }
        let path = match follow_links(Path::new(name))? {
            End::Path(path) => path,
            End::Descriptor(target) => return Ok(target),
        };
        let is_folder = || io::Error::other("it is a folder; name a file in it");
        match fs::metadata(&path) {
            Ok(existing) if existing.is_dir() => Err(is_folder()),
            Ok(existing) if !existing.is_file() => Ok(Self::Direct(path)),
            _ if name.ends_with(std::path::is_separator) => Err(is_folder()),
            _ => {
                let file_name = path.file_name().ok_or_else(is_folder)?;
                Ok(Self::File(folder_of(&path).canonicalize()?.join(file_name)))
            }
        }
    }

    /// The file that is written. `None` for devices such as `/dev/null`, which several outputs can
    /// share.
    pub(super) fn place(&self) -> Option<Place> {
        let (path, is_device_shared) = match self {
            Self::Standard => (Path::new(STANDARD_OUTPUT), false),
            Self::Direct(path) => (path.as_path(), true),
            Self::File(path) => (path.as_path(), false),
        };
        match fs::metadata(path) {
            Ok(metadata) if is_device_shared && is_character_device(&metadata) => None,
            Ok(metadata) => Some(Place::existing(path, &metadata)),
            Err(_) => Some(Place(Identity::Path(path.to_owned()))),
        }
    }
}

/// Where a chain of links ends.
enum End {
    Path(PathBuf),
    Descriptor(Target),
}

/// Follows the links of the last component, also if the last of them leads nowhere yet.
fn follow_links(path: &Path) -> io::Result<End> {
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Some(target) = descriptor(&path) {
            return Ok(End::Descriptor(target));
        }
        match fs::read_link(&path) {
            Ok(to) => path = folder_of(&path).join(to),
            // It is not a link, or does not exist.
            Err(_) => return Ok(End::Path(path)),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// The output that a name of an open descriptor stands for. Replacing the file behind it would take
/// it away from the program that opened it.
fn descriptor(path: &Path) -> Option<Target> {
    match path.to_str()? {
        STANDARD_OUTPUT => return Some(Target::Standard),
        "/dev/stderr" => return Some(Target::Direct(path.to_owned())),
        _ => {}
    }
    let own = format!("/proc/{}/fd", std::process::id());
    let folders = ["/dev/fd", "/proc/self/fd", &own];
    if !folders.iter().any(|folder| path.parent() == Some(Path::new(folder))) {
        return None;
    }
    match path.file_name()?.to_str()? {
        "1" => Some(Target::Standard),
        number if number.bytes().all(|digit| digit.is_ascii_digit()) => {
            Some(Target::Direct(path.to_owned()))
        }
        _ => None,
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn is_character_device(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        metadata.file_type().is_char_device()
    }
    #[cfg(not(unix))]
    {
        !metadata.is_file()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn names_of_one_file_have_one_place() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(at("a"), "a").unwrap();
        fs::write(at("b"), "a").unwrap();
        fs::create_dir(at("sub")).unwrap();
        symlink("a", at("link")).unwrap();
        symlink("link", at("link-to-link")).unwrap();
        symlink("../new", at("sub/dangling")).unwrap();
        fs::hard_link(at("a"), at("hard")).unwrap();
        let place = |name: &str| Target::of_output(name).unwrap().place().unwrap();
        for name in ["a", "link", "link-to-link", "hard", "sub/../a"] {
            assert_eq!(Place::of_input(&at("a")), Some(place(&at(name))), "{name}");
        }
        assert_ne!(place(&at("a")), place(&at("b")));
        assert_eq!(place(&at("new")), place(&at("sub/dangling")));
        assert_eq!(place(&at("new")), place(&at("sub/.././new")));
        assert_ne!(place(&at("new")), place(&at("newer")));
        assert_eq!(Place::of_input(&at("new")), None);
        assert_eq!(Target::of_output(&at("link")).unwrap(), Target::of_output(&at("a")).unwrap());
        symlink("loop", at("loop")).unwrap();
        for bad in ["loop", "sub", "new/", "no/such", "a/"] {
            assert!(Target::of_output(&at(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn devices_and_descriptors_are_written_directly() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("out");
        symlink("/dev/stdout", &link).unwrap();
        for name in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", link.to_str().unwrap()] {
            assert_eq!(Target::of_output(name).unwrap(), Target::Standard, "{name}");
        }
        let null = Target::of_output("/dev/null").unwrap();
        assert_eq!((&null, null.place()), (&Target::Direct("/dev/null".into()), None));
        assert!(matches!(Target::of_output("/dev/fd/7"), Ok(Target::Direct(_))));
    }
}

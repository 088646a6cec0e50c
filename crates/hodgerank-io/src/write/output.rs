//! Outputs: standard output, or a file that is written under a temporary name and then renamed.
//! Files whose names end in `.gz` or `.zst` are compressed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Stdout, Write};
use std::path::PathBuf;
use std::sync::Arc;

use super::permissions;
use super::place::Target;
use super::temporary::{TemporaryFile, rename_all, sync_folder};
use crate::error::{Error, Result};

/// An output that is being written. A file that is dropped before [`Output::finish`] is removed.
pub struct Output {
    name: Arc<str>,
    encoder: Encoder,
}

enum Encoder {
    Plain(Destination),
    Gzip(flate2::write::GzEncoder<Destination>),
    Zstd(zstd::Encoder<'static, Destination>),
}

enum Destination {
    Standard(BufWriter<Stdout>),
    Direct(BufWriter<File>),
    File(BufWriter<TemporaryFile>, PathBuf),
}

impl Output {
    /// Opens an output, which messages call `name`.
    pub(super) fn open(name: Arc<str>, target: &Target) -> Result<Self> {
        let encoder =
            Destination::open(target).and_then(|destination| Encoder::new(&name, destination));
        let encoder = encoder.map_err(|source| Error::write(&name, source))?;
        Ok(Self { name, encoder })
    }

    /// Completes the output: the file appears under its name, or replaces the old one, atomically.
    /// It keeps the permissions of the old one.
    ///
    /// # Errors
    /// If the last bytes cannot be written or the file cannot be renamed.
    pub fn finish(self) -> Result<()> {
        Self::finish_all([self])
    }

    /// Completes several outputs. All of them are on disk before the first one appears under its
    /// name.
    ///
    /// # Errors
    /// As [`Output::finish`].
    pub fn finish_all(outputs: impl IntoIterator<Item = Self>) -> Result<()> {
        let (mut names, mut files) = (Vec::new(), Vec::new());
        for Self { name, encoder } in outputs {
            let completed = encoder.finish().and_then(Destination::complete);
            if let Some(file) = completed.map_err(|source| Error::write(&name, source))? {
                names.push(name);
                files.push(file);
            }
        }
        rename_all(&files).map_err(|(index, source)| Error::write(&names[index], source))?;
        // The new names survive a power failure once their folders are on disk.
        let mut synced = None;
        for (name, (_, path)) in names.iter().zip(&files) {
            let folder = path.parent();
            if let Some(folder) = folder.filter(|_| folder != synced) {
                sync_folder(folder).map_err(|source| Error::write(name, source))?;
            }
            synced = folder;
        }
        Ok(())
    }

    /// The name of the output in messages.
    pub(super) fn name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    /// Wraps an error of a writer that writes to this output.
    #[must_use]
    pub fn error(&self, source: io::Error) -> Error {
        Error::write(&self.name, source)
    }
}

impl Encoder {
    fn new(path: &str, destination: Destination) -> io::Result<Self> {
        let path = path.to_ascii_lowercase();
        Ok(if path.ends_with(".gz") {
            Self::Gzip(flate2::write::GzEncoder::new(destination, flate2::Compression::default()))
        } else if path.ends_with(".zst") {
            Self::Zstd(zstd::Encoder::new(destination, zstd::DEFAULT_COMPRESSION_LEVEL)?)
        } else {
            Self::Plain(destination)
        })
    }

    fn finish(self) -> io::Result<Destination> {
        match self {
            Self::Plain(destination) => Ok(destination),
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zstd(encoder) => encoder.finish(),
        }
    }

    fn as_write(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(destination) => destination.as_write(),
            Self::Gzip(encoder) => encoder,
            Self::Zstd(encoder) => encoder,
        }
    }
}

impl Destination {
    fn open(target: &Target) -> io::Result<Self> {
        Ok(match target {
            Target::Standard => Self::Standard(BufWriter::new(io::stdout())),
            Target::Direct(path) => {
                // An open descriptor can lead to a file that already has content.
                let file = OpenOptions::new().append(true).open(path)?;
                Self::Direct(BufWriter::new(file))
            }
            Target::File(path) => {
                let folder = path.parent().ok_or(io::ErrorKind::NotFound)?;
                // The permissions of an existing file are set before the new one takes its name.
                // Until then, others must not read what they may not read afterwards.
                let is_private = fs::symlink_metadata(path).is_ok();
                let temporary = TemporaryFile::create_in(folder, is_private)?;
                Self::File(BufWriter::with_capacity(1 << 16, temporary), path.clone())
            }
        })
    }

    /// Writes what is left. A file is then on disk, with its permissions, and can be renamed.
    fn complete(self) -> io::Result<Option<(TemporaryFile, PathBuf)>> {
        match self {
            Self::Standard(mut out) => out.flush().map(|()| None),
            Self::Direct(mut out) => out.flush().map(|()| None),
            Self::File(out, path) => {
                let temporary = out.into_inner().map_err(io::IntoInnerError::into_error)?;
                permissions::keep(&path, &temporary.file)?;
                temporary.file.sync_all()?;
                Ok(Some((temporary, path)))
            }
        }
    }

    fn as_write(&mut self) -> &mut dyn Write {
        match self {
            Self::Standard(out) => out,
            Self::Direct(out) => out,
            Self::File(out, _) => out,
        }
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.as_write().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.as_write().flush()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.encoder.as_write().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder.as_write().flush()
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Outputs;
    use super::*;

    fn create(path: &Path) -> Result<Output> {
        Outputs::new(&[]).claim("--output", path.to_str().unwrap())?.open()
    }

    #[test]
    fn a_file_appears_only_when_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let mut output = create(&path).unwrap();
        output.write_all(b"half").unwrap();
        output.flush().unwrap();
        assert!(!path.exists());
        drop(output);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

        let mut output = create(&path).unwrap();
        output.write_all(b"whole").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn folders_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        assert!(create(folder.path()).is_err());
        assert!(create(&folder.path().join("no/such.csv")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn the_target_of_a_link_is_created_and_the_link_kept() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("results")).unwrap();
        let link = folder.path().join("link.csv");
        std::os::unix::fs::symlink("results/out.csv", &link).unwrap();
        for content in [&b"new"[..], b"newer"] {
            let mut output = create(&link).unwrap();
            output.write_all(content).unwrap();
            output.finish().unwrap();
            assert!(link.symlink_metadata().unwrap().is_symlink());
            assert_eq!(fs::read(folder.path().join("results/out.csv")).unwrap(), content);
        }
    }
}

//! Outputs: standard output, or a file that is written under a temporary name and then renamed.
//! Files whose names end in `.gz` or `.zst` are compressed.

use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::NamedTempFile;

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
    /// A pipe or a device, which cannot be replaced by renaming.
    Special(BufWriter<std::fs::File>),
    File(BufWriter<NamedTempFile>, PathBuf),
}

impl Output {
    /// Standard output.
    #[must_use]
    pub fn standard() -> Self {
        let destination = Destination::Standard(BufWriter::new(io::stdout()));
        Self { name: "standard output".into(), encoder: Encoder::Plain(destination) }
    }

    /// Creates a file; `-` is standard output. Nothing appears at `path` before [`Output::finish`].
    ///
    /// # Errors
    /// If the folder does not exist or cannot be written to.
    pub fn create(path: &str) -> Result<Self> {
        if path == "-" {
            return Ok(Self::standard());
        }
        let name: Arc<str> = path.into();
        let encoder =
            Self::open(Path::new(path)).and_then(|destination| Encoder::new(path, destination));
        let encoder = encoder.map_err(|source| Error::write(&name, source))?;
        Ok(Self { name, encoder })
    }

    fn open(path: &Path) -> io::Result<Destination> {
        match std::fs::metadata(path) {
            Ok(existing) if existing.is_dir() => {
                return Err(io::Error::other("it is a folder; name a file in it"));
            }
            Ok(existing) if !existing.is_file() => {
                let device = std::fs::OpenOptions::new().write(true).open(path)?;
                return Ok(Destination::Special(BufWriter::new(device)));
            }
            _ => {}
        }
        // Links are resolved, so that the file they point to is replaced and not the link.
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".hodgerank-");
        #[cfg(unix)]
        {
            // The permissions of an ordinary new file; the user's mask still applies.
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let temporary = builder.tempfile_in(folder)?;
        Ok(Destination::File(BufWriter::with_capacity(1 << 16, temporary), path))
    }

    /// Completes the output: the file appears under its name, or replaces the old one, atomically.
    ///
    /// # Errors
    /// If the last bytes cannot be written or the file cannot be renamed.
    pub fn finish(self) -> Result<()> {
        let Self { name, encoder } = self;
        let destination = match encoder {
            Encoder::Plain(destination) => Ok(destination),
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => encoder.finish(),
        };
        destination.and_then(Destination::finish).map_err(|source| Error::write(&name, source))
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

    fn as_write(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(destination) => destination.as_write(),
            Self::Gzip(encoder) => encoder,
            Self::Zstd(encoder) => encoder,
        }
    }
}

impl Destination {
    fn finish(self) -> io::Result<()> {
        match self {
            Self::Standard(mut out) => out.flush(),
            Self::Special(mut out) => out.flush(),
            Self::File(out, path) => match out.into_inner() {
                Ok(file) => file.persist(path).map(drop).map_err(|error| error.error),
                Err(error) => Err(error.into_error()),
            },
        }
    }

    fn as_write(&mut self) -> &mut dyn Write {
        match self {
            Self::Standard(out) => out,
            Self::Special(out) => out,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_only_when_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let name = path.to_str().unwrap();
        let mut output = Output::create(name).unwrap();
        output.write_all(b"half").unwrap();
        output.flush().unwrap();
        assert!(!path.exists());
        drop(output);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

        let mut output = Output::create(name).unwrap();
        output.write_all(b"whole").unwrap();
        output.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn folders_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Output::create(folder.path().to_str().unwrap()).is_err());
        assert!(Output::create(folder.path().join("no/such.csv").to_str().unwrap()).is_err());
    }
}

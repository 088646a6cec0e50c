//! Temporary copies of streams, which can be read only once.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::sync::OnceLock;

use super::source::BoxedRead;
use crate::error::CopyError;

/// A copy of a stream, written while the first pass reads the stream. A header that cannot be used
/// therefore ends the run before the rest of the stream is copied.
#[derive(Debug, Default)]
pub(super) struct Spool(OnceLock<File>);

impl Spool {
    /// The copy; `None` before the first pass.
    pub(super) fn copy(&self) -> Option<&File> {
        self.0.get()
    }

    /// A reader that copies what is read.
    pub(super) fn record(&self, stream: BoxedRead) -> io::Result<BoxedRead> {
        let copy = temporary_file()?;
        let recorder = Recorder { stream, copy: copy.try_clone()? };
        // Set once: a stream is opened by one pass at a time.
        let _ = self.0.set(copy);
        Ok(Box::new(recorder))
    }
}

struct Recorder {
    stream: BoxedRead,
    copy: File,
}

impl Read for Recorder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer)?;
        self.copy.write_all(&buffer[..read]).map_err(cannot_copy)?;
        Ok(read)
    }
}

/// Copies a stream to an unnamed temporary file.
pub(super) fn copy_to_file(mut stream: BoxedRead) -> io::Result<File> {
    let mut file = temporary_file()?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => file.write_all(&buffer[..read]).map_err(cannot_copy)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

fn temporary_file() -> io::Result<File> {
    tempfile::tempfile().map_err(cannot_copy)
}

/// Marks an error of the temporary file, so that it is not reported as one of the stream.
fn cannot_copy(source: io::Error) -> io::Error {
    let folder = std::env::temp_dir().display().to_string();
    io::Error::new(source.kind(), CopyError { folder, source })
}

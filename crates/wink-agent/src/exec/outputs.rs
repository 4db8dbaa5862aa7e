//! Files that hold what programs printed, outside of every workspace.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tempfile::{NamedTempFile, TempDir};

use crate::util::lock;

/// A directory for the output of programs; it is deleted with its last handle.
///
/// ```
/// use wink_agent::exec::Outputs;
///
/// let outputs = Outputs::temporary().unwrap();
/// assert!(outputs.read("no-such-output").is_err());
/// assert!(outputs.read("../../etc/passwd").is_err());
/// ```
#[derive(Clone)]
pub struct Outputs(Arc<Kept>);

/// How many outputs are kept before the oldest is deleted.
const MOST: usize = 32;

struct Kept {
    directory: Place,
    names: Mutex<VecDeque<String>>,
}

enum Place {
    Temporary(TempDir),
    Given(PathBuf),
}

impl Outputs {
    /// Creates a directory that is deleted with its last handle.
    pub fn temporary() -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("wink-output-").tempdir()?;
        Ok(Self(Arc::new(Kept { directory: Place::Temporary(directory), names: Mutex::default() })))
    }

    /// Uses a directory that stays, with the outputs in it; makes it if it is missing.
    ///
    /// No program that is run may be able to write to it.
    #[allow(clippy::disallowed_methods, reason = "the caller names a directory of its own")]
    pub fn kept_in(directory: impl Into<PathBuf>) -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt as _;
        let directory = directory.into();
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        let mut known = Vec::new();
        for entry in std::fs::read_dir(&directory)? {
            let entry = entry?;
            known.push((
                entry.metadata()?.modified()?,
                entry.file_name().to_string_lossy().into_owned(),
            ));
        }
        known.sort();
        let names = known.into_iter().map(|(_, name)| name).collect();
        Ok(Self(Arc::new(Kept { directory: Place::Given(directory), names: Mutex::new(names) })))
    }

    /// Reads an output by the name that a result gave.
    #[allow(clippy::disallowed_methods, reason = "the directory is this value's own")]
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        if name.chars().all(is_plain) && !name.starts_with('.') {
            std::fs::read(self.directory().join(name))
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    /// Returns the directory.
    pub(super) fn directory(&self) -> &Path {
        match &self.0.directory {
            Place::Temporary(directory) => directory.path(),
            Place::Given(directory) => directory,
        }
    }

    pub(super) fn begin(&self, name: &str) -> io::Result<SavedOutput> {
        let file = tempfile::Builder::new()
            .prefix(&format!("{name}-"))
            .suffix(".txt")
            .disable_cleanup(true)
            .tempfile_in(self.directory())?;
        let name = file.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.remember(&name);
        Ok(SavedOutput { file, name })
    }

    #[allow(clippy::disallowed_methods, reason = "the directory is this value's own")]
    fn remember(&self, name: &str) {
        let mut names = lock(&self.0.names);
        names.push_back(name.to_owned());
        if names.len() > MOST
            && let Some(oldest) = names.pop_front()
        {
            // Without a sandbox, a program may have deleted it.
            let _ = std::fs::remove_file(self.directory().join(oldest));
        }
    }
}

impl fmt::Debug for Outputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outputs")
    }
}

/// A file that is being written.
pub(super) struct SavedOutput {
    file: NamedTempFile,
    name: String,
}

impl SavedOutput {
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl Write for SavedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_output_goes_when_there_are_too_many() {
        let outputs = Outputs::temporary().unwrap();
        let names: Vec<String> =
            (0..MOST + 1).map(|_| outputs.begin("stdout").unwrap().name().to_owned()).collect();
        assert!(outputs.read(&names[0]).is_err());
        assert!(names[1..].iter().all(|name| outputs.read(name).is_ok()));
    }

    #[test]
    fn a_directory_that_stays_keeps_the_newest_outputs_of_all_processes() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("outputs");
        let first = Outputs::kept_in(&place).unwrap().begin("stdout").unwrap().name().to_owned();
        let later = Outputs::kept_in(&place).unwrap();
        assert!(later.read(&first).is_ok());
        (0..MOST).for_each(|_| drop(later.begin("stdout").unwrap()));
        assert!(later.read(&first).is_err());
    }
}

//! Directories of forks that are being made, written down so that one that was left half way is known.
//!
//! A note lies in the history, under a name made of the directory's path, and whoever writes the files holds a lock
//! on it: a note that nobody holds is of a process that died.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use wink_fs::HostBackend;

use crate::disk;
use crate::failure::Failure;
use crate::home::Home;

const NOTES: &str = "making";

/// The note of a fork whose files are being written, with the lock on it; none of a directory that is refused.
#[derive(Debug)]
pub(crate) struct HalfMade(Option<(PathBuf, File)>);

impl HalfMade {
    /// Writes down that a directory, which is new or empty, becomes a fork; refuses one that others began with.
    ///
    /// Of a directory with something in it nothing is written down: it is refused later.
    pub(crate) fn begin(home: &Home, directory: &Path) -> Result<Self, Failure> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| Failure::host("cannot write", &path, error)
        };
        let notes = home.shared()?.join(NOTES);
        disk::make_private(&notes).map_err(failed(&notes))?;
        let note = notes.join(key(directory));
        let is_left = disk::is_file(&note);
        if !is_left && !is_empty(directory) {
            return Ok(Self(None));
        }
        let held = disk::hold(&note).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => Failure::being_made(directory),
            _ => failed(&note)(error),
        })?;
        if is_left {
            // What was staged for it is put in its place, or goes.
            drop(HostBackend::open_ambient(directory));
        }
        match is_empty(directory) {
            true => Ok(Self(Some((note, held)))),
            false => Err(Failure::half_made(directory)),
        }
    }

    /// Forgets the note: the fork is made, or nothing was written.
    pub(crate) fn forget(&self) {
        if let Some((note, _)) = &self.0 {
            // One that stays says something of an empty directory, or of one that is a workspace: nobody asks.
            let _ = disk::remove(note);
        }
    }
}

fn is_empty(directory: &Path) -> bool {
    disk::names(directory).is_ok_and(|names| names.is_empty())
}

fn key(directory: &Path) -> String {
    let real = disk::real_path_to_be(directory).unwrap_or_else(|_| directory.to_owned());
    blake3::hash(real.as_os_str().as_bytes()).to_hex().to_string()
}

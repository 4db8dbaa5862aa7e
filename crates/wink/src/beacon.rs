//! A file by which other commands of the same person find a running server.

use std::env;
use std::io;
use std::path::PathBuf;

use serde::Serialize;

use crate::{disk, home};

/// Holds the place of the file, which goes with the server.
#[derive(Debug)]
pub(crate) struct Beacon(PathBuf);

/// What the file says.
#[derive(Debug, Serialize)]
pub(crate) struct Signal<'s> {
    pub(crate) version: u32,
    pub(crate) pid: u32,
    pub(crate) url: &'s str,
    pub(crate) token: &'s str,
}

impl Beacon {
    /// Writes the file, which only its owner can read.
    pub(crate) fn light(port: u16, url: &str, token: &str) -> io::Result<Self> {
        let directory = directory().ok_or(io::ErrorKind::NotFound)?;
        disk::make_private(&directory)?;
        let path = directory.join(format!("serve-{port}.json"));
        let signal = Signal { version: 1, pid: std::process::id(), url, token };
        disk::write_private(&path, &serde_json::to_vec(&signal)?)?;
        Ok(Self(path))
    }
}

impl Drop for Beacon {
    fn drop(&mut self) {
        // What is left behind names a process that is gone, and whoever reads it asks that first.
        let _ = disk::remove(&self.0);
    }
}

/// Returns the directory of such files: that of a person's running programs, or of their state.
pub(crate) fn directory() -> Option<PathBuf> {
    let absolute =
        |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state =
        || absolute("XDG_STATE_HOME").or_else(|| Some(home::user_home()?.join(".local/state")));
    Some(absolute("XDG_RUNTIME_DIR").or_else(state)?.join("wink"))
}

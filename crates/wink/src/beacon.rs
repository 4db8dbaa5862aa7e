//! A file by which other commands of the same person find a running server.

use std::env;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{disk, home};

/// Holds the place of the file, which goes with the server.
#[derive(Debug)]
pub(crate) struct Beacon(PathBuf);

const VERSION: u32 = 1;

/// What the file says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Signal {
    version: u32,
    pub(crate) pid: u32,
    pub(crate) url: String,
    pub(crate) token: String,
    /// Whether a demo can work there: with all tools, and on nobody's own files.
    #[serde(default)]
    pub(crate) for_demo: bool,
}

impl Beacon {
    /// Writes the file, which only its owner can read.
    pub(crate) fn light(port: u16, url: &str, token: &str, for_demo: bool) -> io::Result<Self> {
        let directory = directory().ok_or(io::ErrorKind::NotFound)?;
        disk::make_private(&directory)?;
        let path = directory.join(format!("serve-{port}.json"));
        let (pid, url, token) = (std::process::id(), url.to_owned(), token.to_owned());
        let signal = Signal { version: VERSION, pid, url, token, for_demo };
        disk::replace(&path, &serde_json::to_vec(&signal)?)?;
        Ok(Self(path))
    }
}

impl Drop for Beacon {
    fn drop(&mut self) {
        // What is left behind names a process that is gone, and whoever reads it asks that first.
        let _ = disk::remove(&self.0);
    }
}

/// Returns what the files say that are there; some may be left from servers that are gone.
pub(crate) fn signals() -> Vec<Signal> {
    let Some(directory) = directory() else { return Vec::new() };
    let read = |name| {
        let bytes = disk::read_private(&directory.join(name)).ok()?;
        serde_json::from_slice(&bytes).ok().filter(|signal: &Signal| signal.version == VERSION)
    };
    disk::names(&directory).unwrap_or_default().into_iter().filter_map(read).collect()
}

/// Returns the directory of such files: that of a person's running programs, or of their state.
pub(crate) fn directory() -> Option<PathBuf> {
    let absolute =
        |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state =
        || absolute("XDG_STATE_HOME").or_else(|| Some(home::user_home()?.join(".local/state")));
    Some(absolute("XDG_RUNTIME_DIR").or_else(state)?.join("wink"))
}

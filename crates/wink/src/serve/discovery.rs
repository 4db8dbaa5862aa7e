//! The discovery file, by which other commands of the same user find a running server.

use std::env;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::project;
use crate::sys::disk;

/// The path of the file; dropping it removes the file.
#[derive(Debug)]
pub(crate) struct DiscoveryFile(PathBuf);

const VERSION: u32 = 1;

/// The content of the file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Signal {
    version: u32,
    pub(crate) pid: u32,
    pub(crate) url: String,
    pub(crate) token: String,
    /// Whether `wink demo` can use the server: it has all tools, and no files of the user.
    #[serde(default)]
    pub(crate) for_demo: bool,
}

impl Signal {
    /// Makes the signal of this process.
    pub(crate) fn new(address: SocketAddr, token: &str, for_demo: bool) -> Self {
        let pid = std::process::id();
        let url = format!("http://{address}");
        let token = token.to_owned();
        Self { version: VERSION, pid, url, token, for_demo }
    }

    fn read(path: &Path) -> Option<Self> {
        let bytes = disk::read_private(path).ok()?;
        serde_json::from_slice(&bytes).ok().filter(|signal: &Self| signal.version == VERSION)
    }
}

impl DiscoveryFile {
    /// Writes the file, which only its owner can read; each address has one of its own.
    pub(crate) fn light(signal: &Signal) -> io::Result<Self> {
        let directory = directory().ok_or(io::ErrorKind::NotFound)?;
        disk::make_private(&directory)?;
        let address = signal.url.trim_start_matches("http://").replace(['[', ']'], "");
        let path = directory.join(format!("serve-{address}.json"));
        disk::replace(&path, &serde_json::to_vec(signal)?)?;
        Ok(Self(path))
    }
}

impl Drop for DiscoveryFile {
    fn drop(&mut self) {
        let is_own = |signal: Signal| signal.pid == std::process::id();
        if Signal::read(&self.0).is_some_and(is_own) {
            // A file left behind names a process that is gone, and a command that reads it checks that first.
            let _ = disk::remove(&self.0);
        }
    }
}

/// Reads all discovery files; some may be left from servers that have ended.
pub(crate) fn signals() -> Vec<Signal> {
    let Some(directory) = directory() else { return Vec::new() };
    let read = |name| Signal::read(&directory.join(name));
    disk::names(&directory).unwrap_or_default().into_iter().filter_map(read).collect()
}

/// Returns the directory of discovery files: `wink` in the user's runtime or state directory.
pub(crate) fn directory() -> Option<PathBuf> {
    let absolute =
        |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state =
        || absolute("XDG_STATE_HOME").or_else(|| Some(project::user_home()?.join(".local/state")));
    Some(absolute("XDG_RUNTIME_DIR").or_else(state)?.join("wink"))
}

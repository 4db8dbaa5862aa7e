//! Information about processes.

use std::fs;
use std::path::Path;

use crate::sys::disk;

/// How many bytes this process had the system read and write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transferred {
    pub(crate) read: u64,
    pub(crate) written: u64,
}

/// Returns what this process has read and written, if the system says.
pub(crate) fn transferred() -> Option<Transferred> {
    let text = String::from_utf8(disk::read(Path::new("/proc/self/io")).ok()??).ok()?;
    let value =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    Some(Transferred { read: value("rchar:")?, written: value("wchar:")? })
}

/// Returns the name of the file that a process runs, which may have been replaced meanwhile.
#[allow(clippy::disallowed_methods, reason = "what the kernel tells is no file of a workspace")]
pub(crate) fn program_of(pid: u32) -> Option<String> {
    let path = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let name = path.file_name()?.to_string_lossy();
    Some(name.strip_suffix(" (deleted)").unwrap_or(&name).to_owned())
}

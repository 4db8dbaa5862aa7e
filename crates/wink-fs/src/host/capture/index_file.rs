//! The file that keeps the index between processes.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use super::index::Index;
use super::stamp::{self, Moment, Stamp};

/// Loads the index; an empty one if the file is missing or damaged.
pub(crate) fn load(path: &Path) -> Index {
    let index = read(path).ok().and_then(|(bytes, written)| Index::from_bytes(bytes, written));
    index.unwrap_or_default()
}

/// Returns the file's content and the time it was written.
fn read(path: &Path) -> std::io::Result<(Vec<u8>, Moment)> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(CWD, path, flags, Mode::empty())?);
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let written = stamp::look_at(&file)?;
    Ok((bytes, Stamp::of(&written).modified()))
}

/// Replaces the file atomically.
///
/// It is not synced: the checksum detects what a power loss leaves.
pub(crate) fn save(path: &Path, index: &Index) -> std::io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}", std::process::id()));
    let flags =
        OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(CWD, &temporary, flags, Mode::RUSR | Mode::WUSR)?);
    let written = file.write_all(index.as_bytes());
    let saved = written.and_then(|()| Ok(rustix::fs::rename(&temporary, path)?));
    if saved.is_err() {
        let _ = rustix::fs::unlinkat(CWD, &temporary, AtFlags::empty());
    }
    saved
}

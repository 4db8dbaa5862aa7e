//! Reflinks: files that share their space until one of them changes.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fd::AsFd;
use rustix::io::Errno;

use crate::error::worded;
use crate::hash::ContentHash;
use crate::tree::content::Content;

/// Makes an empty file a clone of content, and returns the content's hash and size.
///
/// The stamp of the captured file is checked before and after, so that the clone has the bytes whose hash is known.
pub(super) fn clone(content: &Content, copy: &File) -> io::Result<(ContentHash, u64)> {
    let source = content.file().ok_or_else(not_on_the_host)?;
    rustix::fs::ioctl_ficlone(copy, source).map_err(|errno| refused(errno, copy))?;
    let hash = content.hash()?;
    content.read_at(&mut [0], 0)?;
    if copy.metadata()?.len() == content.len() {
        Ok((hash, content.len()))
    } else {
        Err(Errno::STALE.into())
    }
}

/// Fails if files at a path cannot be cloned.
pub(super) fn probe(path: &Path) -> io::Result<()> {
    // Unnamed files, so that nothing is left behind.
    let from = tempfile::tempfile_in(home(path))?;
    let to = tempfile::tempfile_in(home(path))?;
    rustix::fs::ioctl_ficlone(&to, &from).map_err(|errno| refused(errno, &to))
}

/// Returns whether files at a path can be clones of files in a directory.
pub(super) fn is_possible(path: &Path, root: &Path) -> bool {
    let device = |path| rustix::fs::stat(path).map(|stat| stat.st_dev).ok();
    device(home(path)) == device(root) && probe(path).is_ok()
}

/// Returns the parent of a new path, or the path itself if it exists.
pub(super) fn home(path: &Path) -> &Path {
    match path.parent() {
        _ if rustix::fs::stat(path).is_ok() => path,
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

fn not_on_the_host() -> io::Error {
    unsupported("reflink clones files of a host directory, and these are none; use `store`")
}

fn refused(errno: Errno, copy: &File) -> io::Error {
    match errno {
        Errno::XDEV => unsupported(
            "reflink needs the snapshots on the file system of the workspace; \
             put them there, or use `store`",
        ),
        Errno::OPNOTSUPP | Errno::NOTTY | Errno::INVAL | Errno::NOSYS => unsupported(format!(
            "the file system here is {} and cannot clone files; use `store`, or put the snapshots and \
             the workspace on btrfs or XFS",
            file_system(copy)
        )),
        _ => errno.into(),
    }
}

fn unsupported(why: impl Into<String>) -> io::Error {
    worded(io::ErrorKind::Unsupported, why)
}

/// The name of OverlayFS.
pub(super) const OVERLAY: &str = "OverlayFS";

/// Returns the name of an open file's file system.
pub(super) fn file_system(file: impl AsFd) -> String {
    let Ok(found) = rustix::fs::fstatfs(file) else { return "unknown".to_owned() };
    match found.f_type as u32 {
        0xef53 => "ext4".to_owned(),
        0x0102_1994 => "tmpfs".to_owned(),
        0x9123_683e => "btrfs".to_owned(),
        0x5846_5342 => "XFS without reflinks".to_owned(),
        0x794c_7630 => OVERLAY.to_owned(),
        0x6969 => "NFS".to_owned(),
        other => format!("of type {other:#x}"),
    }
}

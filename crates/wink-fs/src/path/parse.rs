//! Parses text into a [`TreePath`]; no other code reads a caller's path.

use super::escape;
use super::{MAX_PATH_BYTES, MountPoint, TOO_LONG, TreePath, name};
use crate::error::{Error, ErrorKind, Operation, Result};

/// An escape makes four characters of one byte, so a longer text is never a valid path.
const MAX_TEXT_BYTES: usize = 4 * MAX_PATH_BYTES + 256;

/// Resolves a text against the root, including `..`, without accessing any file.
pub(super) fn resolve(text: &str, mount: Option<&MountPoint>) -> Result<TreePath> {
    if is_own_spelling(text) {
        return checked(text, text.as_bytes());
    }
    check_text(text).map_err(|why| refusal(text, ErrorKind::InvalidPath, why))?;
    let segments = relative_segments(text, mount)?;
    join(text, segments)
}

/// Returns whether a text equals the bytes of a path, as nearly all do.
fn is_own_spelling(text: &str) -> bool {
    text.len() <= MAX_PATH_BYTES
        && escape::plain(text.as_bytes()).is_some()
        && text.split('/').all(|segment| name::check(segment.as_bytes()).is_ok())
}

/// The segments of a text that are neither empty nor `.`.
pub(super) struct Segments<'a>(std::str::Split<'a, char>);

impl<'a> Iterator for Segments<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.0.by_ref().find(|segment| !matches!(*segment, "" | "."))
    }
}

fn check_text(text: &str) -> Result<(), String> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(TOO_LONG.into());
    }
    if escape::plain(text.as_bytes()).is_some() {
        return Ok(());
    }
    match text.chars().find(|c| escape::needs_escape(*c)) {
        None => Ok(()),
        Some('\0') => Err("a path cannot contain a NUL character; leave it out".into()),
        Some(c) => Err(format!(
            "a path cannot contain the control character U+{:04X}; a file that has it in its \
             name is written with the escape that listings show",
            u32::from(c)
        )),
    }
}

fn relative_segments<'a>(text: &'a str, mount: Option<&MountPoint>) -> Result<Segments<'a>> {
    let segments = Segments(text.split('/'));
    let Some(mount) = mount.filter(|_| names_absolute_entry(text)) else {
        return Ok(segments);
    };
    mount.strip(segments).ok_or_else(|| refusal(text, ErrorKind::PermissionDenied, ELSEWHERE))
}

/// Returns whether a text is absolute and not just `/`.
fn names_absolute_entry(text: &str) -> bool {
    text.starts_with('/') && Segments(text.split('/')).next().is_some()
}

fn join(text: &str, segments: Segments<'_>) -> Result<TreePath> {
    let mut path = Vec::with_capacity(text.len());
    for segment in segments {
        if segment == ".." {
            pop(&mut path).ok_or_else(|| refusal(text, ErrorKind::PermissionDenied, LEAVES))?;
        } else {
            push(&mut path, segment).map_err(|why| refusal(text, ErrorKind::InvalidPath, why))?;
        }
    }
    checked(text, &path)
}

fn checked(text: &str, path: &[u8]) -> Result<TreePath> {
    TreePath::from_checked_segments(path).map_err(|why| refusal(text, ErrorKind::InvalidPath, why))
}

/// Does not name the mount point: an agent need not know where the workspace is on the host.
const ELSEWHERE: &str =
    "it is an absolute path and not one of this workspace; use a path relative to its root";

const LEAVES: &str = "it leaves the workspace; use a path inside it";

const NOT_CANONICAL: &str = "`\\xHH` stands for a byte that is not plain text and nothing else; \
                             write a literal backslash before `xHH` as `\\x5c`";

fn push(path: &mut Vec<u8>, segment: &str) -> Result<(), &'static str> {
    let bytes = escape::unescape(segment).ok_or(NOT_CANONICAL)?;
    name::check(&bytes)?;
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(&bytes);
    Ok(())
}

fn pop(path: &mut Vec<u8>) -> Option<()> {
    if path.is_empty() {
        return None;
    }
    path.truncate(memchr::memrchr(b'/', path).unwrap_or(0));
    Some(())
}

fn refusal(text: &str, kind: ErrorKind, why: impl Into<String>) -> Error {
    Error::new(Operation::Resolve, kind).with_path_text(text).with_detail(why)
}

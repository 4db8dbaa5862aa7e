//! Paths: validated once at the edge, and never text below it.

mod escape;
mod mount;
mod name;
mod parse;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

pub(crate) use escape::{escape, needs_escape};
pub use mount::MountPoint;
pub use name::{MAX_NAME_BYTES, Name};

use crate::error::{Error, ErrorKind, Operation, Result};

/// The longest path, in bytes.
pub const MAX_PATH_BYTES: usize = 4096;

const TOO_LONG: &str = "a path has at most 4096 bytes; choose a shorter one";

/// The entry of a root that belongs to the host backend, and to no workspace.
///
/// Its path, and every path below it, is InvalidPath on every backend, and no listing shows it.
pub const RESERVED_NAME: &str = ".wink-staging";

/// The path of an entry, relative to the workspace's root; clones share it.
///
/// - It never leaves the root: there is no `..` in it, and text that would leave is refused, not clamped.
///
///   ```
///   # use wink_fs::{ErrorKind, TreePath};
///   assert_eq!(TreePath::parse("a/../b")?.to_string(), "b");
///   assert_eq!(TreePath::parse("a/../../b").unwrap_err().kind(), ErrorKind::PermissionDenied);
///   # Ok::<(), wink_fs::Error>(())
///   ```
/// - There is one spelling: empty segments and `.` are dropped, a leading `/` means the root.
///
///   ```
///   # use wink_fs::TreePath;
///   assert_eq!(TreePath::parse("/src//./main.rs")?, TreePath::parse("src/main.rs")?);
///   for root in ["", ".", "/"] {
///       assert!(TreePath::parse(root)?.is_root());
///   }
///   # Ok::<(), wink_fs::Error>(())
///   ```
/// - It holds bytes, because disks do. Its text is the bytes where they are plain UTF-8; control
///   characters, bidi controls and bytes that are not UTF-8 appear as `\xHH`, and a backslash that
///   would read as such an escape as `\x5c`. Each path has exactly one text and parses back from it.
///
///   ```
///   # use wink_fs::TreePath;
///   let odd = TreePath::from_disk(b"caf\xe9/line\nbreak")?;
///   assert_eq!(odd.to_string(), r"caf\xe9/line\x0abreak");
///   assert_eq!(TreePath::parse(&odd.to_string())?, odd);
///   # Ok::<(), wink_fs::Error>(())
///   ```
/// - Raw control characters in a caller's text, names over 255 bytes and paths over 4,096 are refused.
///
///   ```
///   # use wink_fs::{ErrorKind, TreePath};
///   for bad in ["a\0b", "a\nb", "a\u{202e}b", &"n".repeat(256), &"d/".repeat(2500)] {
///       assert_eq!(TreePath::parse(bad).unwrap_err().kind(), ErrorKind::InvalidPath);
///   }
///   ```
/// - Paths order bytewise by segment, so a directory is followed by what it contains.
///
///   ```
///   # use wink_fs::TreePath;
///   assert!(TreePath::parse("a/b")? < TreePath::parse("a-b")?);
///   # Ok::<(), wink_fs::Error>(())
///   ```
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct TreePath(Arc<[u8]>);

impl TreePath {
    /// Returns the path of the workspace's root.
    pub fn root() -> Self {
        Self::default()
    }

    /// Parses a path from a user or an agent, without a mount point.
    pub fn parse(text: &str) -> Result<Self> {
        parse::resolve(text, None)
    }

    /// Parses a path that may be below a mount point.
    pub fn parse_at(mount: Option<&MountPoint>, text: &str) -> Result<Self> {
        parse::resolve(text, mount)
    }

    /// Checks a `/`-separated path from a disk or an archive, in which nothing is escaped.
    pub fn from_disk(path: &[u8]) -> Result<Self> {
        let mut joined = Self::root();
        for segment in path.split(|b| *b == b'/').filter(|s| !s.is_empty()) {
            joined = joined.join(&Name::from_disk(segment)?)?;
        }
        Ok(joined)
    }

    /// Returns the path of an entry of this directory.
    pub fn join(&self, name: &Name) -> Result<Self> {
        let bytes =
            if self.is_root() { name.as_bytes().into() } else { joined(&self.0, name.as_bytes()) };
        let text = || escape(name.as_bytes()).into_owned();
        Self::from_checked_segments(bytes).map_err(|why| {
            Error::new(Operation::Resolve, ErrorKind::InvalidPath)
                .with_path_text(&text())
                .with_detail(why)
        })
    }

    /// Returns whether an entry of this directory has a path that is not too long.
    pub(crate) fn has_room_for(&self, name: &Name) -> bool {
        self.0.len() + 1 + name.as_bytes().len() <= MAX_PATH_BYTES
    }

    /// Returns the path of the reserved name, for reports; no call accepts it.
    pub(crate) fn reserved() -> Self {
        Self(RESERVED_NAME.as_bytes().into())
    }

    fn from_checked_segments(bytes: impl Into<Arc<[u8]>>) -> Result<Self, &'static str> {
        let path = Self(bytes.into());
        if path.0.len() > MAX_PATH_BYTES {
            return Err(TOO_LONG);
        }
        if path.segments().next() == Some(RESERVED_NAME.as_bytes()) {
            return Err("this name is reserved for wink's own staging; use another one");
        }
        Ok(path)
    }

    /// Returns whether this is the workspace's root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the bytes, segments separated by `/`; empty for the root.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the segments from the root down.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &[u8]> + Clone {
        self.0.split(|b| *b == b'/').filter(|s| !s.is_empty())
    }

    /// Returns whether the text form has an escape.
    pub fn is_escaped(&self) -> bool {
        self.segments().any(|segment| matches!(escape::escape(segment), Cow::Owned(_)))
    }

    /// Returns the number of segments.
    pub fn depth(&self) -> usize {
        if self.is_root() { 0 } else { memchr::memchr_iter(b'/', &self.0).count() + 1 }
    }

    /// Returns the last segment, or `None` for the root.
    pub fn name(&self) -> Option<Name> {
        self.split().map(|(_, name)| Name::from_segment(name))
    }

    /// Returns the parent directory, or `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        self.split().map(|(parent, _)| Self(parent.into()))
    }

    /// Returns the bytes of the parent's path and of the last segment, or `None` for the root.
    pub(crate) fn split(&self) -> Option<(&[u8], &[u8])> {
        if self.is_root() {
            return None;
        }
        Some(match memchr::memrchr(b'/', &self.0) {
            Some(at) => (&self.0[..at], &self.0[at + 1..]),
            None => (&[], &self.0),
        })
    }

    /// Returns the directories above this path, from the root down, without the root itself.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> + '_ {
        memchr::memchr_iter(b'/', &self.0).map(|at| Self(self.0[..at].into()))
    }

    /// Returns whether this path is `other` or below it.
    pub fn starts_with(&self, other: &Self) -> bool {
        match self.0.strip_prefix(other.as_bytes()) {
            Some(rest) => other.is_root() || rest.is_empty() || rest[0] == b'/',
            None => false,
        }
    }

    /// Returns whether one of two paths is the other, or below it.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.starts_with(other) || other.starts_with(self)
    }

    /// Returns this path moved from below `from` to below `to`; `None` if it is not below `from`.
    pub fn rebase(&self, from: &Self, to: &Self) -> Option<Result<Self>> {
        if !self.starts_with(from) {
            return None;
        }
        let rest = &self.0[from.0.len()..];
        let moved = [to.as_bytes(), b"/", rest].concat();
        Some(Self::from_disk(&moved))
    }
}

/// Longer paths are joined in a buffer on the heap, which costs one more allocation.
const USUAL_PATH_BYTES: usize = 128;

/// Joins two paths that are not empty.
fn joined(directory: &[u8], name: &[u8]) -> Arc<[u8]> {
    let mut usual = [0; USUAL_PATH_BYTES];
    match usual.get_mut(..directory.len() + 1 + name.len()) {
        Some(bytes) => {
            let (front, back) = bytes.split_at_mut(directory.len());
            front.copy_from_slice(directory);
            back[0] = b'/';
            back[1..].copy_from_slice(name);
            (&*bytes).into()
        }
        None => [directory, b"/", name].concat().into(),
    }
}

impl Ord for TreePath {
    fn cmp(&self, other: &Self) -> Ordering {
        let same = self.0.iter().zip(&*other.0).take_while(|(ours, theirs)| ours == theirs).count();
        // The separator must sort before every other byte; NUL is in no segment.
        let key = |b: &u8| if *b == b'/' { 0 } else { *b };
        self.0.get(same).map(key).cmp(&other.0.get(same).map(key))
    }
}

impl PartialOrd for TreePath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl FromStr for TreePath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return f.write_str(".");
        }
        if let Some(text) = escape::plain(&self.0) {
            return f.write_str(text);
        }
        for (at, segment) in self.segments().enumerate() {
            if at > 0 {
                f.write_str("/")?;
            }
            f.write_str(&escape(segment))?;
        }
        Ok(())
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TreePath({self})")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn paths_order_as_their_segments_do(a in "[a/.-]{0,6}", b in "[a/.-]{0,6}") {
            let a = TreePath::from_disk(a.as_bytes());
            let b = TreePath::from_disk(b.as_bytes());
            if let (Ok(a), Ok(b)) = (a, b) {
                prop_assert_eq!(a.cmp(&b), a.segments().cmp(b.segments()));
            }
        }

        #[test]
        fn a_joined_path_is_what_its_segments_are(segments in prop::collection::vec("[ab]{1,60}", 1..6)) {
            let joined = segments.iter().try_fold(TreePath::root(), |path, segment| {
                path.join(&Name::from_disk(segment.as_bytes())?)
            });
            let joined = joined.unwrap();
            let text = segments.join("/");
            prop_assert_eq!(joined.as_bytes(), text.as_bytes());
            prop_assert_eq!(TreePath::parse(&text).unwrap().to_string(), text);
        }
    }
}

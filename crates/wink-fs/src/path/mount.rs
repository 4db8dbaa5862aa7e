//! The absolute prefix under which an agent knows the workspace.

use std::fmt;

use super::TreePath;
use super::escape;
use super::parse::{self, Segments};
use crate::error::{Error, ErrorKind, Operation, Result};

/// The absolute path that stands for the workspace's root.
///
/// With a mount point `/workspace`, the path `/workspace/a.txt` means `a.txt`; `/` alone is the root; any other
/// absolute path is refused, so that `/etc/passwd` is never taken for a file of the workspace.
///
/// ```
/// use wink_fs::{ErrorKind, MountPoint};
///
/// let mount = MountPoint::parse("/workspace")?;
/// assert_eq!(mount.resolve("/workspace/src/a.rs")?.to_string(), "src/a.rs");
/// assert_eq!(mount.resolve("src/a.rs")?.to_string(), "src/a.rs");
/// assert_eq!(mount.resolve("/")?.to_string(), ".");
/// assert_eq!(mount.resolve("/workspacex/a").unwrap_err().kind(), ErrorKind::PermissionDenied);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MountPoint(TreePath);

impl MountPoint {
    /// Parses an absolute path, with or without the leading `/`; `/` itself strips nothing.
    pub fn parse(text: &str) -> Result<Self> {
        if !text.starts_with('/') {
            return Err(Error::new(Operation::Resolve, ErrorKind::InvalidPath)
                .with_path_text(text)
                .with_detail("a mount point is an absolute path; start it with `/`"));
        }
        Ok(Self(parse::resolve(text, None)?))
    }

    /// Takes a directory's real path on the host.
    pub fn from_disk(path: &[u8]) -> Result<Self> {
        Ok(Self(TreePath::from_disk(path)?))
    }

    /// Parses a path from a user or an agent, relative or below this mount point.
    pub fn resolve(&self, text: &str) -> Result<TreePath> {
        parse::resolve(text, Some(self))
    }

    /// Strips the mount point from an absolute path; `None` if it is elsewhere.
    pub(super) fn strip<'a>(&self, mut segments: Segments<'a>) -> Option<Segments<'a>> {
        for own in self.0.segments() {
            let given = segments.next()?;
            if escape::unescape(given)?.as_ref() != own {
                return None;
            }
        }
        Some(segments)
    }
}

impl fmt::Display for MountPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("/")?;
        if self.0.is_root() { Ok(()) } else { fmt::Display::fmt(&self.0, f) }
    }
}

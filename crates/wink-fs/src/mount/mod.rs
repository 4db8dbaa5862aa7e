//! Copies host files into a new backend.
//!
//! Only the program that makes a workspace can mount; agents have no tool for it. An allow-list of directories says
//! which host files may be mounted: without one, every mount is refused. A host path is opened first and checked
//! afterwards, by its handle, so that a link on the way cannot lead out of the allow-list, not even by a race.
//!
//! ```
//! use wink_fs::{mount, HostMount, MemoryBackend, Workspace};
//!
//! # let project = tempfile::tempdir().unwrap();
//! # std::fs::create_dir(project.path().join("docs")).unwrap();
//! # std::fs::write(project.path().join("docs/guide.md"), "# Guide\n").unwrap();
//! # std::fs::write(project.path().join("docs/logo.png"), [0]).unwrap();
//! # let project = project.path();
//! let mut backend = MemoryBackend::new();
//! let docs = HostMount::new("docs").include("*.md").max_bytes(1_000_000);
//! let reports = mount(&mut backend, &[docs], &[project])?;
//! assert_eq!((reports[0].files, reports[0].skipped.len()), (1, 1));
//!
//! let files = Workspace::builder(backend).build();
//! assert_eq!(files.read("docs/guide.md")?.content, "# Guide\n");
//! # Ok::<(), wink_fs::Error>(())
//! ```

#[cfg(target_os = "linux")]
mod allowed;
#[cfg(target_os = "linux")]
mod bring_in;
#[cfg(not(target_os = "linux"))]
#[path = "unsupported.rs"]
mod bring_in;
#[cfg(target_os = "linux")]
mod overlay;
#[cfg(target_os = "linux")]
mod plan;

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::filesystem::Backend;
use crate::path::TreePath;

/// A host file or directory to copy into a workspace.
///
/// ```
/// use wink_fs::{HostMount, TreePath};
///
/// let mount = HostMount::new("src")
///     .at(TreePath::parse("project/src")?)
///     .include("*.rs")
///     .exclude("generated/**");
/// assert!(!mount.follow_symlinks);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct HostMount {
    /// The file or directory; a relative path is searched in each allowed root in turn.
    pub host_path: PathBuf,
    /// Where it is mounted; by default the last component of the host path, at the root.
    pub mount_path: Option<TreePath>,
    /// Patterns of the files to copy, relative to the host path; empty means all.
    pub include_glob: Vec<String>,
    /// Patterns of files and whole directories not to copy, which override the others.
    pub exclude_glob: Vec<String>,
    /// The most bytes to copy; if there are more, nothing is mounted.
    pub max_bytes: Option<u64>,
    /// Whether links within the allowed roots are followed; otherwise they are copied as links.
    pub follow_symlinks: bool,
}

impl HostMount {
    /// Names a file or directory to copy as a whole.
    pub fn new(host_path: impl Into<PathBuf>) -> Self {
        Self {
            host_path: host_path.into(),
            mount_path: None,
            include_glob: Vec::new(),
            exclude_glob: Vec::new(),
            max_bytes: None,
            follow_symlinks: false,
        }
    }

    /// Sets where it is mounted.
    #[must_use]
    pub fn at(mut self, mount_path: TreePath) -> Self {
        self.mount_path = Some(mount_path);
        self
    }

    /// Adds a pattern of files to copy.
    #[must_use]
    pub fn include(mut self, glob: impl Into<String>) -> Self {
        self.include_glob.push(glob.into());
        self
    }

    /// Adds a pattern of files not to copy.
    #[must_use]
    pub fn exclude(mut self, glob: impl Into<String>) -> Self {
        self.exclude_glob.push(glob.into());
        self
    }

    /// Sets the most bytes to copy.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// Sets whether links within the allowed roots are followed.
    #[must_use]
    pub fn follow_symlinks(mut self, follow: bool) -> Self {
        self.follow_symlinks = follow;
        self
    }
}

/// What a mount copied and what it skipped.
///
/// ```
/// use wink_fs::{mount, HostMount, MemoryBackend};
///
/// # let project = tempfile::tempdir().unwrap();
/// # std::fs::write(project.path().join("a.txt"), "hello").unwrap();
/// let reports = mount(&mut MemoryBackend::new(), &[HostMount::new("a.txt")], &[project.path()])?;
/// assert_eq!((reports[0].mount_path.to_string(), reports[0].bytes), ("a.txt".into(), 5));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MountReport {
    /// Where it was mounted.
    pub mount_path: TreePath,
    /// The number of files copied.
    pub files: u64,
    /// The number of links copied as links.
    pub links: u64,
    /// The bytes of the files.
    pub bytes: u64,
    /// What was skipped, in order, with reasons.
    pub skipped: Vec<LeftOut>,
}

/// An entry of a mount that was skipped.
///
/// ```
/// use wink_fs::{mount, HostMount, MemoryBackend};
///
/// # let project = tempfile::tempdir().unwrap();
/// # std::fs::create_dir(project.path().join("d")).unwrap();
/// # std::fs::write(project.path().join("d/a.png"), "").unwrap();
/// let mounts = [HostMount::new("d").exclude("*.png")];
/// let reports = mount(&mut MemoryBackend::new(), &mounts, &[project.path()])?;
/// assert_eq!(reports[0].skipped[0].to_string(), "d/a.png: excluded by a pattern");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LeftOut {
    /// Where it would have been.
    pub path: TreePath,
    /// Why it was skipped.
    pub reason: &'static str,
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.reason)
    }
}

/// Copies host files into a backend: all mounts or, if one fails, none.
///
/// Directories are merged; a file or link replaces what is there, and a later mount overrides an earlier one. Limits
/// for agents do not apply. On systems other than Linux, every mount is Unsupported.
pub fn mount<P: AsRef<Path>>(
    backend: &mut dyn Backend,
    mounts: &[HostMount],
    allowed_roots: &[P],
) -> Result<Vec<MountReport>> {
    let allowed_roots: Vec<_> = allowed_roots.iter().map(AsRef::as_ref).collect();
    bring_in::bring_in(backend, mounts, &allowed_roots)
}

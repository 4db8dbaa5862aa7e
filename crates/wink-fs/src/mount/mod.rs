//! HostTree files brought into a backend when it is made.
//!
//! Only the program that makes a workspace mounts; a model has no tool for it. Which host files may be
//! mounted at all is an allow-list of directories, which the program gives beside the mounts: with none
//! given, every mount is refused. A host path is opened first and judged afterwards, by the handle that
//! was opened, so that a link on the way cannot lead out of the allow-list, not even by a race.
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

/// Names a host file or directory and what of it is brought in.
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
    /// The file or directory; a relative path is looked for below each allowed root in turn.
    pub host_path: PathBuf,
    /// Where it is put; unset is the last component of the host path, at the root.
    pub mount_path: Option<TreePath>,
    /// Patterns, relative to the host path, of the files that are brought in; none means all.
    pub include_glob: Vec<String>,
    /// Patterns of those that are not, whatever the other patterns say; of a directory, with all in it.
    pub exclude_glob: Vec<String>,
    /// How many bytes are brought in at most; one more, and nothing is mounted.
    pub max_bytes: Option<u64>,
    /// Whether links that stay below the allowed roots are followed; else they are brought in as links.
    pub follow_symlinks: bool,
}

impl HostMount {
    /// Names a file or directory, all of which is brought in.
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

    /// Sets where it is put.
    #[must_use]
    pub fn at(mut self, mount_path: TreePath) -> Self {
        self.mount_path = Some(mount_path);
        self
    }

    /// Adds a pattern of files that are brought in.
    #[must_use]
    pub fn include(mut self, glob: impl Into<String>) -> Self {
        self.include_glob.push(glob.into());
        self
    }

    /// Adds a pattern of files that are not brought in.
    #[must_use]
    pub fn exclude(mut self, glob: impl Into<String>) -> Self {
        self.exclude_glob.push(glob.into());
        self
    }

    /// Sets how many bytes are brought in at most.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// Sets whether links that stay below the allowed roots are followed.
    #[must_use]
    pub fn follow_symlinks(mut self, follow: bool) -> Self {
        self.follow_symlinks = follow;
        self
    }
}

/// Says what a mount brought in and what it left out.
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
    /// Where it was put.
    pub mount_path: TreePath,
    /// How many files were brought in.
    pub files: u64,
    /// How many links were brought in as links.
    pub links: u64,
    /// How many bytes the files have.
    pub bytes: u64,
    /// What was left out, in order, with the reason.
    pub skipped: Vec<LeftOut>,
}

/// Names an entry of a mount that was not brought in.
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
    /// Where it would have been put.
    pub path: TreePath,
    /// Why it was not.
    pub reason: &'static str,
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.reason)
    }
}

/// Brings host files into a backend: all mounts, or, where one fails, none.
///
/// Directories merge with what is there; a file or link takes the place of what is there, and a later
/// mount that of an earlier one. Limits for agents do not apply. Where the system is not Linux, every
/// mount is Unsupported.
pub fn mount<P: AsRef<Path>>(
    backend: &mut dyn Backend,
    mounts: &[HostMount],
    allowed_roots: &[P],
) -> Result<Vec<MountReport>> {
    let allowed_roots: Vec<_> = allowed_roots.iter().map(AsRef::as_ref).collect();
    bring_in::bring_in(backend, mounts, &allowed_roots)
}

//! What a workspace section is made with.

use std::path::PathBuf;

use wink_fs::{Backend, HostMount, Limits, MountReport, Result, mount};

/// What is mounted into a section's workspace, and what a model may do in it.
///
/// Only what lies below an allowed host root can be mounted: with none given, every mount is refused
/// when the workspace is made. A host path is opened first and judged afterwards, so that no link leads
/// out of the allowed roots. A model has no tool for mounting.
///
/// ```
/// use wink_agent::prompt::SectionOptions;
/// use wink_fs::HostMount;
///
/// let options = SectionOptions::default()
///     .mount(HostMount::new("docs").include("*.md"))
///     .allow_host_root("/home/me/project");
/// assert_eq!(options.mounts.len(), 1);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct SectionOptions {
    /// Host files that are in the workspace from the beginning, later ones over earlier ones.
    pub mounts: Vec<HostMount>,
    /// The directories of the host below which mounts must lie.
    pub allowed_host_roots: Vec<PathBuf>,
    /// What bounds the calls of a model.
    pub limits: Limits,
    /// Where archives of the workspace are kept; unset is a directory of its own for temporary files.
    pub snapshot_dir: Option<PathBuf>,
}

impl SectionOptions {
    /// Adds host files that are in the workspace from the beginning.
    #[must_use]
    pub fn mount(mut self, mount: HostMount) -> Self {
        self.mounts.push(mount);
        self
    }

    /// Allows mounts that lie below a directory of the host.
    #[must_use]
    pub fn allow_host_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.allowed_host_roots.push(root.into());
        self
    }

    /// Sets what bounds the calls of a model.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets where archives of the workspace are kept.
    #[must_use]
    pub fn snapshot_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.snapshot_dir = Some(directory.into());
        self
    }

    /// Brings the mounts into a backend that is being made.
    pub(super) fn mount_into(&self, backend: &mut dyn Backend) -> Result<Vec<MountReport>> {
        if self.mounts.is_empty() {
            Ok(Vec::new())
        } else {
            mount(backend, &self.mounts, &self.allowed_host_roots)
        }
    }
}

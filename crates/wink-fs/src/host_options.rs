//! How a directory of the host is reached.

use std::path::PathBuf;

use crate::filesystem::BackendKind;

/// Options of a host directory.
///
/// ```
/// use wink_fs::{HostBackend, HostOptions};
///
/// # let directory = tempfile::tempdir().unwrap();
/// let options = HostOptions::default().component_walk(true);
/// let files = HostBackend::open_ambient_with(directory.path(), &options)?;
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct HostOptions {
    /// Whether paths are walked one directory at a time even where the kernel could do it.
    pub component_walk: bool,
    /// A file, outside the directory, that remembers from one process to the next which files are
    /// known to be unchanged; without one, the first capture of each process reads everything.
    pub index: Option<PathBuf>,
    /// The kind that the backend gives as its own, for one of another crate that is made of it.
    pub kind: Option<BackendKind>,
    /// User and group that new files and directories belong to, where this process may give them away.
    pub owner: Option<(u32, u32)>,
}

impl HostOptions {
    /// Sets whether paths are walked one directory at a time even where the kernel could do it.
    #[must_use]
    pub fn component_walk(mut self, component_walk: bool) -> Self {
        self.component_walk = component_walk;
        self
    }

    /// Sets the kind that the backend gives as its own.
    #[must_use]
    pub fn kind(mut self, kind: BackendKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Sets the user and the group that new files and directories belong to.
    #[must_use]
    pub fn owner(mut self, user: u32, group: u32) -> Self {
        self.owner = Some((user, group));
        self
    }

    /// Sets the file that remembers which files are known to be unchanged.
    #[must_use]
    pub fn index(mut self, index: impl Into<PathBuf>) -> Self {
        self.index = Some(index.into());
        self
    }
}

//! The files of a workspace whose programs run in a container.

use std::path::Path;

use wink_fs::{BackendKind, HostOptions, MountPoint, Result, Store, Workspace, WorkspaceBuilder};

use crate::container::MOUNT_POINT;
use crate::machine;

/// The kind of these workspaces; snapshots and sessions record it.
///
/// ```
/// assert_eq!(wink_podman::BACKEND.as_str(), "podman");
/// ```
pub const BACKEND: BackendKind = BackendKind::Other("podman");

/// Returns how the host backend reaches such a directory: what wink writes belongs to the directory's owner, so
/// that programs in the container can change it.
pub fn host_options(root: &Path) -> HostOptions {
    let options = HostOptions::default().kind(BACKEND);
    match machine::owner(root) {
        Some((user, group)) => options.owner(user, group),
        None => options,
    }
}

/// Returns where programs find the files, which agents may use to name them.
pub fn mount_point() -> Result<MountPoint> {
    MountPoint::parse(MOUNT_POINT)
}

/// Begins a workspace of a directory with a history; an executor is given to its context.
///
/// ```
/// use std::sync::Arc;
/// use wink_agent::ToolContext;
/// use wink_podman::{PodmanExecutor, PodmanOptions};
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let (root, store) = (directory.path().join("root"), directory.path().join("store"));
/// # std::fs::create_dir(&root).unwrap();
/// let files = wink_podman::builder(&root, wink_fs::Store::create_ambient(store)?)?.build();
/// let executor = PodmanExecutor::new(PodmanOptions::default())?;
/// let context = ToolContext::over(&files).executor(Arc::new(executor));
/// assert_eq!(files.properties().backend, wink_podman::BACKEND);
/// files.write("/workspace/a.txt", "no container is needed for this")?;
/// # drop(context);
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub fn builder(root: impl AsRef<Path>, store: Store) -> Result<WorkspaceBuilder> {
    let options = host_options(root.as_ref());
    Ok(Workspace::host_builder_with(root, store, options)?.mount_point(mount_point()?))
}

//! Which state of the files belongs to a state of the session.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wink_fs::SnapshotId;

use crate::session::slices::slice::Slice;

/// Refers to a snapshot of files that was taken together with one of the session.
///
/// Every session keeps all that it is told of, as events.
///
/// ```
/// use wink_agent::session::{FilesystemSnapshotRef, Session};
/// use wink_fs::Workspace;
///
/// let (session, files) = (Session::new(), Workspace::memory());
/// let taken = files.snapshot("turn-5")?;
/// session.dispatch(FilesystemSnapshotRef::new("vfs", taken.id, "in_memory"))?;
/// let latest = session.query::<FilesystemSnapshotRef>()?.latest().unwrap();
/// assert_eq!(latest.snapshot_id(), Some(taken.id));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FilesystemSnapshotRef {
    /// The key of the section that owns the files, such as `vfs`.
    pub filesystem_key: String,
    /// The id of the snapshot, as text.
    pub snapshot_id: String,
    /// What the files are in: `in_memory`, `host` or `podman`.
    pub backend_type: String,
    /// The fields of a dump that this version does not know, which are written back unchanged.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl FilesystemSnapshotRef {
    /// Refers to a snapshot.
    pub fn new(
        filesystem_key: impl Into<String>,
        snapshot_id: SnapshotId,
        backend_type: impl Into<String>,
    ) -> Self {
        Self {
            filesystem_key: filesystem_key.into(),
            snapshot_id: snapshot_id.to_string(),
            backend_type: backend_type.into(),
            rest: Map::new(),
        }
    }

    /// Returns the id of the snapshot; none if another program wrote something else there.
    pub fn snapshot_id(&self) -> Option<SnapshotId> {
        self.snapshot_id.parse().ok()
    }
}

impl Slice for FilesystemSnapshotRef {
    const NAME: &'static str = "filesystem_snapshot_ref";
}

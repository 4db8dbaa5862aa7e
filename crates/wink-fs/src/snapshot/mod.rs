//! Snapshots: states of a workspace that are kept, as values, and the trait of what keeps them.

mod id;
mod memory;
mod request;
mod store;
mod tag;
mod value;
mod verification;

pub use id::SnapshotId;
pub use memory::MemorySnapshots;
pub use request::NewSnapshot;
pub use store::SnapshotStore;
pub(crate) use tag::{check_tag, check_unused};
pub use value::{Skipped, Snapshot, SnapshotCause};
pub use verification::{Problem, Verification, VerifyOptions};

//! Snapshots: states of a workspace that are kept, as values, and the trait of what keeps them.

mod id;
mod request;
mod store;
mod tag;
mod value;
mod verification;

pub use id::SnapshotId;
pub use request::NewSnapshot;
pub use store::SnapshotStore;
pub(crate) use tag::check_tag;
pub use value::{Skipped, Snapshot, SnapshotCause};
pub use verification::{Problem, Verification, VerifyOptions};

//! Snapshots: states of a workspace that are kept, as values, and the trait of what keeps them.

mod id;
mod memory;
pub(crate) mod named;
mod pin;
mod reclaimed;
mod request;
mod retention;
mod state_name;
mod store;
mod tag;
mod value;
mod verification;

pub use id::SnapshotId;
pub use memory::MemorySnapshots;
pub use pin::Pin;
pub(crate) use pin::is_pinned;
pub use reclaimed::{Reclaimed, Redacted, Usage};
pub use request::NewSnapshot;
pub use retention::Retention;
pub use state_name::StateName;
pub use store::{Choose, SnapshotStore};
pub(crate) use tag::{check_new, check_tag, check_unused, is_plain_name};
pub(crate) use value::{FORKS, GONE};
pub use value::{Skipped, Snapshot, SnapshotCause, SnapshotOrigin};
pub use verification::{Problem, Repaired, Verification, VerifyOptions};

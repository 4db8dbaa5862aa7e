//! One operation for each call that writes: what it changed, and what was there before.

mod hashes;
mod image;
mod ledger;
mod left;
mod memory_ledger;
mod recording;
mod value;

pub use image::BeforeImage;
pub(crate) use image::{BEFORE, BEGUN, beside, numbered, touched_line, touched_paths};
pub(crate) use ledger::{Ledger, MANY_RECORDS, last_kept, too_old};
pub(crate) use left::Left;
pub(crate) use memory_ledger::{MemoryLedger, gone};
pub(crate) use recording::{Record, Recording};
pub use value::{OperationCause, OperationChange, OperationRecord};

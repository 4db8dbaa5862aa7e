//! One operation for each call that writes: what it changed, and what was there before.

mod hashes;
mod image;
mod kept;
mod ledger;
mod left;
mod memory_ledger;
mod recorded;
mod recording;
mod step;
mod value;

pub use image::BeforeImage;
pub(crate) use image::{BEFORE, BEGUN, beside, numbered};
pub(crate) use kept::{check_contents, check_kinds};
pub(crate) use ledger::{Ledger, MANY_RECORDS, last_kept};
pub(crate) use left::Left;
pub(crate) use memory_ledger::{MemoryLedger, gone};
pub(crate) use recorded::Recorded;
pub use recorded::{KeptEntries, KeptEntry};
pub(crate) use recording::{Record, Recording};
pub(crate) use step::{Step, earlier_paths, steps};
pub use value::{OperationCause, OperationChange, OperationRecord};

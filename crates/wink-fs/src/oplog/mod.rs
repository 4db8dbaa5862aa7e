//! The operation log: one operation for each call that writes, with what it changed and what was there before.

pub(crate) mod file;
mod hashes;
mod image;
mod kept;
mod left;
mod log;
mod memory;
mod recorded;
mod recording;
mod step;
mod value;

pub use image::BeforeImage;
pub(crate) use image::{BEFORE, BEGUN, beside, numbered};
pub(crate) use kept::{check_contents, check_kinds};
pub(crate) use left::Left;
pub(crate) use log::{MANY_RECORDS, OpLog, last_kept};
pub(crate) use memory::{MemoryOpLog, gone};
pub(crate) use recorded::Recorded;
pub use recorded::{KeptEntries, KeptEntry};
pub(crate) use recording::{Record, Recording};
pub(crate) use step::{Step, announced_steps, earlier_paths, steps};
pub use value::{OperationCause, OperationChange, OperationRecord};

//! The operation log: an operation for each call that writes, with its steps and their pre-images.

mod check;
mod content_id;
pub(crate) mod file;
mod hashes;
mod image;
mod log;
mod memory;
mod recorded;
mod recording;
mod step;
mod value;

pub(crate) use check::{check_contents, check_kinds};
pub(crate) use content_id::ContentId;
pub use image::BeforeImage;
pub(crate) use image::{BEFORE, BEGUN, CopiedImage, beside, numbered};
pub(crate) use log::{MANY_RECORDS, OpLog, last_kept};
pub(crate) use memory::{MemoryOpLog, gone};
pub(crate) use recorded::Recorded;
pub use recorded::{KeptEntries, KeptEntry};
pub(crate) use recording::{Record, Recording};
pub(crate) use step::{Line, Step, announced_steps, earlier_paths, intact_length, steps};
pub(crate) use value::DirectoryModeChange;
pub use value::{OperationCause, OperationChange, OperationRecord};

//! One filesystem protocol for AI agents.

mod clock;
mod content;
mod error;
mod event;
mod filesystem;
mod guard;
mod hash;
mod layer;
mod limits;
mod memory;
pub mod ops;
mod path;
mod refusal;
mod staged;
#[cfg(feature = "testkit")]
pub mod testkit;
mod tree;
mod workspace;

pub use clock::{Clock, SystemClock};
pub use content::{Content, ContentReader, ReadAt};
pub use error::{Error, ErrorKind, Operation, Result};
pub use event::{Event, Observers};
pub use filesystem::{
    Backend, Durability, Filesystem, Properties, Put, PutCondition, PutOptions, Recursion, Removed,
    Replacement,
};
pub use guard::Guard;
pub use hash::ContentHash;
pub use layer::{Call, Layer, Layered};
pub use limits::Limits;
pub use memory::MemoryBackend;
pub use ops::{
    BytePage, Copied, ListOptions, Listed, MkdirOptions, MoveOptions, PageLimit, ReadOptions,
    TextPage, WriteMode, WriteOptions, Written,
};
pub use path::{MAX_NAME_BYTES, MAX_PATH_BYTES, MountPoint, Name, RESERVED_NAME, TreePath};
pub use staged::{Staged, StagedBody, Staging, StagingSink};
pub use tree::{Entry, FileMode, Kind, Stat, Tree};
pub use workspace::{Workspace, WorkspaceBuilder};

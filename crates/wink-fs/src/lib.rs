//! One filesystem protocol for AI agents, over memory and directories of the host.
//!
//! # In a minute
//!
//! A [`Workspace`] is what a program works with. It takes paths as text, and everything it returns is
//! a value with named fields.
//!
//! ```
//! use wink_fs::{ErrorKind, Workspace, WriteMode, WriteOptions};
//!
//! let files = Workspace::memory(); // or `Workspace::host("some/directory")?`
//! files.write("src/lib.rs", "pub fn one() -> u8 { 1 }\n")?;
//! files.write_with("log.txt", "started\n", &WriteOptions::default().mode(WriteMode::Append))?;
//!
//! let page = files.read("src/lib.rs")?;
//! assert_eq!((page.total_lines, page.truncated), (1, false));
//! let names: Vec<_> = files.list("")?.into_iter().map(|entry| entry.name).collect();
//! assert_eq!(names, ["log.txt", "src"]);
//!
//! // Nothing gets out, and an error says what to do next.
//! let error = files.read("../secret").unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::PermissionDenied);
//! assert_eq!(error.to_string(), "read `../secret`: it leaves the workspace; use a path inside it");
//! # Ok::<(), wink_fs::Error>(())
//! ```
//!
//! # For an agent
//!
//! What is done for a model goes through [`Workspace::as_agent`], which bounds what it creates by
//! [`Limits`]. A tool gets a [`Filesystem`], which can be changed and cannot go back in time.
//!
//! ```
//! use wink_fs::{ops, ErrorKind, Workspace, WriteOptions};
//!
//! let files = Workspace::memory();
//! let path = files.path("big.txt")?;
//! let content = "x".repeat(50_000);
//! let result = files.as_agent("write", |fs| ops::write(fs, &path, &content, &WriteOptions::default()));
//! assert_eq!(result.unwrap_err().kind(), ErrorKind::TooLarge);
//! # Ok::<(), wink_fs::Error>(())
//! ```
//!
//! # No lost updates
//!
//! A write can say what it expects to find. Anything else is a Conflict that carries the hash of what
//! is there, and nothing is written.
//!
//! ```
//! use wink_fs::{ErrorKind, ReadOptions, Workspace, WriteOptions};
//!
//! let files = Workspace::memory();
//! files.write("notes.md", "draft")?;
//! let seen = files.read_with("notes.md", &ReadOptions::default().hash(true))?;
//! files.write("notes.md", "another writer's words")?;
//!
//! let mut options = WriteOptions::default();
//! options.expected = seen.content_hash;
//! let error = files.write_with("notes.md", "my words", &options).unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::Conflict);
//! assert_eq!(error.current_hash(), Some(files.content_hash("notes.md")?));
//! # Ok::<(), wink_fs::Error>(())
//! ```
//!
//! # A backend of your own
//!
//! Implement [`Tree`], [`Filesystem`] and [`Backend`]: only what a backend alone can do. Reading pages,
//! appending, making parents, copying and the rest are functions in [`ops`], written once over those
//! traits. The feature `testkit` has the conformance suite that memory and host pass too. Limits,
//! events and test doubles are [`Layer`]s over any backend.
//!
//! # What holds everywhere
//!
//! - The same input gives the same result and the same [`ErrorKind`] on every backend.
//! - A call that fails has changed nothing; a reader sees old content or new, never a mixture.
//! - Links are data: listed, copied and deleted themselves, never followed.
//! - Paths are [`TreePath`]s: parsed once, and never text again below that.

pub mod archive;
mod clock;
mod diff;
mod error;
mod filesystem;
mod hash;
#[cfg(target_os = "linux")]
mod host;
#[cfg(not(target_os = "linux"))]
#[path = "host/unsupported.rs"]
mod host;
mod host_options;
mod limits;
mod memory;
mod merge;
mod mount;
mod oplog;
pub mod ops;
mod path;
pub mod search;
mod snapshot;
mod store;
mod strategy;
#[cfg(feature = "testkit")]
pub mod testkit;
mod tree;
mod util;
mod workspace;

pub use self::clock::{Clock, SystemClock};
pub use self::diff::{Changed, Diff, DiffLine, DiffOptions, Hunk, LineChange, Renamed, diff};
pub use self::error::{Error, ErrorKind, Operation, Result};
pub use self::filesystem::capture::{Capture, NotCaptured, Totals};
pub use self::filesystem::checks;
pub use self::filesystem::event::{Event, Observers};
pub use self::filesystem::guard::Guard;
pub use self::filesystem::layer::{Call, Layer, Layered, Source};
pub use self::filesystem::replace_plan::ReplacePlan;
pub use self::filesystem::staged::{Staged, StagedBody, Staging, StagingSink};
pub use self::filesystem::{
    Backend, BackendKind, DoneFirst, Durability, EntryIdentity, Filesystem, KeptFirst, Properties,
    Put, PutCondition, PutOptions, Recursion, Removed, Replaced, Replacement,
};
pub use self::hash::ContentHash;
pub use self::host::HostBackend;
pub use self::host_options::HostOptions;
pub use self::limits::Limits;
pub use self::memory::MemoryBackend;
pub use self::merge::{ConflictKind, KeptMerge, MergeConflict, MergeOptions, Merged, OnConflict};
pub use self::mount::{HostMount, LeftOut, MountReport, mount};
pub use self::oplog::{
    BeforeImage, KeptEntries, KeptEntry, OperationCause, OperationChange, OperationRecord,
};
pub use self::ops::{
    BytePage, Copied, LineOptions, LinePart, ListOptions, Listed, MkdirOptions, MoveOptions,
    PageLimit, ReadOptions, TextPage, WriteMode, WriteOptions, Written,
};
pub use self::path::{MAX_NAME_BYTES, MAX_PATH_BYTES, MountPoint, Name, RESERVED_NAME, TreePath};
pub use self::snapshot::named::{NamedSnapshot, NamedSnapshots};
pub use self::snapshot::{
    Choose, MemorySnapshots, NewSnapshot, Pin, Problem, Reclaimed, Redacted, Repaired, Retention,
    Skipped, Snapshot, SnapshotCause, SnapshotId, SnapshotOrigin, SnapshotStore, StateName, Usage,
    Verification, VerifyOptions,
};
pub use self::store::Store;
#[cfg(target_os = "linux")]
pub use self::strategy::OverlayMount;
pub use self::strategy::{Strategy, StrategyOptions};
pub use self::tree::content::{Content, ContentReader, ReadAt};
pub use self::tree::hash::{TreeHash, tree_hash};
pub use self::tree::scope::{Exclusions, Scope};
pub use self::tree::{Entry, FileMode, Kind, KnownEntry, KnownFile, Stat, Tree};
pub use self::util::progress::{Figures, Progress};
pub use self::workspace::{
    CallOperations, Execution, ExecutionPlace, OperationTrees, PruneOptions, Pruned, Receipt,
    ResolveError, RestoreOptions, SnapshotOptions, StateRef, TakenSnapshot, Undone, Unresolved,
    Workspace, WorkspaceBuilder,
};

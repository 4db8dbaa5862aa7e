//! Sessions: what an agent knows and what it did, as typed values that never change.
//!
//! A [`Session`] holds slices. A slice is a list of items of one type, and changes only by reducers,
//! which get an event and return the new list. So a session can be read, snapshotted, rolled back and
//! dumped at any moment, by any thread.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use wink_agent::session::{Session, Slice, reducers};
//!
//! #[derive(Debug, Serialize, Deserialize)]
//! struct Fact {
//!     key: String,
//!     value: String,
//! }
//!
//! impl Slice for Fact {
//!     const NAME: &'static str = "fact";
//! }
//!
//! let session = Session::new();
//! session.register(reducers::upsert_by(|fact: &Fact| fact.key.clone()))?;
//! session.dispatch(Fact { key: "root".into(), value: "/src".into() })?;
//!
//! session.snapshot("before")?;
//! session.dispatch(Fact { key: "root".into(), value: "/lib".into() })?;
//! assert_eq!(session.query::<Fact>()?.latest().unwrap().value, "/lib");
//!
//! session.rollback("before")?;
//! assert_eq!(session.query::<Fact>()?.latest().unwrap().value, "/src");
//! # Ok::<(), wink_agent::session::SessionError>(())
//! ```
//!
//! Slices of the kind [`Log`](SliceKind::Log) tell what happened and stay when the state goes back.
//! [`dump_session_tree`] writes a session with all below it to a file that [`load_session_tree`] reads.

mod builder;
mod dispatch;
mod dump;
mod error;
pub(crate) mod files;
mod id;
mod moment;
pub mod reducers;
mod slices;
mod snapshots;
mod tool_invoked;
mod tree;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use wink_fs::Clock;

pub use self::builder::SessionBuilder;
pub use self::dispatch::bus::{Outcome, SubscriberFailure, Subscription, Told};
pub(crate) use self::dispatch::panics::caught;
pub(crate) use self::dispatch::pending::PendingEvents;
pub use self::dispatch::{Dispatched, SessionReset};
pub use self::dump::{
    LoadOptions, dump_session_tree, load_session_tree, load_session_tree_with, read_session_tree,
    write_session_tree,
};
pub(crate) use self::dump::{
    States, directory_of, dump_even_empty, open_dump, read_states, write_states,
};
pub use self::error::SessionError;
pub use self::files::changed::{FileChange, FilesChanged};
pub use self::files::listed_file::{Encoding, VirtualFile};
pub use self::files::listing::VirtualFileSystem;
pub(crate) use self::files::listings::Listed;
pub use self::files::snapshot_ref::FilesystemSnapshotRef;
pub use self::id::SessionId;
pub use self::slices::bounded::BoundedText;
pub use self::slices::items::Items;
pub use self::slices::slice::{Slice, SliceKind};
pub use self::slices::view::View;
pub use self::snapshots::{SessionSnapshot, SnapshotName};
pub use self::tool_invoked::ToolInvoked;

use self::dispatch::Rules;
use self::dispatch::bus::Bus;
use self::dump::Kept;
use self::slices::Slices;
use self::snapshots::Table;
use self::tree::Place;

/// What one agent knows and did; a clone is another handle to the same session.
///
/// ```
/// use wink_agent::session::{Session, ToolInvoked};
///
/// let session = Session::new();
/// let other_handle = session.clone();
/// std::thread::spawn(move || {
///     let call = ToolInvoked::new("call-1", "ls", std::time::SystemTime::now());
///     other_handle.dispatch(call).map(drop)
/// })
/// .join()
/// .unwrap()?;
/// assert_eq!(session.query::<ToolInvoked>()?.len(), 1);
/// # Ok::<(), wink_agent::session::SessionError>(())
/// ```
#[derive(Clone)]
pub struct Session(Arc<Shared>);

struct Shared {
    id: SessionId,
    created_at: SystemTime,
    tags: BTreeMap<String, String>,
    clock: Arc<dyn Clock>,
    place: Place,
    rules: Mutex<Rules>,
    slices: Mutex<Slices>,
    snapshots: Mutex<Table>,
    bus: Arc<Bus>,
    kept: Kept,
    epoch: AtomicU64,
}

impl Session {
    /// Creates an empty session without a parent.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Returns a builder for a session with options.
    pub fn builder() -> SessionBuilder {
        SessionBuilder::default()
    }

    /// Returns its id.
    pub fn id(&self) -> SessionId {
        self.0.id
    }

    /// Returns when it began, to the millisecond.
    pub fn created_at(&self) -> SystemTime {
        self.0.created_at
    }

    /// Returns what was said about it when it began.
    pub fn tags(&self) -> &BTreeMap<String, String> {
        &self.0.tags
    }

    /// Returns whether both are handles to the same session.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn now(&self) -> SystemTime {
        self.0.clock.now()
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({})", self.id())
    }
}

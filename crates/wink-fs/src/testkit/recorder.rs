//! A filesystem that records its calls.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};

use super::Fault;
use crate::error::{ErrorKind, Result};
use crate::filesystem::layer::{Call, Layer, Layered};
use crate::filesystem::{BackendKind, Properties};
use crate::memory::MemoryBackend;
use crate::ops::{self, WriteOptions};
use crate::path::TreePath;
use crate::tree::Tree;

/// Stands in for a real filesystem: files in memory, every call recorded, failures on demand.
///
/// ```
/// use wink_fs::testkit::MockFilesystem;
/// use wink_fs::{ErrorKind, Workspace};
///
/// let mock = MockFilesystem::with_files([("a.txt", "hello")])?;
/// let recorder = mock.layer().clone();
/// let files = Workspace::builder(mock).build();
///
/// assert_eq!(files.read("a.txt")?.content, "hello");
/// assert_eq!(recorder.calls()[0].to_string(), "open a.txt");
///
/// recorder.fail_nth(1, ErrorKind::NoSpace);
/// assert_eq!(files.write("b.txt", "").unwrap_err().kind(), ErrorKind::NoSpace);
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub type MockFilesystem = Layered<Recorder>;

impl MockFilesystem {
    /// Makes one that has some text files already, without recording their calls.
    pub fn with_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let mut memory = MemoryBackend::new();
        for (path, content) in files {
            ops::write(&mut memory, &TreePath::parse(path)?, content, &WriteOptions::default())?;
        }
        Ok(Self::new(memory, Recorder::default()))
    }
}

/// Records the calls that pass; a clone is a handle to the same record.
///
/// ```
/// use wink_fs::testkit::Recorder;
/// use wink_fs::{Filesystem, Layered, MemoryBackend, TreePath};
///
/// let mut files = Layered::new(MemoryBackend::new(), Recorder::default());
/// files.create_dir(&TreePath::parse("src")?)?;
/// assert_eq!(files.layer().calls()[0].method, "create_dir");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Recorder(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    calls: Mutex<Vec<Recorded>>,
    fault: Fault,
}

impl Recorder {
    /// Returns the calls so far in order, including failed ones.
    pub fn calls(&self) -> Vec<Recorded> {
        self.record().clone()
    }

    /// Fails the n-th call from now on; the next one is number 1.
    pub fn fail_nth(&self, nth: u64, kind: ErrorKind) {
        self.0.fault.rearm(Fault::fail_nth(nth, kind));
    }

    fn record(&self) -> MutexGuard<'_, Vec<Recorded>> {
        self.0.calls.lock()
    }
}

impl Layer for Recorder {
    fn before(&self, tree: &dyn Tree, call: &Call<'_>) -> Result<()> {
        self.record().push(Recorded::of(call));
        self.0.fault.before(tree, call)
    }

    /// A double has its own name: a workspace keeps no history for it, so that only the caller's own calls are
    /// recorded.
    fn properties(&self, inner: &Properties) -> Properties {
        let mut properties = inner.clone();
        properties.backend = BackendKind::Other("mock");
        properties
    }
}

/// One recorded call.
///
/// ```
/// use wink_fs::testkit::MockFilesystem;
/// use wink_fs::{Filesystem, Replacement, TreePath};
///
/// let mut files = MockFilesystem::with_files([("a", "")])?;
/// files.rename(&TreePath::parse("a")?, &TreePath::parse("b")?, Replacement::Refuse)?;
/// assert_eq!(files.layer().calls()[0].to_string(), "rename a b");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Recorded {
    /// The name of the method.
    pub method: &'static str,
    /// The path it was called with; for a rename, the old one.
    pub path: Option<TreePath>,
    /// The new path of a rename.
    pub to: Option<TreePath>,
    /// The content that was put.
    pub content: Option<Bytes>,
}

impl Recorded {
    fn of(call: &Call<'_>) -> Self {
        let to = match call {
            Call::Rename { to, .. } => Some((*to).clone()),
            _ => None,
        };
        let content = match call {
            Call::Put { staged, .. } => staged.content().read_all().ok(),
            _ => None,
        };
        Self { method: method(call), path: call.path().cloned(), to, content }
    }
}

fn method(call: &Call<'_>) -> &'static str {
    match call {
        Call::Stat { .. } => "stat",
        Call::List { .. } => "list",
        Call::Open { .. } => "open",
        Call::ReadLink { .. } => "read_link",
        Call::KnownHash { .. } => "known_hash",
        Call::Stage => "stage",
        Call::Put { .. } => "put",
        Call::CreateDir { .. } => "create_dir",
        Call::Symlink { .. } => "symlink",
        Call::SetMode { .. } => "set_mode",
        Call::Remove { .. } => "remove",
        Call::Rename { .. } => "rename",
        Call::Install { .. } => "install",
        Call::Replace { .. } => "replace",
    }
}

impl fmt::Display for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method)?;
        let paths = [&self.path, &self.to];
        paths.into_iter().flatten().try_for_each(|path| write!(f, " {path}"))
    }
}

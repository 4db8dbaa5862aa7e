//! The backend over a directory of the host.

mod capture;
pub(crate) mod copy;
mod displace;
pub(crate) mod entry;
pub(crate) mod failure;
mod identity;
mod install;
mod lease;
mod mount_id;
pub(crate) mod preimage;
mod purge;
mod rename;
mod replace;
pub(crate) mod root;
mod staging;
mod view;
mod write;

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use tempfile::TempDir;

use self::capture::index_file;
use self::capture::tree::Captured;
use self::mount_id::MountId;
pub(crate) use self::preimage::read::Preimages;
pub(crate) use self::preimage::tamper::{first_written_since, may_be_written};
use self::preimage::write::PreimageWriter;
pub(crate) use self::purge::bytes_below;
use self::root::{Resolver, Root};
use self::view::HostTree;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::capture::Capture;
use crate::filesystem::checks;
use crate::filesystem::event::Event;
use crate::filesystem::layer::Source;
use crate::filesystem::replace_plan::ReplacePlan;
use crate::filesystem::{Backend, BackendKind, DoneFirst, Properties, Replaced};
use crate::hash::ContentHash;
use crate::host_options::HostOptions;
use crate::oplog::{BeforeImage, KeptEntry};
use crate::path::{MountPoint, TreePath};
use crate::tree::content::Content;
use crate::tree::hash::TreeHash;
use crate::tree::scope::{Exclusions, Scope};
use crate::tree::{Entry, Stat, Tree};

/// Keeps files in a directory of the host, and accesses nothing outside of it.
///
/// The directory is opened once. The kernel resolves every path beneath that handle (`openat2`), without following
/// links, crossing mounts or waiting for a FIFO; without that call, paths are resolved one directory at a time.
/// Content is written to a staging directory beside the root and renamed into place, so a reader sees the old file or
/// the new one, and other hard links keep the old content. A replaced file's mode is kept, and its owner if the
/// system allows it.
///
/// ```
/// use wink_fs::{HostBackend, Workspace};
///
/// let files = Workspace::builder(HostBackend::temporary()?).build();
/// files.write("src/main.rs", "fn main() {}\n")?;
/// assert_eq!(files.read("src/main.rs")?.content, "fn main() {}\n");
/// assert!(files.read("/etc/passwd").is_err(), "`/` is the workspace's root");
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub struct HostBackend {
    host: Arc<HostTree>,
    properties: Properties,
    recovery_events: Vec<Event>,
}

impl HostBackend {
    /// Opens a directory with the ambient authority of the process.
    pub fn open_ambient(root: impl AsRef<Path>) -> Result<Self> {
        Self::open_ambient_with(root, &HostOptions::default())
    }

    /// Opens a directory with the ambient authority of the process, with options.
    pub fn open_ambient_with(root: impl AsRef<Path>, options: &HostOptions) -> Result<Self> {
        Self::open(root.as_ref(), options, None)
    }

    /// Makes a directory that is deleted with its last handle.
    pub fn temporary() -> Result<Self> {
        Self::temporary_with(&HostOptions::default())
    }

    /// Makes such a directory and opens it with options.
    pub fn temporary_with(options: &HostOptions) -> Result<Self> {
        let failed = |error| Error::system(Operation::Open, error);
        let directory =
            tempfile::Builder::new().prefix("wink-workspace-").tempdir().map_err(failed)?;
        // One level down, so that the staging directory beside the root is deleted too.
        let root = directory.path().join("root");
        rustix::fs::mkdir(&root, Mode::RWXU).map_err(|errno| failed(errno.into()))?;
        Self::open(&root, options, Some(directory))
    }

    fn open(path: &Path, options: &HostOptions, temporary: Option<TempDir>) -> Result<Self> {
        let resolver = options.component_walk.then_some(Resolver::Walk);
        let root = Root::open_ambient(path, resolver).map_err(cannot_open)?;
        let root = root.owned_by(options.owner);
        let mut backend = Self::over(root, temporary, options.index.clone());
        backend.properties.backend = options.kind.unwrap_or(BackendKind::Host);
        Ok(backend)
    }

    /// Wraps a directory that is open already.
    pub(crate) fn from_handle(handle: OwnedFd) -> Result<Self> {
        let root = Root::from_handle(handle, None).map_err(cannot_open)?;
        Ok(Self::over(root, None, None))
    }

    /// Opens a directory of the workspace, to watch it.
    pub(crate) fn open_directory(&self, path: &TreePath) -> Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        let opened = self.host.root.open(path, flags);
        opened.map_err(|errno| failure::looking(Operation::List, path, errno))
    }

    /// Returns the events of the recovery that opening the directory did.
    pub(crate) fn recovery_events(&self) -> &[Event] {
        &self.recovery_events
    }

    /// Returns the root's real path, which agents may use to name files.
    pub fn real_path(&self) -> Result<MountPoint> {
        let path = self.host.root.real_path();
        MountPoint::from_disk(&path.map_err(|errno| Error::system(Operation::Open, errno))?)
    }

    fn over(root: Root, temporary: Option<TempDir>, index_file: Option<PathBuf>) -> Self {
        let recovery_events = staging::recover(&root);
        let mount_id = MountId::of(root.as_fd());
        let host = HostTree { index_file, mount_id, temporary, ..HostTree::new(root) };
        let properties = Properties::new(BackendKind::Host, "");
        let mut backend = Self { host: Arc::new(host), properties, recovery_events };
        // Stays empty if the path is not a valid one, or `/proc` is missing.
        backend.properties.root =
            backend.real_path().map_or(String::new(), |path| path.to_string());
        backend
    }
}

/// Explains why a root cannot be opened, without its path: the caller has it, and an agent must not see it.
fn cannot_open(errno: Errno) -> Error {
    let error = Error::system(Operation::Open, errno);
    let why = match error.kind() {
        ErrorKind::NotFound => "the workspace's root directory is not there; make it first",
        ErrorKind::NotADirectory => "the workspace's root is not a directory; name one",
        ErrorKind::PermissionDenied => {
            "the workspace's root directory may not be opened; name one that may"
        }
        _ => "the workspace's root directory cannot be opened",
    };
    error.with_detail(why)
}

impl Tree for HostBackend {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        self.host.stat(path)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        self.host.list(path)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        self.host.open(path)
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        self.host.read_link(path)
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        self.host.known_hash(path)
    }

    fn known_tree_hash(&self, path: &TreePath) -> Option<TreeHash> {
        self.host.known_tree_hash(path)
    }
}

impl Backend for HostBackend {
    fn replace(&mut self, target: &dyn Tree, scope: &Scope) -> Result<Replaced> {
        self.changing(|this| replace::replace(&this.host, target, scope))
    }

    fn is_unfinished(&self) -> bool {
        staging::is_unfinished(&self.host.root)
    }

    fn check_replace(&self, plan: &ReplacePlan<'_>) -> Result<()> {
        replace::check(&self.host, plan)
    }

    fn replace_by(&mut self, plan: &ReplacePlan<'_>, first: DoneFirst<'_>) -> Result<Replaced> {
        self.changing(|this| replace::replace_by(&this.host, plan, first))
    }

    fn capture(&self, excluded: &Exclusions) -> Result<Capture> {
        let scope = Scope::everything().excluding(excluded.clone());
        let capture = capture::capture(&self.host, &scope);
        // A deleted root looks like an empty directory, and a snapshot would say that every file was deleted.
        if self.host.root.is_gone() {
            Err(checks::root_is_gone(Operation::Capture))
        } else {
            capture
        }
    }

    fn install(&mut self, path: &TreePath, source: Source<'_>) -> Result<()> {
        self.changing(|this| install::install(&this.host, path, source))
    }

    fn give_back(&mut self, path: &TreePath, kept: &KeptEntry) -> Result<bool> {
        self.changing(|this| install::give_back(&this.host, path, kept))
    }

    fn learn(&mut self, captured: &dyn Tree, same: &dyn Tree) {
        let captured = Captured::of(captured, &self.host);
        let Some(index) = captured.and_then(|captured| captured.learn(same)) else { return };
        if let Some(file) = &self.host.index_file {
            // The index only saves time: without it, the next process reads every file.
            let _ = index_file::save(file, &index);
        }
        self.host.remember(index);
    }

    fn before_image(&self, aside: &Path) -> Result<Box<dyn BeforeImage>> {
        Ok(Box::new(PreimageWriter::new(self.host.clone(), aside.to_path_buf())))
    }

    fn live(&self) -> Arc<dyn Tree> {
        self.host.clone()
    }

    fn directory(&self) -> Option<PathBuf> {
        self.host.root.real_path().ok().map(|path| OsString::from_vec(path).into())
    }
}

impl fmt::Debug for HostBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostBackend").field("properties", &self.properties).finish_non_exhaustive()
    }
}

//! The backend over a directory of the host.

mod aside;
mod capture;
pub(crate) mod copies;
pub(crate) mod entry;
pub(crate) mod failure;
mod index_file;
mod kept;
mod mounting;
mod place;
mod purge;
mod relocate;
mod replace;
pub(crate) mod root;
mod staging;
mod written;

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::{Errno, Result as SystemResult};
use tempfile::TempDir;

use self::aside::Aside;
use self::capture::index::Index;
use self::capture::stamp::Moment;
use self::capture::tree::Captured;
pub(crate) use self::kept::BeforeTree;
use self::mounting::Mounting;
use self::root::{Resolver, Root, Slot};
use self::staging::{Area, Temporary, TemporaryWriter};
pub(crate) use self::written::first_written_since;
use crate::capture::Capture;
use crate::content::Content;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::{
    Backend, DoneFirst, Filesystem, Properties, Put, PutCondition, PutOptions, Recursion, Removed,
    Replaced, Replacement,
};
use crate::hash::ContentHash;
use crate::host_options::HostOptions;
use crate::operation::BeforeImage;
use crate::path::{MAX_PATH_BYTES, MountPoint, RESERVED_NAME, TreePath};
use crate::refusal;
use crate::replace_plan::ReplacePlan;
use crate::scope::{Exclusions, Scope};
use crate::staged::{Staged, Staging};
use crate::tree::{Entry, FileMode, Kind, Stat, Tree};
use crate::tree_hash::TreeHash;

/// Keeps files in a directory of the host, and reaches nothing outside it.
///
/// The directory is opened once. Every access is resolved by the kernel beneath that handle
/// (`openat2`), without following a link, crossing into another mounted file system or waiting for a
/// FIFO; where the call is missing, one directory at a time. Content is written to a staging
/// directory beside the root and renamed in, so a reader sees the old file or the new one, other hard
/// links keep the old content, and a replaced file's mode is kept, and its owner where the system
/// allows giving files away.
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
    host: Arc<Host>,
    properties: Properties,
    left_alone: Vec<TreePath>,
}

/// What the backend shares with its views.
struct Host {
    root: Arc<Root>,
    /// Made with the first write, so that looking at a directory leaves no trace.
    area: Mutex<Option<Arc<Area>>>,
    /// What the last capture learnt of the files; read with the first one.
    index: Mutex<Option<Arc<Index>>>,
    index_file: Option<PathBuf>,
    mounting: Mounting,
    /// When this backend last changed something.
    touched: Mutex<Moment>,
    /// The directory itself where nobody gave one; declared last, because it goes last.
    temporary: Option<TempDir>,
}

impl HostBackend {
    /// Opens a directory with the ambient authority of the process.
    pub fn open_ambient(root: impl AsRef<Path>) -> Result<Self> {
        Self::open_ambient_with(root, &HostOptions::default())
    }

    /// Opens a directory with the ambient authority of the process, in a given way.
    pub fn open_ambient_with(root: impl AsRef<Path>, options: &HostOptions) -> Result<Self> {
        Self::open(root.as_ref(), options, None)
    }

    /// Makes a directory that is removed, with all that is in it, when the last handle to it goes.
    pub fn temporary() -> Result<Self> {
        Self::temporary_with(&HostOptions::default())
    }

    /// Makes such a directory and reaches it in a given way.
    pub fn temporary_with(options: &HostOptions) -> Result<Self> {
        let failed = |error| Error::system(Operation::Open, error);
        let directory =
            tempfile::Builder::new().prefix("wink-workspace-").tempdir().map_err(failed)?;
        // One level down, so that what is staged beside the root goes with it.
        let root = directory.path().join("root");
        rustix::fs::mkdir(&root, Mode::RWXU).map_err(|errno| failed(errno.into()))?;
        Self::open(&root, options, Some(directory))
    }

    fn open(path: &Path, options: &HostOptions, temporary: Option<TempDir>) -> Result<Self> {
        let resolver = options.component_walk.then_some(Resolver::Walk);
        let root = Root::open_ambient(path, resolver).map_err(cannot_open)?;
        Ok(Self::over(root, temporary, options.index.clone()))
    }

    /// Makes a backend of a directory that is open already.
    pub(crate) fn from_handle(handle: OwnedFd) -> Result<Self> {
        let root = Root::from_handle(handle, None).map_err(cannot_open)?;
        Ok(Self::over(root, None, None))
    }

    /// Opens a directory of the workspace, for following what lies in it.
    pub(crate) fn open_directory(&self, path: &TreePath) -> Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        let opened = self.host.root.open(path, flags);
        opened.map_err(|errno| failure::looking(Operation::List, path, errno))
    }

    /// Returns the paths that were left alone when the directory was opened.
    ///
    /// Opening a directory finishes a replacement (a restore, an import) that a process began and did not
    /// live to finish. What somebody changed after that process died is not touched, and named here.
    pub fn left_alone(&self) -> &[TreePath] {
        &self.left_alone
    }

    /// Returns the root's real path, under which coding agents like to name files.
    pub fn real_path(&self) -> Result<MountPoint> {
        let path = self.host.root.real_path();
        MountPoint::from_disk(&path.map_err(|errno| Error::system(Operation::Open, errno))?)
    }

    fn over(root: Root, temporary: Option<TempDir>, index_file: Option<PathBuf>) -> Self {
        let left_alone = staging::recover(&root);
        let mounting = Mounting::of(root.as_fd());
        let host = Host { index_file, mounting, temporary, ..Host::new(root) };
        let (host, properties) = (Arc::new(host), Properties::new("host", ""));
        let mut backend = Self { host, properties, left_alone };
        // A path that is no valid one, or a system without /proc, leaves it unsaid.
        backend.properties.root =
            backend.real_path().map_or(String::new(), |path| path.to_string());
        backend
    }
}

/// Words the failure to open a root; the caller knows its path, and nobody else should.
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

impl Host {
    /// Reaches a directory of which no capture is taken.
    fn new(root: Root) -> Self {
        Self {
            root: Arc::new(root),
            area: Mutex::default(),
            index: Mutex::default(),
            index_file: None,
            mounting: Mounting::default(),
            touched: Mutex::new(Moment::EARLIEST),
            temporary: None,
        }
    }

    fn area(&self) -> SystemResult<Arc<Area>> {
        let mut area = self.area.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(area) = area.as_ref().filter(|area| area.is_there()) {
            return Ok(area.clone());
        }
        Ok(area.insert(Arc::new(Area::create(&self.root)?)).clone())
    }

    fn index(&self) -> Arc<Index> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let load =
            || Arc::new(self.index_file.as_deref().map(index_file::load).unwrap_or_default());
        index.get_or_insert_with(load).clone()
    }

    /// Tells whether the directory goes with this process, so that no power loss can harm it.
    fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    fn remember(&self, index: Index) {
        *self.index.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(index));
    }

    /// Remembers that something was changed just now.
    fn touch(&self) {
        *self.touched.lock().unwrap_or_else(PoisonError::into_inner) = Moment::now();
    }

    fn last_change(&self) -> Moment {
        *self.touched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn temporary(&self) -> SystemResult<Temporary> {
        Temporary::create(&self.area()?)
    }

    /// Says what is true where it failed because the directory itself is gone.
    ///
    /// A directory that was deleted has no name left, and looks empty to those who have it open.
    fn said_of_the_root(&self, error: Error) -> Error {
        if self.root.is_gone() { refusal::root_is_gone(error.operation()) } else { error }
    }

    /// Opens a file and checks that it is one.
    fn open_file(
        &self,
        operation: Operation,
        path: &TreePath,
    ) -> Result<(OwnedFd, rustix::fs::Stat)> {
        let failed = |errno| self.said_of_the_root(failure::looking(operation, path, errno));
        // To open a FIFO wakes its writer, and to open a device can do anything: look first.
        let flags = if self.root.looks_special(path) { OFlags::PATH } else { OFlags::RDONLY };
        let fd = self.root.open(path, flags).map_err(failed)?;
        let stat = rustix::fs::fstat(&fd).map_err(failed)?;
        refusal::check_file(operation, path, entry::kind_of(stat.st_mode))?;
        if flags == OFlags::PATH {
            // It became a file meanwhile; whoever asks again gets it.
            return Err(failed(Errno::AGAIN));
        }
        Ok((fd, stat))
    }

    /// Opens the directory in which an entry is to be made; the root's own place is taken.
    fn new_slot<'p>(&self, operation: Operation, path: &'p TreePath) -> Result<Slot<'p>> {
        let slot = self.root.open_parent(path);
        slot.map_err(|errno| failure::creating(operation, path, errno))?
            .ok_or_else(|| Error::new(operation, ErrorKind::AlreadyExists).with_path(path))
    }

    /// Opens the directory that holds an entry; the root stays as it is.
    fn slot<'p>(&self, operation: Operation, path: &'p TreePath) -> Result<Slot<'p>> {
        refusal::check_not_root(operation, path)?;
        let slot = self.root.open_parent(path);
        slot.map_err(|errno| failure::looking(operation, path, errno))?
            .ok_or_else(|| Error::new(operation, ErrorKind::NotFound).with_path(path))
    }

    /// Says why an entry could not be opened as a directory.
    fn not_listable(&self, path: &TreePath, errno: Errno) -> Error {
        let found = self.stat(path).and_then(|stat| refusal::check_directory(path, stat.kind));
        match (errno, found) {
            (Errno::NOTDIR, Err(error)) => error.during(Operation::List),
            _ => failure::looking(Operation::List, path, errno),
        }
    }

    /// Removes a directory with all that is in it: out of sight in one step, then for good.
    fn remove_directory(&self, path: &TreePath, slot: &Slot<'_>) -> Result<Removed> {
        let failed = |errno| failure::any(Operation::Delete, path, errno);
        // Refuses what cannot be removed, such as another file system below, while all is in place.
        let survey =
            purge::survey(&self.root, slot.directory.as_fd(), slot.name).map_err(failed)?;
        let above = path.as_bytes().len() - slot.name.len();
        if above + survey.longest > MAX_PATH_BYTES {
            return Err(refusal::not_all_named(path));
        }
        let area = self.area().map_err(failed)?;
        let aside = area.new_name();
        rustix::fs::renameat(&slot.directory, slot.name, area.directory(), &*aside)
            .map_err(failed)?;
        // It is gone from the workspace; what resists now (an immutable file, say) stays aside.
        let _ = purge::purge(&self.root, area.directory(), aside.as_bytes());
        Ok(survey.counts)
    }
}

impl Tree for Host {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        let failed = |errno| self.said_of_the_root(failure::looking(Operation::Stat, path, errno));
        let fd = self.root.open(path, OFlags::PATH).map_err(failed)?;
        entry::describe(&fd).map_err(failed)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        let failed = |error| self.said_of_the_root(error);
        let fd = self
            .root
            .open(path, OFlags::RDONLY | OFlags::DIRECTORY)
            .map_err(|errno| failed(self.not_listable(path, errno)))?;
        let mut entries = entry::entries(fd.as_fd())
            .map_err(|errno| failed(failure::looking(Operation::List, path, errno)))?;
        if path.is_root() {
            entries.retain(|entry| entry.name.as_bytes() != RESERVED_NAME.as_bytes());
        }
        // What no path can name cannot be asked for either; a capture says where it is.
        entries.retain(|entry| path.has_room_for(&entry.name));
        Ok(entries)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        let (fd, stat) = self.open_file(Operation::Read, path)?;
        Ok(Content::positional(Arc::new(File::from(fd)), stat.st_size as u64))
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        let failed = |errno| self.said_of_the_root(failure::looking(Operation::Read, path, errno));
        let fd = self.root.open(path, OFlags::PATH).map_err(failed)?;
        let stat = rustix::fs::fstat(&fd).map_err(failed)?;
        if entry::kind_of(stat.st_mode) != Kind::Symlink {
            return Err(refusal::not_a_link(path));
        }
        Ok(rustix::fs::readlinkat(&fd, "", Vec::new()).map_err(failed)?.into_bytes())
    }

    fn known_hash(&self, _: &TreePath) -> Option<ContentHash> {
        None
    }

    fn known_tree_hash(&self, _: &TreePath) -> Option<TreeHash> {
        None
    }
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

impl Filesystem for HostBackend {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn stage(&self) -> Result<Staging> {
        let temporary = self.host.temporary().map_err(|e| Error::system(Operation::Write, e));
        let temporary = temporary.map_err(|error| self.host.said_of_the_root(error))?;
        Ok(Staging::new(Box::new(TemporaryWriter::new(temporary))))
    }

    fn put(&mut self, path: &TreePath, staged: &mut Staged, options: &PutOptions) -> Result<Put> {
        self.changing(|this| {
            if path.is_root() && options.condition != PutCondition::Absent {
                return Err(Error::new(Operation::Write, ErrorKind::IsADirectory).with_path(path));
            }
            let slot = this.host.new_slot(Operation::Write, path)?;
            let area = this.host.area().map_err(|e| failure::any(Operation::Write, path, e))?;
            match staged.body_mut::<Temporary>() {
                Some(own) if Arc::ptr_eq(own.area(), &area) && !own.is_placed() => {
                    place::put(&this.host.root, path, &slot, own, options)
                }
                _ => {
                    let mut copy = copy_of(&staged.content(), &area)
                        .map_err(|error| Error::system(Operation::Write, error).with_path(path))?;
                    place::put(&this.host.root, path, &slot, &mut copy, options)
                }
            }
        })
    }

    fn create_dir(&mut self, path: &TreePath) -> Result<()> {
        self.changing(|this| {
            let slot = this.host.new_slot(Operation::Mkdir, path)?;
            rustix::fs::mkdirat(&slot.directory, slot.name, Mode::from_raw_mode(0o777))
                .map_err(|errno| failure::creating(Operation::Mkdir, path, errno))
        })
    }

    fn symlink(&mut self, path: &TreePath, target: &[u8]) -> Result<()> {
        self.changing(|this| {
            refusal::check_target(path, target)?;
            let slot = this.host.new_slot(Operation::Symlink, path)?;
            rustix::fs::symlinkat(target, &slot.directory, slot.name)
                .map_err(|errno| failure::creating(Operation::Symlink, path, errno))
        })
    }

    fn set_mode(&mut self, path: &TreePath, mode: FileMode) -> Result<()> {
        self.changing(|this| {
            let (fd, stat) = this.host.open_file(Operation::SetMode, path)?;
            if stat.st_nlink > 1 {
                return this.replace_by_copy(path, fd, &stat, mode);
            }
            let bits = Mode::from_raw_mode(entry::bits_with(stat.st_mode, mode));
            rustix::fs::fchmod(&fd, bits)
                .map_err(|errno| failure::any(Operation::SetMode, path, errno))
        })
    }

    fn remove(&mut self, path: &TreePath, recursion: Recursion) -> Result<Removed> {
        self.changing(|this| {
            let slot = this.host.slot(Operation::Delete, path)?;
            let failed = |errno| failure::looking(Operation::Delete, path, errno);
            match rustix::fs::unlinkat(&slot.directory, slot.name, AtFlags::empty()) {
                Ok(()) => return Ok(Removed::new(1, 0)),
                Err(Errno::ISDIR) => {}
                Err(errno) => return Err(failed(errno)),
            }
            match rustix::fs::unlinkat(&slot.directory, slot.name, AtFlags::REMOVEDIR) {
                Ok(()) => Ok(Removed::new(0, 1)),
                Err(Errno::NOTEMPTY) if recursion == Recursion::Recursive => {
                    this.host.remove_directory(path, &slot)
                }
                Err(errno) => Err(failed(errno)),
            }
        })
    }

    fn rename(&mut self, from: &TreePath, to: &TreePath, replacement: Replacement) -> Result<()> {
        self.changing(|this| {
            refusal::check_not_root(Operation::Rename, to)?;
            let source = this.host.slot(Operation::Rename, from)?;
            let moved = relocate::look_at_source(&source, from)?;
            refusal::check_not_into_itself(Operation::Rename, moved.kind, from, to)?;
            let target = this.host.new_slot(Operation::Rename, to)?;
            relocate::relocate(&source, &moved, &target, to, replacement)
        })
    }
}

impl HostBackend {
    /// Changes something, and remembers when.
    fn changing<T>(&mut self, change: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let changed = change(self);
        self.host.touch();
        changed.map_err(|error| self.host.said_of_the_root(error))
    }

    /// Changes the mode of one of several hard links by making it a file of its own.
    fn replace_by_copy(
        &mut self,
        path: &TreePath,
        fd: OwnedFd,
        stat: &rustix::fs::Stat,
        mode: FileMode,
    ) -> Result<()> {
        let failed = |error| Error::system(Operation::SetMode, error).with_path(path);
        let content = Content::positional(Arc::new(File::from(fd)), stat.st_size as u64);
        let mut staging = self.stage()?;
        staging.carry_over(&content).map_err(failed)?;
        let unchanged = PutCondition::Unchanged(staging.hash_so_far());
        let mut staged = staging.finish().map_err(failed)?;
        let options = PutOptions::default().condition(unchanged).mode(mode);
        self.put(path, &mut staged, &options).map_err(|error| error.during(Operation::SetMode))?;
        Ok(())
    }
}

/// Writes content that somebody else staged, or that is in memory, to a file of our own.
fn copy_of(content: &Content, area: &Arc<Area>) -> std::io::Result<Temporary> {
    let temporary = Temporary::create(area)?;
    content.for_each_chunk(|chunk| temporary.file().write_all(chunk))?;
    Ok(temporary)
}

impl Backend for HostBackend {
    fn replace(&mut self, target: &dyn Tree, scope: &Scope) -> Result<Replaced> {
        self.changing(|this| replace::replace(&this.host, target, scope))
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
        match self.host.root.is_gone() {
            true => Err(refusal::root_is_gone(Operation::Capture)),
            false => capture,
        }
    }

    fn learn(&mut self, captured: &dyn Tree, same: &dyn Tree) {
        let captured = Captured::of(captured, &self.host);
        let Some(index) = captured.and_then(|captured| captured.learn(same)) else { return };
        if let Some(file) = &self.host.index_file {
            // It only saves time; where it cannot be kept, the next process takes longer.
            let _ = index_file::save(file, &index);
        }
        self.host.remember(index);
    }

    fn before_image(&self, aside: &Path) -> Result<Box<dyn BeforeImage>> {
        Ok(Box::new(Aside::new(self.host.clone(), aside.to_path_buf())))
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

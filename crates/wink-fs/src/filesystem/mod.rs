//! What a tool is given: a tree that can be changed; and layers over it, such as limits and events.

pub(crate) mod capture;
pub mod checks;
pub(crate) mod event;
pub(crate) mod guard;
pub(crate) mod layer;
pub(crate) mod replace_plan;
pub(crate) mod staged;

use std::fmt;
use std::iter::Sum;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Result;
use crate::filesystem::capture::Capture;
use crate::filesystem::layer::Source;
use crate::filesystem::replace_plan::ReplacePlan;
use crate::filesystem::staged::{Staged, Staging};
use crate::hash::ContentHash;
use crate::limits::Limits;
use crate::memory::MemoryBackend;
use crate::oplog::{BeforeImage, ContentId, CopiedImage, KeptEntry};
use crate::path::{MountPoint, TreePath};
use crate::tree::merkle::Identity;
use crate::tree::scope::{Exclusions, Scope};
use crate::tree::{FileMode, Tree};

/// The condition for writing to a path.
///
/// ```
/// use wink_fs::{ContentHash, PutCondition};
///
/// let condition = PutCondition::Unchanged(ContentHash::of(b"what I read"));
/// assert_ne!(condition, PutCondition::Absent);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum PutCondition {
    /// Nothing, or a file to be replaced, is there.
    #[default]
    AbsentOrFile,
    /// Nothing is there; else AlreadyExists.
    Absent,
    /// A file with this content is there; else Conflict, which carries the hash of the file that is
    /// there. Something else there, or a parent that is not, is refused as without a condition.
    Unchanged(ContentHash),
}

/// How safe a change is when the machine loses power.
///
/// ```
/// assert!(wink_fs::Durability::Synced > wink_fs::Durability::Atomic);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
#[non_exhaustive]
pub enum Durability {
    /// Old or new content, never a mixture; which of the two is up to the system's cache.
    #[default]
    Atomic,
    /// On the disk when the call returns.
    Synced,
}

/// How content is put in place.
///
/// ```
/// use wink_fs::{FileMode, PutCondition, PutOptions};
///
/// let options = PutOptions::default()
///     .condition(PutCondition::Absent)
///     .mode(FileMode::default().executable(true));
/// assert_eq!(options.condition, PutCondition::Absent);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct PutOptions {
    /// What must be true of the path.
    pub condition: PutCondition,
    /// The file's mode; unset keeps that of the file replaced, or the default for a new one.
    pub mode: Option<FileMode>,
    /// How safe the change must be when the call returns.
    pub durability: Durability,
}

impl PutOptions {
    /// Sets what must be true of the path.
    #[must_use]
    pub fn condition(mut self, condition: PutCondition) -> Self {
        self.condition = condition;
        self
    }

    /// Sets the file's mode.
    #[must_use]
    pub fn mode(mut self, mode: FileMode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Sets how safe the change must be when the call returns.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }
}

/// The result of putting content in place.
///
/// ```
/// use wink_fs::{Filesystem, MemoryBackend, PutOptions, Staged, TreePath};
///
/// let path = TreePath::parse("a.txt")?;
/// let put = MemoryBackend::new().put(&path, &mut Staged::from_bytes("a"), &PutOptions::default())?;
/// assert!(put.created);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Put {
    /// Whether no file was there before.
    pub created: bool,
    /// How safe the change is now.
    pub durability: Durability,
}

impl Put {
    /// Makes the result, for a backend.
    pub fn new(created: bool, durability: Durability) -> Self {
        Self { created, durability }
    }
}

/// Whether a directory is removed together with its entries.
///
/// ```
/// assert_eq!(wink_fs::Recursion::default(), wink_fs::Recursion::OnlyEmpty);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Recursion {
    /// A directory with entries is NotEmpty.
    #[default]
    OnlyEmpty,
    /// A directory goes with everything below it, or not at all.
    Recursive,
    /// An entry goes only if it is this one, with everything below it; any other is a Conflict.
    Unchanged(EntryIdentity),
}

/// Tells one file, link or directory with everything below it from every other, whatever its place.
///
/// ```
/// use wink_fs::{EntryIdentity, ErrorKind, Filesystem, MemoryBackend, Recursion, TreePath};
///
/// let (mut files, path) = (MemoryBackend::new(), TreePath::parse("link")?);
/// files.symlink(&path, b"here")?;
/// let here = EntryIdentity::at(&files, &path)?.expect("a link");
/// files.remove(&path, Recursion::OnlyEmpty)?;
/// files.symlink(&path, b"there")?;
/// let error = files.remove(&path, Recursion::Unchanged(here)).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Conflict);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EntryIdentity(pub(crate) Identity);

impl EntryIdentity {
    /// Looks at what is at a path; nothing, a FIFO, socket or device has none.
    pub fn at(tree: &dyn Tree, path: &TreePath) -> Result<Option<Self>> {
        Ok(match ContentId::at(tree, path)? {
            Some(ContentId::Entry(identity)) => Some(Self(identity)),
            _ => None,
        })
    }
}

/// Counts what a removal took away, the named entry included.
///
/// ```
/// let files = wink_fs::Workspace::memory();
/// files.write("a/b/c.txt", "")?;
/// let removed = files.delete_all("a")?;
/// assert_eq!((removed.files, removed.directories), (1, 2));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Removed {
    /// Files, links and everything else that is not a directory.
    pub files: u64,
    /// Directories.
    pub directories: u64,
}

impl Removed {
    /// Makes the result, for a backend.
    pub fn new(files: u64, directories: u64) -> Self {
        Self { files, directories }
    }
}

/// Counts what making the files those of another tree did.
///
/// ```
/// use wink_fs::{Backend, Filesystem, MemoryBackend, Scope, TreePath};
///
/// let (mut files, mut other) = (MemoryBackend::new(), MemoryBackend::new());
/// files.create_dir(&TreePath::parse("gone")?)?;
/// other.symlink(&TreePath::parse("link")?, b"target")?;
/// let replaced = files.replace(&other, &Scope::everything())?;
/// assert_eq!((replaced.written, replaced.removed, replaced.unchanged), (1, 1, 0));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Replaced {
    /// Files and links that are new or have changed.
    pub written: u64,
    /// Entries that are gone, each counted once whatever was below it.
    pub removed: u64,
    /// Files and links that were the same already.
    pub unchanged: u64,
}

impl Sum for Replaced {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            written: sum.written + one.written,
            removed: sum.removed + one.removed,
            unchanged: sum.unchanged + one.unchanged,
        })
    }
}

/// Whether a rename may replace an existing entry.
///
/// ```
/// assert_eq!(wink_fs::Replacement::default(), wink_fs::Replacement::Refuse);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Replacement {
    /// Anything at the new path is AlreadyExists.
    #[default]
    Refuse,
    /// A file or link may be replaced by one, and an empty directory by a directory.
    Replace,
}

/// Names the kind of a backend; snapshots and sessions record it as text.
///
/// ```
/// use wink_fs::{BackendKind, Filesystem, MemoryBackend};
///
/// let kind = MemoryBackend::new().properties().backend;
/// assert_eq!(kind, BackendKind::InMemory);
/// assert_eq!(kind.as_str(), "in_memory");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum BackendKind {
    /// `in_memory`: [`MemoryBackend`](crate::MemoryBackend).
    InMemory,
    /// `host`: [`HostBackend`](crate::HostBackend).
    Host,
    /// A backend of another crate, by its own name.
    Other(&'static str),
}

impl BackendKind {
    /// Returns the name that is recorded.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InMemory => "in_memory",
            Self::Host => "host",
            Self::Other(name) => name,
        }
    }
}

impl fmt::Display for BackendKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The properties of a workspace.
///
/// ```
/// use wink_fs::{Filesystem, MemoryBackend};
///
/// let files = MemoryBackend::new();
/// assert_eq!(files.properties().root, "/");
/// assert!(!files.properties().read_only);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Properties {
    /// What kind of backend it is.
    pub backend: BackendKind,
    /// Where the root is: `/` in memory, the directory's own path on a host. Not for a model.
    pub root: String,
    /// The absolute prefix a model may use.
    pub mount_point: Option<MountPoint>,
    /// Whether every change is refused.
    pub read_only: bool,
    /// What bounds the calls.
    pub limits: Limits,
}

impl Properties {
    /// Makes the value of a backend that bounds and refuses nothing.
    pub fn new(backend: BackendKind, root: impl Into<String>) -> Self {
        let root = root.into();
        let limits = Limits::unlimited();
        Self { backend, root, mount_point: None, read_only: false, limits }
    }
}

/// Can be changed, one entry at a time.
///
/// # Contract
///
/// - A call that fails has changed nothing.
/// - A reader sees an entry as it was before a change or as it is after it, never in between.
/// - The root cannot be removed, renamed or replaced by a rename: PermissionDenied, whatever else is wrong.
///   Elsewhere it is a directory like any other: something else to be made there is AlreadyExists, content
///   to be put there IsADirectory.
/// - An entry that is to be changed must be there: NotFound if it is not or if the path passes
///   through a file, PermissionDenied if it passes through a symbolic link.
/// - A new entry's parent must be there: NotFound if it is not, NotADirectory if the path passes
///   through a file, PermissionDenied if it passes through a symbolic link.
/// - A link is removed, renamed and replaced itself; what it points to is never touched.
///
/// ```
/// use wink_fs::{Filesystem, MemoryBackend, PutOptions, Recursion, Staged, Tree, TreePath};
///
/// fn note(files: &mut dyn Filesystem) -> wink_fs::Result<()> {
///     let path = TreePath::parse("note.txt")?;
///     files.put(&path, &mut Staged::from_bytes("hello"), &PutOptions::default())?;
///     files.remove(&path, Recursion::OnlyEmpty)?;
///     Ok(())
/// }
///
/// note(&mut MemoryBackend::new())?;
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub trait Filesystem: Tree {
    /// Returns what the filesystem says of itself.
    fn properties(&self) -> &Properties;

    /// Starts writing content that no reader sees yet; in memory, unless the backend has a better place.
    fn stage(&self) -> Result<Staging> {
        Ok(Staging::in_memory())
    }

    /// Makes `staged` the content of the file at `path`, in one step.
    ///
    /// Where it fails, `staged` can be put again. Other names of a replaced file (hard links) keep the
    /// old content. A directory is IsADirectory, a link PermissionDenied, anything else that is not a
    /// file SpecialFile; under [`PutCondition::Absent`] all of them are AlreadyExists.
    fn put(&mut self, path: &TreePath, staged: &mut Staged, options: &PutOptions) -> Result<Put>;

    /// Makes one directory; anything that is there already is AlreadyExists.
    fn create_dir(&mut self, path: &TreePath) -> Result<()>;

    /// Makes a symbolic link, which is data: the target is any bytes but none, NUL, or over 4,095.
    ///
    /// Anything that is there already is AlreadyExists. A target that cannot be one is InvalidArgument,
    /// wherever the link would go.
    fn symlink(&mut self, path: &TreePath, target: &[u8]) -> Result<()>;

    /// Changes what is kept of a file's permissions, and nothing else.
    ///
    /// Only files have any: a directory is IsADirectory, a link PermissionDenied, anything else that is
    /// not a file SpecialFile.
    fn set_mode(&mut self, path: &TreePath, mode: FileMode) -> Result<()>;

    /// Removes an entry, of whatever kind.
    ///
    /// A directory with entries is NotEmpty, unless they go with it.
    fn remove(&mut self, path: &TreePath, recursion: Recursion) -> Result<Removed>;

    /// Moves an entry, with all that is below it.
    ///
    /// What is wrong with `from` is said first, then what is wrong with `to`. A directory cannot go into
    /// itself: InvalidArgument, whether or not the new parent is there. When replacing, a directory in the
    /// place of something else is NotADirectory, something else in the place of a directory IsADirectory,
    /// and a directory in the place of one that has entries NotEmpty. An entry that replaces itself stays
    /// as it is.
    fn rename(&mut self, from: &TreePath, to: &TreePath, replacement: Replacement) -> Result<()>;
}

/// What must be done before a replacement changes the first file; it returns how the files were kept, if they were.
pub type DoneFirst<'f> = &'f mut (dyn FnMut() -> Result<Option<KeptFirst>> + Send);

/// How the files are kept that a replacement displaces.
#[non_exhaustive]
pub struct KeptFirst {
    /// The files as they were saved.
    pub tree: Arc<dyn Tree>,
    /// Where on the host displaced files go into which a program may still write; the backend makes a directory of it.
    pub aside: PathBuf,
}

impl fmt::Debug for KeptFirst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptFirst").field("aside", &self.aside).finish_non_exhaustive()
    }
}

/// Owns files; what a [`Workspace`](crate::Workspace) is made of.
///
/// The public test kit (feature `testkit`) checks each sentence of the contract of this trait,
/// [`Filesystem`] and [`Tree`]: `conformance_suite!` makes the tests.
///
/// ```
/// use wink_fs::{Backend, Filesystem, MemoryBackend, Tree, TreePath};
///
/// let mut files = MemoryBackend::new();
/// let live = files.live();
/// files.create_dir(&TreePath::parse("src")?)?;
/// assert_eq!(live.list(&TreePath::root())?.len(), 1);
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub trait Backend: Filesystem {
    /// Replaces the files by those of another tree, as a whole or not at all.
    ///
    /// What is the same already is left alone. Everything is read from `target` before the first change;
    /// a target that cannot be read, or has a FIFO, socket or device in it, changes nothing. The state
    /// before it can be brought back by replacing with a captured tree.
    /// Only what is in scope changes; parents that such an entry needs are made.
    fn replace(&mut self, target: &dyn Tree, scope: &Scope) -> Result<Replaced> {
        let before = self.capture(scope.excluded())?;
        self.replace_by(&ReplacePlan::new(before, target, scope)?, &mut || Ok(None))
    }

    /// Like [`replace`](Self::replace), by a plan made from the backend's own capture, after which no process wrote.
    ///
    /// It saves looking at everything again. `first` is done once, before the first change and maybe
    /// while what is new is staged; if it fails, nothing changes. [`ReplacePlan::apply`] returns the files as
    /// they are to be.
    fn replace_by(&mut self, plan: &ReplacePlan<'_>, first: DoneFirst<'_>) -> Result<Replaced>;

    /// Returns whether a dead process's replacement is still to be finished, as when the files cannot be
    /// written to for now.
    fn is_unfinished(&self) -> bool {
        false
    }

    /// Refuses such a plan if something lies in the way of it, or the target has what no replacement can
    /// make, as doing it would, and changes nothing.
    fn check_replace(&self, plan: &ReplacePlan<'_>) -> Result<()> {
        MemoryBackend::over(&self.live())?.check_replace(plan)
    }

    /// Returns the files as they are now, less what is excluded; later changes do not show in it.
    ///
    /// Where content is not kept, but read when it is asked for, content that has changed since is a
    /// Conflict. By default everything is copied to memory.
    fn capture(&self, excluded: &Exclusions) -> Result<Capture> {
        let mut copy = MemoryBackend::new();
        copy.replace(&*self.live(), &Scope::everything().excluding(excluded.clone()))?;
        copy.capture(&Exclusions::default())
    }

    /// Takes in the hashes of what it captured, as another tree that holds the same knows them.
    ///
    /// It makes the next capture faster and changes nothing else.
    fn learn(&mut self, captured: &dyn Tree, same: &dyn Tree) {
        let _ = (captured, same);
    }

    /// Copies an entry of another tree, with everything below it, to a free path, in one step.
    ///
    /// Something that is there is AlreadyExists, a parent that is not NotFound.
    fn install(&mut self, path: &TreePath, source: Source<'_>) -> Result<()> {
        let mut after = MemoryBackend::over(&self.live())?;
        after.install(path, source)?;
        self.replace(&after, &Scope::paths([path.clone()])).map(drop)
    }

    /// Moves a kept entry back to its place, where nothing is, and returns whether it could: else it is copied.
    ///
    /// What other programs write into it meanwhile, because they have it open, comes back with it.
    fn give_back(&mut self, path: &TreePath, kept: &KeptEntry) -> Result<bool> {
        let _ = (path, kept);
        Ok(false)
    }

    /// Begins to keep what changes displace; a backend that needs a place for it gets `aside`.
    ///
    /// Nothing is there, and no other name beside it begins with that one and a dot. By default what is displaced is
    /// copied to memory, and is gone with the process.
    fn before_image(&self, aside: &Path) -> Result<Box<dyn BeforeImage>> {
        let _ = aside;
        Ok(Box::new(CopiedImage::new(self.live())))
    }

    /// Returns a view of the files as they are at each call, usable while another thread writes.
    fn live(&self) -> Arc<dyn Tree>;

    /// Returns the directory of the host that the files are in, for programs that are run there; none
    /// where they are in no directory.
    fn directory(&self) -> Option<PathBuf> {
        None
    }
}

//! Trees: everything that can be read, such as the files of a backend, a snapshot or an archive, behind one trait.

pub(crate) mod compare;
pub(crate) mod content;
pub(crate) mod filtered;
pub(crate) mod hash;
pub(crate) mod merkle;
pub(crate) mod scope;
pub(crate) mod streamed;

use std::any::Any;
use std::time::SystemTime;

use crate::error::Result;
use crate::hash::ContentHash;
use crate::path::{Name, TreePath};
use crate::tree::content::Content;
use crate::tree::hash::TreeHash;

/// The kind of an entry.
///
/// ```
/// assert_eq!(wink_fs::Kind::Symlink.to_string(), "symlink");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link; it is data and never followed.
    Symlink,
    /// A FIFO, socket or device.
    Other,
}

impl Kind {
    /// Parses what [`Display`](std::fmt::Display) writes.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        [Self::File, Self::Directory, Self::Symlink, Self::Other]
            .into_iter()
            .find(|kind| kind.to_string() == text)
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Symlink => "symlink",
            Self::Other => "other",
        })
    }
}

/// A mode: the part of the permissions of a file or directory that is kept.
///
/// ```
/// use wink_fs::FileMode;
///
/// let script = FileMode::default().executable(true);
/// assert!(script.executable && !script.private);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub struct FileMode {
    /// Whether its owner may execute it; never set for a directory.
    pub executable: bool,
    /// Whether only its owner has access.
    pub private: bool,
}

impl FileMode {
    /// Sets whether its owner may execute it.
    #[must_use]
    pub fn executable(mut self, executable: bool) -> Self {
        self.executable = executable;
        self
    }

    /// Sets whether only its owner has access.
    #[must_use]
    pub fn private(mut self, private: bool) -> Self {
        self.private = private;
        self
    }
}

/// The metadata of an entry.
///
/// ```
/// use wink_fs::{Kind, Workspace};
///
/// let files = Workspace::memory();
/// files.write("a.txt", "hello")?;
/// let stat = files.stat("a.txt")?;
/// assert_eq!((stat.kind, stat.size_bytes), (Kind::File, 5));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Stat {
    /// What it is.
    pub kind: Kind,
    /// The size of a file's content or a link's target; otherwise 0.
    pub size_bytes: u64,
    /// The mode of a file; of a directory, only whether it is private. The default for the root and anything else.
    pub mode: FileMode,
    /// The creation time, if known.
    pub created_at: Option<SystemTime>,
    /// The modification time, if known.
    pub modified_at: Option<SystemTime>,
}

impl Stat {
    /// Makes the value for an entry of which only kind and size are known.
    pub fn new(kind: Kind, size_bytes: u64) -> Self {
        let mode = FileMode::default();
        Self { kind, size_bytes, mode, created_at: None, modified_at: None }
    }
}

/// An entry of a directory: what the directory itself knows.
///
/// ```
/// use wink_fs::{Filesystem, Kind, MemoryBackend, Tree, TreePath};
///
/// let mut files = MemoryBackend::new();
/// files.create_dir(&TreePath::parse("src")?)?;
/// let entries = files.list(&TreePath::root())?;
/// assert_eq!((entries[0].name.as_bytes(), entries[0].kind), (&b"src"[..], Kind::Directory));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// Its name in the directory.
    pub name: Name,
    /// What it is.
    pub kind: Kind,
}

impl Entry {
    /// Makes an entry, for a backend's listing.
    pub fn new(name: Name, kind: Kind) -> Self {
        Self { name, kind }
    }
}

/// An entry of a directory, with what is known about it without reading a file.
///
/// ```
/// use wink_fs::{Tree as _, TreePath, Workspace};
///
/// let files = Workspace::memory();
/// files.write("a.txt", "hello")?;
/// let known = files.tree().list_known(&TreePath::root())?;
/// assert_eq!(known[0].file.map(|file| file.size_bytes), Some(5));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct KnownEntry {
    /// The entry.
    pub entry: Entry,
    /// The file's identity, if its hash is known.
    pub file: Option<KnownFile>,
}

impl KnownEntry {
    /// Makes the value, for a tree's listing.
    pub fn new(entry: Entry, file: Option<KnownFile>) -> Self {
        Self { entry, file }
    }
}

/// A file's identity, without its bytes.
///
/// ```
/// use wink_fs::{ContentHash, FileMode, KnownFile};
///
/// let file = KnownFile::new(FileMode::default(), ContentHash::of(b"hello"), 5);
/// assert_eq!(file.size_bytes, 5);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct KnownFile {
    /// Its mode.
    pub mode: FileMode,
    /// The hash of its content.
    pub hash: ContentHash,
    /// The size of its content.
    pub size_bytes: u64,
}

impl KnownFile {
    /// Makes the value, for a tree's listing.
    pub fn new(mode: FileMode, hash: ContentHash, size_bytes: u64) -> Self {
        Self { mode, hash, size_bytes }
    }
}

/// Files that can be read: live ones, a captured state, an archive, a snapshot.
///
/// Glob, grep, paging, diff, export and the like are functions over this trait, written once.
///
/// # Contract
///
/// - The root is always there and is a directory.
/// - A path that is not there, or that passes through a file, is NotFound.
/// - A path that passes through a symbolic link is PermissionDenied, whatever the link points to.
/// - No call waits for a FIFO, a socket or a device.
/// - Nothing here changes anything.
///
/// A decorator forwards every method, those with a default too: `#[deny(clippy::missing_trait_methods)]` on its `impl`
/// finds what it forgot.
///
/// ```
/// use wink_fs::{Kind, Result, Tree, TreePath};
///
/// /// Counts the files of any tree.
/// fn count_files(tree: &dyn Tree, directory: &TreePath) -> Result<usize> {
///     let mut count = 0;
///     for entry in tree.list(directory)? {
///         count += match entry.kind {
///             Kind::File => 1,
///             Kind::Directory => count_files(tree, &directory.join(&entry.name)?)?,
///             _ => 0,
///         };
///     }
///     Ok(count)
/// }
///
/// let files = wink_fs::Workspace::memory();
/// files.write("a/b.txt", "")?;
/// assert_eq!(count_files(&*files.tree(), &TreePath::root())?, 1);
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub trait Tree: Send + Sync {
    /// Describes an entry; a link itself, not its target.
    fn stat(&self, path: &TreePath) -> Result<Stat>;

    /// Returns the entries of a directory, sorted bytewise by name.
    ///
    /// Anything that is not a directory is NotADirectory; a link is PermissionDenied.
    fn list(&self, path: &TreePath) -> Result<Vec<Entry>>;

    /// Opens a file; the content stays readable when the path is replaced or removed.
    ///
    /// A directory is IsADirectory, a link PermissionDenied, anything else that is not a file SpecialFile.
    fn open(&self, path: &TreePath) -> Result<Content>;

    /// Returns the target of a link, byte for byte; anything else is InvalidArgument.
    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>>;

    /// Returns the hash of a file's content if it is known without reading the file.
    ///
    /// `None` only costs speed.
    fn known_hash(&self, _path: &TreePath) -> Option<ContentHash> {
        None
    }

    /// Returns the entries of a directory, each with what is known about it without reading a file.
    ///
    /// A tree can often answer for a whole directory faster than path by path.
    fn list_known(&self, path: &TreePath) -> Result<Vec<KnownEntry>> {
        let known = |entry: Entry| {
            let path = path.join(&entry.name)?;
            let hash = (entry.kind == Kind::File).then(|| self.known_hash(&path)).flatten();
            let file = match hash {
                None => None,
                Some(hash) => {
                    let Stat { mode, size_bytes, .. } = self.stat(&path)?;
                    Some(KnownFile { mode, hash, size_bytes })
                }
            };
            Ok(KnownEntry { entry, file })
        };
        self.list(path)?.into_iter().map(known).collect()
    }

    /// Returns the hash of a directory and everything below it, if it is known without reading a file.
    ///
    /// `None` only costs speed.
    fn known_tree_hash(&self, _path: &TreePath) -> Option<TreeHash> {
        None
    }

    /// Returns the backend's own state, by which it recognises its own trees.
    fn own_state(&self) -> Option<&dyn Any> {
        None
    }
}

/// The stack needed for one more level, which is added if less is left.
const LEVEL: usize = 64 * 1024;
const MORE: usize = 2 * 1024 * 1024;

/// Runs one level of a recursion over directories, on a new stack if too little is left: the depth of a tree is chosen by
/// other programs.
pub(crate) fn descend<T>(level: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(LEVEL, MORE, level)
}

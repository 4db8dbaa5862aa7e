//! The immutable nodes of a state in memory.

use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use bytes::Bytes;
use imbl::OrdMap;

use crate::error::Result;
use crate::filesystem::capture::Totals;
use crate::hash::ContentHash;
use crate::path::{Name, TreePath};
use crate::tree::content::Content;
use crate::tree::descend;
use crate::tree::hash::TreeHash;
use crate::tree::merkle::{self, Identity};
use crate::tree::{Entry, FileMode, Kind, Stat, Tree};

/// One entry; clones share it.
#[derive(Clone)]
pub(super) enum Node {
    File(Arc<File>),
    Directory(Arc<Directory>),
    Link(Arc<Link>),
}

#[derive(Clone)]
pub(super) struct File {
    pub(super) content: Body,
    pub(super) hash: ContentHash,
    pub(super) mode: FileMode,
    pub(super) times: Times,
}

#[derive(Clone)]
pub(super) struct Directory {
    /// Only `private` can be set.
    pub(super) mode: FileMode,
    pub(super) children: OrdMap<Name, Node>,
    pub(super) times: Times,
    /// The totals of everything in it, kept up to date so that a capture need not count.
    totals: Totals,
    hash: OnceLock<TreeHash>,
}

#[derive(Clone)]
pub(super) struct Link {
    pub(super) target: Box<[u8]>,
    pub(super) times: Times,
}

#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) created: SystemTime,
    pub(super) modified: SystemTime,
}

impl Times {
    pub(super) fn new(now: SystemTime) -> Self {
        Self { created: now, modified: now }
    }
}

impl Directory {
    pub(super) fn new(now: SystemTime) -> Self {
        Self::with(OrdMap::new(), Times::new(now))
    }

    pub(super) fn with(children: OrdMap<Name, Node>, times: Times) -> Self {
        let totals = children.values().map(Node::totals).sum();
        let mode = FileMode::default();
        Self { mode, children, times, totals, hash: OnceLock::new() }
    }

    /// Sets its mode.
    pub(super) fn with_mode(mut self, mode: FileMode) -> Self {
        self.hash.take();
        self.mode = mode;
        self
    }

    /// Sets its hash, so that it need not be computed.
    pub(super) fn with_known_hash(mut self, hash: TreeHash) -> Self {
        self.hash = hash.into();
        self
    }

    pub(super) fn totals(&self) -> Totals {
        self.totals
    }

    /// Returns mutable access to a directory, copying it only if another tree shares it.
    pub(super) fn change(directory: &mut Arc<Self>, added: Totals, taken: Totals) -> &mut Self {
        let directory = Arc::make_mut(directory);
        directory.hash.take();
        directory.totals = directory.totals.with(added, taken);
        directory
    }

    /// Returns the hash of the directory and everything below it, computed once.
    pub(super) fn hash(&self) -> TreeHash {
        *self.hash.get_or_init(|| {
            let mut encoded = merkle::encode_start(self.mode);
            for (name, node) in &self.children {
                merkle::encode_entry(&mut encoded, name.as_bytes(), &node.identity());
            }
            merkle::directory_hash(&encoded)
        })
    }
}

impl Node {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::File(_) => Kind::File,
            Self::Directory(_) => Kind::Directory,
            Self::Link(_) => Kind::Symlink,
        }
    }

    pub(super) fn identity(&self) -> Identity {
        match self {
            Self::File(file) => Identity::File { mode: file.mode, hash: file.hash },
            Self::Directory(directory) => Identity::Directory(descend(|| directory.hash())),
            Self::Link(link) => Identity::of_link(&link.target),
        }
    }

    pub(super) fn stat(&self) -> Stat {
        let mut stat = Stat::new(self.kind(), self.size());
        match self {
            Self::File(file) => stat.mode = file.mode,
            Self::Directory(directory) => stat.mode = directory.mode,
            Self::Link(_) => {}
        }
        let times = self.times();
        stat.created_at = Some(times.created);
        stat.modified_at = Some(times.modified);
        stat
    }

    /// Returns a file's content; empty for anything else.
    pub(super) fn content(&self) -> Result<Content> {
        match self {
            Self::File(file) => Ok(file.content.open()?.with_known_hash(file.hash)),
            Self::Directory(_) | Self::Link(_) => Ok(Content::from(Bytes::new())),
        }
    }

    pub(super) fn into_file(self) -> Option<Arc<File>> {
        match self {
            Self::File(file) => Some(file),
            Self::Directory(_) | Self::Link(_) => None,
        }
    }

    /// Returns a directory's entries in order; empty for anything else.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let entry = |(name, node): (&Name, &Self)| Entry::new(name.clone(), node.kind());
        match self {
            Self::Directory(directory) => directory.children.iter().map(entry).collect(),
            Self::File(_) | Self::Link(_) => Vec::new(),
        }
    }

    pub(super) fn has_entries(&self) -> bool {
        matches!(self, Self::Directory(directory) if !directory.children.is_empty())
    }

    /// Counts the node and everything below it.
    pub(super) fn totals(&self) -> Totals {
        match self {
            Self::File(file) => Totals::new(1, 0, file.content.len()),
            Self::Directory(directory) => {
                directory.totals.with(Totals::new(0, 1, 0), Totals::default())
            }
            Self::Link(_) => Totals::new(1, 0, 0),
        }
    }

    /// Compares two nodes, ignoring times.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(a), Self::File(b)) => a.hash == b.hash && a.mode == b.mode,
            (Self::Link(a), Self::Link(b)) => a.target == b.target,
            _ => false,
        }
    }

    fn size(&self) -> u64 {
        match self {
            Self::File(file) => file.content.len(),
            Self::Directory(_) => 0,
            Self::Link(link) => link.target.len() as u64,
        }
    }

    fn times(&self) -> Times {
        match self {
            Self::File(file) => file.times,
            Self::Directory(directory) => directory.times,
            Self::Link(link) => link.times,
        }
    }
}

/// Bytes, or a file of another immutable tree, read when it is opened.
#[derive(Clone)]
pub(super) enum Body {
    Bytes(Bytes),
    Elsewhere(Arc<FileElsewhere>),
}

/// A file of another tree.
pub(super) struct FileElsewhere {
    pub(super) tree: Arc<dyn Tree>,
    pub(super) path: TreePath,
    pub(super) len: u64,
}

impl Body {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Elsewhere(file) => file.len,
        }
    }

    pub(super) fn open(&self) -> Result<Content> {
        match self {
            Self::Bytes(bytes) => Ok(Content::from(bytes.clone())),
            Self::Elsewhere(file) => file.tree.open(&file.path),
        }
    }
}

//! A captured directory of the host: stamps of all entries; content is read on demand.

use std::any::Any;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::index::Index;
use super::stamp::{self, Moment, Stamp};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::hash::ContentHash;
use crate::host::preimage::fingerprint::{self, Fingerprint};
use crate::host::{HostTree, entry, failure, lease};
use crate::path::{Name, TreePath};
use crate::tree::content::{Content, ReadAt};
use crate::tree::descend;
use crate::tree::hash::TreeHash;
use crate::tree::scope::Exclusions;
use crate::tree::{Entry, FileMode, Kind, KnownEntry, KnownFile, Stat, Tree};
use crate::util::parallel;

/// The directories of a capture, each after its parent; the root comes first.
pub(in crate::host) struct Captured {
    pub(super) host: Arc<HostTree>,
    pub(super) directories: Vec<Directory>,
    /// The index from before the walk.
    pub(super) index: Arc<Index>,
    pub(super) excluded: Exclusions,
    /// The start of the walk; nothing has changed between then and the end of the walk.
    pub(super) moment: Moment,
    /// Files that a program had open for writing when they were read. A write through a mapping may leave the stamp
    /// unchanged.
    pub(super) open_for_writing: Mutex<BTreeSet<TreePath>>,
}

pub(super) struct Directory {
    pub(super) path: TreePath,
    pub(super) listing: Listing,
    /// The numbers of its subdirectories, in the order of their names.
    pub(super) children: Range<u32>,
    pub(super) stamp: Stamp,
    pub(super) hash: Option<TreeHash>,
    /// Whether every entry is listed.
    pub(super) is_whole: bool,
    /// Whether something in it, at any depth, is not captured.
    pub(super) hides: bool,
}

impl Directory {
    /// Returns its mode; the root's is not captured.
    pub(super) fn mode(&self) -> FileMode {
        if self.path.is_root() {
            FileMode::default()
        } else {
            entry::directory_mode(self.stamp.mode.into())
        }
    }
}

/// The entries of a directory.
pub(super) enum Listing {
    /// Read from the directory, sorted by name.
    Read(Vec<Node>),
    /// Unchanged since the index was written; decoded on demand.
    Known { block: u32, nodes: OnceLock<Vec<Node>> },
}

#[derive(Clone)]
pub(super) struct Node {
    pub(super) name: Name,
    pub(super) what: NodeData,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeData {
    File {
        stamp: Stamp,
        hash: Option<ContentHash>,
    },
    Link {
        stamp: Stamp,
    },
    /// Its position among the subdirectories of its parent.
    Directory {
        ordinal: u32,
    },
}

impl Node {
    fn kind(&self) -> Kind {
        match self.what {
            NodeData::File { .. } => Kind::File,
            NodeData::Link { .. } => Kind::Symlink,
            NodeData::Directory { .. } => Kind::Directory,
        }
    }
}

impl Node {
    pub(super) fn is_directory(&self) -> bool {
        matches!(self.what, NodeData::Directory { .. })
    }

    /// Returns the stamp of a file or link.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        match self.what {
            NodeData::File { stamp, .. } | NodeData::Link { stamp } => Some(stamp),
            NodeData::Directory { .. } => None,
        }
    }

    fn known_file(&self) -> Option<KnownFile> {
        let NodeData::File { stamp, hash } = self.what else { return None };
        Some(KnownFile::new(entry::mode_of(stamp.mode.into()), hash?, stamp.size))
    }
}

/// Larger captures are freed in the background, so that no caller waits.
const MANY: usize = 256;

impl Drop for Captured {
    fn drop(&mut self) {
        let directories = std::mem::take(&mut self.directories);
        if directories.len() >= MANY {
            parallel::later(move || drop(directories));
        }
    }
}

/// NodeData a path resolves to.
enum Found<'a> {
    Directory(&'a Directory),
    File(&'a Stamp, Option<ContentHash>),
    Link(&'a Stamp),
}

impl Found<'_> {
    fn kind(&self) -> Kind {
        match self {
            Self::Directory(_) => Kind::Directory,
            Self::File(..) => Kind::File,
            Self::Link(_) => Kind::Symlink,
        }
    }
}

impl Captured {
    /// Returns the capture behind a tree, if this backend made it.
    pub(in crate::host) fn of<'t>(tree: &'t dyn Tree, host: &Arc<HostTree>) -> Option<&'t Self> {
        tree.own_state()?
            .downcast_ref()
            .filter(|captured: &&Self| Arc::ptr_eq(&captured.host, host))
    }

    /// Returns whether something in a directory, at any depth, is not captured.
    pub(in crate::host) fn hides(&self, path: &TreePath) -> bool {
        matches!(self.find(Operation::Stat, path), Ok(Found::Directory(found)) if found.hides)
    }

    /// Returns whether a program had the entry, or something below it, open for writing when it was read.
    pub(in crate::host) fn was_open(&self, path: &TreePath) -> bool {
        self.open_for_writing.lock().iter().any(|open| open.starts_with(path))
    }

    /// Returns the stamp of a directory.
    pub(in crate::host) fn find_directory_stamp(&self, path: &TreePath) -> Option<Stamp> {
        match self.find(Operation::Stat, path) {
            Ok(Found::Directory(directory)) => Some(directory.stamp),
            _ => None,
        }
    }

    /// Returns the stamp of a file or link.
    pub(in crate::host) fn find_stamp(&self, path: &TreePath) -> Option<Stamp> {
        match self.find(Operation::Stat, path) {
            Ok(Found::File(stamp, _) | Found::Link(stamp)) => Some(*stamp),
            _ => None,
        }
    }

    /// Returns the fingerprint of a directory's content.
    pub(in crate::host) fn find_inside(&self, path: &TreePath) -> Option<Fingerprint> {
        match self.find(Operation::Stat, path) {
            Ok(Found::Directory(directory)) => {
                let mut inside = fingerprint::Builder::default();
                self.add_inside(directory, &mut inside);
                Some(inside.finish())
            }
            _ => None,
        }
    }

    fn add_inside(&self, directory: &Directory, inside: &mut fingerprint::Builder) {
        for node in self.nodes(directory) {
            let name = node.name.as_bytes();
            match &node.what {
                NodeData::File { stamp, .. } | NodeData::Link { stamp } => {
                    inside.entry(name, stamp)
                }
                NodeData::Directory { ordinal } => {
                    inside.enter(name);
                    let number = directory.children.start + ordinal;
                    descend(|| self.add_inside(&self.directories[number as usize], inside));
                    inside.leave();
                }
            }
        }
    }

    fn nodes<'a>(&'a self, directory: &'a Directory) -> &'a [Node] {
        match &directory.listing {
            Listing::Read(nodes) => nodes,
            Listing::Known { block, nodes } => nodes.get_or_init(|| self.index.nodes(*block)),
        }
    }

    fn find(&self, operation: Operation, path: &TreePath) -> Result<Found<'_>> {
        let missing = || Error::new(operation, ErrorKind::NotFound).with_path(path);
        let mut directory = self.directories.first().ok_or_else(missing)?;
        let mut segments = path.segments().peekable();
        while let Some(segment) = segments.next() {
            let nodes = self.nodes(directory);
            let at = nodes.binary_search_by(|node| node.name.as_bytes().cmp(segment));
            let node = &nodes[at.map_err(|_| missing())?];
            let is_last = segments.peek().is_none();
            match &node.what {
                NodeData::Directory { ordinal } => {
                    let number = directory.children.start + ordinal;
                    directory = &self.directories[number as usize];
                }
                NodeData::File { stamp, hash } if is_last => return Ok(Found::File(stamp, *hash)),
                NodeData::Link { stamp } if is_last => return Ok(Found::Link(stamp)),
                NodeData::File { .. } => return Err(missing()),
                NodeData::Link { .. } => return Err(Error::through_link(operation, path)),
            }
        }
        Ok(Found::Directory(directory))
    }
}

impl Tree for Captured {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        Ok(match self.find(Operation::Stat, path)? {
            Found::Directory(directory) => {
                let mut stat = Stat::new(Kind::Directory, 0);
                stat.mode = directory.mode();
                stat
            }
            Found::Link(stamp) => Stat::new(Kind::Symlink, stamp.size),
            Found::File(stamp, _) => {
                let mut stat = Stat::new(Kind::File, stamp.size);
                stat.mode = entry::mode_of(stamp.mode.into());
                stat
            }
        })
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        let found = self.find(Operation::List, path)?;
        checks::check_directory(path, found.kind())?;
        let Found::Directory(directory) = found else { return Ok(Vec::new()) };
        let entry = |node: &Node| Entry::new(node.name.clone(), node.kind());
        Ok(self.nodes(directory).iter().map(entry).collect())
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        let found = self.find(Operation::Read, path)?;
        checks::check_file(Operation::Read, path, found.kind())?;
        let Found::File(stamp, hash) = found else { return Err(changed(path)) };
        let (fd, _) = self.host.open_file(Operation::Read, path).map_err(|error| {
            let gone = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory);
            if gone { changed(path) } else { error }
        })?;
        // The index has no hash of a file that was open for writing, so only files that are read now need a lease.
        if hash.is_none() && lease::is_open_for_writing(&fd) {
            self.open_for_writing.lock().insert(path.clone());
        }
        let file = Unchanged { file: fd.into(), stamp: *stamp };
        file.check().map_err(|error| failed(path, error))?;
        let content = Content::positional(Arc::new(file), stamp.size);
        Ok(hash.into_iter().fold(content, Content::with_known_hash))
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        let Found::Link(stamp) = self.find(Operation::Read, path)? else {
            return Err(checks::not_a_link(path));
        };
        let fail = |errno| failure::looking(Operation::Read, path, errno);
        let link = self.host.root.open(path, OFlags::PATH).map_err(fail)?;
        if Stamp::of(&stamp::look_at(&link).map_err(fail)?) != *stamp {
            return Err(changed(path));
        }
        Ok(rustix::fs::readlinkat(&link, "", Vec::new()).map_err(fail)?.into_bytes())
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        match self.find(Operation::Stat, path) {
            Ok(Found::File(_, hash)) => hash,
            _ => None,
        }
    }

    fn list_known(&self, path: &TreePath) -> Result<Vec<KnownEntry>> {
        let found = self.find(Operation::List, path)?;
        checks::check_directory(path, found.kind())?;
        let Found::Directory(directory) = found else { return Ok(Vec::new()) };
        let known = |node: &Node| {
            let entry = Entry::new(node.name.clone(), node.kind());
            KnownEntry::new(entry, node.known_file())
        };
        Ok(self.nodes(directory).iter().map(known).collect())
    }

    fn known_tree_hash(&self, path: &TreePath) -> Option<TreeHash> {
        match self.find(Operation::Stat, path) {
            Ok(Found::Directory(directory)) => directory.hash,
            _ => None,
        }
    }

    fn own_state(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// Returns the error for a file that changed since the capture.
pub(super) fn changed(path: &TreePath) -> Error {
    Error::new(Operation::Read, ErrorKind::Conflict)
        .with_path(path)
        .with_detail("it changed while the files were captured; try again when no program writes")
}

fn failed(path: &TreePath, error: io::Error) -> Error {
    Error::system(Operation::Read, error).with_path(path)
}

/// A captured file that returns no byte written after the capture.
struct Unchanged {
    file: File,
    stamp: Stamp,
}

impl Unchanged {
    fn check(&self) -> io::Result<()> {
        if Stamp::of(&stamp::look_at(&self.file)?) == self.stamp {
            Ok(())
        } else {
            Err(Errno::STALE.into())
        }
    }
}

impl ReadAt for Unchanged {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset >= self.stamp.size {
            return Ok(0);
        }
        let read = ReadAt::read_at(&self.file, buffer, offset)?;
        // A check before the read would miss a write between the two.
        self.check()?;
        Ok(read)
    }

    fn file(&self) -> Option<&File> {
        Some(&self.file)
    }
}

//! A captured directory of the host: every entry with its stamp, content read when it is asked for.

use std::any::Any;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

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
use crate::tree::descend::descend;
use crate::tree::hash::TreeHash;
use crate::tree::scope::Exclusions;
use crate::tree::{Entry, Kind, KnownEntry, KnownFile, Stat, Tree};
use crate::util::parallel;

/// The directories of a capture, each after its parent; the first is the root.
pub(in crate::host) struct Captured {
    pub(super) host: Arc<HostTree>,
    pub(super) directories: Vec<Directory>,
    /// What was known when the walk began.
    pub(super) index: Arc<Index>,
    pub(super) excluded: Exclusions,
    /// Nothing in it has changed since.
    pub(super) moment: Moment,
    /// The files that a program had open for writing when they were read: they may change with no sign.
    pub(super) open_for_writing: Mutex<BTreeSet<TreePath>>,
}

pub(super) struct Directory {
    pub(super) path: TreePath,
    pub(super) listing: Listing,
    /// The numbers of the directories in it, in the order of their names.
    pub(super) children: Range<u32>,
    pub(super) stamp: Stamp,
    pub(super) hash: Option<TreeHash>,
    /// Whether everything that is in it is listed.
    pub(super) is_whole: bool,
    /// Whether there is something in it, or below, that is not captured.
    pub(super) hides: bool,
}

/// What is in a directory.
pub(super) enum Listing {
    /// What was found there, sorted by name.
    Looked(Vec<Node>),
    /// What the index knows and is still true; decoded when a caller asks for it.
    Known { block: u32, nodes: OnceLock<Vec<Node>> },
}

pub(super) struct Node {
    pub(super) name: Name,
    pub(super) what: What,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    File {
        stamp: Stamp,
        hash: Option<ContentHash>,
    },
    Link {
        stamp: Stamp,
    },
    /// Which one of the directories in its parent it is.
    Directory {
        ordinal: u32,
    },
}

impl Node {
    fn kind(&self) -> Kind {
        match self.what {
            What::File { .. } => Kind::File,
            What::Link { .. } => Kind::Symlink,
            What::Directory { .. } => Kind::Directory,
        }
    }
}

impl Node {
    fn known_file(&self) -> Option<KnownFile> {
        let What::File { stamp, hash } = self.what else { return None };
        Some(KnownFile::new(entry::mode_of(stamp.mode.into()), hash?, stamp.size))
    }
}

/// From how many directories on they are freed in the background, so that no caller waits.
const MANY: usize = 256;

impl Drop for Captured {
    fn drop(&mut self) {
        let directories = std::mem::take(&mut self.directories);
        if directories.len() >= MANY {
            parallel::later(move || drop(directories));
        }
    }
}

/// What a path leads to.
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
    pub(super) fn open_for_writing(&self) -> MutexGuard<'_, BTreeSet<TreePath>> {
        self.open_for_writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Recognises a capture of this backend.
    pub(in crate::host) fn of<'t>(tree: &'t dyn Tree, host: &Arc<HostTree>) -> Option<&'t Self> {
        tree.own_state()?
            .downcast_ref()
            .filter(|captured: &&Self| Arc::ptr_eq(&captured.host, host))
    }

    /// Tells whether a directory has something in it, or below, that is not captured.
    pub(in crate::host) fn hides(&self, path: &TreePath) -> bool {
        matches!(self.find(Operation::Stat, path), Ok(Found::Directory(found)) if found.hides)
    }

    /// Tells whether a program had it, or something below it, open for writing when it was read.
    pub(in crate::host) fn was_open(&self, path: &TreePath) -> bool {
        self.open_for_writing().iter().any(|open| open.starts_with(path))
    }

    /// Returns the stamp of a file or link.
    pub(in crate::host) fn find_stamp(&self, path: &TreePath) -> Option<Stamp> {
        match self.find(Operation::Stat, path) {
            Ok(Found::File(stamp, _) | Found::Link(stamp)) => Some(*stamp),
            _ => None,
        }
    }

    /// Returns what is in a directory, and below.
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
                What::File { stamp, .. } | What::Link { stamp } => inside.entry(name, stamp),
                What::Directory { ordinal } => {
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
            Listing::Looked(nodes) => nodes,
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
                What::Directory { ordinal } => {
                    let number = directory.children.start + ordinal;
                    directory = &self.directories[number as usize];
                }
                What::File { stamp, hash } if is_last => return Ok(Found::File(stamp, *hash)),
                What::Link { stamp } if is_last => return Ok(Found::Link(stamp)),
                What::File { .. } => return Err(missing()),
                What::Link { .. } => return Err(Error::through_link(operation, path)),
            }
        }
        Ok(Found::Directory(directory))
    }
}

impl Tree for Captured {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        Ok(match self.find(Operation::Stat, path)? {
            Found::Directory(_) => Stat::new(Kind::Directory, 0),
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
        if hash.is_none() && lease::is_open_for_writing(&fd) {
            self.open_for_writing().insert(path.clone());
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

/// Says that a file is no longer what was captured.
pub(super) fn changed(path: &TreePath) -> Error {
    Error::new(Operation::Read, ErrorKind::Conflict)
        .with_path(path)
        .with_detail("it changed while the files were captured; try again when no program writes")
}

fn failed(path: &TreePath, error: io::Error) -> Error {
    Error::system(Operation::Read, error).with_path(path)
}

/// A file that gives no byte of any other state than the captured one.
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
        // What was read counts only if the file was still the same afterwards.
        self.check()?;
        Ok(read)
    }

    fn file(&self) -> Option<&File> {
        Some(&self.file)
    }
}

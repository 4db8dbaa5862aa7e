//! Turns a tree into objects, and finds those that the store does not have yet.

use std::io;

use parking_lot::Mutex;

use super::objects::chunker::{self, LARGE_FILE_BYTES};
use super::objects::index::PackSet;
use super::objects::object::{ObjectId, ObjectKind};
use super::objects::pack::PackWriter;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::snapshot::Skipped;
use crate::tree::content::Content;
use crate::tree::hash::{TreeHash, directory_mode};
use crate::tree::merkle::{self, Identity};
use crate::tree::{Entry, Kind, KnownEntry, KnownFile, Tree};
use crate::util::parallel;
use crate::util::progress::Progress;

pub(crate) const SPECIAL: &str = "it is a FIFO, socket or device";

/// Walks a tree and adds new objects to a pack.
///
/// A directory is added after everything below it, a list after its parts, and a pack is published as a whole. So if no
/// pack is missing, everything below a stored directory is stored too and need not be visited.
pub(super) struct Capture<'a, 'd> {
    tree: &'a dyn Tree,
    packs: &'a PackSet,
    /// Whether no pack is missing.
    complete: bool,
    writer: &'a PackWriter<'d>,
    skipped: Mutex<Vec<Skipped>>,
}

/// A directory to visit.
enum Directory {
    /// The store has it, and everything below it.
    Known(TreeHash),
    Listed {
        path: TreePath,
        entries: Vec<KnownEntry>,
    },
}

impl Directory {
    /// Returns its subdirectories, in order.
    fn children(&self) -> Result<Vec<TreePath>> {
        match self {
            Self::Known(_) => Ok(Vec::new()),
            Self::Listed { path, entries } => {
                directories(entries).map(|entry| path.join(&entry.name)).collect()
            }
        }
    }

    fn child_count(&self) -> usize {
        match self {
            Self::Known(_) => 0,
            Self::Listed { entries, .. } => directories(entries).count(),
        }
    }
}

fn directories(entries: &[KnownEntry]) -> impl Iterator<Item = &Entry> {
    entries.iter().map(|known| &known.entry).filter(|entry| entry.kind == Kind::Directory)
}

impl<'a, 'd> Capture<'a, 'd> {
    pub(super) fn new(
        tree: &'a dyn Tree,
        packs: &'a PackSet,
        complete: bool,
        writer: &'a PackWriter<'d>,
    ) -> Self {
        Self { tree, packs, complete, writer, skipped: Mutex::default() }
    }

    /// Adds everything new, and returns the root's hash and the paths that were left out.
    ///
    /// It goes down and up again by levels, because trees can be deeper than a stack.
    pub(super) fn run(self, progress: Option<&Progress>) -> Result<(TreeHash, Vec<Skipped>)> {
        let mut hashes = Vec::new();
        let levels = self.levels()?;
        progress.into_iter().for_each(|it| it.expect_files(self.unknown_files(&levels)));
        for level in levels.iter().rev() {
            hashes = self.finish_level(level, &hashes)?;
        }
        let mut skipped = self.skipped.into_inner();
        skipped.sort();
        Ok((hashes[0], skipped))
    }

    /// Lists the directories to visit, by depth.
    fn levels(&self) -> Result<Vec<Vec<Directory>>> {
        let mut levels = Vec::new();
        let mut level = vec![self.look(TreePath::root())?];
        while !level.is_empty() {
            let below: Vec<_> = level.iter().map(Directory::children).collect::<Result<_>>()?;
            let below: Vec<TreePath> = below.into_iter().flatten().collect();
            levels.push(level);
            level = parallel::try_map(&below, |path| self.look(path.clone()))?;
        }
        Ok(levels)
    }

    /// Counts the files and links that must be read.
    fn unknown_files(&self, levels: &[Vec<Directory>]) -> u64 {
        let entries = levels.iter().flatten().flat_map(|directory| match directory {
            Directory::Known(_) => &[],
            Directory::Listed { entries, .. } => &entries[..],
        });
        let is_unknown = |known: &&KnownEntry| match known.entry.kind {
            Kind::File => !known.file.is_some_and(|file| self.has_content(&file.hash)),
            kind => kind == Kind::Symlink,
        };
        entries.filter(is_unknown).count() as u64
    }

    fn look(&self, path: TreePath) -> Result<Directory> {
        let known = self.tree.known_tree_hash(&path);
        Ok(match known.filter(|known| self.has_all_below(known)) {
            Some(known) => Directory::Known(known),
            None => Directory::Listed { entries: self.tree.list_known(&path)?, path },
        })
    }

    fn has_all_below(&self, hash: &TreeHash) -> bool {
        self.complete && self.packs.contains(&ObjectId::directory(hash))
    }

    /// Returns the hashes of directories, given those of the level below.
    fn finish_level(&self, level: &[Directory], mut below: &[TreeHash]) -> Result<Vec<TreeHash>> {
        let mut work = Vec::with_capacity(level.len());
        for directory in level {
            let (own, others) = below.split_at(directory.child_count());
            work.push((directory, own));
            below = others;
        }
        parallel::try_map(&work, |(directory, own)| self.finish(directory, own))
    }

    fn finish(&self, directory: &Directory, below: &[TreeHash]) -> Result<TreeHash> {
        let (path, entries) = match directory {
            Directory::Known(hash) => return Ok(*hash),
            Directory::Listed { path, entries } => (path, entries),
        };
        let mut below = below.iter().copied();
        let with_hash = |known| (known, below_of(known, &mut below));
        let entries: Vec<_> = entries.iter().map(with_hash).collect();
        let identities = parallel::try_map(&entries, |(known, below)| match below {
            Some(below) => Ok(Some(*below)),
            None => self.entry(path, known),
        })?;
        let mut encoded = merkle::encode_start(directory_mode(self.tree, path)?);
        for ((known, _), identity) in entries.iter().zip(&identities) {
            if let Some(identity) = identity {
                merkle::encode_entry(&mut encoded, known.entry.name.as_bytes(), identity);
            }
        }
        let hash = merkle::directory_hash(&encoded);
        self.keep(ObjectId::directory(&hash), &encoded).map_err(|error| unstored(path, error))?;
        Ok(hash)
    }

    /// Returns the identity of a file or link; `None` if it is left out.
    fn entry(&self, directory: &TreePath, known: &KnownEntry) -> Result<Option<Identity>> {
        if let Some(file) = known.file.filter(|file| self.has_content(&file.hash)) {
            return Ok(Some(Identity::File { mode: file.mode, hash: file.hash }));
        }
        let path = directory.join(&known.entry.name)?;
        match known.entry.kind {
            Kind::File => self.file(&path, known.file).map(Some),
            Kind::Symlink => self.link(&path).map(Some),
            Kind::Directory | Kind::Other => Ok(self.leave_out(&path)),
        }
    }

    fn leave_out(&self, path: &TreePath) -> Option<Identity> {
        let left_out = Skipped::new(path.to_string(), SPECIAL);
        self.skipped.lock().push(left_out);
        None
    }

    fn link(&self, path: &TreePath) -> Result<Identity> {
        let target = self.tree.read_link(path)?;
        let hash = merkle::link_hash(&target);
        self.keep(ObjectId::link(&hash), &target).map_err(|error| unstored(path, error))?;
        Ok(Identity::Link(hash))
    }

    fn file(&self, path: &TreePath, known: Option<KnownFile>) -> Result<Identity> {
        let hash = self.content(path, known.map(|known| known.hash))?;
        Ok(Identity::File { mode: self.tree.stat(path)?.mode, hash })
    }

    fn has_content(&self, hash: &ContentHash) -> bool {
        if self.writer.contains(&ObjectId::blob(hash))
            || self.writer.contains(&ObjectId::list(hash))
        {
            return true;
        }
        match self.packs.find_file(hash) {
            Some(Ok(found)) => self.complete || found.row.id.kind == ObjectKind::Blob,
            _ => false,
        }
    }

    fn content(&self, path: &TreePath, claimed: Option<ContentHash>) -> Result<ContentHash> {
        let content = self.tree.open(path)?;
        let hash = if content.len() > LARGE_FILE_BYTES {
            chunker::keep(&content, |id, size, bytes| self.keep_sized(id, size, bytes))
        } else {
            self.small(&content)
        };
        let hash = hash.map_err(|error| unstored(path, error))?;
        if claimed.is_none_or(|claimed| claimed == hash) {
            Ok(hash)
        } else {
            Err(changed(path, hash))
        }
    }

    fn small(&self, content: &Content) -> io::Result<ContentHash> {
        let bytes = content.read_all()?;
        let hash = ContentHash::of(&bytes);
        self.keep(ObjectId::blob(&hash), &bytes)?;
        Ok(hash)
    }

    fn keep(&self, id: ObjectId, bytes: &[u8]) -> io::Result<()> {
        self.keep_sized(id, bytes.len() as u64, bytes)
    }

    fn keep_sized(&self, id: ObjectId, size: u64, bytes: &[u8]) -> io::Result<()> {
        if self.packs.contains(&id) { Ok(()) } else { self.writer.add(id, size, bytes) }
    }
}

/// Takes the next hash if the entry is a directory.
fn below_of(known: &KnownEntry, below: &mut impl Iterator<Item = TreeHash>) -> Option<Identity> {
    match known.entry.kind {
        Kind::Directory => below.next().map(Identity::Directory),
        _ => None,
    }
}

pub(crate) fn changed(path: &TreePath, hash: ContentHash) -> Error {
    Error::new(Operation::Snapshot, ErrorKind::Conflict)
        .with_path(path)
        .with_current_hash(hash)
        .with_detail("it changed while the snapshot was taken; take it again")
}

fn unstored(path: &TreePath, error: io::Error) -> Error {
    super::failure::of(Operation::Snapshot, error).with_path(path)
}

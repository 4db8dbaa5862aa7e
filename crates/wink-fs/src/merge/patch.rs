//! The changes of a merge, as a tree of the changed entries.

use std::collections::BTreeMap;
use std::ops::Bound;

use bytes::Bytes;

use super::three_way::Sides;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::tree::content::Content;
use crate::tree::hash::{TreeHash, directory_mode};
use crate::tree::scope::Scope;
use crate::tree::{Entry, FileMode, Kind, Stat, Tree};

/// What an entry becomes.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Remove,
    Directory,
    /// A link, as on the other side.
    Link,
    File {
        content: Source,
        mode: FileMode,
    },
}

/// Where a file's content comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Ours(TreePath),
    Theirs(TreePath),
    Bytes(Bytes),
}

/// Every entry that changes, and nothing else.
pub(crate) struct Patch<'a> {
    pub(super) sides: Sides<'a>,
    pub(super) edits: BTreeMap<TreePath, Edit>,
}

impl Patch<'_> {
    /// Returns what may change.
    pub(crate) fn scope(&self) -> Scope {
        Scope::paths(self.edits.keys().cloned())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    fn below<'a>(&'a self, path: &'a TreePath) -> impl Iterator<Item = (&'a TreePath, &'a Edit)> {
        let all = self.edits.range((Bound::Excluded(path), Bound::Unbounded));
        all.take_while(move |(below, _)| below.starts_with(path))
    }

    fn find(&self, operation: Operation, path: &TreePath) -> Result<&Edit> {
        let missing = || Error::new(operation, ErrorKind::NotFound).with_path(path);
        match self.edits.get(path) {
            Some(Edit::Remove) => Err(missing()),
            Some(edit) => Ok(edit),
            // An implied parent of a changed entry.
            None if path.is_root() || self.below(path).next().is_some() => Ok(&Edit::Directory),
            None => Err(missing()),
        }
    }

    fn content(&self, source: &Source) -> Result<Content> {
        match source {
            Source::Ours(path) => self.sides.ours.open(path),
            Source::Theirs(path) => self.sides.theirs.open(path),
            Source::Bytes(bytes) => {
                Ok(Content::from(bytes.clone()).with_known_hash(ContentHash::of(bytes)))
            }
        }
    }
}

impl Edit {
    fn kind(&self) -> Kind {
        match self {
            Self::Directory | Self::Remove => Kind::Directory,
            Self::Link => Kind::Symlink,
            Self::File { .. } => Kind::File,
        }
    }
}

impl Tree for Patch<'_> {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        match self.find(Operation::Stat, path)? {
            Edit::File { content, mode } => {
                let mut stat = Stat::new(Kind::File, self.content(content)?.len());
                stat.mode = *mode;
                Ok(stat)
            }
            Edit::Link => self.sides.theirs.stat(path),
            Edit::Directory | Edit::Remove => {
                let mut stat = Stat::new(Kind::Directory, 0);
                if self.edits.contains_key(path) {
                    stat.mode = directory_mode(self.sides.theirs, path)?;
                }
                Ok(stat)
            }
        }
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        checks::check_directory(path, self.find(Operation::List, path)?.kind())?;
        let depth = path.depth() + 1;
        let mut entries: Vec<Entry> = Vec::new();
        for (below, edit) in self.below(path).filter(|(_, edit)| !matches!(edit, Edit::Remove)) {
            let Some(name) = below.segments().nth(depth - 1) else { continue };
            if entries.last().is_some_and(|last| last.name.as_bytes() == name) {
                continue;
            }
            let kind = if below.depth() == depth { edit.kind() } else { Kind::Directory };
            entries.push(Entry::new(crate::path::Name::from_disk(name)?, kind));
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        let edit = self.find(Operation::Read, path)?;
        checks::check_file(Operation::Read, path, edit.kind())?;
        match edit {
            Edit::File { content, .. } => self.content(content),
            _ => Ok(Content::from(Bytes::new())),
        }
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        match self.find(Operation::Read, path)? {
            Edit::Link => self.sides.theirs.read_link(path),
            _ => Err(checks::not_a_link(path)),
        }
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        match self.find(Operation::Stat, path).ok()? {
            Edit::File { content: Source::Ours(from), .. } => self.sides.ours.known_hash(from),
            Edit::File { content: Source::Theirs(from), .. } => self.sides.theirs.known_hash(from),
            Edit::File { content: Source::Bytes(bytes), .. } => Some(ContentHash::of(bytes)),
            _ => None,
        }
    }

    fn known_tree_hash(&self, _: &TreePath) -> Option<TreeHash> {
        None
    }
}

//! A snapshot as a tree: its manifest, and contents that are checked against it.

use std::fmt;
use std::io;
use std::sync::Arc;

use super::keeper::Reader;
use super::manifest::{Directory, KeptFile, Node};
use crate::error::{Error, ErrorKind, Operation, Result, damaged};
use crate::filesystem::checks;
use crate::hash::ContentHash;
use crate::path::{Name, TreePath};
use crate::tree::content::Content;
use crate::tree::descend;
use crate::tree::hash::TreeHash;
use crate::tree::{Entry, Kind, Stat, Tree};

/// Larger contents are not checked in memory.
const WHOLE_BYTES: u64 = 1024 * 1024;

/// One snapshot.
pub(super) struct KeptTree {
    root: Arc<Directory>,
    reader: Arc<dyn Reader>,
}

/// What a path resolves to.
enum Found<'a> {
    Directory(&'a Directory),
    File(&'a KeptFile),
    Link(&'a [u8]),
}

impl Found<'_> {
    fn kind(&self) -> Kind {
        match self {
            Self::Directory(_) => Kind::Directory,
            Self::File(_) => Kind::File,
            Self::Link(_) => Kind::Symlink,
        }
    }
}

impl KeptTree {
    pub(super) fn new(root: Arc<Directory>, reader: Arc<dyn Reader>) -> Self {
        Self { root, reader }
    }

    /// Reads and checks the contents of a part of all files, as [`VerifyOptions::subset`] says; returns the number of
    /// bytes, or the first damaged file.
    ///
    /// [`VerifyOptions::subset`]: crate::VerifyOptions::subset
    pub(super) fn check(&self, subset: Option<(u32, u32)>) -> Result<u64> {
        self.check_below(&TreePath::root(), &self.root, subset)
    }

    fn check_below(
        &self,
        path: &TreePath,
        directory: &Directory,
        subset: Option<(u32, u32)>,
    ) -> Result<u64> {
        let mut checked = 0;
        for (name, node) in &directory.entries {
            let path = path.join(name)?;
            checked += match node {
                Node::File(file) if is_in(subset, &file.hash) => self.open(&path)?.len(),
                Node::Directory(below) => descend(|| self.check_below(&path, below, subset))?,
                Node::File(_) | Node::Link(_) => 0,
            };
        }
        Ok(checked)
    }

    fn find(&self, operation: Operation, path: &TreePath) -> Result<Found<'_>> {
        let missing = || Error::new(operation, ErrorKind::NotFound).with_path(path);
        let mut found = Found::Directory(&self.root);
        for segment in path.segments() {
            let node = match found {
                Found::Directory(directory) => directory.find(segment).ok_or_else(missing)?,
                Found::Link(_) => return Err(Error::through_link(operation, path)),
                Found::File(_) => return Err(missing()),
            };
            found = match node {
                Node::File(file) => Found::File(file),
                Node::Directory(directory) => Found::Directory(directory),
                Node::Link(target) => Found::Link(target),
            };
        }
        Ok(found)
    }

    fn content(&self, path: &TreePath, file: &KeptFile) -> io::Result<Content> {
        let opened = self.reader.open(path, file)?;
        let content = if file.size <= WHOLE_BYTES {
            opened.read_range(0, WHOLE_BYTES)?.into()
        } else {
            opened
        };
        if content.len() == file.size && content.hash()? == file.hash {
            Ok(content.with_known_hash(file.hash))
        } else {
            Err(broken())
        }
    }
}

fn is_in(subset: Option<(u32, u32)>, hash: &ContentHash) -> bool {
    let [first, second, ..] = hash.as_bytes();
    let number = u32::from(*first) << 8 | u32::from(*second);
    subset.is_none_or(|(n, t)| number % t.max(1) + 1 == n)
}

fn broken() -> io::Error {
    damaged("the snapshot does not have the content that was saved; verify the snapshots")
}

impl Tree for KeptTree {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        Ok(match self.find(Operation::Stat, path)? {
            Found::Directory(directory) => {
                let mut stat = Stat::new(Kind::Directory, 0);
                stat.mode = directory.mode;
                stat
            }
            Found::Link(target) => Stat::new(Kind::Symlink, target.len() as u64),
            Found::File(file) => {
                let mut stat = Stat::new(Kind::File, file.size);
                stat.mode = file.mode;
                stat
            }
        })
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        let found = self.find(Operation::List, path)?;
        checks::check_directory(path, found.kind())?;
        let Found::Directory(directory) = found else { return Ok(Vec::new()) };
        let entry = |(name, node): &(Name, Node)| Entry::new(name.clone(), node.kind());
        Ok(directory.entries.iter().map(entry).collect())
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        let found = self.find(Operation::Read, path)?;
        checks::check_file(Operation::Read, path, found.kind())?;
        let Found::File(file) = found else { return Ok(bytes::Bytes::new().into()) };
        self.content(path, file).map_err(|error| {
            // An error that does not come from the system means damaged compressed bytes.
            let is_damage =
                error.raw_os_error().is_none() || error.kind() == io::ErrorKind::NotFound;
            let error = if is_damage { broken() } else { error };
            Error::system(Operation::Read, error).with_path(path)
        })
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        match self.find(Operation::Read, path)? {
            Found::Link(target) => Ok(target.to_vec()),
            _ => Err(checks::not_a_link(path)),
        }
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        match self.find(Operation::Stat, path) {
            Ok(Found::File(file)) => Some(file.hash),
            _ => None,
        }
    }

    fn known_tree_hash(&self, path: &TreePath) -> Option<TreeHash> {
        match self.find(Operation::Stat, path) {
            Ok(Found::Directory(directory)) => Some(directory.hash),
            _ => None,
        }
    }
}

impl fmt::Debug for KeptTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeptTree({})", self.root.hash)
    }
}

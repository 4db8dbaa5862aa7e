//! Reads a snapshot as a tree.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::Arc;

use parking_lot::RwLock;

use super::failure;
use super::objects::chunked_file::LargeFile;
use super::objects::index::ObjectIndex;
use super::objects::object::{ObjectId, ObjectKind};
use super::objects::part_list;
use crate::error::{Error, ErrorKind, Operation, Result, damaged};
use crate::filesystem::checks;
use crate::hash::ContentHash;
use crate::path::{Name, TreePath};
use crate::tree::content::Content;
use crate::tree::hash::TreeHash;
use crate::tree::merkle::{self, Decoded, Identity};
use crate::tree::{Entry, KnownEntry, KnownFile, Stat, Tree};

type Directory = Arc<Decoded>;

/// A snapshot in a store; each directory is read once.
pub(super) struct StoreTree {
    objects: Arc<ObjectIndex>,
    root: TreeHash,
    directories: RwLock<HashMap<TreeHash, Directory>>,
}

impl StoreTree {
    /// Opens the tree of a root directory.
    pub(super) fn open(objects: Arc<ObjectIndex>, root: TreeHash) -> io::Result<Self> {
        let tree = Self { objects, root, directories: RwLock::default() };
        tree.directory(&root)?;
        Ok(tree)
    }

    fn directory(&self, hash: &TreeHash) -> io::Result<Directory> {
        let known = self.directories.read();
        if let Some(directory) = known.get(hash) {
            return Ok(Arc::clone(directory));
        }
        drop(known);
        let directory: Directory = read_directory(&self.objects, hash)?.into();
        let mut known = self.directories.write();
        known.insert(*hash, Arc::clone(&directory));
        Ok(directory)
    }

    fn find(&self, operation: Operation, path: &TreePath) -> Result<Identity> {
        let mut found = Identity::Directory(self.root);
        for segment in path.segments() {
            let missing = || Error::new(operation, ErrorKind::NotFound).with_path(path);
            let directory = match found {
                Identity::Directory(hash) => self.directory(&hash),
                Identity::Link(_) => return Err(Error::through_link(operation, path)),
                Identity::File { .. } => return Err(missing()),
            };
            let directory = directory.map_err(|error| unread(operation, path, error))?;
            let entries = &directory.entries;
            let at = entries.binary_search_by(|(name, _)| name.as_bytes().cmp(segment));
            found = entries[at.map_err(|_| missing())?].1;
        }
        Ok(found)
    }

    fn size(&self, identity: &Identity) -> io::Result<u64> {
        match identity {
            Identity::Directory(_) => Ok(0),
            Identity::Link(hash) => self.objects.size(&ObjectId::link(hash)),
            Identity::File { hash, .. } => Ok(self.objects.locate_file(hash)?.row.size),
        }
    }

    fn content(&self, hash: &ContentHash) -> io::Result<Content> {
        let located = self.objects.locate_file(hash)?;
        let bytes = self.objects.read(&located)?;
        let content = match located.row.id.kind {
            ObjectKind::List => self.large(hash, located.row.size, &bytes)?,
            _ => bytes.into(),
        };
        Ok(content.with_known_hash(*hash))
    }

    fn large(&self, hash: &ContentHash, size: u64, bytes: &[u8]) -> io::Result<Content> {
        let parts = part_list::decode_sized(bytes, size);
        let parts =
            parts.ok_or_else(|| damaged(format!("the {} is damaged", ObjectId::list(hash))))?;
        let file = LargeFile::new(Arc::clone(&self.objects), *hash, &parts);
        Ok(Content::positional(Arc::new(file), size))
    }
}

/// Reads a directory; an invalid one is refused.
pub(super) fn read_directory(objects: &ObjectIndex, hash: &TreeHash) -> io::Result<Decoded> {
    let id = ObjectId::directory(hash);
    merkle::decode(&objects.get(&id)?)
        .ok_or_else(|| damaged(format!("the {id} has names that no directory has")))
}

fn unread(operation: Operation, path: &TreePath, error: io::Error) -> Error {
    failure::of(operation, error).with_path(path)
}

impl Tree for StoreTree {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        let identity = self.find(Operation::Stat, path)?;
        let size = self.size(&identity).map_err(|error| unread(Operation::Stat, path, error))?;
        let mut stat = Stat::new(identity.kind(), size);
        match identity {
            Identity::File { mode, .. } => stat.mode = mode,
            Identity::Directory(hash) => {
                let directory = self.directory(&hash);
                stat.mode = directory.map_err(|error| unread(Operation::Stat, path, error))?.mode;
            }
            Identity::Link(_) => {}
        }
        Ok(stat)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        let identity = self.find(Operation::List, path)?;
        checks::check_directory(path, identity.kind())?;
        let Identity::Directory(hash) = identity else { return Ok(Vec::new()) };
        let directory =
            self.directory(&hash).map_err(|error| unread(Operation::List, path, error))?;
        let entry = |(name, identity): &(Name, Identity)| Entry::new(name.clone(), identity.kind());
        Ok(directory.entries.iter().map(entry).collect())
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        let identity = self.find(Operation::Read, path)?;
        checks::check_file(Operation::Read, path, identity.kind())?;
        let Identity::File { hash, .. } = identity else { return Ok(bytes::Bytes::new().into()) };
        self.content(&hash).map_err(|error| unread(Operation::Read, path, error))
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        match self.find(Operation::Read, path)? {
            Identity::Link(hash) => self
                .objects
                .get(&ObjectId::link(&hash))
                .map(|target| target.to_vec())
                .map_err(|error| unread(Operation::Read, path, error)),
            _ => Err(checks::not_a_link(path)),
        }
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        match self.find(Operation::Stat, path) {
            Ok(Identity::File { hash, .. }) => Some(hash),
            _ => None,
        }
    }

    fn list_known(&self, path: &TreePath) -> Result<Vec<KnownEntry>> {
        let failed = |error| unread(Operation::List, path, error);
        let identity = self.find(Operation::List, path)?;
        checks::check_directory(path, identity.kind())?;
        let Identity::Directory(hash) = identity else { return Ok(Vec::new()) };
        let known = |(name, identity): &(Name, Identity)| {
            let file = match identity {
                Identity::File { mode, hash } => {
                    let size = self.objects.locate_file(hash)?.row.size;
                    Some(KnownFile::new(*mode, *hash, size))
                }
                _ => None,
            };
            Ok(KnownEntry::new(Entry::new(name.clone(), identity.kind()), file))
        };
        let directory = self.directory(&hash).map_err(failed)?;
        directory.entries.iter().map(known).collect::<io::Result<_>>().map_err(failed)
    }

    fn known_tree_hash(&self, path: &TreePath) -> Option<TreeHash> {
        match self.find(Operation::Stat, path) {
            Ok(Identity::Directory(hash)) => Some(hash),
            _ => None,
        }
    }
}

impl fmt::Debug for StoreTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreTree({})", self.root)
    }
}

//! Everything that a snapshot reaches.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::Arc;

use super::super::library::Library;
use super::super::list;
use super::super::object::{ObjectId, ObjectKind};
use super::super::tree::read_directory;
use super::data::Damage;
use crate::error::damaged;
use crate::hash::ContentHash;
use crate::merkle::Identity;
use crate::path::MAX_PATH_BYTES;
use crate::tree_hash::TreeHash;

/// No path has more segments.
const MAX_DEPTH: usize = MAX_PATH_BYTES / 2;

/// Holds what is wrong with a directory and everything below it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Reach {
    /// By their place in the list of causes.
    pub(super) causes: BTreeSet<usize>,
    pub(super) missing: BTreeSet<ObjectId>,
}

impl Reach {
    fn join(&mut self, other: &Self) {
        self.causes.extend(&other.causes);
        self.missing.extend(&other.missing);
    }
}

/// Walks from the roots of snapshots, and visits each directory once.
pub(super) struct Walker<'a> {
    library: &'a Library,
    damage: Damage,
    visited: HashMap<TreeHash, Arc<Reach>>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(library: &'a Library, damage: Damage) -> Self {
        Self { library, damage, visited: HashMap::new() }
    }

    pub(super) fn into_causes(self) -> Vec<String> {
        self.damage.causes
    }

    /// Returns what is wrong with a directory and everything below it.
    pub(super) fn below(&mut self, root: &TreeHash) -> Arc<Reach> {
        self.directory(root, 0)
    }

    fn directory(&mut self, hash: &TreeHash, depth: usize) -> Arc<Reach> {
        if let Some(visited) = self.visited.get(hash) {
            return Arc::clone(visited);
        }
        let mut reach = Reach::default();
        let id = ObjectId::directory(hash);
        match read_directory(self.library, hash) {
            Ok(_) if depth >= MAX_DEPTH => self.blame(&mut reach, id, too_deep(&id)),
            Ok(entries) => {
                for (_, identity) in entries {
                    self.entry(&mut reach, &identity, depth);
                }
            }
            Err(error) => self.blame(&mut reach, id, error),
        }
        let reach = Arc::new(reach);
        self.visited.insert(*hash, Arc::clone(&reach));
        reach
    }

    fn entry(&mut self, reach: &mut Reach, identity: &Identity, depth: usize) {
        match identity {
            Identity::Directory(hash) => reach.join(&self.directory(hash, depth + 1)),
            Identity::Link(hash) => self.object(reach, ObjectId::link(hash)),
            Identity::File { hash, .. } => self.file(reach, hash),
        }
    }

    fn file(&mut self, reach: &mut Reach, hash: &ContentHash) {
        match self.library.locate_file(hash) {
            Ok(found) => {
                self.object(reach, found.row.id);
                if found.row.id.kind == ObjectKind::List {
                    self.parts(reach, found.row.id);
                }
            }
            Err(error) => self.blame(reach, ObjectId::blob(hash), error),
        }
    }

    fn parts(&mut self, reach: &mut Reach, id: ObjectId) {
        let parts = self.library.get(&id).and_then(|bytes| {
            list::decode(&bytes).ok_or_else(|| damaged(format!("the {id} is damaged")))
        });
        match parts {
            Ok(parts) => {
                parts.iter().for_each(|part| self.object(reach, ObjectId::blob(&part.hash)));
            }
            Err(error) => self.blame(reach, id, error),
        }
    }

    fn object(&mut self, reach: &mut Reach, id: ObjectId) {
        match self.damage.cause_of.get(&id) {
            Some(cause) => drop(reach.causes.insert(*cause)),
            None if self.library.size(&id).is_err() => drop(reach.missing.insert(id)),
            None => {}
        }
    }

    /// Notes why an object cannot be used, once.
    fn blame(&mut self, reach: &mut Reach, id: ObjectId, error: io::Error) {
        let known = self.damage.cause_of.get(&id).copied();
        if known.is_none() && self.library.size(&id).is_err() {
            reach.missing.insert(id);
            return;
        }
        let cause = known.unwrap_or_else(|| self.damage.add(error.to_string(), [id]));
        reach.causes.insert(cause);
    }
}

fn too_deep(id: &ObjectId) -> io::Error {
    damaged(format!("the {id} lies deeper than any path"))
}

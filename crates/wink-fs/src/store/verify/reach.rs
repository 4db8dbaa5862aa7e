//! Finds everything that a snapshot reaches.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;

use super::data::Damage;
use crate::error::damaged;
use crate::hash::ContentHash;
use crate::store::objects::index::ObjectIndex;
use crate::store::objects::object::{ObjectId, ObjectKind};
use crate::store::objects::part_list;
use crate::store::tree::read_directory;
use crate::tree::hash::TreeHash;
use crate::tree::merkle::Identity;

/// What is wrong with a directory and everything below it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Reach {
    /// Positions in the list of causes.
    pub(super) causes: BTreeSet<usize>,
    pub(super) missing: BTreeSet<ObjectId>,
}

impl Reach {
    fn join(&mut self, other: &Self) {
        self.causes.extend(&other.causes);
        self.missing.extend(&other.missing);
    }
}

/// Walks from the roots of snapshots, and reads each directory once.
pub(super) struct Walker<'a> {
    objects: &'a ObjectIndex,
    damage: Damage,
    directories: HashMap<TreeHash, Directory>,
    /// Whether anything is wrong anywhere.
    is_damaged: bool,
}

/// What is wrong with a directory and its entries, without its subdirectories.
#[derive(Default)]
struct Directory {
    own: Reach,
    children: Vec<TreeHash>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(objects: &'a ObjectIndex, damage: Damage) -> Self {
        Self { objects, damage, directories: HashMap::new(), is_damaged: false }
    }

    pub(super) fn into_causes(self) -> Vec<String> {
        self.damage.causes
    }

    /// Returns what is wrong with a directory and everything below it.
    pub(super) fn below(&mut self, root: &TreeHash) -> Reach {
        self.visit(*root);
        let mut reach = Reach::default();
        let mut seen = HashSet::from([*root]);
        let mut waiting = vec![*root];
        while let Some(hash) = waiting.pop().filter(|_| self.is_damaged) {
            if let Some(directory) = self.directories.get(&hash) {
                reach.join(&directory.own);
                waiting.extend(directory.children.iter().filter(|child| seen.insert(**child)));
            }
        }
        reach
    }

    /// Reads a directory and everything below it, with an explicit stack, because trees can be deeper than the
    /// thread's.
    fn visit(&mut self, root: TreeHash) {
        let mut waiting = vec![root];
        while let Some(hash) = waiting.pop() {
            if !self.directories.contains_key(&hash) {
                let directory = self.read(&hash);
                self.is_damaged |= directory.own != Reach::default();
                waiting.extend(&directory.children);
                self.directories.insert(hash, directory);
            }
        }
    }

    fn read(&mut self, hash: &TreeHash) -> Directory {
        let mut directory = Directory::default();
        match read_directory(self.objects, hash) {
            Ok(read) => {
                read.entries.iter().for_each(|(_, identity)| self.entry(&mut directory, identity));
            }
            Err(error) => self.blame(&mut directory.own, ObjectId::directory(hash), error),
        }
        directory
    }

    fn entry(&mut self, directory: &mut Directory, identity: &Identity) {
        match identity {
            Identity::Directory(hash) => directory.children.push(*hash),
            Identity::Link(hash) => self.object(&mut directory.own, ObjectId::link(hash)),
            Identity::File { hash, .. } => self.file(&mut directory.own, hash),
        }
    }

    fn file(&mut self, reach: &mut Reach, hash: &ContentHash) {
        match self.objects.locate_file(hash) {
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
        let parts = self.objects.get(&id).and_then(|bytes| {
            part_list::decode(&bytes).ok_or_else(|| damaged(format!("the {id} is damaged")))
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
            None if self.objects.size(&id).is_err() => drop(reach.missing.insert(id)),
            None => {}
        }
    }

    /// Notes why an object cannot be used, once.
    fn blame(&mut self, reach: &mut Reach, id: ObjectId, error: io::Error) {
        let known = self.damage.cause_of.get(&id).copied();
        if known.is_none() && self.objects.size(&id).is_err() {
            reach.missing.insert(id);
            return;
        }
        let cause = known.unwrap_or_else(|| self.damage.add(error.to_string(), [id]));
        reach.causes.insert(cause);
    }
}

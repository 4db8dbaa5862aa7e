//! Makes new snapshots of what is intact in incomplete ones.

use std::collections::HashMap;
use std::io;

use crate::error::{Error, Operation, Result, damaged};
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::snapshot::{Skipped, Snapshot};
use crate::store::catalog::record::DAMAGED;
use crate::store::gc::redact;
use crate::store::objects::object::{ObjectId, ObjectKind};
use crate::store::objects::pack::PackWriter;
use crate::store::objects::part_list;
use crate::store::tree::read_directory;
use crate::store::{Store, failure};
use crate::tree::descend;
use crate::tree::hash::TreeHash;
use crate::tree::merkle::{self, Identity};
use crate::tree::scope::Exclusions;

/// Returns snapshots without what they miss, except those without any intact file.
///
/// They say nothing about missing paths, so a restore leaves those alone.
pub(crate) fn salvage(store: &Store, snapshots: Vec<Snapshot>) -> Result<Vec<Snapshot>> {
    store.objects.refresh().map_err(failed)?;
    let writer = PackWriter::new(store.disk());
    let mut salvage = Salvage::new(store, &writer);
    let mut salvaged = Vec::new();
    for snapshot in snapshots {
        salvaged.extend(salvage.snapshot(snapshot)?);
    }
    redact::publish(store, writer).map_err(failed)?;
    Ok(salvaged)
}

fn failed(error: io::Error) -> Error {
    failure::of(Operation::Repair, error)
}

/// The intact part of a directory.
#[derive(Clone)]
struct Whole {
    hash: TreeHash,
    files: u64,
    bytes: u64,
    /// What is not intact.
    lost: Vec<(TreePath, Identity)>,
}

pub(super) struct Salvage<'a, 'd> {
    store: &'a Store,
    writer: &'a PackWriter<'d>,
    /// Results by directory, because most are shared by many snapshots.
    known: HashMap<(TreePath, TreeHash), Option<Whole>>,
}

impl<'a, 'd> Salvage<'a, 'd> {
    pub(super) fn new(store: &'a Store, writer: &'a PackWriter<'d>) -> Self {
        Self { store, writer, known: HashMap::new() }
    }

    fn snapshot(&mut self, mut snapshot: Snapshot) -> Result<Option<Snapshot>> {
        let Some(root) = snapshot.tree_hash else { return Ok(None) };
        let Some(whole) = self.directory(&TreePath::root(), &root)?.filter(|it| it.files > 0)
        else {
            return Ok(None);
        };
        snapshot.tree_hash = Some(whole.hash);
        (snapshot.file_count, snapshot.total_bytes) = (whole.files, whole.bytes);
        for (path, identity) in whole.lost {
            let was = Some(identity.to_text());
            let missing = Skipped::missing(path.to_string(), DAMAGED);
            snapshot.skipped.push(Skipped { was, ..missing });
            snapshot.excluded.push(Exclusions::pattern_of(&path));
        }
        Ok(Some(snapshot))
    }

    /// Returns the intact part of a directory, if it can be read.
    fn directory(&mut self, path: &TreePath, hash: &TreeHash) -> Result<Option<Whole>> {
        let key = (path.clone(), *hash);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let whole = descend(|| self.look(path, hash))?;
        self.known.insert(key, whole.clone());
        Ok(whole)
    }

    fn look(&mut self, path: &TreePath, hash: &TreeHash) -> Result<Option<Whole>> {
        let Ok(directory) = read_directory(&self.store.objects, hash) else { return Ok(None) };
        let mut whole = Whole { hash: *hash, files: 0, bytes: 0, lost: Vec::new() };
        let mut encoded = merkle::encode_start(directory.mode);
        for (name, identity) in directory.entries {
            let path = path.join(&name)?;
            match self.entry(&mut whole, &path, identity)? {
                Some(identity) => merkle::encode_entry(&mut encoded, name.as_bytes(), &identity),
                None => whole.lost.push((path, identity)),
            }
        }
        if !whole.lost.is_empty() {
            whole.hash = merkle::directory_hash(&encoded);
            let id = ObjectId::directory(&whole.hash);
            let size = encoded.len() as u64;
            self.writer.add(id, size, &encoded).map_err(failed)?;
        }
        Ok(Some(whole))
    }

    /// Returns the files and bytes of an entry, if all of it is intact.
    pub(super) fn intact(
        &mut self,
        path: &TreePath,
        identity: Identity,
    ) -> Result<Option<(u64, u64)>> {
        let mut whole =
            Whole { hash: TreeHash::from_bytes([0; 32]), files: 0, bytes: 0, lost: Vec::new() };
        let found = self.entry(&mut whole, path, identity)?;
        let is_intact = found == Some(identity) && whole.lost.is_empty();
        Ok(is_intact.then_some((whole.files, whole.bytes)))
    }

    /// Returns the new identity of an entry, if any of it is intact.
    fn entry(
        &mut self,
        whole: &mut Whole,
        path: &TreePath,
        identity: Identity,
    ) -> Result<Option<Identity>> {
        let bytes = match &identity {
            Identity::Directory(hash) => {
                let Some(below) = self.directory(path, hash)? else { return Ok(None) };
                whole.files += below.files;
                whole.bytes += below.bytes;
                whole.lost.extend(below.lost);
                return Ok(Some(Identity::Directory(below.hash)));
            }
            Identity::Link(hash) => self.store.objects.size(&ObjectId::link(hash)),
            Identity::File { hash, .. } => self.file(hash),
        };
        let Ok(bytes) = bytes else { return Ok(None) };
        whole.files += 1;
        whole.bytes += bytes;
        Ok(Some(identity))
    }

    /// Returns the size of an intact file; damaged objects are not in the store any more.
    fn file(&self, hash: &ContentHash) -> io::Result<u64> {
        let objects = &self.store.objects;
        let row = objects.locate_file(hash)?.row;
        if row.id.kind == ObjectKind::List {
            let parts = part_list::decode(&objects.get(&row.id)?);
            let parts = parts.ok_or_else(|| damaged(format!("the {} is damaged", row.id)))?;
            let is_there =
                |part: &part_list::Part| objects.size(&ObjectId::blob(&part.hash)).map(drop);
            parts.iter().try_for_each(is_there)?;
        }
        Ok(row.size)
    }
}

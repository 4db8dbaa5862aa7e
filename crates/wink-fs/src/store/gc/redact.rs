//! Removes paths from all snapshots, and their content from the store.

use std::collections::HashMap;
use std::io::{self, Write as _};

use super::Care;
use crate::error::{Error, Operation, Result};
use crate::path::TreePath;
use crate::snapshot::{Redacted, Skipped, Snapshot};
use crate::store::catalog::{self, record};
use crate::store::objects::manifest::{PackManifest, Trust};
use crate::store::objects::object::ObjectId;
use crate::store::objects::pack::PackWriter;
use crate::store::temporary::Temporary;
use crate::store::tree::read_directory;
use crate::store::{Store, failure, lock};
use crate::tree::descend;
use crate::tree::hash::TreeHash;
use crate::tree::merkle::{self, Identity};
use crate::tree::scope::Exclusions;

const WHY: &str = "it was taken out of all snapshots";

/// Removes matching paths; a kill leaves every snapshot either old or new.
pub(crate) fn redact(store: &Store, out: &Exclusions) -> Result<Redacted> {
    let mut redacted = {
        let _only = lock::prune(store.disk())?;
        let _alone = lock::exclusive(store.disk())?;
        rewrite(store, out)?
    };
    store.catalog.forget();
    // Even if nothing matches: an earlier run may have been killed before this.
    redacted.reclaimed = super::reclaim(store, Care::Thorough)?;
    Ok(redacted)
}

fn failed(error: io::Error) -> Error {
    failure::of(Operation::Prune, error)
}

fn rewrite(store: &Store, out: &Exclusions) -> Result<Redacted> {
    let names = catalog::names(store.disk()).map_err(failed)?;
    let snapshots = super::read_all(store, &names)?;
    store.objects.refresh().map_err(failed)?;
    let writer = PackWriter::new(store.disk());
    let mut redaction = Redaction { store, out, writer: &writer, known: HashMap::new() };
    let mut changed = Vec::new();
    for snapshot in snapshots {
        changed.extend(redaction.snapshot(snapshot)?);
    }
    publish(store, writer).map_err(failed)?;
    let mut redacted = Redacted::default();
    for (snapshot, paths) in changed {
        replace_record(store, &snapshot)?;
        redacted.snapshots.push(snapshot.id);
        redacted.paths.extend(paths.iter().map(TreePath::to_string));
    }
    Ok(redacted)
}

/// Publishes the new directories, before any record refers to them.
pub(crate) fn publish(store: &Store, writer: PackWriter<'_>) -> io::Result<()> {
    let Some(mut pack) = writer.finish()? else { return Ok(()) };
    pack.file.publish()?;
    if let Some(mut manifest) = PackManifest::read(store.disk())?.whole() {
        // No record refers to this pack, so only the manifest keeps it from being deleted.
        manifest.packs.insert(pack.id.clone(), Trust::Everything);
        manifest.write(store.disk())?;
    }
    pack.file.keep();
    Ok(())
}

/// Replaces a record by one of the same id and number.
pub(crate) fn replace_record(store: &Store, snapshot: &Snapshot) -> Result<()> {
    let bytes = record::encode(snapshot)?;
    let write = || {
        let name = snapshot.id.to_string();
        let mut file = Temporary::over(store.disk(), catalog::DIRECTORY, name)?;
        file.write_all(&bytes)?;
        file.sync()?;
        file.replace()
    };
    write().map_err(failed)
}

/// The result for one directory.
#[derive(Clone, Default)]
struct Rewritten {
    /// Its new hash, if it changed.
    hash: Option<TreeHash>,
    files: u64,
    bytes: u64,
    paths: Vec<TreePath>,
}

struct Redaction<'a, 'd> {
    store: &'a Store,
    out: &'a Exclusions,
    writer: &'a PackWriter<'d>,
    /// Results by directory, because most are shared by many snapshots.
    known: HashMap<(TreePath, TreeHash), Rewritten>,
}

impl Redaction<'_, '_> {
    /// Returns the snapshot without matching paths, if there were any.
    fn snapshot(&mut self, mut snapshot: Snapshot) -> Result<Option<(Snapshot, Vec<TreePath>)>> {
        let Some(root) = snapshot.tree_hash else { return Ok(None) };
        let root = self.directory(&TreePath::root(), &root)?;
        let Some(hash) = root.hash else { return Ok(None) };
        snapshot.tree_hash = Some(hash);
        snapshot.file_count = snapshot.file_count.saturating_sub(root.files);
        snapshot.total_bytes = snapshot.total_bytes.saturating_sub(root.bytes);
        let left_out = root.paths.iter().map(|path| Skipped::new(path.to_string(), WHY));
        snapshot.skipped.extend(left_out);
        let out = self.out.patterns().map(str::to_owned);
        snapshot
            .excluded
            .extend(out.filter(|it| !snapshot.excluded.contains(it)).collect::<Vec<_>>());
        Ok(Some((snapshot, root.paths)))
    }

    fn directory(&mut self, path: &TreePath, hash: &TreeHash) -> Result<Rewritten> {
        let key = (path.clone(), *hash);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let rewritten = descend(|| self.rewrite(path, hash))?;
        self.known.insert(key, rewritten.clone());
        Ok(rewritten)
    }

    fn rewrite(&mut self, path: &TreePath, hash: &TreeHash) -> Result<Rewritten> {
        let directory = read_directory(&self.store.objects, hash).map_err(failed)?;
        let mut rewritten = Rewritten::default();
        let mut encoded = merkle::encode_start(directory.mode);
        for (name, identity) in directory.entries {
            let path = path.join(&name)?;
            if self.out.matches_entry(&path) {
                self.count(&mut rewritten, &identity).map_err(failed)?;
                rewritten.paths.push(path);
                continue;
            }
            let identity = self.entry(&mut rewritten, &path, identity)?;
            merkle::encode_entry(&mut encoded, name.as_bytes(), &identity);
        }
        if !rewritten.paths.is_empty() {
            let new = merkle::directory_hash(&encoded);
            let id = ObjectId::directory(&new);
            let size = encoded.len() as u64;
            self.writer.add(id, size, &encoded).map_err(failed)?;
            rewritten.hash = Some(new);
        }
        Ok(rewritten)
    }

    /// Returns the new identity of an entry that stays.
    fn entry(
        &mut self,
        rewritten: &mut Rewritten,
        path: &TreePath,
        identity: Identity,
    ) -> Result<Identity> {
        let Identity::Directory(hash) = identity else { return Ok(identity) };
        let below = self.directory(path, &hash)?;
        rewritten.files += below.files;
        rewritten.bytes += below.bytes;
        rewritten.paths.extend(below.paths);
        Ok(Identity::Directory(below.hash.unwrap_or(hash)))
    }

    /// Counts what is removed with an entry.
    fn count(&self, gone: &mut Rewritten, identity: &Identity) -> io::Result<()> {
        let objects = &self.store.objects;
        let bytes = match identity {
            Identity::Directory(hash) => {
                let below = read_directory(objects, hash)?;
                return below
                    .entries
                    .iter()
                    .try_for_each(|(_, it)| descend(|| self.count(gone, it)));
            }
            Identity::Link(hash) => objects.size(&ObjectId::link(hash))?,
            Identity::File { hash, .. } => objects.locate_file(hash)?.row.size,
        };
        gone.files += 1;
        gone.bytes += bytes;
        Ok(())
    }
}

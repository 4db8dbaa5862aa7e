//! Completes damaged snapshots with what a later one stored again.

use std::collections::BTreeMap;

use super::salvage::Salvage;
use crate::error::{Error, Operation, Result};
use crate::path::{Name, TreePath};
use crate::snapshot::{Skipped, Snapshot};
use crate::store::gc::redact;
use crate::store::objects::object::ObjectId;
use crate::store::objects::pack::PackWriter;
use crate::store::tree::read_directory;
use crate::store::{Store, catalog, failure, lock};
use crate::tree::descend;
use crate::tree::hash::TreeHash;
use crate::tree::merkle::{self, Identity};
use crate::tree::scope::Exclusions;

/// Puts everything back into incomplete snapshots that is stored again; a kill leaves each either old or new.
///
/// While another process uses the store, nothing is done: the next snapshot tries again.
pub(crate) fn heal(store: &Store) -> Result<()> {
    let known = store.catalog.list(store.disk()).map_err(failed)?;
    if !known.iter().any(|it| hurt(it).next().is_some()) {
        return Ok(());
    }
    let _only = lock::prune(store.disk())?;
    let Some(_alone) = lock::alone(store.disk()) else { return Ok(()) };
    store.objects.refresh().map_err(failed)?;
    let writer = PackWriter::new(store.disk());
    let mut healed = Vec::new();
    for snapshot in known.iter().filter(|it| hurt(it).next().is_some()) {
        let snapshot = catalog::read(store.disk(), &snapshot.id.to_string())?;
        healed.extend(complete(store, &writer, snapshot)?);
    }
    redact::publish(store, writer).map_err(failed)?;
    healed.iter().try_for_each(|snapshot| redact::replace_record(store, snapshot))?;
    store.catalog.forget();
    Ok(())
}

fn failed(error: std::io::Error) -> Error {
    failure::of(Operation::Repair, error)
}

/// Returns what a snapshot lacks of which it is known what it was.
fn hurt(snapshot: &Snapshot) -> impl Iterator<Item = (&Skipped, Identity)> {
    snapshot.missing().filter_map(|it| Some((it, Identity::from_text(it.was.as_deref()?)?)))
}

/// Returns the snapshot with what is stored again, if anything is.
fn complete(
    store: &Store,
    writer: &PackWriter<'_>,
    mut snapshot: Snapshot,
) -> Result<Option<Snapshot>> {
    let Some(root) = snapshot.tree_hash else { return Ok(None) };
    let mut salvage = Salvage::new(store, writer);
    let mut found = BTreeMap::new();
    let (mut files, mut bytes) = (0, 0);
    for (missing, identity) in hurt(&snapshot) {
        let path = TreePath::parse(&missing.path)?;
        if let Some((more_files, more_bytes)) = salvage.intact(&path, identity)? {
            files += more_files;
            bytes += more_bytes;
            found.insert(path, identity);
        }
    }
    if found.is_empty() {
        return Ok(None);
    }
    snapshot.tree_hash = Some(with_entries(store, writer, &TreePath::root(), &root, &found)?);
    snapshot.file_count += files;
    snapshot.total_bytes += bytes;
    let is_found = |text: &str| TreePath::parse(text).is_ok_and(|path| found.contains_key(&path));
    snapshot.skipped.retain(|it| !it.is_missing || !is_found(&it.path));
    let patterns: Vec<_> = found.keys().map(Exclusions::pattern_of).collect();
    snapshot.excluded.retain(|pattern| !patterns.contains(pattern));
    Ok(Some(snapshot))
}

/// Writes a directory again with more entries, at any depth; returns its new hash.
fn with_entries(
    store: &Store,
    writer: &PackWriter<'_>,
    path: &TreePath,
    hash: &TreeHash,
    found: &BTreeMap<TreePath, Identity>,
) -> Result<TreeHash> {
    let directory = read_directory(&store.objects, hash).map_err(failed)?;
    let mut entries: BTreeMap<Name, Identity> = directory.entries.into_iter().collect();
    for (at, identity) in found {
        if at.parent().as_ref() == Some(path)
            && let Some(name) = at.name()
        {
            entries.insert(name, *identity);
        }
    }
    let mut encoded = merkle::encode_start(directory.mode);
    for (name, identity) in entries {
        let below = path.join(&name)?;
        let identity = match identity {
            Identity::Directory(hash)
                if found.keys().any(|at| *at != below && at.starts_with(&below)) =>
            {
                Identity::Directory(descend(|| with_entries(store, writer, &below, &hash, found))?)
            }
            identity => identity,
        };
        merkle::encode_entry(&mut encoded, name.as_bytes(), &identity);
    }
    let hash = merkle::directory_hash(&encoded);
    let size = encoded.len() as u64;
    writer.add(ObjectId::directory(&hash), size, &encoded).map_err(failed)?;
    Ok(hash)
}

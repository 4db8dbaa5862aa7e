//! Garbage collection: frees the space of objects that no snapshot needs.
//!
//! Needed objects of packs to be deleted are first copied into new packs. Then the manifest is replaced, which is one
//! atomic step. Before it, nothing is deleted; after it, no reader needs the old packs, and what is left of them only
//! wastes space.

pub(crate) mod forget;
mod locations;
mod mark;
mod plan;
pub(crate) mod redact;
mod rewrite;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

pub(super) use self::plan::Care;

use self::locations::ObjectLocations;
use self::mark::Needed;
use self::plan::{PackFate, SMALL_PACK_BYTES, SMALL_PACKS};
use super::disk::Disk;
use super::objects::manifest::{ManifestFile, PackManifest, Trust};
use super::objects::pack;
use super::{Store, catalog, failure, lock};
use crate::error::{Error, ErrorKind, Operation, Result, damaged};
use crate::snapshot::{Reclaimed, Snapshot, Usage};

/// Frees space; new snapshots are locked out only while packs are deleted.
pub(super) fn reclaim(store: &Store, care: Care) -> Result<Reclaimed> {
    let disk = store.disk();
    // Marking and copying take long, so snapshots may be taken meanwhile (shared lock). Only the deletion locks them
    // out, after a check that none of them needs what is to be deleted.
    let _only = lock::prune(disk).map_err(during)?;
    let mut collection = {
        let _shared = lock::share(disk).map_err(during)?;
        Collection::prepare(store, care)?
    };
    let _alone = lock::exclusive(disk).map_err(during)?;
    if !collection.covers_new(store).map_err(failed)? {
        collection = Collection::prepare(store, care)?;
    }
    collection.commit(store).map_err(failed)
}

fn during(error: Error) -> Error {
    error.during(Operation::Prune)
}

fn failed(error: io::Error) -> Error {
    failure::of(Operation::Prune, error)
}

/// The plan, with the new packs that are written already.
struct Collection {
    /// The records at the time of the plan.
    seen: BTreeSet<String>,
    needed: Needed,
    manifest: PackManifest,
    /// The packs to delete.
    doomed: BTreeSet<String>,
    done: Reclaimed,
}

impl Collection {
    /// Makes the plan, and writes the new packs.
    fn prepare(store: &Store, care: Care) -> Result<Self> {
        let names = catalog::names(store.disk()).map_err(failed)?;
        let snapshots = read_all(store, &names)?;
        Self::decide(store, care, names, &snapshots).map_err(failed)
    }

    fn decide(
        store: &Store,
        care: Care,
        names: Vec<String>,
        snapshots: &[Snapshot],
    ) -> io::Result<Self> {
        let packs = store.objects.refresh()?;
        if let Some((_, why)) = packs.unusable.first() {
            return Err(damaged(format!("{why}; repair the store first")));
        }
        let old = PackManifest::read(store.disk())?.whole().unwrap_or_default();
        let trust = old.expected(snapshots);
        let locations = ObjectLocations::new(&store.objects, &packs, &trust, &BTreeSet::new())?;
        let mut needed = Needed::default();
        needed.add(&locations, snapshots.iter().filter_map(|it| it.tree_hash).collect())?;
        let fates = plan::decide(&packs, &needed, &locations, care)?;
        let last = snapshots.iter().map(|it| it.sequence).max().unwrap_or(0);
        let manifest =
            PackManifest { through: last.max(old.through), packs: BTreeMap::new(), gone: None };
        let doomed = BTreeSet::new();
        let done = Reclaimed::default();
        let mut collection =
            Self { seen: names.into_iter().collect(), needed, manifest, doomed, done };
        collection.write_packs(store, &fates)?;
        Ok(collection)
    }

    /// Copies needed objects; no reader uses the new packs yet.
    fn write_packs(
        &mut self,
        store: &Store,
        fates: &[(Arc<pack::Pack>, PackFate)],
    ) -> io::Result<()> {
        let mut sources: Vec<rewrite::Source<'_>> = Vec::new();
        for (pack, fate) in fates {
            match fate {
                PackFate::Keep => {
                    self.manifest.packs.insert(pack.id.clone(), Trust::Everything);
                }
                PackFate::KeepContents { copied } => {
                    self.manifest.packs.insert(pack.id.clone(), Trust::Contents);
                    sources.push((pack, copied));
                }
                PackFate::Delete { copied } => {
                    self.doomed.insert(pack.id.clone());
                    self.done.packs_removed += 1;
                    self.done.bytes_freed += pack.bytes;
                    sources.push((pack, copied));
                }
            }
        }
        sources.retain(|(_, rows)| !rows.is_empty());
        let disk = store.disk();
        for mut pack in rewrite::write(disk, &sources)? {
            pack.file.publish()?;
            self.done.packs_written += 1;
            let bytes = disk.size(&pack::place(&pack.id))?;
            self.done.bytes_freed = self.done.bytes_freed.saturating_sub(bytes);
            self.manifest.packs.insert(pack.id.clone(), Trust::Everything);
            pack.file.keep();
        }
        Ok(())
    }

    /// Returns whether snapshots taken since need nothing that is to be deleted.
    fn covers_new(&mut self, store: &Store) -> io::Result<bool> {
        let names = catalog::names(store.disk())?;
        let new = names.iter().filter(|name| !self.seen.contains(*name));
        // An unreadable new record may need anything: plan again, with the store locked.
        let Ok(new) = new.map(|name| catalog::read(store.disk(), name)).collect::<Result<Vec<_>>>()
        else {
            return Ok(false);
        };
        if new.is_empty() {
            return Ok(true);
        }
        // The new snapshot's pack may be older than its record, and another pack may have the same objects.
        if new.iter().any(|it| self.doomed.contains(&it.reference)) {
            return Ok(false);
        }
        let packs = store.objects.refresh()?;
        let locations =
            ObjectLocations::new(&store.objects, &packs, &self.manifest.packs, &self.doomed)?;
        let roots = new.iter().filter_map(|it| it.tree_hash).collect();
        Ok(self.needed.add(&locations, roots).is_ok())
    }

    /// Replaces the manifest, and deletes the old packs.
    fn commit(mut self, store: &Store) -> io::Result<Reclaimed> {
        let disk = store.disk();
        let found = PackManifest::read(disk)?;
        if let ManifestFile::Whole(old) = &found {
            self.keep_unplanned(old, &store.objects.pack_ids()?);
            self.manifest.gone.clone_from(&old.gone);
        }
        // Before the deletion: after a kill in between, packs that the manifest does not list only waste space. The
        // other order would leave a manifest that requires deleted packs.
        if found.whole().as_ref() != Some(&self.manifest) {
            self.manifest.write(disk)?;
        }
        for id in &self.doomed {
            disk.remove(&pack::place(id))?;
        }
        if !self.doomed.is_empty() {
            // Otherwise deleted packs may be back after a power loss, and the space is not freed.
            disk.sync_dir(pack::DIRECTORY)?;
        }
        store.objects.refresh()?;
        Ok(self.done)
    }

    /// Keeps packs whose snapshots came and went since the plan; what they refer to may be gone.
    fn keep_unplanned(&mut self, old: &PackManifest, there: &[String]) {
        let stays = |id: &&String| there.contains(id) && !self.doomed.contains(*id);
        for id in old.packs.keys().filter(stays) {
            self.manifest.packs.entry(id.clone()).or_insert(Trust::Contents);
        }
    }
}

/// Reads all records.
///
/// An unreadable one is an error, because its snapshot may still be needed; one that another process pruned meanwhile
/// is not.
pub(super) fn read_all(store: &Store, names: &[String]) -> Result<Vec<Snapshot>> {
    let is_gone = |read: &Result<Snapshot>| {
        read.as_ref().is_err_and(|error| error.kind() == ErrorKind::SnapshotNotFound)
    };
    let read = names.iter().map(|name| catalog::read(store.disk(), name));
    let there = read.filter(|read| !is_gone(read));
    there.collect::<Result<_>>().map_err(|error| match error.kind() {
        ErrorKind::Corrupt => failed(damaged(format!("{error}; repair the store first"))),
        _ => during(error),
    })
}

/// Adds up the files of a store.
pub(crate) fn usage(disk: &Disk) -> io::Result<Usage> {
    let packs = pack_sizes(disk)?;
    let small = packs.iter().filter(|bytes| **bytes < SMALL_PACK_BYTES).count() as u64;
    Ok(Usage { bytes: disk.size(".")?, packs: packs.len() as u64, small_packs: small })
}

/// Adds up what the files of a store would take if only these snapshots were kept, after a reclaim.
pub(crate) fn usage_with(store: &Store, kept: &[Snapshot]) -> io::Result<Usage> {
    let disk = store.disk();
    let packs = store.objects.refresh()?;
    let old = PackManifest::read(disk)?.whole().unwrap_or_default();
    let trust = old.expected(kept);
    let locations = ObjectLocations::new(&store.objects, &packs, &trust, &BTreeSet::new())?;
    let mut needed = Needed::default();
    needed.add(&locations, kept.iter().filter_map(|it| it.tree_hash).collect())?;
    let mut usage = usage(disk)?;
    for (pack, fate) in plan::decide(&packs, &needed, &locations, Care::Usual)? {
        let copied = match fate {
            PackFate::Keep => continue,
            PackFate::KeepContents { copied } => copied,
            PackFate::Delete { copied } => {
                usage.bytes = usage.bytes.saturating_sub(pack.bytes);
                usage.packs -= 1;
                copied
            }
        };
        usage.bytes += copied.iter().map(|row| u64::from(row.length)).sum::<u64>();
    }
    Ok(usage)
}

/// Returns whether there are too many small packs.
pub(crate) fn is_fragmented(disk: &Disk) -> io::Result<bool> {
    // Listing is cheaper than stating each, and usually there are few.
    if disk.names(pack::DIRECTORY)?.len() <= SMALL_PACKS {
        return Ok(false);
    }
    let is_small = |bytes: &&u64| **bytes < SMALL_PACK_BYTES;
    Ok(pack_sizes(disk)?.iter().filter(is_small).count() > SMALL_PACKS)
}

fn pack_sizes(disk: &Disk) -> io::Result<Vec<u64>> {
    let names = disk.names(pack::DIRECTORY)?;
    let ids = names.iter().filter_map(|name| pack::id_of(name));
    ids.map(|id| disk.size(&pack::place(id))).collect()
}

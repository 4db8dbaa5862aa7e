//! Gives back the space of objects that no snapshot needs any more.
//!
//! What is still needed of packs that go is in new packs before they go. Once the manifest is replaced, which is one
//! step, no reader relies on the old ones: before it nothing is deleted, and after it whatever is left of them only
//! wastes space.

pub(crate) mod forget;
mod mark;
mod places;
mod plan;
pub(crate) mod redact;
mod rewrite;
pub(crate) mod usage;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

pub(super) use self::plan::{Care, SMALL_PACK_BYTES, SMALL_PACKS};

use self::mark::Needed;
use self::places::Places;
use self::plan::Fate;
use super::disk::Disk;
use super::objects::manifest::{Found, PackManifest, Trust};
use super::objects::pack;
use super::{Store, catalog, failure, lock};
use crate::error::{Error, ErrorKind, Operation, Result, damaged};
use crate::snapshot::{Reclaimed, Snapshot};

/// Gives space back; snapshots are kept out only while packs are deleted.
pub(super) fn reclaim(store: &Store, care: Care) -> Result<Reclaimed> {
    let disk = store.disk();
    let _only = lock::prune(disk).map_err(during)?;
    let mut work = {
        let _shared = lock::share(disk).map_err(during)?;
        Work::prepare(store, care)?
    };
    let _alone = lock::exclusive(disk).map_err(during)?;
    if !work.covers_new(store).map_err(failed)? {
        work = Work::prepare(store, care)?;
    }
    work.commit(store).map_err(failed)
}

fn during(error: Error) -> Error {
    error.during(Operation::Prune)
}

fn failed(error: io::Error) -> Error {
    failure::of(Operation::Prune, error)
}

/// What is to be done, with the new packs that are there already.
struct Work {
    /// The records that were there when it was decided.
    seen: BTreeSet<String>,
    needed: Needed,
    manifest: PackManifest,
    /// The packs that go.
    doomed: BTreeSet<String>,
    done: Reclaimed,
}

impl Work {
    /// Decides, and writes the new packs.
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
        let packs_there = store.objects.refresh()?;
        if let Some((_, why)) = packs_there.unusable.first() {
            return Err(damaged(format!("{why}; repair the store first")));
        }
        let old = PackManifest::read(store.disk())?.whole().unwrap_or_default();
        let trust = old.expected(snapshots);
        let places = Places::new(&store.objects, &packs_there, &trust, &BTreeSet::new())?;
        let mut needed = Needed::default();
        needed.add(&places, snapshots.iter().filter_map(|it| it.tree_hash).collect())?;
        let fates = plan::decide(&packs_there, &needed, &places, care)?;
        let last = snapshots.iter().map(|it| it.sequence).max().unwrap_or(0);
        let manifest =
            PackManifest { through: last.max(old.through), packs: BTreeMap::new(), gone: None };
        let (doomed, done) = (BTreeSet::new(), Reclaimed::default());
        let mut work = Self { seen: names.into_iter().collect(), needed, manifest, doomed, done };
        work.carry_out(store, &fates)?;
        Ok(work)
    }

    /// Writes what is to be copied; no reader relies on the new packs yet.
    fn carry_out(&mut self, store: &Store, fates: &[(Arc<pack::Pack>, Fate)]) -> io::Result<()> {
        let mut sources: Vec<rewrite::Source<'_>> = Vec::new();
        for (pack, fate) in fates {
            match fate {
                Fate::Stays => {
                    self.manifest.packs.insert(pack.id.clone(), Trust::Everything);
                }
                Fate::StaysForContents { copied } => {
                    self.manifest.packs.insert(pack.id.clone(), Trust::Contents);
                    sources.push((pack, copied));
                }
                Fate::Goes { copied } => {
                    self.doom(pack);
                    sources.push((pack, copied));
                }
            }
        }
        sources.retain(|(_, rows)| !rows.is_empty());
        self.write(store.disk(), &sources)
    }

    fn write(&mut self, disk: &Disk, sources: &[rewrite::Source<'_>]) -> io::Result<()> {
        for mut pack in rewrite::write(disk, sources)? {
            pack.file.publish()?;
            self.done.packs_written += 1;
            let bytes = disk.size(&pack::place(&pack.id))?;
            self.done.bytes_freed = self.done.bytes_freed.saturating_sub(bytes);
            self.manifest.packs.insert(pack.id.clone(), Trust::Everything);
            pack.file.keep();
        }
        Ok(())
    }

    fn doom(&mut self, pack: &pack::Pack) {
        self.doomed.insert(pack.id.clone());
        self.done.packs_removed += 1;
        self.done.bytes_freed += pack.bytes;
    }

    /// Tells whether snapshots that were taken since need nothing that is about to go.
    fn covers_new(&mut self, store: &Store) -> io::Result<bool> {
        let names = catalog::names(store.disk())?;
        let new = names.iter().filter(|name| !self.seen.contains(*name));
        let Ok(new) = new.map(|name| catalog::read(store.disk(), name)).collect::<Result<Vec<_>>>()
        else {
            return Ok(false);
        };
        if new.is_empty() {
            return Ok(true);
        }
        // A pack may have been there before its record, and another hold the same objects.
        if new.iter().any(|it| self.doomed.contains(&it.reference)) {
            return Ok(false);
        }
        let packs_there = store.objects.refresh()?;
        let places = Places::new(&store.objects, &packs_there, &self.manifest.packs, &self.doomed)?;
        let roots = new.iter().filter_map(|it| it.tree_hash).collect();
        Ok(self.needed.add(&places, roots).is_ok())
    }

    /// Says what is relied on from now on, and deletes the rest.
    fn commit(mut self, store: &Store) -> io::Result<Reclaimed> {
        let disk = store.disk();
        let found = PackManifest::read(disk)?;
        if let Found::Whole(old) = &found {
            self.keep_strangers(old, &store.objects.pack_ids()?);
            self.manifest.gone.clone_from(&old.gone);
        }
        if found.whole().as_ref() != Some(&self.manifest) {
            self.manifest.write(disk)?;
        }
        for id in &self.doomed {
            disk.remove(&pack::place(id))?;
        }
        if !self.doomed.is_empty() {
            disk.sync_dir(pack::DIRECTORY)?;
        }
        store.objects.refresh()?;
        Ok(self.done)
    }

    /// Keeps packs whose snapshots came and went since it was decided; what they name may be gone.
    fn keep_strangers(&mut self, old: &PackManifest, there: &[String]) {
        let stays = |id: &&String| there.contains(id) && !self.doomed.contains(*id);
        for id in old.packs.keys().filter(stays) {
            self.manifest.packs.entry(id.clone()).or_insert(Trust::Contents);
        }
    }
}

/// Reads the records themselves: one that cannot be read may be of a snapshot that is still wanted; one
/// that another process pruned meanwhile is not.
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

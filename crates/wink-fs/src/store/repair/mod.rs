//! Repairs a store: damaged files are moved to quarantine, and nothing is deleted.

pub(super) mod heal;
pub(crate) mod salvage;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use super::catalog::{self, missing, pins};
use super::gc::redact;
use super::objects::chunked_file::LargeFile;
use super::objects::index::{self, ObjectIndex, PackSet};
use super::objects::manifest::{self, ManifestFile, PackManifest, Trust};
use super::objects::object::{ObjectId, ObjectKind};
use super::objects::pack::{self, ObjectRow, Pack, PackWriter};
use super::objects::part_list::{self, Part};
use super::{Store, failure, lock, verify};
use crate::error::{Error, Operation, Result};
use crate::hash::ContentHash;
use crate::oplog::file::{self, Contents};
use crate::snapshot::{Repaired, SnapshotId, Verification, VerifyOptions};

/// The directory for what is damaged.
const DIRECTORY: &str = "quarantine";

/// Moves damaged files to quarantine, and keeps what is intact in them.
///
/// After each step the store is no worse than before: intact objects of a pack are in another one before the pack
/// moves.
pub(super) fn repair(store: &Store, heal: &mut dyn FnMut() -> Result<()>) -> Result<Repaired> {
    let mut repair = Repair { store, repaired: Repaired::default() };
    let is_whole = |repair: &Repair<'_>| Ok::<_, Error>(repair.look()?.problems.is_empty());
    if repair.alone(|repair| {
        if is_whole(repair)? {
            return Ok(true);
        }
        repair.quarantine_damage()?;
        is_whole(repair)
    })? {
        return Ok(repair.repaired);
    }
    // Without exclusive access: what is missing is stored like a new snapshot.
    heal()?;
    repair.alone(Repair::lost_snapshots)?;
    Ok(repair.repaired)
}

fn failed(error: io::Error) -> Error {
    failure::of(Operation::Repair, error)
}

struct Repair<'s> {
    store: &'s Store,
    repaired: Repaired,
}

impl Repair<'_> {
    /// Runs `work` while no other process uses the store.
    fn alone<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let store = self.store;
        let _only = lock::prune(store.disk())?;
        let _alone = lock::exclusive(store.disk())?;
        let done = work(self)?;
        store.catalog.forget();
        store.objects.refresh().map_err(failed)?;
        Ok(done)
    }

    /// Leaves only what is intact; snapshots may be incomplete then.
    fn quarantine_damage(&mut self) -> Result<()> {
        self.packs().map_err(failed)?;
        self.damaged_records()?;
        self.missing_records()?;
        self.pins().map_err(failed)?;
        self.operations()?;
        self.manifest().map_err(failed)
    }

    fn look(&self) -> Result<Verification> {
        verify::verify_alone(self.store.disk(), &VerifyOptions::default().data(true))
    }

    /// Moves damaged packs to quarantine, after copying their intact objects.
    fn packs(&mut self) -> io::Result<()> {
        let objects = ObjectIndex::new(self.store.disk().clone());
        let packs = objects.refresh()?;
        let mut hurt: Vec<String> = packs.unusable.iter().map(|(id, _)| id.clone()).collect();
        let mut rescued = Vec::new();
        for pack in packs.packs() {
            let whole = whole_objects(&objects, &packs, pack)?;
            if let Some(whole) = whole {
                hurt.push(pack.id.clone());
                rescued.push((Arc::clone(pack), whole));
            }
        }
        self.rescue(&objects, rescued)?;
        hurt.iter().try_for_each(|id| self.quarantine(&pack::place(id)))
    }

    fn rescue(
        &mut self,
        objects: &ObjectIndex,
        packs: Vec<(Arc<Pack>, Vec<ObjectRow>)>,
    ) -> io::Result<()> {
        let writer = PackWriter::new(&objects.disk);
        for (pack, rows) in &packs {
            for row in rows {
                let block = pack.read_block(&objects.disk, row.block)?;
                writer.add(row.id, row.size, &index::check(row, index::cut(row, &block))?)?;
                self.repaired.objects_saved += 1;
            }
        }
        if let Some(mut pack) = writer.finish()? {
            pack.file.publish()?;
            pack.file.keep();
        }
        Ok(())
    }

    fn damaged_records(&mut self) -> Result<()> {
        for name in catalog::names(self.store.disk()).map_err(failed)? {
            if catalog::read(self.store.disk(), &name).is_err() {
                self.lose(&name)?;
            }
        }
        Ok(())
    }

    /// Writes missing or damaged records again that are still known; whether the snapshots are complete is checked
    /// later.
    fn missing_records(&mut self) -> Result<()> {
        let disk = self.store.disk();
        let there = catalog::read_whole(disk).map_err(failed)?;
        let manifest = PackManifest::read(disk).map_err(failed)?.whole().unwrap_or_default();
        for mut snapshot in missing::look(disk, &manifest, &there).known {
            if there.iter().any(|it| it.tag == snapshot.tag) {
                snapshot.tag = None;
            }
            redact::replace_record(self.store, &snapshot)?;
            self.repaired.found.push(snapshot.id);
        }
        let Repaired { found, lost, .. } = &mut self.repaired;
        lost.retain(|id| !found.contains(id));
        Ok(())
    }

    /// Moves the records of incomplete snapshots to quarantine; what is intact of them stays, as snapshots of the same
    /// names.
    fn lost_snapshots(&mut self) -> Result<()> {
        let problems = self.look()?.problems.into_iter();
        let lost: BTreeSet<SnapshotId> = problems.flat_map(|problem| problem.snapshots).collect();
        let records = lost.iter().map(|id| catalog::read(self.store.disk(), &id.to_string()));
        let salvaged = salvage::salvage(self.store, records.filter_map(Result::ok).collect())?;
        lost.iter().try_for_each(|id| self.lose(&id.to_string()))?;
        for snapshot in &salvaged {
            redact::replace_record(self.store, snapshot)?;
        }
        self.repaired.salvaged = salvaged.iter().map(|it| it.id).collect();
        self.account().map_err(failed)
    }

    /// Counts all snapshots that are missing now as pruned.
    fn account(&self) -> io::Result<()> {
        let disk = self.store.disk();
        let Some(mut manifest) = PackManifest::read(disk)?.whole() else { return Ok(()) };
        manifest.gone = Some(missing::account(disk, &manifest, &catalog::read_whole(disk)?));
        manifest.write(disk)
    }

    fn lose(&mut self, name: &str) -> Result<()> {
        self.quarantine(&catalog::place(name)).map_err(failed)?;
        self.repaired.lost.extend(name.parse::<SnapshotId>().ok());
        Ok(())
    }

    fn pins(&mut self) -> io::Result<()> {
        let damaged = pins::damaged(self.store.disk())?;
        damaged.iter().try_for_each(|name| self.quarantine(&format!("{}/{name}", pins::DIRECTORY)))
    }

    /// Moves damaged operations to quarantine, the record last: pre-images without a record would look like an
    /// interrupted operation.
    fn operations(&mut self) -> Result<()> {
        for damaged in file::damaged_operations(self.store.disk(), Contents::Read)? {
            let mut all = damaged.kept.iter().chain([&damaged.record]);
            all.try_for_each(|place| self.quarantine(place)).map_err(failed)?;
        }
        Ok(())
    }

    /// Lists the packs that are left; their directories may refer to what is gone.
    fn manifest(&mut self) -> io::Result<()> {
        let disk = self.store.disk();
        if let ManifestFile::Damaged = PackManifest::read(disk)? {
            self.quarantine(manifest::NAME)?;
        }
        let old = PackManifest::read(disk)?.whole().unwrap_or_default();
        let snapshots = catalog::read_whole(disk)?;
        let last = snapshots.iter().map(|it| it.sequence).max().unwrap_or(0);
        let ids = ObjectIndex::new(disk.clone()).pack_ids()?;
        let packs: BTreeMap<_, _> = ids.into_iter().map(|id| (id, Trust::Contents)).collect();
        let gone = Some(missing::account(disk, &old, &snapshots));
        PackManifest { through: last.max(old.through), packs, gone }.write(disk)
    }

    /// Moves a file to quarantine, under an unused name.
    fn quarantine(&mut self, place: &str) -> io::Result<()> {
        let disk = self.store.disk();
        disk.make_dir_unless_there(DIRECTORY)?;
        let (directory, name) = place.rsplit_once('/').unwrap_or((".", place));
        let there = disk.names(DIRECTORY)?;
        let mut free = (0..).map(|number: u64| format!("{name}.{number}"));
        let name = free.find(|name| !there.contains(name)).ok_or(io::ErrorKind::AlreadyExists)?;
        disk.rename(place, &format!("{DIRECTORY}/{name}"))?;
        disk.sync_dir(DIRECTORY)?;
        disk.sync_dir(directory)?;
        self.repaired.quarantined.push(name);
        Ok(())
    }
}

/// Returns the intact objects of a pack, if it is damaged.
fn whole_objects(
    objects: &ObjectIndex,
    packs: &PackSet,
    pack: &Arc<Pack>,
) -> io::Result<Option<Vec<ObjectRow>>> {
    let mut rows: Vec<ObjectRow> = pack.objects().flatten().collect();
    let mut is_hurt = pack.check_rows().is_err() || rows.len() < pack.object_count();
    rows.sort_unstable_by_key(|row| (row.block, row.offset));
    let mut whole = Vec::new();
    for rows in rows.chunk_by(|a, b| a.block == b.block) {
        let block = pack.read_block(&objects.disk, rows[0].block);
        let is_whole = |row: &&ObjectRow| {
            let bytes = block.as_ref().ok().and_then(|block| index::cut(row, block));
            bytes.is_some_and(|bytes| {
                row.id.names(&bytes) && is_sound_list(objects, packs, row, &bytes)
            })
        };
        let before = whole.len();
        whole.extend(rows.iter().filter(is_whole).copied());
        is_hurt |= whole.len() - before < rows.len();
    }
    Ok(is_hurt.then_some(whole))
}

/// Returns whether the parts of a list make its file, as far as they exist; other objects have no parts.
fn is_sound_list(objects: &ObjectIndex, packs: &PackSet, row: &ObjectRow, bytes: &[u8]) -> bool {
    if row.id.kind != ObjectKind::List {
        return true;
    }
    let Some(parts) = part_list::decode_sized(bytes, row.size) else {
        return false;
    };
    let are_there = parts.iter().all(|part| packs.contains(&ObjectId::blob(&part.hash)));
    let hash = ContentHash::from_bytes(row.id.key);
    let file = LargeFile::new(objects, hash, &parts);
    // If a part is missing or damaged, the list itself may still be right.
    !are_there || file.check().is_ok() || !all_readable(objects, &parts)
}

fn all_readable(objects: &ObjectIndex, parts: &[Part]) -> bool {
    parts.iter().all(|part| objects.get(&ObjectId::blob(&part.hash)).is_ok())
}

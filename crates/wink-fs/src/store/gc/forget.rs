//! Removes snapshots; the packs that they wrote are entered in the manifest first.

use std::io;
use std::time::SystemTime;

use crate::error::{ErrorKind, Operation, Result};
use crate::snapshot::{Choose, Snapshot, SnapshotId, is_pinned};
use crate::store::catalog::{self, cache, missing, pins};
use crate::store::disk::Disk;
use crate::store::objects::manifest::PackManifest;
use crate::store::{INDEX, Store, failure, lock};

/// Removes the chosen snapshots, while no other process publishes or pins one.
pub(crate) fn forget(store: &Store, choose: Choose<'_>) -> Result<Vec<Snapshot>> {
    let failed = |error| failure::of(Operation::Prune, error);
    let disk = store.disk();
    let _turn = lock::publish(disk)?;
    let mut snapshots = store.catalog.list(disk).map_err(failed)?;
    catalog::group_orphaned(disk, &mut snapshots);
    let chosen = choose(&snapshots, &pins::list(disk).map_err(failed)?);
    let going: Vec<_> = snapshots.into_iter().filter(|it| chosen.contains(&it.id)).collect();
    remove_records(store, &going).map_err(failed)?;
    Ok(going)
}

/// Removes one snapshot, even if its record is damaged.
pub(crate) fn delete(store: &Store, id: &SnapshotId) -> Result<bool> {
    let _turn = lock::publish(store.disk())?;
    delete_now(store, id)
}

/// Removes one snapshot, unless it is pinned.
pub(crate) fn delete_unpinned(store: &Store, id: &SnapshotId, now: SystemTime) -> Result<bool> {
    let _turn = lock::publish(store.disk())?;
    let pins = pins::list(store.disk()).map_err(|error| failure::of(Operation::Prune, error))?;
    Ok(!is_pinned(id, &pins, now) && delete_now(store, id)?)
}

fn delete_now(store: &Store, id: &SnapshotId) -> Result<bool> {
    let failed = |error| failure::of(Operation::Delete, error);
    match catalog::read(store.disk(), &id.to_string()) {
        Ok(snapshot) => remove_records(store, &[snapshot]).map(|()| true).map_err(failed),
        Err(error) if error.kind() == ErrorKind::SnapshotNotFound => Ok(false),
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            remove_damaged(store, id).map_err(failed)
        }
        // A record that cannot be read now may be intact. Its pack and its number are not known without it.
        Err(error) => Err(error.during(Operation::Delete)),
    }
}

/// Removes a damaged record, whose number is unknown.
fn remove_damaged(store: &Store, id: &SnapshotId) -> io::Result<bool> {
    let disk = store.disk();
    let there = store.catalog.list(disk)?;
    let mut unnoted = None;
    if let Some(mut manifest) = PackManifest::read(disk)?.whole() {
        manifest.gone = Some(missing::account(disk, &manifest, &there));
        unnoted = note(store, manifest, false)?;
    }
    let removed = catalog::remove(disk, &[*id])?;
    note_again(disk, unnoted);
    Ok(removed)
}

/// Removes records. Other snapshots may need the packs that were written with them, so the manifest lists those first.
fn remove_records(store: &Store, going: &[Snapshot]) -> io::Result<()> {
    if going.is_empty() {
        return Ok(());
    }
    let disk = store.disk();
    let mut unnoted = None;
    if let Some(mut manifest) = PackManifest::read(disk)?.whole() {
        let there = store.catalog.list(disk)?;
        // A record is the only reference to its pack, and later snapshots may need objects in it.
        let takes_over = manifest.take_over(going);
        if missing::forget(disk, &mut manifest, &there, going) | takes_over {
            unnoted = note(store, manifest, takes_over)?;
        }
    }
    let ids: Vec<_> = going.iter().map(|it| it.id).collect();
    catalog::remove(disk, &ids)?;
    pins::remove_all(disk, &ids)?;
    note_again(disk, unnoted);
    Ok(())
}

/// Writes the manifest.
///
/// On a full disk it is returned, to be written later, unless it must come first: removing snapshots is how space is
/// freed. If it must come first, files that can be rebuilt are deleted to make room.
fn note(
    store: &Store,
    manifest: PackManifest,
    must_be_first: bool,
) -> io::Result<Option<PackManifest>> {
    let disk = store.disk();
    match manifest.note(disk) {
        Err(error) if is_full(&error) && !must_be_first => return Ok(Some(manifest)),
        Err(error) if is_full(&error) => {}
        noted => return noted.map(|()| None),
    }
    // The index and the cache of records can be rebuilt, so they go first.
    store.history.remove(INDEX)?;
    let noted = manifest.note(disk).or_else(|_| {
        disk.remove(cache::PLACE)?;
        manifest.note(disk)
    });
    noted.map(|()| None)
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Writes the manifest into the space that records left.
///
/// If even that fails, `verify` reports pruned snapshots as missing, which does no harm.
fn note_again(disk: &Disk, manifest: Option<PackManifest>) {
    let _ = manifest.map(|manifest| manifest.note(disk));
}

//! How snapshots get out of a store: the packs they wrote are accounted for first.

use std::io;
use std::time::SystemTime;

use crate::error::{ErrorKind, Operation, Result};
use crate::snapshot::{Choose, Snapshot, SnapshotId, is_pinned};
use crate::store::catalog::{self, cache, missing, orphaned_forks, pins};
use crate::store::disk::Disk;
use crate::store::objects::manifest::PackManifest;
use crate::store::{INDEX, Store, failure, lock};

/// Forgets the chosen snapshots, while no other process publishes or pins one.
pub(crate) fn forget(store: &Store, choose: Choose<'_>) -> Result<Vec<Snapshot>> {
    let failed = |error| failure::of(Operation::Prune, error);
    let disk = store.disk();
    let _turn = lock::publish(disk)?;
    let mut snapshots = store.catalog.list(disk).map_err(failed)?;
    orphaned_forks::settle(disk, &mut snapshots);
    let chosen = choose(&snapshots, &pins::list(disk).map_err(failed)?);
    let going: Vec<_> = snapshots.into_iter().filter(|it| chosen.contains(&it.id)).collect();
    take_away(store, &going).map_err(failed)?;
    Ok(going)
}

/// Forgets one snapshot, also one whose record is damaged.
pub(crate) fn delete(store: &Store, id: &SnapshotId) -> Result<bool> {
    let _turn = lock::publish(store.disk())?;
    delete_now(store, id)
}

/// Forgets one snapshot unless a pin holds it.
pub(crate) fn delete_unpinned(store: &Store, id: &SnapshotId, now: SystemTime) -> Result<bool> {
    let _turn = lock::publish(store.disk())?;
    let pins = pins::list(store.disk()).map_err(|error| failure::of(Operation::Prune, error))?;
    Ok(!is_pinned(id, &pins, now) && delete_now(store, id)?)
}

fn delete_now(store: &Store, id: &SnapshotId) -> Result<bool> {
    let failed = |error| failure::of(Operation::Delete, error);
    match catalog::read(store.disk(), &id.to_string()) {
        Ok(snapshot) => take_away(store, &[snapshot]).map(|()| true).map_err(failed),
        Err(error) if error.kind() == ErrorKind::SnapshotNotFound => Ok(false),
        Err(_) => take_damaged_away(store, id).map_err(failed),
    }
}

/// Removes a damaged record, whose number is unknown.
fn take_damaged_away(store: &Store, id: &SnapshotId) -> io::Result<bool> {
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

/// Removes records; other snapshots may rely on what was written with them.
fn take_away(store: &Store, going: &[Snapshot]) -> io::Result<()> {
    if going.is_empty() {
        return Ok(());
    }
    let disk = store.disk();
    let mut unnoted = None;
    if let Some(mut manifest) = PackManifest::read(disk)?.whole() {
        let there = store.catalog.list(disk)?;
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

/// Writes the manifest. Where the disk is full and it need not come first, returns it, to be written afterwards: to
/// forget snapshots is how space is given back. Where it must come first, it takes the place of what can be found
/// out again.
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

/// Writes the manifest in the space that records left. If not even that is enough, `verify` reports snapshots as missing
/// that were deleted permanently, which does no harm.
fn note_again(disk: &Disk, manifest: Option<PackManifest>) {
    let _ = manifest.map(|manifest| manifest.note(disk));
}

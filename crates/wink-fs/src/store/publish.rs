//! Publishing a snapshot: objects first, the record last.

use std::io;

use super::capture::Capture;
use super::objects::index::PackSet;
use super::objects::manifest::PackManifest;
use super::objects::pack::{FinishedPack, PackWriter};
use super::{STRATEGY, Store, catalog, failure, lock};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::snapshot::{NewSnapshot, Skipped, Snapshot, SnapshotStore, check_new, check_tag};
use crate::tree::Tree;
use crate::tree::hash::TreeHash;

/// Keeps a tree; what it relies on is not deleted meanwhile, and a failure leaves nothing behind.
pub(super) fn save(store: &Store, tree: &dyn Tree, new: &NewSnapshot) -> Result<Snapshot> {
    let failed = |error| failure::of(Operation::Snapshot, error);
    check_request(store, new)?;
    let _shared = lock::share(store.disk())?;
    let Standing { packs_there, complete } = Standing::of(store).map_err(failed)?;
    let writer = PackWriter::new(store.disk());
    let captured =
        Capture::new(tree, &packs_there, complete, &writer).run(new.progress.as_ref())?;
    let pack = writer.finish().map_err(failed)?;
    let described = describe(new, captured);
    let line = new.line.clone().or_else(|| store.line().map(str::to_owned));
    publish(store, &packs_there, pack, Snapshot { line, ..described })
}

/// Refuses early what publishing would refuse.
fn check_request(store: &Store, new: &NewSnapshot) -> Result<()> {
    new.tag.as_deref().map_or(Ok(()), check_tag)?;
    if new.tag.is_none() && new.id.is_none() {
        return Ok(());
    }
    let snapshots = store.catalog.list(store.disk());
    let snapshots = snapshots.map_err(|error| failure::of(Operation::Snapshot, error))?;
    check_new(new.id, new.tag.as_deref(), snapshots.iter())
}

/// Says what a new snapshot may rely on.
struct Standing {
    packs_there: PackSet,
    /// Whether no pack is missing or damaged that should be there: where one is, the objects in the others
    /// do not say what is below them.
    complete: bool,
}

impl Standing {
    fn of(store: &Store) -> io::Result<Self> {
        let all = store.objects.refresh()?;
        let snapshots = store.catalog.list(store.disk())?;
        let manifest = PackManifest::read(store.disk())?.whole();
        let is_known = manifest.is_some();
        let manifest = manifest.unwrap_or_default();
        let expected = manifest.expected(&snapshots);
        let there = expected.keys().all(|id| all.has_pack(id));
        let complete = is_known && there && all.unusable.is_empty();
        Ok(Self { packs_there: all.relied_on(&expected), complete })
    }
}

fn describe(new: &NewSnapshot, captured: (TreeHash, Vec<Skipped>)) -> Snapshot {
    let (root, left_out) = captured;
    let mut snapshot = Snapshot::of(new, STRATEGY);
    snapshot.skipped.extend(left_out);
    snapshot.tree_hash = Some(root);
    snapshot
}

/// Gives a snapshot its place in the order and makes it visible.
///
/// The record is on disk before the pack gets its name, so that a disk without room is noticed while
/// nothing is visible yet.
fn publish(
    store: &Store,
    packs_there: &PackSet,
    pack: Option<FinishedPack<'_>>,
    mut snapshot: Snapshot,
) -> Result<Snapshot> {
    let failed = |error| failure::of(Operation::Snapshot, error);
    let _turn = lock::publish(store.disk())?;
    // Bound after the lock, so that a failure removes the pack before another process gets the lock.
    let mut pack = pack;
    let others = store.catalog.list(store.disk()).map_err(failed)?;
    check_new(Some(snapshot.id), snapshot.tag.as_deref(), others.iter())?;
    check_still_there(store, packs_there)?;
    let last = others.last().map_or(0, |last| last.sequence);
    snapshot.sequence = last.max(last_number(store).map_err(failed)?).saturating_add(1);
    snapshot.reference = pack.as_ref().map_or_else(String::new, |pack| pack.id.clone());
    let mut record = catalog::prepare(store.disk(), &snapshot)?;
    if let Some(pack) = &mut pack {
        pack.file.publish().map_err(failed)?;
    }
    record.publish().map_err(failed)?;
    record.keep();
    pack.into_iter().for_each(|pack| pack.file.keep());
    store.catalog.remember(store.disk(), &snapshot);
    Ok(snapshot)
}

/// Returns the last number that was given, as far as the manifest knows: that of a snapshot which is gone stays its own.
fn last_number(store: &Store) -> io::Result<u64> {
    Ok(PackManifest::read(store.disk())?.whole().map_or(0, |manifest| manifest.last_number()))
}

/// Refuses to rely on a pack that its writer took back because it could not be made durable.
fn check_still_there(store: &Store, packs_there: &PackSet) -> Result<()> {
    let ids = store.objects.pack_ids();
    let ids = ids.map_err(|error| failure::of(Operation::Snapshot, error))?;
    if packs_there.packs().iter().all(|pack| ids.contains(&pack.id)) {
        Ok(())
    } else {
        Err(Error::new(Operation::Snapshot, ErrorKind::Conflict)
            .with_detail("the store lost a pack while the snapshot was taken; take it again"))
    }
}

//! Publishes a snapshot: objects first, the record last.

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

/// Stores a tree as a snapshot; a failure leaves nothing behind.
pub(super) fn save(store: &Store, tree: &dyn Tree, new: &NewSnapshot) -> Result<Snapshot> {
    let failed = |error| failure::of(Operation::Snapshot, error);
    check_request(store, new)?;
    // From here on no object is deleted that the new snapshot may refer to without storing it again.
    let _shared = lock::share(store.disk())?;
    let UsablePacks { packs, complete } = UsablePacks::of(store).map_err(failed)?;
    let writer = PackWriter::new(store.disk());
    let captured = Capture::new(tree, &packs, complete, &writer).run(new.progress.as_ref())?;
    let pack = writer.finish().map_err(failed)?;
    let described = describe(new, captured);
    let fork = new.fork.clone().or_else(|| store.fork().map(str::to_owned));
    publish(store, &packs, pack, Snapshot { fork, ..described })
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

/// The packs that a new snapshot may refer to.
struct UsablePacks {
    packs: PackSet,
    /// Whether no pack is missing or damaged. Otherwise a stored directory does not prove that everything below it is
    /// stored.
    complete: bool,
}

impl UsablePacks {
    fn of(store: &Store) -> io::Result<Self> {
        let all = store.objects.refresh()?;
        let snapshots = store.catalog.list(store.disk())?;
        let manifest = PackManifest::read(store.disk())?.whole();
        let is_known = manifest.is_some();
        let manifest = manifest.unwrap_or_default();
        let expected = manifest.expected(&snapshots);
        let there = expected.keys().all(|id| all.has_pack(id));
        // If a pack is missing or damaged, every file is looked up on its own, and stored again if it is missing.
        let complete = is_known && there && all.unusable.is_empty();
        Ok(Self { packs: all.relied_on(&expected), complete })
    }
}

fn describe(new: &NewSnapshot, captured: (TreeHash, Vec<Skipped>)) -> Snapshot {
    let (root, left_out) = captured;
    let mut snapshot = Snapshot::of(new, STRATEGY);
    snapshot.skipped.extend(left_out);
    snapshot.tree_hash = Some(root);
    snapshot
}

/// Gives a snapshot its number and makes it visible.
///
/// The record is on disk before the pack gets its name, so that a full disk is noticed while nothing is visible yet.
fn publish(
    store: &Store,
    packs: &PackSet,
    pack: Option<FinishedPack<'_>>,
    mut snapshot: Snapshot,
) -> Result<Snapshot> {
    let failed = |error| failure::of(Operation::Snapshot, error);
    let _turn = lock::publish(store.disk())?;
    // Bound after the lock, so that on failure the pack is removed before another process gets the lock.
    let mut pack = pack;
    let others = store.catalog.list(store.disk()).map_err(failed)?;
    check_new(Some(snapshot.id), snapshot.tag.as_deref(), others.iter())?;
    check_still_there(store, packs)?;
    let last = others.last().map_or(0, |last| last.sequence);
    snapshot.sequence = last.max(last_number(store).map_err(failed)?).saturating_add(1);
    snapshot.reference = pack.as_ref().map_or_else(String::new, |pack| pack.id.clone());
    let mut record = catalog::prepare(store.disk(), &snapshot)?;
    if let Some(pack) = &mut pack {
        // The pack first: a record whose pack is missing would be a damaged snapshot, while a pack without a record is
        // only wasted space.
        pack.file.publish().map_err(failed)?;
    }
    record.publish().map_err(failed)?;
    record.keep();
    pack.into_iter().for_each(|pack| pack.file.keep());
    // Only now is neither removed when this function returns.
    store.catalog.remember(store.disk(), &snapshot);
    Ok(snapshot)
}

/// Returns the last number in use, as far as the manifest knows; the number of a pruned snapshot is not reused.
fn last_number(store: &Store) -> io::Result<u64> {
    Ok(PackManifest::read(store.disk())?.whole().map_or(0, |manifest| manifest.last_number()))
}

/// Fails if a pack disappeared, because its writer could not sync it and removed it.
fn check_still_there(store: &Store, packs: &PackSet) -> Result<()> {
    let ids = store.objects.pack_ids();
    let ids = ids.map_err(|error| failure::of(Operation::Snapshot, error))?;
    if packs.packs().iter().all(|pack| ids.contains(&pack.id)) {
        Ok(())
    } else {
        Err(Error::new(Operation::Snapshot, ErrorKind::Conflict)
            .with_detail("the store lost a pack while the snapshot was taken; take it again"))
    }
}

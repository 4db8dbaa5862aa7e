//! Snapshots whose contents a keeper has: records, manifests, and the publish order.
//!
//! Contents first, then the manifest, then the record, each synced before the next. Without a record there is no
//! snapshot, and the rest is deleted when the directory is next opened.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Strategy;
use super::capture::capture;
use super::keeper::{Condensed, Finished, Keeper};
use super::manifest::Manifest;
use super::tree::KeptTree;
use crate::error::{Error, Operation, Result, damaged};
use crate::snapshot::{
    NewSnapshot, Problem, Reclaimed, Snapshot, SnapshotId, SnapshotStore, Usage, Verification,
    VerifyOptions, check_new, check_tag,
};
use crate::store::catalog::{self, Catalog};
use crate::store::disk::Disk;
use crate::store::temporary::{Temporary, is_temporary};
use crate::store::{failure, format, lock};
use crate::tree::Tree;

/// The directory of manifests.
const MANIFESTS: &str = "manifests";

/// Larger than any manifest.
const MAX_BYTES: u64 = 4 * 1024 * 1024 * 1024;

/// Keeps snapshots by one strategy, in one directory.
#[derive(Debug)]
pub(super) struct StrategySnapshots {
    strategy: Strategy,
    disk: Disk,
    keeper: Box<dyn Keeper>,
    catalog: Catalog,
    /// The last manifest, for the next snapshot.
    last: Mutex<Option<(SnapshotId, Manifest)>>,
}

/// Writes the initial files of a keeper.
pub(super) type Fill = Box<dyn Fn(&Disk) -> io::Result<()>>;

/// Makes the directory of a strategy.
pub(super) fn create(
    path: &Path,
    strategy: Strategy,
    directories: &[&str],
    fill: Fill,
) -> io::Result<()> {
    let disk = Disk::new(path);
    disk.make_root()?;
    let own = [MANIFESTS, catalog::DIRECTORY];
    directories.iter().chain(&own).try_for_each(|directory| disk.make_dir(directory))?;
    fill(&disk)?;
    format::write(&disk, strategy.name())
}

impl StrategySnapshots {
    /// Opens what [`create`] made.
    pub(super) fn open(path: &Path, strategy: Strategy, keeper: Box<dyn Keeper>) -> Result<Self> {
        let disk = Disk::new(path);
        format::check(&disk, strategy.name())?;
        let catalog = Catalog::default();
        let this = Self { strategy, disk, keeper, catalog, last: Mutex::default() };
        // A failure is ignored, because a read-only disk can be read.
        let _ = this.sweep();
        Ok(this)
    }

    /// Deletes what dead processes left, if no process is writing.
    fn sweep(&self) -> io::Result<()> {
        let Some(_alone) = lock::alone(&self.disk) else { return Ok(()) };
        for directory in [catalog::DIRECTORY, MANIFESTS] {
            for name in self.disk.names(directory)?.iter().filter(|name| is_temporary(name)) {
                self.disk.remove(&format!("{directory}/{name}"))?;
            }
        }
        let records = catalog::names(&self.disk)?;
        let held = self.keeper.held()?.into_iter().chain(self.disk.names(MANIFESTS)?);
        held.filter(|id| !records.contains(id)).try_for_each(|id| self.forget(&id))
    }

    fn forget(&self, id: &str) -> io::Result<()> {
        self.disk.remove(&manifest_place(id))?;
        self.keeper.forget(id)
    }

    fn manifest(&self, snapshot: &Snapshot) -> io::Result<Manifest> {
        let place = manifest_place(&snapshot.id.to_string());
        let bytes = self.disk.read(&place, MAX_BYTES).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => damaged("a snapshot's manifest is missing"),
            _ => error,
        })?;
        let manifest = Manifest::decode(&bytes)?;
        // The manifest proves its own bytes, but not that it belongs to this snapshot.
        if snapshot.tree_hash == Some(manifest.root.hash) {
            Ok(manifest)
        } else {
            Err(damaged("a snapshot's manifest is that of another tree"))
        }
    }

    /// Returns the last snapshot's manifest for an incremental keeper; `None` if it is damaged.
    fn base(&self) -> io::Result<Option<Manifest>> {
        if !self.keeper.is_incremental() {
            return Ok(None);
        }
        let Some(last) = self.catalog.list(&self.disk)?.pop() else { return Ok(None) };
        let known = self.last.lock().clone();
        let known = known.filter(|(id, _)| *id == last.id).map(|(_, manifest)| manifest);
        Ok(known.or_else(|| self.manifest(&last).ok()))
    }

    fn remember(&self, id: SnapshotId, manifest: Manifest) {
        if self.keeper.is_incremental() {
            *self.last.lock() = Some((id, manifest));
        }
    }

    /// Refuses early what publishing would refuse.
    fn check_request(&self, new: &NewSnapshot) -> Result<()> {
        new.tag.as_deref().map_or(Ok(()), check_tag)?;
        if new.tag.is_none() && new.id.is_none() {
            return Ok(());
        }
        let snapshots = self.catalog.list(&self.disk).map_err(unsaved)?;
        check_new(new.id, new.tag.as_deref(), snapshots.iter())
    }

    fn keep(&self, tree: &dyn Tree, new: &NewSnapshot) -> Result<Snapshot> {
        self.check_request(new)?;
        let _shared = lock::share(&self.disk)?;
        let mut snapshot = Snapshot::of(new, self.strategy.name());
        let unfinished = Unfinished { kept: self, id: Some(snapshot.id) };
        let base = self.base().map_err(unsaved)?;
        let work = self.keeper.begin(&snapshot.id, base.as_ref()).map_err(unsaved)?;
        let (root, left_out) = capture(tree, &*work)?;
        snapshot.skipped.extend(left_out);
        snapshot.tree_hash = Some(root.hash);
        let Finished { reference, notes } = work.finish(&snapshot, &root).map_err(unsaved)?;
        snapshot.reference = reference;
        let manifest = Manifest { root, notes };
        self.write_manifest(&snapshot.id, &manifest).map_err(unsaved)?;
        self.publish(&mut snapshot)?;
        self.remember(snapshot.id, manifest);
        unfinished.keep();
        Ok(snapshot)
    }

    fn write_manifest(&self, id: &SnapshotId, manifest: &Manifest) -> io::Result<()> {
        let mut file = Temporary::new(&self.disk, MANIFESTS, id.to_string())?;
        file.write_all(&manifest.encode())?;
        file.sync()?;
        file.publish()?;
        file.keep();
        Ok(())
    }

    /// Gives a snapshot its number and makes it visible.
    fn publish(&self, snapshot: &mut Snapshot) -> Result<()> {
        let _turn = lock::publish(&self.disk)?;
        let mut all = self.catalog.list(&self.disk).map_err(unsaved)?;
        check_new(Some(snapshot.id), snapshot.tag.as_deref(), all.iter())?;
        snapshot.sequence = all.last().map_or(1, |last| last.sequence.saturating_add(1));
        let mut record = catalog::prepare(&self.disk, snapshot)?;
        all.push(snapshot.clone());
        // Before the record: a reference without a snapshot does no harm, and is rewritten with the next one.
        self.keeper.announce(&all).map_err(unsaved)?;
        record.publish().map_err(unsaved)?;
        record.keep();
        Ok(())
    }

    fn remove(&self, id: &SnapshotId) -> Result<bool> {
        let failed = |error| failure::of(Operation::Delete, error);
        let _shared = lock::share(&self.disk)?;
        let _turn = lock::publish(&self.disk)?;
        let was_there = catalog::remove(&self.disk, &[*id]).map_err(failed)?;
        if was_there {
            self.keeper
                .announce(&self.catalog.list(&self.disk).map_err(failed)?)
                .map_err(failed)?;
            self.forget(&id.to_string()).map_err(failed)?;
        }
        Ok(was_there)
    }

    fn open_tree(&self, snapshot: &Snapshot) -> io::Result<KeptTree> {
        let manifest = self.manifest(snapshot)?;
        Ok(KeptTree::new(manifest.root, self.keeper.reader(&snapshot.id)?))
    }

    /// Checks one snapshot; returns the number of bytes checked.
    fn check(&self, name: &str, options: &VerifyOptions) -> Result<u64> {
        let snapshot = catalog::read(&self.disk, name)?;
        let tree = self.open_tree(&snapshot);
        let tree = tree.map_err(|error| failure::of(Operation::Verify, error))?;
        if options.data { tree.check(options.subset) } else { Ok(0) }
    }
}

fn manifest_place(id: &str) -> String {
    format!("{MANIFESTS}/{id}")
}

fn unsaved(error: io::Error) -> Error {
    failure::of(Operation::Snapshot, error)
}

impl StrategySnapshots {
    /// Rewrites what is partly unneeded, and deletes the old.
    fn condense(&self) -> Result<Reclaimed> {
        let failed = |error| failure::of(Operation::Prune, error);
        let _only = lock::prune(&self.disk)?;
        let prepared = {
            let _shared = lock::share(&self.disk)?;
            // It may fail because another process deleted a snapshot while it was being read.
            self.prepare().ok()
        };
        let _alone = lock::exclusive(&self.disk)?;
        let names = catalog::names(&self.disk).map_err(failed)?;
        let condensed = match prepared {
            Some((seen, condensed)) if seen == names => condensed,
            // A snapshot taken meanwhile may need what no snapshot needed before.
            _ => self.prepare()?.1,
        };
        let done = self.keeper.remove_condensed(&condensed).map_err(failed)?;
        condensed.notes.map_or(Ok(()), |notes| self.rewrite_last(notes)).map_err(failed)?;
        Ok(done)
    }

    /// Returns the names of all records, and the result of `condense`; if one is damaged, nothing may be deleted.
    fn prepare(&self) -> Result<(Vec<String>, Condensed)> {
        let failed = |error| failure::of(Operation::Prune, error);
        let names = catalog::names(&self.disk).map_err(failed)?;
        let snapshots: Vec<Snapshot> =
            names.iter().map(|name| catalog::read(&self.disk, name)).collect::<Result<_>>()?;
        let manifest_of = |snapshot: &Snapshot| self.manifest(snapshot);
        let condensed = self.keeper.condense(&snapshots, &manifest_of).map_err(failed)?;
        Ok((names, condensed))
    }

    /// Updates the last snapshot's notes, so that the next one can be incremental.
    fn rewrite_last(&self, notes: Vec<u8>) -> io::Result<()> {
        *self.last.lock() = None;
        let Some(last) = self.catalog.list(&self.disk)?.pop() else { return Ok(()) };
        let manifest = Manifest { notes, ..self.manifest(&last)? };
        let mut file = Temporary::over(&self.disk, MANIFESTS, last.id.to_string())?;
        file.write_all(&manifest.encode())?;
        file.sync()?;
        file.replace()
    }
}

/// A snapshot that is deleted again unless it is published.
struct Unfinished<'a> {
    kept: &'a StrategySnapshots,
    id: Option<SnapshotId>,
}

impl Unfinished<'_> {
    fn keep(mut self) {
        self.id = None;
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            // If this fails, it is deleted when the directory is next opened.
            let _ = self.kept.forget(&id.to_string());
        }
    }
}

impl SnapshotStore for StrategySnapshots {
    fn strategy(&self) -> &'static str {
        self.strategy.name()
    }

    fn save(&self, tree: &dyn Tree, new: &NewSnapshot) -> Result<Snapshot> {
        self.keep(tree, new).map_err(|error| error.during(Operation::Snapshot))
    }

    fn load(&self, id: &SnapshotId) -> Result<Arc<dyn Tree>> {
        let snapshot = self.describe(id)?;
        let tree = self.open_tree(&snapshot);
        Ok(Arc::new(tree.map_err(|error| failure::of(Operation::Restore, error))?))
    }

    fn describe(&self, id: &SnapshotId) -> Result<Snapshot> {
        catalog::read(&self.disk, &id.to_string())
    }

    fn list(&self) -> Result<Vec<Snapshot>> {
        self.catalog.list(&self.disk).map_err(|error| failure::of(Operation::List, error))
    }

    fn delete(&self, id: &SnapshotId) -> Result<bool> {
        self.remove(id).map_err(|error| error.during(Operation::Delete))
    }

    fn verify(&self, options: &VerifyOptions) -> Result<Verification> {
        let names = catalog::names(&self.disk);
        let names = names.map_err(|error| failure::of(Operation::Verify, error))?;
        let mut found = Verification { snapshots: names.len() as u64, ..Default::default() };
        for name in names {
            match self.check(&name, options) {
                Ok(bytes) => found.bytes_checked += bytes,
                Err(error) => {
                    let ids = name.parse().into_iter().collect();
                    found.problems.push(Problem::new(format!("snapshot {name}: {error}"), ids));
                }
            }
        }
        Ok(found)
    }

    fn reclaim(&self) -> Result<Reclaimed> {
        self.condense().map_err(|error| error.during(Operation::Prune))
    }

    fn is_fragmented(&self) -> Result<bool> {
        self.keeper.is_fragmented().map_err(|error| failure::of(Operation::Stat, error))
    }

    fn usage(&self) -> Result<Usage> {
        let failed = |error| failure::of(Operation::Stat, error);
        let bytes = self.disk.size(".").map_err(failed)?;
        let packs = self.keeper.packs().map_err(failed)?;
        Ok(Usage { bytes, packs, ..Usage::default() })
    }

    fn directory(&self) -> Option<&Path> {
        Some(self.disk.root())
    }
}

//! A thousand snapshots down to ten, against a budget.

use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context as _, Result, ensure};
use wink_fs::{
    Backend as _, HostBackend, HostOptions, NewSnapshot, PruneOptions, Retention, SnapshotId,
    SnapshotStore, Store, VerifyOptions, Workspace,
};

use super::changes::{Change, Changer};
use super::rounds::Side;
use crate::case::{Case, Outcome, Peer};
use crate::context::{Context, output_of};
use crate::measure::{Measured, alone, timed_ms};

pub(crate) const PRUNE_1000: Case =
    Case::new("prune-1000", "1,000 snapshots of 10,000 files down to 10", 1.0, measure);

const FILES: usize = 10_000;
const SNAPSHOTS: u64 = 1_000;
const KEPT: usize = 10;
const BUDGET_MS: f64 = 5_000.0;

fn measure(context: &Context) -> Result<Outcome> {
    let side = Side::new(context, &context.source_tree(FILES)?)?;
    let kept = fill(&side.place.root, &side.place.store)?;
    let mut sizes = (0, 0);
    let times = alone(&kept, || {
        let copy = side.place.store.with_extension("copy");
        let _ = std::fs::remove_dir_all(&copy);
        output_of(std::process::Command::new("cp").arg("-a").arg(&side.place.store).arg(&copy))?;
        let before = Store::open_ambient(&copy)?.usage()?.bytes;
        let pruned = prune(&side.place.root, &copy)?;
        sizes = (before, Store::open_ambient(&copy)?.usage()?.bytes);
        Ok(pruned.with_result(checked(&copy)?))
    })?;
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    Ok(Outcome {
        peer: Peer::Budget(BUDGET_MS),
        ours: times,
        unit: "ms",
        place: context.warm(&side.place.root)?,
        note: format!(
            "ten changes between two snapshots, one pack each; {:.0} MB become {:.0} MB; \
             those that stay are verified with their data each time",
            megabytes(sizes.0),
            megabytes(sizes.1)
        ),
    })
}

/// Takes the snapshots, none of which is pruned or merged on the way; returns those that are to stay.
fn fill(root: &Path, store: &Path) -> Result<Vec<SnapshotId>> {
    let index = HostOptions::default().index(store.with_extension("index"));
    let store = Store::create_ambient(store)?;
    let mut backend = HostBackend::open_ambient_with(root, &index)?;
    let changer = Changer::new(root, Change::Ten)?;
    let mut ids = Vec::new();
    for round in 1..=SNAPSHOTS {
        changer.apply(root, round)?;
        let capture = backend.capture(&Default::default())?;
        let new = NewSnapshot::new(SystemTime::now()).captured(&capture);
        let taken = store.save(&*capture.tree, &new)?;
        backend.learn(&*capture.tree, &*store.load(&taken.id)?);
        ids.push(taken.id);
    }
    Ok(ids.split_off(ids.len().checked_sub(KEPT).context("too few snapshots")?))
}

fn prune(root: &Path, store: &Path) -> Result<Measured<()>> {
    let options = PruneOptions::default().retention(Retention::default().max_count(KEPT));
    timed_ms(|| {
        let files = Workspace::host_with_store(root, Store::open_ambient(store)?)?;
        let gone = files.prune(&options)?.snapshots.len() as u64;
        ensure!(gone == SNAPSHOTS - KEPT as u64, "{gone} snapshots went");
        Ok(())
    })
}

/// Returns the snapshots that are there, every byte of which is right.
fn checked(store: &Path) -> Result<Vec<SnapshotId>> {
    let store = Store::open_ambient(store)?;
    let found = store.verify(&VerifyOptions::default().data(true))?;
    ensure!(found.problems.is_empty(), "the store is damaged: {:?}", found.problems);
    Ok(store.list()?.iter().map(|snapshot| snapshot.id).collect())
}

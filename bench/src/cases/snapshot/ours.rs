//! Our side: this program started again, which opens the workspace, does one thing and ends.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use wink_fs::{
    HostBackend, MergeOptions, Retention, Snapshot, SnapshotOptions, SnapshotStore, Store,
    VerifyOptions, Workspace,
};

use super::keeper::{Keeper, Place};
use super::listing::{self, Listing};
use crate::context::Context;

/// Any case that has the child part; what the child does is in the other arguments.
const CASE: &str = "snapshot-first-vs-git";

pub(super) struct Ours {
    place: Place,
    program: PathBuf,
}

impl Ours {
    pub(super) fn new(place: Place) -> Result<Self> {
        Ok(Self { place, program: std::env::current_exe()? })
    }

    /// Returns what restores the first snapshot.
    pub(super) fn restore(&self) -> Result<Vec<Command>> {
        let store = Store::open_ambient(&self.place.store)?;
        let first = store.list()?.first().map(|first| first.id).context("no snapshot")?;
        Ok(vec![self.restore_to(&first.to_string())])
    }

    pub(super) fn restore_to(&self, id: &str) -> Command {
        let mut command = self.command("restore");
        command.arg(id);
        command
    }

    /// Returns what brings the changes from one snapshot to another in.
    pub(super) fn merge(&self, base: &str, theirs: &str) -> Command {
        let mut command = self.command("merge");
        command.args([base, theirs]);
        command
    }

    /// Returns what forks the newest snapshot.
    pub(super) fn fork(&self) -> Result<Command> {
        let mut command = self.command("fork");
        command.arg(self.newest()?);
        Ok(command)
    }

    /// Returns the id of the newest snapshot.
    pub(super) fn newest(&self) -> Result<String> {
        let store = Store::open_ambient(&self.place.store)?;
        Ok(store.list()?.last().context("no snapshot")?.id.to_string())
    }

    fn command(&self, what: &str) -> Command {
        let Place { root, store } = &self.place;
        let mut command = Command::new(&self.program);
        command.args(["child", CASE, what]).arg(root).arg(store);
        command
    }
}

/// Makes our side as a keeper like any other.
pub(super) fn make(_: &Context, place: Place) -> Result<Box<dyn Keeper>> {
    Ok(Box::new(Ours::new(place)?))
}

impl Keeper for Ours {
    fn name(&self) -> &'static str {
        "wink"
    }

    fn described(&self) -> String {
        "Workspace::host_with_store, snapshot_with".to_owned()
    }

    fn prepare(&self) -> Result<()> {
        Store::create_ambient(&self.place.store)?;
        Ok(())
    }

    fn snapshot(&self) -> Vec<Command> {
        vec![self.command("snapshot")]
    }

    fn kept(&self) -> Result<Listing> {
        newest_checked(&Store::open_ambient(&self.place.store)?, &self.place.root)
    }
}

/// Lists the newest snapshot; it must be of the very files on the disk, and the store without a fault.
pub(super) fn newest_checked(store: &dyn SnapshotStore, root: &Path) -> Result<Listing> {
    let newest = store.list()?.pop().context("no snapshot")?;
    check_hash(root, &newest)?;
    let found = store.verify(&VerifyOptions::default().data(true))?;
    ensure!(found.problems.is_empty(), "the store is damaged: {:?}", found.problems);
    listing::of_tree(&*store.load(&newest.id)?)
}

/// Compares a snapshot with the files, all of which are read again without any index.
fn check_hash(root: &Path, newest: &Snapshot) -> Result<()> {
    let live = wink_fs::tree_hash(&HostBackend::open_ambient(root)?)?;
    ensure!(newest.tree_hash == Some(live), "the snapshot is not of the files that are there");
    Ok(())
}

pub(super) fn snapshot(root: &str, store: &str) -> Result<Value> {
    let builder = Workspace::host_builder(root, Store::open_ambient(store)?)?;
    let workspace = builder.retention(Retention::everything()).build();
    let taken = workspace.snapshot_with(&SnapshotOptions::default())?;
    Ok(taken.file_count.into())
}

pub(super) fn restore(root: &str, store: &str, id: &str) -> Result<Value> {
    let workspace = Workspace::host_with_store(root, Store::open_ambient(store)?)?;
    let receipt = workspace.restore(id)?;
    Ok((receipt.written + receipt.brought_back + receipt.removed).into())
}

pub(super) fn merge(root: &str, store: &str, base: &str, theirs: &str) -> Result<Value> {
    let workspace = Workspace::host_with_store(root, Store::open_ambient(store)?)?;
    let merged = workspace.merge_states(base, theirs, &MergeOptions::default())?;
    ensure!(merged.applied, "conflicts: {:?}", merged.conflicts);
    Ok(merged.changes.len().into())
}

/// Forks, changes a file of the fork, and counts its files.
pub(super) fn fork(root: &str, store: &str, id: &str) -> Result<Value> {
    let workspace = Workspace::host_with_store(root, Store::open_ambient(store)?)?;
    let fork = workspace.fork(id)?;
    let file = fork.glob("**/*.rs", "")?.paths.first().context("no file")?.to_string();
    fork.write(&file, "changed in the fork\n")?;
    Ok(fork.snapshot_with(&SnapshotOptions::default())?.file_count.into())
}

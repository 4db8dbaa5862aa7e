//! The strategies beside the store, each against the program that does the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;
use tempfile::TempDir;
use wink_fs::{HostBackend, HostOptions, SnapshotOptions, Strategy, StrategyOptions, Workspace};

use super::changes::Change;
use super::keeper::{Keeper, Place};
use super::listing::{self, Listing};
use super::rounds::{Pair, Side};
use super::{FILES, git, ours};
use crate::case::{Case, Outcome};
use crate::context::{Context, output_of};

/// More than there are rounds: none goes while others are measured.
const MAX_SNAPSHOTS: usize = 1_000;

const DISK_BYTES: u64 = 4 << 30;

pub(crate) const GITSTRATEGY_VS_GIT: Case = Case::new(
    "snapshot-gitstrategy-vs-git",
    "ten of 30,000 files changed, by the strategy `git`",
    1.5,
    gitstrategy_vs_git,
)
.with_child(super::child);

pub(crate) const REFLINK_VS_CP: Case = Case::new(
    "snapshot-reflink-vs-cp",
    "clones of 30,000 files on btrfs, by the strategy `reflink`",
    1.0,
    reflink_vs_cp,
)
.with_child(super::child);

fn gitstrategy_vs_git(context: &Context) -> Result<Outcome> {
    let tree = context.source_tree(FILES)?;
    let (our_side, their_side) = (Side::new(context, &tree)?, Side::new(context, &tree)?);
    let ours = ByStrategy::new(our_side.place.clone(), Strategy::Git)?;
    let theirs = git::durable(context, their_side.place.clone())?;
    let pair = Pair { context, ours: &ours, theirs: &*theirs };
    let roots = [&our_side.place.root, &their_side.place.root];
    pair.measure(&GITSTRATEGY_VS_GIT, roots, Change::Ten)
}

fn reflink_vs_cp(context: &Context) -> Result<Outcome> {
    let (tree, disk) = (context.source_tree(FILES)?, Btrfs::new(context)?);
    let (our_side, their_side) = (disk.side(&tree)?, disk.side(&tree)?);
    let ours = ByStrategy::new(our_side.place.clone(), Strategy::Reflink)?;
    let theirs = Cp { place: their_side.place.clone(), durable: true };
    let pair = Pair { context, ours: &ours, theirs: &theirs };
    let roots = [&our_side.place.root, &their_side.place.root];
    pair.measure(&REFLINK_VS_CP, roots, Change::Nothing)
}

/// Our side: this program started again with a strategy.
struct ByStrategy {
    place: Place,
    strategy: Strategy,
    program: PathBuf,
}

impl ByStrategy {
    fn new(place: Place, strategy: Strategy) -> Result<Self> {
        Ok(Self { place, strategy, program: std::env::current_exe()? })
    }
}

fn options(store: &Path) -> StrategyOptions {
    StrategyOptions::new(store).strategy(Strategy::Auto).max_snapshots(MAX_SNAPSHOTS)
}

impl Keeper for ByStrategy {
    fn name(&self) -> &'static str {
        "wink"
    }

    fn described(&self) -> String {
        format!("StrategyOptions with {}, Workspace::snapshot_with", self.strategy)
    }

    fn prepare(&self) -> Result<()> {
        let Place { root, store } = &self.place;
        options(store).strategy(self.strategy).create_ambient(root)?;
        Ok(())
    }

    fn snapshot(&self) -> Vec<Command> {
        let Place { root, store } = &self.place;
        let mut command = Command::new(&self.program);
        command.args(["child", GITSTRATEGY_VS_GIT.name, "snapshot-by"]).arg(root).arg(store);
        vec![command]
    }

    fn kept(&self) -> Result<Listing> {
        ours::newest_checked(&*options(&self.place.store).open_ambient()?, &self.place.root)
    }
}

/// Takes a snapshot by whatever strategy the snapshots are kept by.
pub(super) fn snapshot(root: &str, store: &str) -> Result<Value> {
    let store = Path::new(store);
    let learnt = HostOptions::default().index(store.join("index"));
    let files = HostBackend::open_ambient_with(root, &learnt)?;
    let workspace = Workspace::builder(files).snapshots(options(store).open_ambient()?).build();
    let taken = workspace.snapshot_with(&SnapshotOptions::default())?;
    Ok(taken.file_count.into())
}

/// Copies the files beside the last copy.
struct Cp {
    place: Place,
    durable: bool,
}

impl Cp {
    fn copies(&self) -> usize {
        fs::read_dir(&self.place.store).map_or(0, Iterator::count)
    }

    fn copy(&self, number: usize) -> PathBuf {
        self.place.store.join(number.to_string())
    }
}

impl Keeper for Cp {
    fn name(&self) -> &'static str {
        "cp"
    }

    fn described(&self) -> String {
        "cp -a --reflink=always ROOT STORE/N && sync -f STORE".to_owned()
    }

    fn prepare(&self) -> Result<()> {
        Ok(fs::create_dir(&self.place.store)?)
    }

    fn snapshot(&self) -> Vec<Command> {
        let mut copy = Command::new("cp");
        copy.args(["-a", "--reflink=always"]).arg(&self.place.root).arg(self.copy(self.copies()));
        let mut sync = Command::new("sync");
        sync.arg("-f").arg(&self.place.store);
        if self.durable { vec![copy, sync] } else { vec![copy] }
    }

    fn kept(&self) -> Result<Listing> {
        let newest = self.copies().checked_sub(1).context("no copy")?;
        listing::of_tree(&HostBackend::open_ambient(self.copy(newest))?)
    }

    fn unjudged(&self) -> Vec<(&'static str, Box<dyn Keeper>)> {
        vec![("cp not durable", Box::new(Self { place: self.place.clone(), durable: false }))]
    }
}

/// A disk of its own, because few machines have btrfs where the scratch directory is.
struct Btrfs {
    directory: TempDir,
}

impl Btrfs {
    fn new(context: &Context) -> Result<Self> {
        let disk = Self { directory: context.fresh_dir()? };
        fs::File::create(disk.image())?.set_len(DISK_BYTES)?;
        output_of(Command::new("mkfs.btrfs").arg("-q").arg(disk.image()))?;
        fs::create_dir(disk.mounted())?;
        let mut mount = Command::new("mount");
        output_of(mount.args(["-o", "loop"]).arg(disk.image()).arg(disk.mounted()))?;
        Ok(disk)
    }

    fn image(&self) -> PathBuf {
        self.directory.path().join("image")
    }

    fn mounted(&self) -> PathBuf {
        self.directory.path().join("mounted")
    }

    fn side(&self, tree: &Path) -> Result<Side> {
        Side::in_directory(tempfile::tempdir_in(self.mounted())?, tree)
    }
}

impl Drop for Btrfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.mounted()).status();
    }
}

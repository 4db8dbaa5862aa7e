//! Snapshots of a workspace in memory, which must not depend on how much is in it.

use std::time::Instant;

use anyhow::{Context as _, Result};
use serde_json::Value;
use wink_fs::{SnapshotOptions, StateRef, Workspace};

use crate::case::{Case, Outcome, Peer};
use crate::context::{Context, SEED};
use crate::measure::{Measured, alone, check_equal};
use crate::rng::Rng;
use crate::stats::{Samples, short};

const SNAPSHOT: &str = "snapshot-memory";
const WRITE: &str = "write-after-snapshot-memory";

pub(crate) const SNAPSHOT_MEMORY: Case = Case::new(
    SNAPSHOT,
    "the slowest of snapshot and restore in memory, at 1,000 and at 1,000,000 files",
    1.0,
    |context| {
        let mut last = String::new();
        let times = alone(&(), || {
            let (few, many): ([f64; 2], [f64; 2]) =
                (ask(context, SNAPSHOT, FEW)?, ask(context, SNAPSHOT, MANY)?);
            last = format!("at {FEW} files {}, at {MANY} {}", worded(few), worded(many));
            let value = few.into_iter().chain(many).fold(0.0, f64::max);
            Ok(Measured { value, result: () })
        })?;
        Ok(outcome(SNAPSHOT_BUDGET, times, format!("the last repetition: {last}")))
    },
)
.with_child(|arguments| Ok(serde_json::to_value(go_back_and_forth(files_in(arguments)?)?)?));

pub(crate) const WRITE_AFTER_SNAPSHOT_MEMORY: Case =
    Case::new(WRITE, "the first write after a snapshot, at 100,000 files", 1.0, |context| {
        let times = alone(&(), || Ok(Measured { value: ask(context, WRITE, SOME)?, result: () }))?;
        Ok(outcome(WRITE_BUDGET, times, "Workspace::write of a file that is there".into()))
    })
    .with_child(|arguments| -> Result<Value> {
        Ok(write_after_snapshots(files_in(arguments)?)?.into())
    });

const FEW: usize = 1_000;
const SOME: usize = 100_000;
const MANY: usize = 1_000_000;
const WIDTH: usize = 100;
const SNAPSHOT_BUDGET: f64 = 2.0;
const WRITE_BUDGET: f64 = 20.0;
const OPERATIONS: usize = 2_000;

fn outcome(budget: f64, ours: Samples, note: String) -> Outcome {
    let note = format!("{note}; medians of {OPERATIONS} in a fresh process");
    Outcome { peer: Peer::Budget(budget), ours, unit: "µs", place: "memory".into(), note }
}

fn worded([snapshot, restore]: [f64; 2]) -> String {
    format!("snapshot {}, restore {}", short(snapshot), short(restore))
}

fn ask<T: serde::de::DeserializeOwned>(context: &Context, case: &str, files: usize) -> Result<T> {
    context.ask_child(case, &[&files.to_string()])
}

fn files_in(arguments: &[String]) -> Result<usize> {
    Ok(arguments.first().context("how many files?")?.parse()?)
}

fn filled(files: usize) -> Result<Workspace> {
    let workspace = Workspace::memory();
    for number in 0..files {
        workspace.write(&path(number), "the content\n")?;
    }
    Ok(workspace)
}

/// Returns the path of a file: two levels of directories above it, whatever the number of files.
fn path(number: usize) -> String {
    let (directory, name) = (number / WIDTH, number % WIDTH);
    format!("dir_{:02}/dir_{:02}/file_{name:02}", directory / WIDTH, directory % WIDTH)
}

/// Returns the microseconds of a snapshot and of a restore, each after a write.
fn go_back_and_forth(files: usize) -> Result<[f64; 2]> {
    let workspace = filled(files)?;
    let store = workspace.snapshot_store()?;
    let mut rng = Rng::new(SEED, 1);
    let (mut snapshots, mut restores) = (Vec::new(), Vec::new());
    for _ in 0..OPERATIONS {
        let file = path(rng.below(files));
        workspace.write(&file, "kept\n")?;
        let taken = timed_us(&mut snapshots, || workspace.snapshot_with(&options()))?;
        workspace.write(&file, "lost\n")?;
        let at: StateRef = taken.id.into();
        timed_us(&mut restores, || workspace.restore(at))?;
        check_equal(&workspace.read(&file)?.content, &"kept\n".to_owned())?;
        store.delete(&taken.id)?;
    }
    Ok([median(snapshots)?, median(restores)?])
}

/// Returns the microseconds of a write, each after a snapshot.
fn write_after_snapshots(files: usize) -> Result<f64> {
    let workspace = filled(files)?;
    let store = workspace.snapshot_store()?;
    let (mut rng, mut writes) = (Rng::new(SEED, 1), Vec::new());
    for round in 0..OPERATIONS {
        let taken = workspace.snapshot_with(&options())?;
        let (file, content) = (path(rng.below(files)), format!("round {round}\n"));
        timed_us(&mut writes, || workspace.write(&file, &content))?;
        check_equal(&workspace.read(&file)?.content, &content)?;
        store.delete(&taken.id)?;
    }
    median(writes)
}

fn options() -> SnapshotOptions {
    SnapshotOptions::default()
}

fn timed_us<T>(times: &mut Vec<f64>, work: impl FnOnce() -> wink_fs::Result<T>) -> Result<T> {
    let start = Instant::now();
    let done = work()?;
    times.push(start.elapsed().as_secs_f64() * 1e6);
    Ok(done)
}

fn median(times: Vec<f64>) -> Result<f64> {
    Ok(Samples::new(times).context("no measurement")?.median())
}

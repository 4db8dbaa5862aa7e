//! Snapshots of a directory of the host: whole commands, in fresh processes, durable on both sides.

mod by_strategy;
mod changes;
mod cli;
mod fork;
mod git;
mod hundred_thousand;
mod keeper;
mod listing;
mod memory;
mod merge;
mod new_directory;
mod ours;
mod prune;
mod restic;
mod rounds;
mod size;
mod transaction;
mod walk;

pub(super) use self::by_strategy::{GITSTRATEGY_VS_GIT, REFLINK_VS_CP};
pub(super) use self::cli::CLI_VS_GIT;
pub(super) use self::fork::FORK_HOST;
pub(super) use self::hundred_thousand::SNAPSHOT_100K;
pub(super) use self::memory::{SNAPSHOT_MEMORY, WRITE_AFTER_SNAPSHOT_MEMORY};
pub(super) use self::merge::MERGE_VS_GIT;
pub(super) use self::new_directory::WRITE_NEW_DIRECTORY;
pub(super) use self::prune::PRUNE_1000;
pub(super) use self::size::STORE_SIZE_VS_GIT;
pub(super) use self::transaction::TRANSACTION_HOST;
pub(super) use self::walk::UNCHANGED_VS_WALK;

use anyhow::{Context as _, Result};
use serde_json::Value;

use self::changes::Change;
use self::rounds::{again, first, restore};
use crate::case::Case;

/// How many files the tree has where none is given.
const FILES: usize = 30_000;

pub(super) const FIRST_VS_GIT: Case =
    Case::new("snapshot-first-vs-git", "first snapshot of 30,000 files, durable", 6.0, |context| {
        first(context, &FIRST_VS_GIT, git::durable)
    })
    .with_child(child);

pub(super) const FIRST_VS_RESTIC: Case = Case::new(
    "snapshot-first-vs-restic",
    "first snapshot of 30,000 files, durable",
    3.0,
    |context| first(context, &FIRST_VS_RESTIC, restic::make),
)
.with_child(child);

pub(super) const UNCHANGED_VS_GIT: Case =
    Case::new("snapshot-unchanged-vs-git", "nothing changed since the last one", 3.0, |context| {
        again(context, &UNCHANGED_VS_GIT, git::durable, Change::Nothing)
    })
    .with_child(child);

pub(super) const TEN_VS_GIT: Case =
    Case::new("snapshot-ten-vs-git", "ten of 30,000 files changed", 3.0, |context| {
        again(context, &TEN_VS_GIT, git::durable, Change::Ten)
    })
    .with_child(child);

pub(super) const TEN_VS_RESTIC: Case =
    Case::new("snapshot-ten-vs-restic", "ten of 30,000 files changed", 10.0, |context| {
        again(context, &TEN_VS_RESTIC, restic::make, Change::Ten)
    })
    .with_child(child);

pub(super) const RESTORE_TEN_VS_GIT: Case =
    Case::new("restore-ten-vs-git", "ten of 30,000 files restored", 3.5, |context| {
        restore(context, &RESTORE_TEN_VS_GIT)
    })
    .with_child(child);

/// Does one command of ours, or the walk that it is held against, and ends.
fn child(arguments: &[String]) -> Result<Value> {
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["snapshot", root, store] => ours::snapshot(root, store),
        ["snapshot-by", root, store] => by_strategy::snapshot(root, store),
        ["restore", root, store, id] => ours::restore(root, store, id),
        ["merge", root, store, base, theirs] => ours::merge(root, store, base, theirs),
        ["fork", root, store, id] => ours::fork(root, store, id),
        ["walk", root] => Ok(walk::files_below(root.as_ref())?.into()),
        _ => None.with_context(|| format!("no such command: {}", words.join(" "))),
    }
}

//! `wink log`: lists snapshots, newest first.

mod graph;

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use wink_fs::{DiffOptions, Scope, Snapshot, SnapshotCause, SnapshotId, TreePath, Workspace};

use super::{DAMAGED, changes_since, changes_text};
use crate::cli::context::{Context, Opened};
use crate::cli::{self, state_ref};
use crate::clients::Moment;
use crate::error::CliError;
use crate::hooks::record::{self, HookRecord};
use crate::json::{Changes, SnapshotEntry, documents};
use crate::ui::answer::Answer;
use crate::ui::format;
use crate::ui::style::Paint;

/// List snapshots, newest first.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// List only snapshots that changed this path, or something below it.
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,

    /// List only the newest N.
    #[arg(short = 'n', value_name = "N", value_parser = cli::count::<usize>)]
    count: Option<usize>,

    /// Draw the graph of snapshots.
    #[arg(long, conflicts_with = "path")]
    graph: bool,
}

documents! {
    Log: "wink/log@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Log {
    /// Changes since the last snapshot; null if there is none, or it is damaged.
    live: Option<Changes>,
    /// The parent of the current files.
    current: Option<String>,
    /// Newest first.
    snapshots: Vec<SnapshotEntry>,
    /// What hooks of coding agents told of their turns and calls, each with its snapshot; newest first.
    agent_events: Vec<HookRecord>,
}

pub(crate) fn run(context: &Context, args: &LogArgs) -> Result<Answer, CliError> {
    let opened = context.open()?;
    let progress = context.progress("searching the snapshots");
    let last = state_ref::last(&opened.files)?;
    let live = match &last {
        Some(last) => changes_since(&opened.files, last)?,
        None => None,
    };
    let all = opened.files.snapshots()?;
    let snapshots = wanted(context, &opened, args, &all)?;
    drop(progress);
    let document = Log {
        live,
        current: last.as_ref().map(|it| it.id.to_string()),
        snapshots: snapshots.iter().map(SnapshotEntry::from).collect(),
        agent_events: agent_events(&opened, &snapshots),
    };
    let text = |document: &Log| {
        text(&opened, args, last.as_ref(), live, &snapshots, &document.agent_events)
    };
    let answer = context.answer(&document, text)?;
    let mut answer = answer.painted(Paint::Ids(unique_prefixes(&all))).long();
    if last.is_none() {
        answer.notes = context.note("next: wink snapshot");
    }
    Ok(answer)
}

/// Returns the events of which one of the snapshots was taken.
fn agent_events(opened: &Opened, snapshots: &[Snapshot]) -> Vec<HookRecord> {
    let shown: BTreeSet<_> = snapshots.iter().map(|it| it.id.to_string()).collect();
    let is_shown = |it: &HookRecord| it.snapshot.as_ref().is_some_and(|id| shown.contains(id));
    record::all(&opened.project.directory).into_iter().rev().filter(is_shown).collect()
}

/// Returns the requested snapshots, newest first.
fn wanted(
    context: &Context,
    opened: &Opened,
    args: &LogArgs,
    all: &[Snapshot],
) -> Result<Vec<Snapshot>, CliError> {
    let path = args.path.as_ref().map(|path| context.path(opened, path)).transpose()?;
    let most = args.count.unwrap_or(usize::MAX);
    let mut wanted = Vec::new();
    for snapshot in all.iter().rev() {
        if wanted.len() >= most {
            break;
        }
        let changes = match &path {
            Some(path) => changes_path(&opened.files, all, snapshot, path)?,
            None => true,
        };
        wanted.extend(changes.then(|| snapshot.clone()));
    }
    match path.filter(|path| wanted.is_empty() && opened.files.tree().stat(path).is_err()) {
        Some(path) => Err(CliError::in_no_state(&path)),
        None => Ok(wanted),
    }
}

/// Returns whether a path changed since the snapshot before, or is new.
fn changes_path(
    files: &Workspace,
    all: &[Snapshot],
    snapshot: &Snapshot,
    path: &TreePath,
) -> Result<bool, CliError> {
    let parent = all.iter().find(|it| Some(it.id) == snapshot.parent);
    let Some(parent) = parent else {
        return Ok(files.tree_at(snapshot)?.stat(path).is_ok());
    };
    let options = DiffOptions::default().scope(Scope::paths([path.clone()]));
    Ok(!files.diff_with(parent, snapshot, &options)?.is_empty())
}

fn text(
    opened: &Opened,
    args: &LogArgs,
    last: Option<&Snapshot>,
    live: Option<Changes>,
    snapshots: &[Snapshot],
    events: &[HookRecord],
) -> String {
    let line = |it: &Snapshot| line(it) + &turns(it, events);
    let head = match (last, live) {
        (Some(last), Some(changes)) => {
            format!("live      {} since {}", changes_text(changes), last.id.short())
        }
        (Some(_), None) => format!("live      {DAMAGED}"),
        (None, _) => "live      no snapshot yet".to_owned(),
    };
    if args.graph {
        // A damaged fork must not keep the log from being shown.
        let forks = state_ref::fork_heads(opened).unwrap_or_default();
        let label = |it: &Snapshot| line(it) + &graph::fork_names(it, &forks);
        return graph::draw(&head, last.map(|it| it.id), snapshots, mark, label);
    }
    let lines = snapshots.iter().map(|it| format!("{}  {}\n", mark(it), line(it)));
    format!("@  {head}\n") + &lines.collect::<String>()
}

fn mark(snapshot: &Snapshot) -> char {
    match (&snapshot.tag, snapshot.cause) {
        (Some(_), _) => '◆',
        (None, SnapshotCause::Safety) => '◌',
        (None, _) => '○',
    }
}

/// Names the turns that began with a snapshot that was there already.
fn turns(snapshot: &Snapshot, events: &[HookRecord]) -> String {
    let id = snapshot.id.to_string();
    let began = events
        .iter()
        .rev()
        .filter(|it| it.moment == Moment::Prompt && it.snapshot.as_ref() == Some(&id));
    let messages =
        began.map(HookRecord::message).filter(|it| snapshot.message.as_ref() != Some(it));
    messages.map(|it| format!("  · {}", format::first_line(&it))).collect()
}

fn line(snapshot: &Snapshot) -> String {
    let files = format::counted(snapshot.file_count, "file", "files");
    let size = format::size(snapshot.total_bytes);
    format!("{}  · {files}, {size}", format::snapshot_line(snapshot))
}

/// Returns short ids with the length of their shortest unambiguous prefix.
fn unique_prefixes(all: &[Snapshot]) -> Vec<(String, usize)> {
    let mut ids: Vec<_> = all.iter().map(|it| it.id.short()).collect();
    ids.sort();
    let same = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let neighbours = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| ids.get(at));
        before.into_iter().chain(ids.get(at + 1)).map(|other| same(other, &ids[at])).max()
    };
    let most = |at: usize| ids[at].len();
    let unique =
        |at: usize| (neighbours(at).unwrap_or(0) + 1).clamp(SnapshotId::MIN_PREFIX, most(at));
    (0..ids.len()).map(|at| (ids[at].clone(), unique(at))).collect()
}

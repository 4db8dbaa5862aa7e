//! `wink op`: lists operations, and shows one.

mod show;

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use serde::Serialize;
use wink_fs::{OperationCause, OperationChange, OperationRecord, SnapshotId, TreePath};

use crate::cli;
use crate::cli::context::Context;
use crate::clients::Moment;
use crate::error::CliError;
use crate::hooks::record::{self, HookRecord};
use crate::json::{ChangedEntry, documents};
use crate::project::prune_log::{self, PruneRecord};
use crate::ui::answer::Answer;
use crate::ui::format;

/// How many paths are named in the line of an operation.
const NAMED: usize = 3;

/// List operations, or show one line by line.
#[derive(Debug, Args)]
pub(crate) struct OpArgs {
    #[command(subcommand)]
    command: OpCommand,
}

#[derive(Debug, Subcommand)]
enum OpCommand {
    /// List operations, newest first, and what was pruned.
    Log(OpLogArgs),
    /// Show what an operation changed, line by line, whatever came since.
    Show(show::OpShowArgs),
}

#[derive(Debug, Args)]
pub(crate) struct OpLogArgs {
    /// List only the newest N.
    #[arg(short = 'n', value_name = "N", value_parser = cli::count::<usize>)]
    count: Option<usize>,
}

documents! {
    OperationLog: "wink/op.log@1";
    show::OperationShown: "wink/op.show@1";
}

/// All lists are newest first.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OperationLog {
    operations: Vec<OperationLogEntry>,
    /// The numbers of operations whose record is damaged; undo skips them.
    damaged: Vec<u64>,
    pruned: Vec<PruneRecord>,
    /// Calls of agents' own tools, of which hooks told; what they changed is in snapshots.
    calls: Vec<HookRecord>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OperationLogEntry {
    sequence: u64,
    name: String,
    at: String,
    /// The actor; null if unknown.
    by: Option<String>,
    /// The id of the tool call that it was part of; null if it was none.
    call: Option<String>,
    /// `call`, `replacement`, `recovery`, `undo`, `redo` or `skip`.
    cause: &'static str,
    /// The operation that was undone or redone.
    of: Option<u64>,
    /// The id of the safety snapshot of a replacement.
    saved: Option<String>,
    /// Whether it is completely undone.
    undone: bool,
    /// If it is partly undone: the paths that were left alone.
    left_alone: Vec<String>,
    /// The changes, sorted by path.
    entries: Vec<ChangedEntry>,
    /// The files in directories that it created; at most the first 1,000 of each.
    files_inside: Vec<String>,
    /// Whether there may be more of them.
    files_inside_truncated: bool,
    #[serde(skip)]
    shown: Vec<String>,
    #[serde(skip)]
    shown_at: String,
}

pub(crate) fn run(context: &Context, args: &OpArgs) -> Result<Answer, CliError> {
    match &args.command {
        OpCommand::Log(args) => log(context, args),
        OpCommand::Show(args) => show::run(context, args),
    }
}

fn log(context: &Context, args: &OpLogArgs) -> Result<Answer, CliError> {
    let opened = context.open()?;
    let most = args.count.unwrap_or(usize::MAX);
    let operations = opened.files.operations()?;
    let undone = undone(&operations);
    let entry = |it: &OperationRecord| entry(it, undone.get(&it.sequence));
    let operations: Vec<_> = operations.iter().rev().take(most).map(entry).collect();
    let pruned = prune_log::all(&opened.project.shared()?);
    let pruned: Vec<_> = pruned.into_iter().rev().take(most).collect();
    let mut damaged = opened.files.damaged_operations()?;
    damaged.reverse();
    let is_call = |it: &HookRecord| matches!(it.moment, Moment::BeforeCall | Moment::AfterCall);
    let calls = record::all(&opened.project.directory)
        .into_iter()
        .rev()
        .filter(is_call)
        .take(most)
        .collect();
    let document = OperationLog { operations, damaged, pruned, calls };
    let mut answer = context.answer(&document, |document| text(document, most))?.long();
    if document.operations.is_empty() && document.damaged.is_empty() {
        answer.notes = context.note("note: wink has changed no file here yet");
    }
    Ok(answer)
}

/// Returns the operations that are undone, each with the paths that were left alone.
fn undone(operations: &[OperationRecord]) -> BTreeMap<u64, &[TreePath]> {
    let mut undone = BTreeMap::new();
    for operation in operations {
        match operation.cause {
            OperationCause::Undo { .. } if is_skip(operation) => {}
            OperationCause::Undo { of } => drop(undone.insert(of, &*operation.left_alone)),
            OperationCause::Redo { of } => drop(undone.remove(&of)),
            _ => {}
        }
    }
    undone
}

/// Returns whether an operation only skips another one.
fn is_skip(operation: &OperationRecord) -> bool {
    operation.changes.is_empty()
}

fn entry(operation: &OperationRecord, undone: Option<&&[TreePath]>) -> OperationLogEntry {
    let (cause, of, saved) = match operation.cause {
        OperationCause::Replacement { saved } => ("replacement", None, Some(saved.to_string())),
        OperationCause::Recovery => ("recovery", None, None),
        OperationCause::Undo { of } if is_skip(operation) => ("skip", Some(of), None),
        OperationCause::Undo { of } => ("undo", Some(of), None),
        OperationCause::Redo { of } => ("redo", Some(of), None),
        _ => ("call", None, None),
    };
    OperationLogEntry {
        sequence: operation.sequence,
        name: operation.name.clone(),
        at: format::utc(operation.at),
        by: operation.by.clone(),
        call: operation.call.clone(),
        cause,
        of,
        saved,
        undone: undone.is_some_and(|left_alone| left_alone.is_empty()),
        left_alone: undone.iter().flat_map(|it| it.iter()).map(ToString::to_string).collect(),
        entries: operation.changes.iter().map(ChangedEntry::from).collect(),
        files_inside: operation.changes.iter().flat_map(inside).collect(),
        files_inside_truncated: operation.changes.iter().any(OperationChange::is_inside_cut),
        shown: operation.changes.iter().flat_map(shown).collect(),
        shown_at: format::local(operation.at),
    }
}

fn inside(change: &OperationChange) -> impl Iterator<Item = String> {
    change.inside.iter().map(ToString::to_string)
}

/// Returns the lines for a change; for a new directory, the files in it.
fn shown(change: &OperationChange) -> Vec<String> {
    let entry = ChangedEntry::from(change);
    if change.inside.is_empty() {
        vec![format!("{} {}", entry.letter(), entry.shown())]
    } else {
        inside(change).map(|path| format!("{} {path}", entry.letter())).collect()
    }
}

/// Merges the lists, newest first; operations are ordered by number.
fn text(document: &OperationLog, most: usize) -> String {
    let mut pruned = document.pruned.iter().peekable();
    let mut calls = document.calls.iter().peekable();
    let mut damaged = document.damaged.iter().copied().peekable();
    let mut lines = Vec::new();
    for operation in &document.operations {
        while let Some(newer) = damaged.next_if(|number| *number > operation.sequence) {
            lines.push(damaged_line(newer));
        }
        while let Some(newer) = pruned.next_if(|it| it.at >= operation.at) {
            lines.push(pruned_line(newer));
        }
        while let Some(newer) = calls.next_if(|it| it.at >= operation.at) {
            lines.push(call_line(newer));
        }
        lines.push(line(operation));
    }
    // With `-n`, older damaged records are not listed.
    if document.operations.len() < most {
        lines.extend(damaged.map(damaged_line));
    }
    lines.extend(pruned.map(pruned_line));
    lines.extend(calls.map(call_line));
    lines.truncate(most);
    lines.concat()
}

/// Describes a call of an agent's own tool; what it changed is between two snapshots.
fn call_line(call: &HookRecord) -> String {
    let snapshot = call.snapshot.as_ref().and_then(|id| id.parse::<SnapshotId>().ok());
    let snapshot = match (snapshot, &call.failed) {
        (Some(id), _) => format!("snapshot {}", id.short()),
        (None, Some(why)) => format!("no snapshot, {}", format::first_line(why)),
        (None, None) => "no snapshot".to_owned(),
    };
    format!(
        "{:>5}  {}  {}: {snapshot}\n",
        "-",
        format::local_of_utc(&call.at),
        format::first_line(&call.message())
    )
}

fn damaged_line(number: u64) -> String {
    format!("{number:>5}  its record is damaged; undo skips it\n")
}

fn line(operation: &OperationLogEntry) -> String {
    let OperationLogEntry { sequence, name, shown_at, of, cause, .. } = operation;
    let what = match of {
        Some(of) => format!("{cause} of {of}, {name}"),
        None if *cause == "recovery" => format!("rollback of {}", format::first_line(name)),
        None => format::first_line(name),
    };
    let undone = match operation.left_alone.len() {
        0 if operation.undone => " (undone)".to_owned(),
        0 => String::new(),
        left => format!(" (undone except {})", format::counted(left as u64, "path", "paths")),
    };
    let by = operation.by.as_deref().map(|by| format!(" · {}", format::first_line(by)));
    let paths = paths(operation);
    format!("{sequence:>5}  {shown_at}  {what}{undone}: {paths}{}\n", by.unwrap_or_default())
}

fn paths(operation: &OperationLogEntry) -> String {
    let shown = &operation.shown;
    let mut named = shown.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if shown.len() > NAMED {
        let at_least = if operation.files_inside_truncated { "at least " } else { "" };
        let more = format::number((shown.len() - NAMED) as u64);
        named += &format!(" and {at_least}{more} more");
    }
    named
}

fn pruned_line(pruned: &PruneRecord) -> String {
    let PruneRecord { at, by, snapshots, paths } = pruned;
    let count = format::counted(snapshots.len() as u64, "snapshot", "snapshots");
    let what = match paths.len() as u64 {
        0 => count,
        paths => format!("{} from {count}", format::counted(paths, "path", "paths")),
    };
    let (at, by) = (format::local_of_utc(at), format::first_line(by));
    format!("{:>5}  {at}  pruned {what}: {} · {by}\n", "-", short_ids(snapshots))
}

fn short_ids(snapshots: &[String]) -> String {
    let ids = snapshots.iter().filter_map(|id| id.parse::<SnapshotId>().ok());
    let mut named = ids.take(NAMED).map(|id| id.short()).collect::<Vec<_>>().join(", ");
    if snapshots.len() > NAMED {
        named += &format!(" and {} more", format::number((snapshots.len() - NAMED) as u64));
    }
    named
}

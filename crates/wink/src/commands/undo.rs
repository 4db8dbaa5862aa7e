//! `wink undo`: undoes operations.

use std::time::SystemTime;

use clap::Args;
use serde::Serialize;
use wink_fs::{
    Error, ErrorKind, OperationRecord, RestoreOptions, Result as FsResult, Undone, Workspace,
};

use super::{list_text, restore};
use crate::cli;
use crate::cli::context::{self, Context};
use crate::cli::state_ref;
use crate::error::{CliError, PARTIAL};
use crate::json::{ChangedEntry, documents};
use crate::ui::answer::Answer;
use crate::ui::format;

/// Undo the last operations.
#[derive(Debug, Args)]
#[command(
    after_help = "If only other programs changed files since the last snapshot, it offers to restore that."
)]
pub(crate) struct UndoArgs {
    /// How many operations, or which one, as in `op:5` [default: 1].
    #[arg(value_name = "N", value_parser = which)]
    which: Option<Which>,
    /// Skip the last operation: it stays, and the next undo undoes the one before it.
    #[arg(long, conflicts_with = "which")]
    skip: bool,
}

#[derive(Clone, Copy, Debug)]
enum Which {
    Last(u64),
    Operation(u64),
}

documents! {
    Stepped: "wink/undo@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Stepped {
    /// `undo`, `redo` or `skip`.
    action: &'static str,
    /// The operation that was undone or redone; the last of several.
    operation: OperationEntry,
    /// All operations, in the order in which they were undone or redone.
    operations: Vec<OperationEntry>,
    /// The requested number of operations.
    asked: u64,
    /// The paths that were restored.
    paths: Vec<String>,
    /// The paths that were left alone, because they changed since then.
    conflicts: Vec<String>,
    /// Why fewer operations were done than requested.
    stopped: Option<String>,
    /// The numbers of damaged operations that were skipped.
    passed_over: Vec<u64>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OperationEntry {
    sequence: u64,
    name: String,
    at: String,
    /// The actor; null if unknown.
    by: Option<String>,
}

fn which(text: &str) -> Result<Which, String> {
    if text.starts_with("op:") {
        cli::operation(text).map(Which::Operation)
    } else {
        cli::count(text).map(Which::Last)
    }
}

pub(crate) fn run(context: &Context, args: &UndoArgs) -> Result<Answer, CliError> {
    if args.skip {
        return step(context, "skip", 1, Workspace::pass_over);
    }
    if args.which.is_none()
        && let Some(answer) = external_changes(context)?
    {
        return Ok(answer);
    }
    let mut answer = match args.which.unwrap_or(Which::Last(1)) {
        Which::Last(count) => step(context, "undo", count, Workspace::undo)?,
        Which::Operation(number) => one(context, number)?,
    };
    if args.which.is_none() && context.is_talkative() {
        answer.notes.extend(still_changed(context));
    }
    answer.notes.extend(context.note("redo: wink redo"));
    Ok(answer)
}

/// Names what other programs changed since the last snapshot, which the undo of an operation leaves as it is.
fn still_changed(context: &Context) -> Option<String> {
    let opened = context.open().ok()?;
    let last = state_ref::last(&opened.files).ok()??;
    let options = RestoreOptions::default().report_external(true).dry_run(true);
    let changed = opened.files.restore_with(&last, &options).ok()?.changed_outside;
    if changed.is_empty() {
        return None;
    }
    let listed = list_text(changed.iter());
    Some(format!(
        "note: other programs changed these since the last snapshot, and they stay changed; `wink restore @-` goes \
         back to it:\n{}",
        listed.trim_end()
    ))
}

/// Offers to restore the last snapshot, if no operation came after it, but other programs changed files.
///
/// An operation from before that snapshot is not what a person means who undoes the change just made; `wink undo 1`
/// undoes it all the same.
fn external_changes(context: &Context) -> Result<Option<Answer>, CliError> {
    let opened = context.open()?;
    let Some(last) = state_ref::last(&opened.files)? else { return Ok(None) };
    let next = opened.files.next_to_undo()?;
    if next.as_ref().is_some_and(|it| it.at > last.created_at) {
        return Ok(None);
    }
    let options = RestoreOptions::default().report_external(true);
    let receipt = opened.files.restore_with(&last, &options.clone().dry_run(true));
    // A snapshot that cannot be restored is no offer.
    let Ok(receipt) = receipt else { return Ok(None) };
    if receipt.changes.is_empty() || (next.is_some() && receipt.changed_outside.is_empty()) {
        return Ok(None);
    }
    let lines = receipt.changes.iter().map(|it| {
        let entry = ChangedEntry::from(it);
        format!("{} {}", entry.letter(), entry.shown())
    });
    let listed = list_text(lines.collect::<Vec<_>>().into_iter());
    let offer = format!(
        "nothing to undo since the last snapshot ({}); restoring it would change:\n{}",
        format::snapshot_name(&last).replace("  ", " "),
        listed.trim_end(),
    );
    if !context.can_confirm() {
        return Err(CliError::only_external_changes(&offer, next.is_some()));
    }
    context.say(&offer);
    context.confirm("Restore the last snapshot?")?;
    restore::restore(context, &opened, &last, &options).map(Some)
}

/// Undoes one operation, whatever came later.
fn one(context: &Context, number: u64) -> Result<Answer, CliError> {
    let opened = context.open()?;
    let _progress = context.progress("undoing");
    let undone = opened.files.undo_operation(number).map_err(|error| match error.kind() {
        ErrorKind::NotFound if error.path().is_none() => CliError::operation_not_to_undo(number),
        ErrorKind::Conflict => CliError::built_upon(error),
        _ => error.into(),
    })?;
    let done = Done { asked: 1, steps: vec![undone], stopped: None, passed_over: Vec::new() };
    answer(context, "undo", &done)
}

/// Undoes, redoes or skips operations one by one; stops at the first that conflicts with a later change by the user or
/// another program.
pub(super) fn step(
    context: &Context,
    action: &'static str,
    count: u64,
    go: fn(&Workspace) -> FsResult<Undone>,
) -> Result<Answer, CliError> {
    let opened = context.open()?;
    let _progress = context.progress(match action {
        "undo" => "undoing",
        "skip" => "skipping",
        _ => "redoing",
    });
    let (mut steps, mut stopped): (Vec<Undone>, _) = (Vec::new(), None);
    while (steps.len() as u64) < count && steps.last().is_none_or(|it| it.conflicts.is_empty()) {
        match go(&opened.files) {
            Ok(step) => steps.push(step),
            Err(error) if steps.is_empty() => return Err(refused(action, error)),
            // Report what was done before the error.
            Err(error) => {
                stopped = Some(refused(action, error));
                break;
            }
        }
    }
    let passed_over = passed_over(&opened.files, &steps);
    let done = Done { asked: count, steps, stopped, passed_over };
    answer(context, action, &done)
}

/// The result of `step`.
struct Done {
    asked: u64,
    steps: Vec<Undone>,
    stopped: Option<CliError>,
    passed_over: Vec<u64>,
}

/// Returns the damaged operations that are newer than the undone ones.
fn passed_over(files: &Workspace, steps: &[Undone]) -> Vec<u64> {
    let oldest = steps.iter().map(|step| step.operation.sequence).min();
    let mut damaged = files.damaged_operations().unwrap_or_default();
    damaged.retain(|number| oldest.is_some_and(|oldest| *number > oldest));
    damaged
}

fn refused(action: &str, error: Error) -> CliError {
    match error.kind() {
        ErrorKind::NotFound if error.path().is_none() => CliError::nothing_to(action),
        ErrorKind::Conflict if action == "undo" => CliError::changed_since(error),
        _ => error.into(),
    }
}

fn answer(context: &Context, action: &'static str, done: &Done) -> Result<Answer, CliError> {
    let Done { asked, steps, stopped, passed_over } = done;
    let operations: Vec<_> = steps.iter().map(|step| entry(&step.operation)).collect();
    let last = operations.last().cloned().ok_or_else(|| CliError::nothing_to(action))?;
    let paths = steps.iter().flat_map(|step| &step.paths).map(ToString::to_string);
    let conflicts = steps.iter().flat_map(|step| &step.conflicts).map(ToString::to_string);
    let (paths, conflicts): (Vec<_>, Vec<_>) = (paths.collect(), conflicts.collect());
    let all_done = steps.len() as u64 == *asked;
    let exit = if conflicts.is_empty() && all_done { 0 } else { PARTIAL };
    let why = stopped.as_ref().map_or("nothing more to do", CliError::message);
    let stopped = (!all_done).then(|| why.to_owned());
    let (asked, passed_over) = (*asked, passed_over.clone());
    let document = Stepped {
        action,
        operation: last,
        operations,
        asked,
        paths,
        conflicts,
        stopped,
        passed_over,
    };
    let text = |_: &Stepped| steps.iter().map(|step| text(action, step)).collect();
    let mut answer = context.answer(&document, text)?.exit(exit);
    if !all_done {
        let done = format::number(steps.len() as u64);
        answer.notes = context.note(format!("note: {done} of {asked}; {why}"));
    }
    if context.is_for_people() {
        answer.notes.extend(document.passed_over.iter().map(warning));
    }
    Ok(answer)
}

fn warning(damaged: &u64) -> String {
    format!("warning: operation {damaged} is damaged and was skipped; see `wink verify`")
}

fn entry(operation: &OperationRecord) -> OperationEntry {
    let OperationRecord { sequence, name, at, by, .. } = operation;
    let by = by.clone();
    OperationEntry { sequence: *sequence, name: name.clone(), at: format::utc(*at), by }
}

fn text(action: &str, undone: &Undone) -> String {
    let Undone { operation, paths, conflicts, .. } = undone;
    let age = SystemTime::now().duration_since(operation.at).unwrap_or_default();
    let mut age = format::age(age);
    if let Some(by) = operation.by.as_deref().filter(|by| !context::is_command_line(by)) {
        age += &format!(", by {}", format::first_line(by));
    }
    let name = format::first_line(&operation.name);
    let (did, changed) = match action {
        "undo" => ("Undid", "restored"),
        "skip" => return format!("Skipped {name} ({age})\n"),
        _ => ("Redid", "changed"),
    };
    let counted = format::counted(paths.len() as u64, "path", "paths");
    let mut text = format!("{did} {name} ({age}): {counted} {changed}\n");
    text += &list_text(paths.iter());
    if !conflicts.is_empty() {
        text += "Left alone, because they changed since then:\n";
        conflicts.iter().for_each(|path| text += &format!("  {path}\n"));
    }
    text
}

//! `wink undo`: the last things that wink did to the files, taken back.

use std::time::SystemTime;

use clap::Args;
use wink_fs::{Error, ErrorKind, OperationRecord, Result as FsResult, Undone, Workspace};

use super::list_text;
use crate::cli;
use crate::cli::context::Context;
use crate::error::{CliError, PARTIAL};
use crate::json::{OperationEntry, Stepped};
use crate::ui::answer::Answer;
use crate::ui::format;

#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// How many operations, or which one, as in `op:5` [default: 1].
    #[arg(value_name = "N", value_parser = which)]
    which: Option<Which>,
    /// Skip the last operation: it stays, and the next undo takes back the one before it.
    #[arg(long, conflicts_with = "which")]
    skip: bool,
}

#[derive(Clone, Copy, Debug)]
enum Which {
    Last(u64),
    Operation(u64),
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
    let mut answer = match args.which.unwrap_or(Which::Last(1)) {
        Which::Last(count) => step(context, "undo", count, Workspace::undo)?,
        Which::Operation(number) => one(context, number)?,
    };
    answer.notes.extend(context.note("redo: wink redo"));
    Ok(answer)
}

/// Takes back one that is named, whatever came since.
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

/// Goes some steps back, or forward again; stops at the first that conflicts with a later change by the user or
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
        "skip" => "passing over",
        _ => "redoing",
    });
    let (mut steps, mut stopped): (Vec<Undone>, _) = (Vec::new(), None);
    while (steps.len() as u64) < count && steps.last().is_none_or(|it| it.conflicts.is_empty()) {
        match go(&opened.files) {
            Ok(step) => steps.push(step),
            Err(error) if steps.is_empty() => return Err(refused(action, error)),
            // What is done is done, and told.
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

/// What was done of what was asked for.
struct Done {
    asked: u64,
    steps: Vec<Undone>,
    stopped: Option<CliError>,
    passed_over: Vec<u64>,
}

/// Returns the damaged operations that are newer than what was taken back or done again.
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
    let why = stopped.as_ref().map_or("no more could be done", CliError::message);
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
    format!("warning: operation {damaged} is damaged and is passed over; see `wink verify`")
}

fn entry(operation: &OperationRecord) -> OperationEntry {
    let OperationRecord { sequence, name, at, .. } = operation;
    OperationEntry { sequence: *sequence, name: name.clone(), at: format::utc(*at) }
}

fn text(action: &str, undone: &Undone) -> String {
    let Undone { operation, paths, conflicts, .. } = undone;
    let age = SystemTime::now().duration_since(operation.at).unwrap_or_default();
    let (name, age) = (format::first_line(&operation.name), format::age(age));
    let (did, state) = match action {
        "undo" => ("Undid", "before"),
        "skip" => return format!("Left the {name} ({age}) as it is\n"),
        _ => ("Redid", "after"),
    };
    let are = format::counted(paths.len() as u64, "path is as it was", "paths are as they were");
    let mut text = format!("{did} the {name} ({age}): {are} {state} it\n");
    text += &list_text(paths.iter());
    if !conflicts.is_empty() {
        text += "Left alone, because they have changed since:\n";
        conflicts.iter().for_each(|path| text += &format!("  {path}\n"));
    }
    text
}

//! `wink undo`: the last thing that wink did to the files, taken back.

use std::time::SystemTime;

use wink_fs::{Error, ErrorKind, Result as FsResult, Undone, Workspace};

use super::list_text;
use crate::answer::Answer;
use crate::context::Context;
use crate::documents::{OperationEntry, Stepped};
use crate::failure::Failure;
use crate::words;

pub(crate) fn run(context: &Context) -> Result<Answer, Failure> {
    let mut answer = step(context, "undo", Workspace::undo)?;
    answer.notes = context.note("redo: wink redo");
    Ok(answer)
}

/// Goes one step back, or forward again.
pub(super) fn step(
    context: &Context,
    action: &'static str,
    go: fn(&Workspace) -> FsResult<Undone>,
) -> Result<Answer, Failure> {
    let opened = context.open()?;
    let failed = |error: Error| match error.kind() {
        ErrorKind::NotFound if error.path().is_none() => Failure::nothing_to(action),
        _ => error.into(),
    };
    let undone = go(&opened.files).map_err(failed)?;
    let operation = &undone.operation;
    let document = Stepped {
        action,
        operation: OperationEntry {
            sequence: operation.sequence,
            name: operation.name.clone(),
            at: words::utc(operation.at),
        },
        paths: undone.paths.iter().map(ToString::to_string).collect(),
        conflicts: undone.conflicts.iter().map(ToString::to_string).collect(),
    };
    let exit = if undone.conflicts.is_empty() { 0 } else { ErrorKind::Conflict.exit_code() };
    Ok(context.answer(&document, |document| text(document, &undone))?.exit(exit))
}

fn text(document: &Stepped, undone: &Undone) -> String {
    let Stepped { action, operation, paths, conflicts } = document;
    let age = SystemTime::now().duration_since(undone.operation.at).unwrap_or_default();
    let (did, state) = match *action {
        "undo" => ("Undid", "before"),
        _ => ("Redid", "after"),
    };
    let are = words::counted(paths.len() as u64, "path is as it was", "paths are as they were");
    let name = &operation.name;
    let age = words::age(age);
    let mut text = format!("{did} the {name} ({age}): {are} {state} it\n");
    text += &list_text(paths.iter().map(String::as_str));
    if !conflicts.is_empty() {
        text += "Left alone, because somebody changed them since:\n";
        conflicts.iter().for_each(|path| text += &format!("  {path}\n"));
    }
    text
}

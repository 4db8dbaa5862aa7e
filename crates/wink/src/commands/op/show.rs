//! `wink op show`: shows what an operation changed, line by line.

use clap::Args;
use serde::Serialize;
use wink_fs::{DiffOptions, ErrorKind, OperationTrees, Scope, diff as difference};

use super::OperationLogEntry;
use crate::cli;
use crate::cli::context::{Context, Opened};
use crate::commands::diff;
use crate::error::{CliError, PARTIAL};
use crate::json::Changes;
use crate::ui::answer::Answer;

#[derive(Debug, Args)]
pub(crate) struct OpShowArgs {
    /// Number of the operation, as `wink op log` shows it [default: the last one].
    #[arg(value_name = "OPERATION", value_parser = cli::operation)]
    operation: Option<u64>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct OperationShown {
    pub(super) operation: OperationLogEntry,
    /// How many files it changed, as far as known.
    pub(super) changes: Changes,
    /// The paths whose content after the operation is no longer known.
    pub(super) unknown: Vec<String>,
    /// The paths whose content before the operation is no longer known, because its snapshot is deleted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) forgotten: Vec<String>,
}

pub(super) fn run(context: &Context, args: &OpShowArgs) -> Result<Answer, CliError> {
    let opened = context.open()?;
    let number = match args.operation {
        Some(number) => number,
        None => last(&opened)?,
    };
    let _progress = context.progress("comparing");
    let trees = opened.files.operation_trees(number).map_err(|error| match error.kind() {
        ErrorKind::NotFound if error.path().is_none() => {
            CliError::unknown_operation(&format!("op:{number}"))
        }
        _ => error.into(),
    })?;
    let options = DiffOptions::default().hunks(context.is_for_people());
    let options = options.scope(Scope::paths(trees.paths.iter().cloned()));
    // An empty scope would mean all paths.
    let changed = if trees.paths.is_empty() {
        Default::default()
    } else {
        difference(&*trees.before, &*trees.after, &options)?
    };
    let document = describe(&opened, &trees, Changes::from(&changed))?;
    let is_whole = trees.unknown.is_empty() && trees.forgotten.is_empty();
    let exit = if is_whole { 0 } else { PARTIAL };
    if !context.is_for_people() {
        return Ok(Answer::json(&document)?.exit(exit));
    }
    let all = diff::in_order(&changed);
    let mut answer = diff::patch_answer(context, &*trees.before, &*trees.after, &all)?.long();
    answer.text.insert_str(0, &format!("{}\n", super::line(&document.operation)));
    answer.notes.extend(trees.unknown.iter().map(|path| {
        format!(
            "warning: other programs changed `{path}` later, so its current content is shown as the result"
        )
    }));
    answer.notes.extend(trees.forgotten.iter().map(|path| {
        format!("warning: `{path}` is not shown: the snapshot with its content before is deleted")
    }));
    let exit = answer.exit.max(exit);
    Ok(answer.exit(exit))
}

fn last(opened: &Opened) -> Result<u64, CliError> {
    let last = opened.files.operations()?.pop();
    last.map(|it| it.sequence).ok_or_else(|| CliError::nothing_to("show"))
}

fn describe(
    opened: &Opened,
    trees: &OperationTrees,
    changes: Changes,
) -> Result<OperationShown, CliError> {
    let operations = opened.files.operations()?;
    let undone = super::undone(&operations);
    Ok(OperationShown {
        operation: super::entry(&trees.operation, undone.get(&trees.operation.sequence)),
        changes,
        unknown: trees.unknown.iter().map(ToString::to_string).collect(),
        forgotten: trees.forgotten.iter().map(ToString::to_string).collect(),
    })
}

//! `wink redo`: redoes what was undone last.

use clap::Args;
use wink_fs::Workspace;

use super::undo::step;
use crate::cli::context::Context;
use crate::error::CliError;
use crate::json::documents;
use crate::ui::answer::Answer;

/// Redo what was undone last.
#[derive(Debug, Args)]
pub(crate) struct RedoArgs {}

documents! {}

pub(crate) fn run(context: &Context, _args: &RedoArgs) -> Result<Answer, CliError> {
    let mut answer = step(context, "redo", 1, Workspace::redo)?;
    answer.notes.extend(context.note("undo: wink undo"));
    Ok(answer)
}

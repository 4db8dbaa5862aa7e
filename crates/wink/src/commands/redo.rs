//! `wink redo`: what was undone last, done again.

use wink_fs::Workspace;

use super::undo::step;
use crate::cli::context::Context;
use crate::error::CliError;
use crate::ui::answer::Answer;

pub(crate) fn run(context: &Context) -> Result<Answer, CliError> {
    let mut answer = step(context, "redo", 1, Workspace::redo)?;
    answer.notes.extend(context.note("undo: wink undo"));
    Ok(answer)
}

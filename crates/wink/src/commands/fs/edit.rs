//! `wink fs edit`, by the tool that agents use.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use serde_json::json;
use wink_agent::ToolContext;

use super::change::undoable;
use crate::cli::context::{Context, Opened};
use crate::error::CliError;
use crate::ui::answer::Answer;

#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// File.
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// Text to replace; it must be there exactly once.
    #[arg(value_name = "OLD")]
    old: String,

    /// Text to put in its place.
    #[arg(value_name = "NEW")]
    new: String,

    /// Replace all occurrences.
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FileEdited {
    pub(super) path: String,
    /// What the tool says.
    pub(super) text: String,
    /// What it says to programs.
    pub(super) value: Value,
}

pub(super) fn run(context: &Context, opened: &Opened, args: &EditArgs) -> Result<Answer, CliError> {
    let path = context.path(opened, &args.path)?.to_string();
    let arguments = json!({
        "path": path, "old_string": args.old, "new_string": args.new, "replace_all": args.all,
    });
    let result = wink_agent::call(&ToolContext::over(&opened.files), "edit_file", arguments);
    if let Some(kind) = result.error {
        return Err(CliError::edit(kind, &result, &path));
    }
    let document = FileEdited { path, text: result.message, value: result.value };
    undoable(context, &document, |it| format!("{}\n", it.text))
}

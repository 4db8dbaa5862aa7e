//! `wink session show`.

use std::path::Path;

use super::{archive_of, describe, read};
use serde::Serialize;

use super::describe::{SessionEntry, ToolCallEntry};
use crate::cli::context::Context;
use crate::error::CliError;
use crate::ui::answer::Answer;
use crate::ui::format;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SessionShown {
    pub(super) file: String,
    /// The archive of its files.
    pub(super) archive: Option<String>,
    /// Each after the one above it.
    pub(super) sessions: Vec<SessionEntry>,
}

pub(super) fn run(context: &Context, file: &Path) -> Result<Answer, CliError> {
    let root = read(file)?;
    let sessions = describe::tree(&root).map_err(|error| CliError::session(file, &error))?;
    let archive = archive_of(file).map(|archive| archive.display().to_string());
    let document = SessionShown { file: file.display().to_string(), archive, sessions };
    Ok(context.answer(&document, text)?.long())
}

fn text(document: &SessionShown) -> String {
    let archive = document.archive.as_deref().unwrap_or("none");
    let sessions = document.sessions.iter().map(session_text);
    sessions.collect::<String>() + &format!("archive  {archive}\n")
}

fn session_text(session: &SessionEntry) -> String {
    let indent = "  ".repeat(session.depth.try_into().unwrap_or(0));
    let at = format::local_of_utc(&session.created_at);
    let mut text = format!("{indent}Session {}  {at}\n", session.id);
    for (name, value) in &session.tags {
        let (name, value) = (format::first_line(name), format::first_line(value));
        text += &format!("{indent}  {name}: {value}\n");
    }
    for slice in &session.slices {
        let items = format::counted(slice.items, "item", "items");
        text +=
            &format!("{indent}  {} ({}): {items}\n", format::first_line(&slice.name), slice.kind);
    }
    for call in &session.tool_calls {
        text += &format!("{indent}    {}\n", call_text(call));
    }
    text
}

fn call_text(call: &ToolCallEntry) -> String {
    let mark = if call.success { '✓' } else { '✕' };
    let path = call.path.as_deref().map(|path| format!(" {}", format::first_line(path)));
    let took = call.duration_us / 1000;
    format!("{mark} {}{}  · {took} ms", format::first_line(&call.tool), path.unwrap_or_default())
}

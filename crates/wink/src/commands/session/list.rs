//! `wink session list`.

use std::path::Path;

use super::{archive_of, describe, read};
use serde::Serialize;

use crate::cli::context::{Context, real_path};
use crate::error::{CliError, PARTIAL};
use crate::sys::disk;
use crate::ui::answer::Answer;
use crate::ui::format;

/// The extension of session files.
const DUMP: &str = ".jsonl";

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SessionList {
    pub(super) directory: String,
    /// In the order of their files' names.
    pub(super) sessions: Vec<SessionFile>,
}

#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SessionFile {
    pub(super) file: String,
    pub(super) id: Option<String>,
    pub(super) created_at: Option<String>,
    /// How many there are, those below it included.
    pub(super) sessions: u64,
    pub(super) tool_calls: u64,
    /// Whether its files are in an archive beside it.
    pub(super) has_archive: bool,
    /// Why it cannot be read.
    pub(super) error: Option<String>,
}

pub(super) fn run(context: &Context, directory: &Path) -> Result<Answer, CliError> {
    let names = real_path(directory).map(|directory| disk::names(&directory))?;
    let names = names.map_err(|error| CliError::host("cannot list", directory, error))?;
    let dumps = names.iter().filter(|name| name.to_string_lossy().ends_with(DUMP));
    let sessions: Vec<_> = dumps.map(|name| describe_file(&directory.join(name))).collect();
    let is_whole = sessions.iter().all(|it| it.error.is_none());
    let document = SessionList { directory: directory.display().to_string(), sessions };
    let answer = context.answer(&document, |it| it.sessions.iter().map(line).collect())?;
    let mut answer = answer.exit(if is_whole { 0 } else { PARTIAL });
    if document.sessions.is_empty() {
        answer.notes = context.note("note: no sessions here");
    }
    Ok(answer)
}

fn describe_file(file: &Path) -> SessionFile {
    let mut found = SessionFile {
        file: file.display().to_string(),
        has_archive: archive_of(file).is_some(),
        ..SessionFile::default()
    };
    let described = read(file)
        .and_then(|root| describe::tree(&root).map_err(|error| CliError::session(file, &error)));
    match described {
        Ok(sessions) => {
            found.sessions = sessions.len() as u64;
            found.tool_calls = sessions.iter().map(|it| it.tool_calls.len() as u64).sum();
            found.id = sessions.first().map(|it| it.id.clone());
            found.created_at = sessions.first().map(|it| it.created_at.clone());
        }
        Err(failure) => found.error = Some(failure.message().to_owned()),
    }
    found
}

fn line(found: &SessionFile) -> String {
    if let Some(error) = &found.error {
        return format!("✕ {}  {}\n", found.file, format::first_line(error));
    }
    let at = found.created_at.as_deref().map(format::local_of_utc).unwrap_or_default();
    let sessions = format::counted(found.sessions, "session", "sessions");
    let calls = format::counted(found.tool_calls, "tool call", "tool calls");
    let archive = if found.has_archive { ", with files" } else { "" };
    format!("✓ {}  {at}  {sessions}, {calls}{archive}\n", found.file)
}

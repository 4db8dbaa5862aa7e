//! The sessions in a directory.

use std::path::Path;

use super::{archive_of, describe, read};
use crate::cli::context::{Context, real_path};
use crate::error::{CliError, PARTIAL};
use crate::json::{SessionFile, SessionList};
use crate::sys::disk;
use crate::ui::answer::Answer;
use crate::ui::format;

/// What the name of a session's file ends with.
const DUMP: &str = ".jsonl";

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
        answer.notes = context.note("note: there is no session here");
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

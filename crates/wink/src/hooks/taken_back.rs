//! What a user took back since an agent's last turn, for the agent to know.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use wink_fs::{OperationCause, OperationRecord, Workspace};

use super::record::HookRecord;
use crate::cli::context::{self, Context};
use crate::project::Project;
use crate::sys::disk;
use crate::sys::lock::lock;
use crate::ui::format;

/// How many paths of an operation are named.
const NAMED: usize = 5;

/// How many operations are described.
const MOST: usize = 5;

/// Operations that replace files as a whole and take back what is there.
const REPLACEMENTS: [&str; 2] = ["restore", "revert"];

/// The file that changes when a user takes something back: a server looks at it with each call, and not at the operations.
const MARK: &str = "taken-back";

/// Tells running servers that the user took something back; errors are ignored, because it is done.
pub(crate) fn mark(context: &Context) {
    if let Ok(project) = Project::find(&context.directory, context.store.as_deref()) {
        let _ = disk::replace(
            &project.directory.join(MARK),
            format!("{}\n", format::utc(SystemTime::now())).as_bytes(),
        );
    }
}

/// Watches for what the user takes back while a server runs.
#[derive(Debug)]
pub(crate) struct Watch {
    mark: PathBuf,
    /// The content of the file when it was last read, and the last operation by then.
    seen: Mutex<(Option<Vec<u8>>, u64)>,
}

impl Watch {
    /// Begins with what is there now.
    pub(crate) fn begin(directory: &Path, files: &Workspace) -> Self {
        let mark = directory.join(MARK);
        let seen = Mutex::new((disk::read(&mark).ok().flatten(), last(files)));
        Self { mark, seen }
    }

    /// Returns one line about what the user took back since the last look, if anything.
    pub(crate) fn look(&self, files: &Workspace) -> Option<String> {
        let now = disk::read(&self.mark).ok().flatten();
        let mut seen = lock(&self.seen);
        if seen.0 == now {
            return None;
        }
        let text = after(files, seen.1);
        *seen = (now, last(files));
        text
    }
}

fn last(files: &Workspace) -> u64 {
    files.operations().ok().and_then(|all| Some(all.last()?.sequence)).unwrap_or_default()
}

/// Returns one line about what the user took back since the session's last record, if anything.
pub(crate) fn since(files: &Workspace, records: &[HookRecord], session: &str) -> Option<String> {
    let of_session = records.iter().rev().filter(|record| record.session == session);
    after(files, of_session.filter_map(|record| record.operation).next()?)
}

fn after(files: &Workspace, last: u64) -> Option<String> {
    let operations = files.operations().ok()?;
    let new = operations.iter().filter(|it| it.sequence > last && is_by_user(it));
    let said: Vec<_> = new.filter_map(|it| described(it, &operations)).collect();
    if said.is_empty() {
        return None;
    }
    let more = said.len().saturating_sub(MOST);
    let mut text = said[..said.len() - more].join("; ");
    if more > 0 {
        text += &format!("; and {more} more");
    }
    Some(format!(
        "wink: since your last turn the user took changes back: {text}. Read these files again before you rely on them."
    ))
}

fn is_by_user(operation: &OperationRecord) -> bool {
    operation.by.as_deref().is_some_and(context::is_command_line)
}

fn described(operation: &OperationRecord, all: &[OperationRecord]) -> Option<String> {
    let name = |number: u64| {
        let of = all.iter().find(|it| it.sequence == number);
        of.map_or_else(
            || format!("operation {number}"),
            |it| format::first_line(&it.name).to_owned(),
        )
    };
    let did = match operation.cause {
        OperationCause::Undo { .. } if operation.changes.is_empty() => return None,
        OperationCause::Undo { of } => format!("undid {}", name(of)),
        OperationCause::Redo { of } => format!("redid {}", name(of)),
        OperationCause::Replacement { .. } if REPLACEMENTS.contains(&&*operation.name) => {
            format!("{} of an earlier state", operation.name)
        }
        _ => return None,
    };
    let paths = operation.changes.iter().map(|change| change.path.to_string());
    let named: Vec<_> = paths.take(NAMED).collect();
    let more = operation.changes.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{did} ({}{more})", named.join(", ")))
}

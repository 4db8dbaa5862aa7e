//! What a user took back since an agent's last turn, for the agent to know.

use wink_fs::{OperationCause, OperationRecord, Workspace};

use super::record::HookRecord;
use crate::cli::context;
use crate::ui::format;

/// How many paths of an operation are named.
const NAMED: usize = 5;

/// How many operations are described.
const MOST: usize = 5;

/// Operations that replace files as a whole and take back what is there.
const REPLACEMENTS: [&str; 2] = ["restore", "revert"];

/// Returns one line about what the user took back since the session's last record, if anything.
pub(crate) fn since(files: &Workspace, records: &[HookRecord], session: &str) -> Option<String> {
    let of_session = records.iter().rev().filter(|record| record.session == session);
    let last = of_session.filter_map(|record| record.operation).next()?;
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

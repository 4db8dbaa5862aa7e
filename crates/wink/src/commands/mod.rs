//! The commands, one a file.

pub(crate) mod branch;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod fork;
pub(crate) mod fs;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod log;
pub(crate) mod man;
mod matching;
pub(crate) mod mcp;
pub(crate) mod merge;
pub(crate) mod merged;
pub(crate) mod op;
mod op_show;
pub(crate) mod prune;
pub(crate) mod redo;
pub(crate) mod repair;
pub(crate) mod restore;
pub(crate) mod revert;
pub(crate) mod search;
pub(crate) mod session;
pub(crate) mod show;
pub(crate) mod snapshot;
pub(crate) mod status;
pub(crate) mod tag;
pub(crate) mod tool;
pub(crate) mod undo;
pub(crate) mod verify;

use std::fmt;
use std::time::Instant;

use wink_fs::{ErrorKind, Snapshot, StateRef, Workspace};

use crate::error::CliError;
use crate::json::Changes;
use crate::ui::format;

/// How many paths are listed for a person who did not ask for a list.
const LISTED: usize = 20;

/// Counts what changed since a snapshot; `None` where that snapshot is damaged.
fn changes_since(files: &Workspace, snapshot: &Snapshot) -> Result<Option<Changes>, CliError> {
    match files.diff(snapshot, StateRef::Live) {
        Ok(diff) => Ok(Some(Changes::from(&diff))),
        Err(error) if error.kind() == ErrorKind::Corrupt => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What is said of a snapshot that cannot be read.
const DAMAGED: &str = "the last snapshot is damaged; `wink verify` says more";

/// Says how much changed.
fn changes_text(changes: Changes) -> String {
    let Changes { added, modified, deleted } = changes;
    match changes.total() {
        0 => "no changes".to_owned(),
        all => {
            let [added, modified, deleted] = [added, modified, deleted].map(format::number);
            format!("{} changed (+{added} ~{modified} -{deleted})", format::number(all))
        }
    }
}

/// Lists lines, and says how many are not listed.
fn list_text(lines: impl ExactSizeIterator<Item: fmt::Display>) -> String {
    let more = lines.len().saturating_sub(LISTED);
    let mut text: String = lines.take(LISTED).map(|line| format!("  {line}\n")).collect();
    if more > 0 {
        text += &format!("  and {} more\n", format::number(more as u64));
    }
    text
}

fn milliseconds(since: Instant) -> u64 {
    since.elapsed().as_millis().try_into().unwrap_or(u64::MAX)
}

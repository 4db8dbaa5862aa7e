//! Snapshots that nobody asked for, so that all an agent does can be taken back.
//!
//! Of the calls themselves the last 200 can be undone. So the files are kept before the first change, and
//! again long before a change would be too old.

use std::sync::{Arc, Mutex, PoisonError};

use wink_agent::{Effect, Family, Tool, ToolContext};
use wink_fs::{ErrorKind, SnapshotOptions, Workspace};

/// After how many changes the files are kept again.
const EVERY: u32 = 100;

const FIRST: &str = "before the first change by an agent";
const MORE: &str = "after 100 more changes by agents";

/// Keeps the files of one workspace; a clone is the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Keeping(Arc<Mutex<Changes>>);

#[derive(Debug, Default)]
struct Changes {
    has_begun: bool,
    since: u32,
}

impl Keeping {
    /// Keeps the files if it is time to; others who are about to change them wait for it.
    pub(super) fn before(&self, tool: &Tool, context: &ToolContext) {
        let changes_files = tool.effect != Effect::Reads && tool.family != Family::History;
        let Some(files) = context.workspace.as_ref().filter(|_| changes_files) else { return };
        if context.fork.is_some() {
            return;
        }
        let mut changes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = changes.due(files) {
            match files.snapshot_with(&SnapshotOptions::default().message(why)) {
                // There is no history to keep it in.
                Err(error) if error.kind() == ErrorKind::Unsupported => {}
                Err(error) => {
                    tracing::warn!(%error, "no snapshot before a call; the next call tries again");
                    return;
                }
                Ok(_) => {}
            }
            *changes = Changes { has_begun: true, since: 0 };
        }
        changes.since += 1;
    }
}

impl Changes {
    /// Says why the files are to be kept now, if they are. What is in memory goes with the process: before
    /// the first change there is nothing of anybody's in it.
    fn due(&mut self, files: &Workspace) -> Option<&'static str> {
        self.has_begun |= files.properties().backend == "in_memory";
        match (self.has_begun, self.since >= EVERY) {
            (false, _) => Some(FIRST),
            (true, true) => Some(MORE),
            (true, false) => None,
        }
    }
}

/// Keeps what was done in forks and brought nowhere, because forks end with the server.
pub(super) fn forks(context: &ToolContext) {
    let Some(files) = &context.workspace else { return };
    for name in context.forks.names() {
        let Some(fork) = context.forks.get(&name) else { continue };
        let message = format!("fork {name}, as it was when its server ended");
        if let Err(error) = files.keep_fork(&fork, &message) {
            tracing::warn!(%error, name, "a fork could not be kept");
        }
    }
}

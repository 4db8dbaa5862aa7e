//! Snapshots that no user or agent asked for, so that everything an agent does can be undone.
//!
//! Of the calls themselves the last 200 can be undone. So the files are kept before the first change, and
//! again long before a change would be too old. What the newest snapshot holds already is not kept again: it
//! would push another one out for nothing.

use std::sync::{Arc, Mutex};

use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};
use wink_agent::{Effect, Family, Tool, ToolContext};
use wink_fs::{ErrorKind, Snapshot, SnapshotOptions, SnapshotOrigin, Workspace};

use crate::project::forks::persisted::{Left, PersistedForks};
use crate::sys::lock::lock;
use crate::ui::output;

/// After how many changes the files are kept again.
const EVERY: u64 = 100;

const START: &str = "when the server of an agent began";
const FIRST: &str = "before the first change by an agent";
const MORE: &str = "after 100 more changes by agents";

/// Keeps the files of one workspace; a clone is the same.
#[derive(Clone, Debug, Default)]
pub(super) struct AutoSnapshots(Arc<Mutex<Changes>>);

#[derive(Debug, Default)]
struct Changes {
    has_begun: bool,
    /// How many changes there were when the files were kept last.
    kept_at: u64,
    /// Whether the last try failed, of which a person was told.
    has_failed: bool,
}

impl AutoSnapshots {
    /// Keeps the files as they are when the server of an agent begins that changes them by tools of its own.
    pub(super) fn at_start(&self, files: &Workspace) {
        let mut changes = lock(&self.0);
        if changes.due(files).is_some() {
            changes.keep(files, START);
        }
    }

    /// Keeps the files if it is time to; others who are about to change them wait for it.
    pub(super) fn before(&self, tool: &Tool, context: &ToolContext) {
        let changes_files = tool.effect != Effect::Reads && tool.family != Family::History;
        let Some(files) = context.workspace.as_ref().filter(|_| changes_files) else { return };
        if context.fork.is_some() {
            return;
        }
        let mut changes = lock(&self.0);
        if let Some(why) = changes.due(files) {
            changes.keep(files, why);
        }
    }
}

impl Changes {
    /// Says why the files are to be kept now, if they are. What is in memory goes with the process: before
    /// the first change there is nothing of anybody's in it.
    fn due(&mut self, files: &Workspace) -> Option<&'static str> {
        self.has_begun |= files.properties().backend == "in_memory";
        match (self.has_begun, files.operations_recorded() - self.kept_at >= EVERY) {
            (false, _) => Some(FIRST),
            (true, true) => Some(MORE),
            (true, false) => None,
        }
    }

    fn keep(&mut self, files: &Workspace, why: &str) {
        let kept_at = files.operations_recorded();
        let unasked = SnapshotOptions::default().message(why).asked_by(SnapshotOrigin::Auto);
        match snapshot(files, &unasked) {
            // Where there is no history, there is nothing to keep it in.
            Err(error) if error.kind() != ErrorKind::Unsupported => self.failed(&error),
            _ => *self = Self { has_begun: true, kept_at, has_failed: false },
        }
    }

    /// Says once that the files could not be kept: who does not read must not have to wait.
    fn failed(&mut self, error: &wink_fs::Error) {
        if !std::mem::replace(&mut self.has_failed, true) {
            warn(&format!("no snapshot before a call, and the next one tries again: {error}"));
        }
    }
}

/// Takes a snapshot unless the newest one holds the very same. One that was only restored last, and holds it
/// too, may be old, and soon make room for others.
fn snapshot(files: &Workspace, options: &SnapshotOptions) -> wink_fs::Result<Option<Snapshot>> {
    if is_last_the_newest(files)? {
        files.snapshot_if_changed(options)
    } else {
        files.snapshot_with(options).map(Some)
    }
}

fn is_last_the_newest(files: &Workspace) -> wink_fs::Result<bool> {
    let (last, all) = (files.current_snapshot_id()?, files.snapshots()?);
    let Some(last) = all.iter().find(|it| Some(it.id) == last) else { return Ok(true) };
    Ok(!all.iter().any(|it| it.line == last.line && it.sequence > last.sequence))
}

/// Keeps what was done in forks and brought nowhere, because forks end with the server.
///
/// Each is kept by itself: one in which a call hangs takes no time from the others.
pub(super) async fn forks(context: &ToolContext, kept: Option<&PersistedForks>, until: Instant) {
    let Some(files) = &context.workspace else { return };
    let mut keeping = Vec::new();
    for name in context.forks.names() {
        let Some(fork) = context.forks.get(&name) else { continue };
        let (files, kept, of) = (files.clone(), kept.cloned(), name.clone());
        keeping.push((name, spawn_blocking(move || keep(&files, &fork, &of, kept.as_ref()))));
    }
    for (name, kept) in keeping {
        let why = match timeout_at(until, kept).await {
            Ok(Ok(Ok(()))) => continue,
            Ok(Ok(Err(error))) => error.to_string(),
            Ok(Err(_)) => "that failed unexpectedly".to_owned(),
            Err(_) => "the time for it is over".to_owned(),
        };
        warn(&format!("the fork {name} could not be kept: {why}"));
    }
}

/// Keeps a fork in a snapshot, and under its name where the commands find it.
fn keep(
    files: &Workspace,
    fork: &Workspace,
    name: &str,
    kept: Option<&PersistedForks>,
) -> wink_fs::Result<()> {
    let message = format!("fork {name}, as it was when its server ended");
    let Some(snapshot) = files.keep_fork(fork, &message)? else { return Ok(()) };
    let (Some(kept), Some(base)) = (kept, fork.forked_from()) else { return Ok(()) };
    let (id, left) = (snapshot.id.short(), Left { fork, name, base, kept: snapshot.id });
    match kept.remember(files, &left) {
        Ok(Some(known)) => kept
            .tell(&format!("note: the fork {name} is kept; bring it in with `wink merge {known}`")),
        Ok(None) => kept.tell(&format!(
            "note: the fork {name} is kept as snapshot {id}; see it with `wink diff @ {id}`, bring it in with \
             `wink revert {id}..{}`",
            base.short()
        )),
        Err(failure) => warn(&format!(
            "the fork {name} is kept as snapshot {id}, and not by its name: {}",
            failure.message()
        )),
    }
    Ok(())
}

/// Warns the user on stderr, and in the log.
fn warn(text: &str) {
    tracing::warn!("{text}");
    output::say(&format!("warning: {text}"));
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use serde_json::json;
    use wink_agent::Toolset;

    use super::*;

    #[tokio::test]
    async fn a_fork_in_which_a_call_hangs_takes_no_time_from_the_others() {
        let files = Workspace::memory();
        let context = ToolContext::over(&files);
        for name in ["hangs", "works"] {
            assert!(Toolset::ALL.call(&context, "fork", json!({"name": name})).ok());
            context.forks.get(name).expect("a fork").write("a", name).expect("written");
        }
        let hangs = context.forks.get("hangs").expect("a fork");
        let ((begun, has_begun), (end, may_end)) = (mpsc::channel(), mpsc::channel::<()>());
        let call = thread::spawn(move || {
            hangs.as_owner("hang", |_| {
                begun.send(()).expect("somebody waits");
                let _ = may_end.recv();
                Ok(())
            })
        });
        has_begun.recv().expect("it hangs");
        forks(&context, None, Instant::now() + Duration::from_secs(2)).await;
        let kept = files.snapshots().expect("a history").into_iter();
        let kept: Vec<_> = kept.filter_map(|it| it.message).collect();
        assert!(kept.iter().any(|it| it.starts_with("fork works, as it was")), "{kept:?}");
        assert!(!kept.iter().any(|it| it.starts_with("fork hangs, as it was")), "{kept:?}");
        drop(end);
        call.join().expect("ends").expect("done");
    }
}

//! Keeps the work in forks as it is done: a client may kill its server a few milliseconds after it asked it to end.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};
use wink_agent::{Effect, Tool, ToolContext};
use wink_fs::{Snapshot, SnapshotId, Workspace};

use super::auto_snapshot::warn;
use crate::project::forks::persisted::{Left, PersistedForks};
use crate::sys::lock::lock;

/// What is kept of the forks of one workspace; a clone is the same.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptForks(Arc<Mutex<HashMap<String, Arc<Mutex<KeptFork>>>>>);

/// What is kept of a fork.
#[derive(Debug, Default)]
struct KeptFork {
    /// How many changes were made in it when it was kept last.
    changes: Option<u64>,
    snapshot: Option<SnapshotId>,
    /// The directory of its settings, by which commands find it.
    place: Option<PathBuf>,
    /// Its name for commands.
    known_as: Option<String>,
}

impl KeptForks {
    /// Keeps what a call did to a fork before the call is answered; returns a warning for the model if that fails.
    pub(super) fn after(
        &self,
        tool: &Tool,
        main: &ToolContext,
        fork: Option<&str>,
        persisted: Option<&PersistedForks>,
    ) -> Option<String> {
        let (files, persisted) = (main.workspace.as_ref()?, persisted?);
        if tool.effect == Effect::Reads {
            return None;
        }
        let kept = match (fork, tool.name) {
            (Some(name), _) => {
                let fork = main.forks.get(name)?;
                let kept = self.of(name);
                let kept = &mut *lock(&kept);
                // A call that waited for another one here may find its own work kept with that.
                if kept.changes == Some(fork.operations_recorded()) {
                    return None;
                }
                kept.keep(files, &fork, name, Some(persisted))
            }
            (None, "merge") => self.record_merges(files, main, persisted),
            // A merge may not be in effect any more, and then its work is only in the fork again.
            (None, "undo" | "restore" | "revert") => self.keep_all(files, main, persisted),
            (None, "fork") => self.forget_removed(files, main, persisted),
            _ => return None,
        };
        let error = kept.err()?;
        tracing::warn!("the work in a fork is not saved yet: {error}");
        Some(format!(
            "\nWarning: the fork is not saved ({error}); it is lost if the server is killed."
        ))
    }

    fn of(&self, name: &str) -> Arc<Mutex<KeptFork>> {
        lock(&self.0).entry(name.to_owned()).or_default().clone()
    }

    /// Keeps the unmerged work of all forks.
    fn keep_all(
        &self,
        files: &Workspace,
        main: &ToolContext,
        persisted: &PersistedForks,
    ) -> wink_fs::Result<()> {
        main.forks.names().iter().try_for_each(|name| {
            let Some(fork) = main.forks.get(name) else { return Ok(()) };
            lock(&self.of(name)).keep(files, &fork, name, Some(persisted))
        })
    }

    /// Records what of the forks was merged, for merges by commands.
    fn record_merges(
        &self,
        files: &Workspace,
        main: &ToolContext,
        persisted: &PersistedForks,
    ) -> wink_fs::Result<()> {
        let all: Vec<_> =
            lock(&self.0).iter().map(|(name, it)| (name.clone(), it.clone())).collect();
        for (name, kept) in all {
            let Some(fork) = main.forks.get(&name) else { continue };
            if let Some(place) = &lock(&kept).place {
                persisted.record_merge(files, place, &fork, &name)?;
            }
        }
        Ok(())
    }

    /// Deletes what is kept of forks that were removed.
    fn forget_removed(
        &self,
        files: &Workspace,
        main: &ToolContext,
        persisted: &PersistedForks,
    ) -> wink_fs::Result<()> {
        let mut removed = Vec::new();
        lock(&self.0).retain(|name, kept| {
            let is_there = main.forks.get(name).is_some();
            if !is_there {
                removed.push(kept.clone());
            }
            is_there
        });
        removed.iter().try_for_each(|kept| lock(kept).forget(files, Some(persisted)))
    }

    /// Keeps all forks with unmerged work when the server ends.
    ///
    /// Each is kept by itself: one in which a call hangs takes no time from the others.
    pub(super) async fn end(
        &self,
        context: &ToolContext,
        persisted: Option<&PersistedForks>,
        until: Instant,
    ) {
        let Some(files) = &context.workspace else { return };
        let mut keeping = Vec::new();
        for name in context.forks.names() {
            let Some(fork) = context.forks.get(&name) else { continue };
            let files = files.clone();
            let persisted = persisted.cloned();
            let kept = self.of(&name);
            let of = name.clone();
            let keep = move || lock(&kept).end(&files, &fork, &of, persisted.as_ref());
            keeping.push((name, spawn_blocking(keep)));
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
}

impl KeptFork {
    /// Keeps the fork in a snapshot, and under its name where commands find it; without unmerged work, deletes what is
    /// kept.
    fn keep(
        &mut self,
        files: &Workspace,
        fork: &Workspace,
        name: &str,
        persisted: Option<&PersistedForks>,
    ) -> wink_fs::Result<()> {
        let changes = fork.operations_recorded();
        match files.keep_fork(fork, &format!("fork {name}, as its server kept it"))? {
            Some(snapshot) => self.record(files, fork, name, persisted, &snapshot)?,
            None => self.forget(files, persisted)?,
        }
        self.changes = Some(changes);
        Ok(())
    }

    fn record(
        &mut self,
        files: &Workspace,
        fork: &Workspace,
        name: &str,
        persisted: Option<&PersistedForks>,
        snapshot: &Snapshot,
    ) -> wink_fs::Result<()> {
        let before = self.snapshot.replace(snapshot.id);
        if let (Some(persisted), Some(base)) = (persisted, fork.forked_from()) {
            let left = Left { fork, name, base, kept: snapshot.id };
            let is_updated = match &self.place {
                Some(place) => persisted.update(files, place, snapshot.id)?,
                None => false,
            };
            if !is_updated && let Some((known_as, place)) = persisted.remember(files, &left)? {
                self.known_as = Some(known_as);
                self.place = Some(place);
            }
        }
        delete(files, before)
    }

    fn forget(
        &mut self,
        files: &Workspace,
        persisted: Option<&PersistedForks>,
    ) -> wink_fs::Result<()> {
        if let (Some(persisted), Some(place)) = (persisted, self.place.take()) {
            persisted.forget(files, &place)?;
        }
        delete(files, self.snapshot.take())
    }

    /// Keeps the fork for the last time, and says where.
    fn end(
        &mut self,
        files: &Workspace,
        fork: &Workspace,
        name: &str,
        persisted: Option<&PersistedForks>,
    ) -> wink_fs::Result<()> {
        self.keep(files, fork, name, persisted)?;
        let (Some(kept), Some(persisted), Some(base)) =
            (self.snapshot, persisted, fork.forked_from())
        else {
            return Ok(());
        };
        persisted.tell(&match &self.known_as {
            Some(known) => {
                format!("note: the fork {name} is kept; bring it in with `wink merge {known}`")
            }
            None => {
                let id = kept.short();
                format!(
                    "note: the fork {name} is kept as snapshot {id}; see it with `wink diff @ {id}`, bring it in \
                     with `wink revert {id}..{}`",
                    base.short()
                )
            }
        });
        Ok(())
    }
}

/// Deletes a snapshot that a newer one of the same fork replaces.
fn delete(files: &Workspace, snapshot: Option<SnapshotId>) -> wink_fs::Result<()> {
    if let Some(id) = snapshot {
        files.snapshot_store()?.delete_unpinned(&id, SystemTime::now())?;
    }
    Ok(())
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
                begun.send(()).expect("the test waits");
                let _ = may_end.recv();
                Ok(())
            })
        });
        has_begun.recv().expect("it hangs");
        KeptForks::default().end(&context, None, Instant::now() + Duration::from_secs(2)).await;
        let kept = files.snapshots().expect("a history").into_iter();
        let kept: Vec<_> = kept.filter_map(|it| it.message).collect();
        assert!(
            kept.iter().any(|it| it.starts_with("fork works, as its server kept it")),
            "{kept:?}"
        );
        assert!(
            !kept.iter().any(|it| it.starts_with("fork hangs, as its server kept it")),
            "{kept:?}"
        );
        drop(end);
        call.join().expect("ends").expect("done");
    }
}

//! Snapshots that no user or agent asked for, so that everything an agent does can be undone.
//!
//! Of the calls themselves the last 200 can be undone. So the files are kept before the first change, and
//! again long before a change would be too old. What the newest snapshot holds already is not kept again: it
//! would push another one out for nothing.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};
use wink_agent::{Effect, Family, Tool, ToolContext};
use wink_fs::{
    BackendKind, ErrorKind, Snapshot, SnapshotId, SnapshotOptions, SnapshotOrigin, Workspace,
};

use crate::sys::lock::lock;
use crate::ui::output;

/// After how many changes the next snapshot is taken.
const EVERY: u64 = 100;

const START: &str = "when the server of an agent began";
/// How many paths a warning names.
const MOST_NAMED: usize = 5;

const FIRST: &str = "before the first change by an agent";
const MORE: &str = "after 100 more changes by agents";

/// How long the answer to `initialize` waits for the first snapshot.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// The pause before another try to take the first snapshot; it doubles each time.
const RETRY: Duration = Duration::from_millis(250);
const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// Takes snapshots of one workspace; a clone is another handle.
#[derive(Clone, Debug, Default)]
pub(super) struct AutoSnapshots {
    changes: Arc<Mutex<Changes>>,
    /// Apart from the changes, which are locked while a snapshot is taken.
    first: watch::Sender<First>,
    /// What the next answer should say.
    news: Arc<Mutex<Option<String>>>,
}

/// The snapshot that is taken when the server starts.
#[derive(Clone, Debug, Default)]
enum First {
    /// It was taken, or none is needed.
    #[default]
    Taken,
    Pending,
    Failed(String),
}

#[derive(Debug, Default)]
struct Changes {
    has_begun: bool,
    /// How many changes there were at the last snapshot.
    kept_at: u64,
    /// Whether the last try failed, which was reported once.
    has_failed: bool,
    /// When to try again after a failure, and the pause after the next one.
    pause: Option<(Instant, Duration)>,
    /// What the last snapshot could not hold, as it was told.
    missing: Vec<String>,
}

impl AutoSnapshots {
    /// Starts to keep the files as they are before the agent changes any, also by tools that are not wink's, and
    /// tries again until it is done. Each try holds a slot, so that the end of the server waits for it.
    pub(super) fn begin(&self, files: &Workspace, slots: &Arc<Semaphore>) {
        self.first.send_replace(First::Pending);
        let keeping = self.clone();
        let files = files.clone();
        let slots = slots.clone();
        tokio::spawn(async move {
            let mut pause = RETRY;
            while keeping.first_note().is_some() {
                let Ok(slot) = slots.clone().acquire_owned().await else { return };
                let (keeping, files) = (keeping.clone(), files.clone());
                let _ = spawn_blocking(move || keeping.take_first(&files)).await;
                drop(slot);
                sleep(pause).await;
                pause = LONGEST_RETRY.min(pause * 2);
            }
        });
    }

    /// Waits for the first try to take the first snapshot, not for long.
    pub(super) async fn first(&self) {
        let mut first = self.first.subscribe();
        let tried = first.wait_for(|first| !matches!(first, First::Pending));
        let _ = timeout(FIRST_WAIT, tried).await;
    }

    /// Returns what a model should know: that there is no first snapshot yet, or once, what automatic snapshots lack.
    pub(super) fn note(&self) -> Option<String> {
        let news = lock(&self.news).take();
        let notes: Vec<_> = self.first_note().into_iter().chain(news).collect();
        (!notes.is_empty()).then(|| notes.concat())
    }

    /// Returns what a model should know as long as there is no first snapshot.
    fn first_note(&self) -> Option<String> {
        let why = match &*self.first.borrow() {
            First::Taken => return None,
            First::Pending => "The first snapshot is still being taken".to_owned(),
            First::Failed(why) => {
                format!("Warning: no snapshot could be taken yet, and it is tried again ({why})")
            }
        };
        Some(format!("\n{why}; until then, changes by other tools than these cannot be undone."))
    }

    fn take_first(&self, files: &Workspace) {
        let mut changes = lock(&self.changes);
        if self.first_note().is_some() {
            self.keep(&mut changes, files, START);
        }
    }

    /// Takes a snapshot if one is due; other calls that are about to change files wait for it.
    pub(super) fn before(&self, tool: &Tool, context: &ToolContext) {
        let changes_files = tool.effect != Effect::Reads && tool.family != Family::History;
        let Some(files) = context.workspace.as_ref().filter(|_| changes_files) else { return };
        if context.fork.is_some() {
            return;
        }
        let mut changes = lock(&self.changes);
        if let Some(why) = changes.due(files) {
            self.keep(&mut changes, files, why);
        }
    }

    fn keep(&self, changes: &mut Changes, files: &Workspace, why: &str) {
        let kept_at = files.operations_recorded();
        let unasked = SnapshotOptions::default().message(why).asked_by(SnapshotOrigin::Auto);
        match snapshot(files, &unasked) {
            // Without a history there are no snapshots.
            Err(error) if error.kind() != ErrorKind::Unsupported => {
                if self.first_note().is_some() {
                    self.first.send_replace(First::Failed(error.to_string()));
                } else if !changes.has_failed {
                    *lock(&self.news) = Some(format!(
                        "\nWarning: no automatic snapshot can be taken ({error}); each of the last calls can still be \
                         undone."
                    ));
                }
                changes.failed(&error);
            }
            taken => {
                // Other programs may change files between the start and the first call that does.
                let has_begun = changes.has_begun || why != START;
                let missing = match taken {
                    Ok(Some(taken)) => {
                        taken.missing().map(|it| format!("{} ({})", it.path, it.why)).collect()
                    }
                    _ => changes.missing.clone(),
                };
                if !missing.is_empty() && missing != changes.missing {
                    *lock(&self.news) = Some(missing_note(&missing));
                }
                *changes = Changes { has_begun, kept_at, missing, ..Changes::default() };
                self.first.send_replace(First::Taken);
            }
        }
    }
}

impl Changes {
    /// Returns why a snapshot is due, if one is. Files in memory end with the process: before the first change
    /// there is nothing of the user's in them.
    fn due(&mut self, files: &Workspace) -> Option<&'static str> {
        self.has_begun |= files.properties().backend == BackendKind::InMemory;
        // Each try may read gigabytes before it fails.
        if self.pause.is_some_and(|(until, _)| Instant::now() < until) {
            return None;
        }
        match (self.has_begun, files.operations_recorded() - self.kept_at >= EVERY) {
            (false, _) => Some(FIRST),
            (true, true) => Some(MORE),
            (true, false) => None,
        }
    }

    /// Reports a failed snapshot, once: stderr may be a pipe that the client does not read.
    fn failed(&mut self, error: &wink_fs::Error) {
        let pause = self.pause.map_or(RETRY, |(_, pause)| LONGEST_RETRY.min(pause * 2));
        self.pause = Some((Instant::now() + pause, pause));
        if !std::mem::replace(&mut self.has_failed, true) {
            warn(&format!("no automatic snapshot; it is tried again: {error}"));
        }
    }
}

/// Returns the newest snapshot if it holds the very same files, or takes another one.
pub(crate) fn newest_or_taken(
    files: &Workspace,
    options: &SnapshotOptions,
) -> wink_fs::Result<Option<SnapshotId>> {
    match snapshot(files, options)? {
        Some(taken) => Ok(Some(taken.id)),
        None => files.current_snapshot_id(),
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
    let last = files.current_snapshot_id()?;
    let all = files.snapshots()?;
    let Some(last) = all.iter().find(|it| Some(it.id) == last) else { return Ok(true) };
    Ok(!all.iter().any(|it| it.fork == last.fork && it.sequence > last.sequence))
}

/// Says what automatic snapshots cannot hold.
fn missing_note(missing: &[String]) -> String {
    let shown = missing.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = match missing.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "\nWarning: automatic snapshots leave out {shown}{more}; changes to them by other tools cannot be undone."
    )
}

/// Warns the user on stderr, and in the log.
pub(super) fn warn(text: &str) {
    tracing::warn!("{text}");
    output::say(&format!("warning: {text}"));
}

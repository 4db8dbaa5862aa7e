//! The window: a page that shows the calls, snapshots, files and differences of workspaces and of what is left of them.

mod api;
pub(crate) mod calls;
mod dump;
mod error;
pub(crate) mod feed;
mod lines;
mod listing;
mod open;
mod page;
pub(crate) mod run;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::task::spawn_blocking;
use wink_fs::{BackendKind, ErrorKind, Workspace};

use self::error::ApiError;
use self::feed::{Feed, RunFeed};
pub(crate) use self::open::open;
use self::run::Run;

/// How often a directory is looked at for what other processes did there, while a page is open.
const LOOK: Duration = Duration::from_secs(1);

/// All that one server shows.
#[derive(Debug)]
pub(crate) struct Window {
    runs: Vec<Arc<Run>>,
    pub(crate) feed: Feed,
}

impl Window {
    /// Makes the window of some runs, which report to the feed.
    pub(crate) fn new(runs: Vec<Run>, feed: Feed) -> Self {
        Self { runs: runs.into_iter().map(Arc::new).collect(), feed }
    }

    pub(crate) fn runs(&self) -> &[Arc<Run>] {
        &self.runs
    }

    /// Finds a run by its name.
    fn run(&self, name: &str) -> Result<Arc<Run>, ApiError> {
        let found = self.runs.iter().find(|run| run.name == name).cloned();
        found.ok_or_else(|| {
            ApiError::of(ErrorKind::NotFound, format!("nothing here is named `{name}`"))
        })
    }

    /// Finds a run by its name; without one, the first.
    fn run_or_first(&self, name: Option<&str>) -> Result<Arc<Run>, ApiError> {
        let first = || self.runs.first().cloned().ok_or_else(ApiError::failed);
        name.map_or_else(first, |name| self.run(name))
    }

    /// Makes the routes of the page and of what it asks for.
    pub(crate) fn routes(self) -> Router {
        let window = Arc::new(self);
        for run in &window.runs {
            if let Some(files) = run.history().filter(is_on_host) {
                tokio::spawn(look(window.feed.clone(), run.feed.clone(), files));
            }
        }
        api::router(window).merge(page::routes())
    }
}

fn is_on_host(files: &Workspace) -> bool {
    files.properties().backend == BackendKind::Host
}

/// Reports snapshots and operations of other processes, as long as a page is open.
async fn look(feed: Feed, run: RunFeed, files: Workspace) {
    let mut before = None;
    loop {
        tokio::time::sleep(LOOK).await;
        if !feed.is_heard() {
            continue;
        }
        let files = files.clone();
        let seen = spawn_blocking(move || {
            let snapshots = files.snapshots().ok()?.last().map(|it| it.sequence);
            let operations = files.operations().ok()?.last().map(|it| it.sequence);
            Some((snapshots, operations))
        });
        let Ok(Some(now)) = seen.await else { continue };
        if before.is_some_and(|before| before != now) {
            run.snapshots();
            run.files();
        }
        before = Some(now);
    }
}

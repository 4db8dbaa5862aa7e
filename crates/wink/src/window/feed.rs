//! What happens in the workspaces of a server, for the pages that are open: a ring of numbered events.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde::Serialize;
use tokio::sync::watch;
use wink_fs::Event;

use crate::sys::lock::lock;

/// How many events are kept for a page that was away; one that was away for longer fetches everything again.
const KEPT: usize = 8_192;

/// All events of a server; a clone is another handle.
#[derive(Clone, Debug)]
pub(crate) struct Feed(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Distinguishes this start of the server from others: their numbers mean nothing here.
    start: String,
    ring: Mutex<Ring>,
    /// The number of the newest event; `None` once the server ends.
    newest: watch::Sender<Option<u64>>,
}

#[derive(Debug, Default)]
struct Ring {
    /// How many events there were in all.
    count: u64,
    events: VecDeque<Arc<str>>,
}

/// The events after a number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    /// The number of the last event in it.
    pub(crate) last: u64,
    /// Whether events are missing before the first one.
    pub(crate) gap: bool,
    pub(crate) events: Vec<Arc<str>>,
}

impl Default for Feed {
    fn default() -> Self {
        let mut random = [0; 8];
        // Without random bytes, a page that was open over a restart may miss events until it is loaded again.
        let _ = getrandom::fill(&mut random);
        let start = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let newest = watch::Sender::new(Some(0));
        Self(Arc::new(Inner { start, ring: Mutex::default(), newest }))
    }
}

impl Feed {
    /// Returns the handle by which one workspace reports what happens in it.
    pub(crate) fn of(&self, run: &str) -> RunFeed {
        RunFeed(Some(Arc::new(Reporter {
            feed: self.clone(),
            run: run.to_owned(),
            changes: AtomicU64::new(0),
        })))
    }

    fn push(&self, event: &Happened<'_>) {
        // Such an event is always JSON.
        let Ok(text) = serde_json::to_string(event) else { return };
        let mut ring = lock(&self.0.ring);
        ring.count += 1;
        ring.events.push_back(text.into());
        if ring.events.len() > KEPT {
            ring.events.pop_front();
        }
        let count = ring.count;
        drop(ring);
        self.0.newest.send_if_modified(|newest| match newest {
            Some(newest) if *newest < count => {
                *newest = count;
                true
            }
            _ => false,
        });
    }

    /// Returns the id of an event, which a page sends back when it was away.
    pub(crate) fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.0.start)
    }

    /// Returns the number of an id; `None` if it is of another start of the server.
    pub(crate) fn number(&self, id: &str) -> Option<u64> {
        let (start, number) = id.split_once('-')?;
        (start == self.0.start).then(|| number.parse().ok())?
    }

    /// Returns the number of the newest event.
    pub(crate) fn newest(&self) -> u64 {
        lock(&self.0.ring).count
    }

    /// Waits for an event after a number; `false` if the server ends.
    pub(crate) async fn after(&self, number: u64) -> bool {
        let mut newest = self.0.newest.subscribe();
        let found = newest.wait_for(|it| it.is_none_or(|it| it > number)).await;
        found.is_ok_and(|newest| newest.is_some())
    }

    /// Returns the events after a number, at most so many.
    pub(crate) fn batch(&self, after: u64, most: usize) -> Batch {
        let ring = lock(&self.0.ring);
        let oldest = ring.count - ring.events.len() as u64;
        let gap = after < oldest || after > ring.count;
        // After a gap the page fetches everything, so nothing before now is of use to it.
        let from = if gap { ring.count } else { after };
        let skipped = usize::try_from(from - oldest).unwrap_or(usize::MAX);
        let events: Vec<_> = ring.events.iter().skip(skipped).take(most).cloned().collect();
        Batch { last: from + events.len() as u64, gap, events }
    }

    /// Returns whether a page listens.
    pub(crate) fn is_heard(&self) -> bool {
        self.0.newest.receiver_count() > 0
    }

    /// Ends all streams.
    pub(crate) fn end(&self) {
        self.0.newest.send_replace(None);
    }
}

/// One event, as pages get it.
#[derive(Debug, Serialize)]
struct Happened<'e> {
    run: &'e str,
    #[serde(flatten)]
    what: What<'e>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum What<'e> {
    /// A call ended.
    Call { call: &'e super::calls::CallSummary },
    /// The list of snapshots changed.
    Snapshots,
    /// Files changed.
    Files { changes: u64 },
}

/// Reports what happens in one workspace; a clone reports for the same. The default reports to no page.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunFeed(Option<Arc<Reporter>>);

#[derive(Debug)]
struct Reporter {
    feed: Feed,
    run: String,
    changes: AtomicU64,
}

impl RunFeed {
    /// Reports a call.
    pub(crate) fn call(&self, call: &super::calls::CallSummary) {
        self.push(What::Call { call });
    }

    /// Reports an event of the files.
    pub(crate) fn hear(&self, event: &Event) {
        match event {
            Event::SnapshotTaken { .. }
            | Event::SnapshotsPruned { .. }
            | Event::PathsPruned { .. } => self.snapshots(),
            Event::Restored { .. } => {
                self.files();
                self.snapshots();
            }
            Event::HousekeepingFailed { .. } | Event::ReplacementUnfinished { .. } => {}
            _ => self.files(),
        }
    }

    /// Reports that the list of snapshots changed.
    pub(crate) fn snapshots(&self) {
        self.push(What::Snapshots);
    }

    /// Reports that files changed.
    pub(crate) fn files(&self) {
        let Some(reporter) = &self.0 else { return };
        let changes = reporter.changes.fetch_add(1, Ordering::Relaxed) + 1;
        self.push(What::Files { changes });
    }

    /// Returns how many changes were reported.
    pub(crate) fn changes(&self) -> u64 {
        self.0.as_ref().map_or(0, |it| it.changes.load(Ordering::Relaxed))
    }

    fn push(&self, what: What<'_>) {
        if let Some(reporter) = &self.0 {
            reporter.feed.push(&Happened { run: &reporter.run, what });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(events: usize) -> Feed {
        let feed = Feed::default();
        let run = feed.of("main");
        (0..events).for_each(|_| run.files());
        feed
    }

    #[test]
    fn a_page_that_was_away_gets_what_it_missed_in_order() {
        let feed = feed(5);
        let batch = feed.batch(2, 2);
        assert_eq!((batch.last, batch.gap, batch.events.len()), (4, false, 2));
        assert!(batch.events[0].contains(r#""changes":3"#), "{batch:?}");
        let rest = feed.batch(batch.last, 100);
        assert_eq!((rest.last, rest.events.len()), (5, 1));
        assert_eq!(feed.batch(5, 100), Batch { last: 5, gap: false, events: Vec::new() });
    }

    #[test]
    fn a_page_that_was_away_for_too_long_is_told_of_the_gap() {
        let feed = feed(KEPT + 10);
        let batch = feed.batch(9, 100);
        assert_eq!((batch.last, batch.gap, batch.events.len()), (KEPT as u64 + 10, true, 0));
        assert!(!feed.batch(10, 100).gap);
        assert!(feed.batch(KEPT as u64 + 11, 100).gap, "a number that was never given");
    }

    #[test]
    fn the_ids_of_another_start_mean_nothing() {
        let (feed, other) = (feed(1), feed(1));
        assert_eq!(feed.number(&feed.id(7)), Some(7));
        assert_eq!(other.number(&feed.id(7)), None);
        assert_eq!(feed.number("7"), None);
    }

    #[tokio::test]
    async fn the_end_of_the_server_ends_the_wait() {
        let feed = feed(1);
        assert!(feed.after(0).await);
        feed.end();
        assert!(!feed.after(1).await);
    }
}

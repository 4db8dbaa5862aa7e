//! When a long search gives up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::ErrorKind;

/// Says when to give up work: at a deadline, or when the caller cancels it.
///
/// ```
/// use std::time::Duration;
/// use wink_fs::search::{GrepOptions, Stop};
/// use wink_fs::{ErrorKind, Workspace};
///
/// let files = Workspace::memory();
/// files.write("a", "")?;
/// let options = GrepOptions::default().stop(Stop::after(Duration::ZERO));
/// assert_eq!(files.grep("x", "", &options).unwrap_err().kind(), ErrorKind::Deadline);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop {
    deadline: Option<Instant>,
    cancelled: Option<Arc<AtomicBool>>,
}

impl Stop {
    /// Gives up when this time has passed.
    pub fn after(time: Duration) -> Self {
        Self { deadline: Instant::now().checked_add(time), cancelled: None }
    }

    /// Gives up, too, when the flag is set.
    #[must_use]
    pub fn or_when(mut self, cancelled: Arc<AtomicBool>) -> Self {
        self.cancelled = Some(cancelled);
        self
    }

    /// Tells whether there is anything that can make it give up.
    pub(super) fn is_set(&self) -> bool {
        self.deadline.is_some() || self.cancelled.is_some()
    }

    /// Returns why it is time to give up, if it is.
    pub fn reason(&self) -> Option<ErrorKind> {
        let cancelled = self.cancelled.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        if cancelled {
            return Some(ErrorKind::Cancelled);
        }
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        late.then_some(ErrorKind::Deadline)
    }
}

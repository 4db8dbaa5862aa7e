//! When a long search stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::ErrorKind;

/// When to stop: at a deadline, or when the caller cancels.
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
    /// Stops after this time.
    pub fn after(time: Duration) -> Self {
        Self { deadline: Instant::now().checked_add(time), cancelled: None }
    }

    /// Stops also when the flag is set.
    #[must_use]
    pub fn or_when(mut self, cancelled: Arc<AtomicBool>) -> Self {
        self.cancelled = Some(cancelled);
        self
    }

    /// Returns whether anything can stop it.
    pub(super) fn is_set(&self) -> bool {
        self.deadline.is_some() || self.cancelled.is_some()
    }

    /// Returns why it stops now, if it does.
    pub fn reason(&self) -> Option<ErrorKind> {
        let cancelled = self.cancelled.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        if cancelled {
            return Some(ErrorKind::Cancelled);
        }
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        late.then_some(ErrorKind::Deadline)
    }
}

//! Time, passed in.

use std::time::SystemTime;

/// Tells the time; a test brings its own.
///
/// ```
/// use std::sync::Arc;
/// use std::time::SystemTime;
/// use wink_fs::{Clock, Filesystem, MemoryBackend, Tree, TreePath};
///
/// struct Stopped;
/// impl Clock for Stopped {
///     fn now(&self) -> SystemTime {
///         SystemTime::UNIX_EPOCH
///     }
/// }
///
/// let mut files = MemoryBackend::with_clock(Arc::new(Stopped));
/// let path = TreePath::parse("src")?;
/// files.create_dir(&path)?;
/// assert_eq!(files.stat(&path)?.created_at, Some(SystemTime::UNIX_EPOCH));
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub trait Clock: Send + Sync {
    /// Returns the present moment.
    fn now(&self) -> SystemTime;
}

/// Tells the system's time.
///
/// ```
/// use wink_fs::{Clock, SystemClock};
///
/// assert!(SystemClock.now() > std::time::SystemTime::UNIX_EPOCH);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

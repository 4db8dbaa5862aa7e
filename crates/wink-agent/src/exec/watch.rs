//! The output of a program while it runs.

use std::fmt;
use std::sync::Arc;

type Tell = dyn Fn(&[u8]) + Send + Sync;

/// Is told what a program prints, as it comes; for progress, not for the result.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use wink_agent::exec::{OutputCollector, OutputWatch, Outputs};
///
/// let seen = Arc::new(Mutex::new(Vec::new()));
/// let to = seen.clone();
/// let watch = OutputWatch::new(move |bytes| to.lock().unwrap().extend_from_slice(bytes));
/// let outputs = Outputs::temporary().unwrap().watched(Some(&watch));
/// OutputCollector::new(&outputs, "stdout").take(b"begun");
/// assert_eq!(*seen.lock().unwrap(), b"begun");
/// ```
#[derive(Clone)]
pub struct OutputWatch(Arc<Tell>);

impl OutputWatch {
    /// Creates a watch from a function, which must return at once.
    pub fn new(tell: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(super) fn tell(&self, bytes: &[u8]) {
        (self.0)(bytes);
    }
}

/// One watch is the same as its clones.
impl PartialEq for OutputWatch {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for OutputWatch {}

impl fmt::Debug for OutputWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OutputWatch")
    }
}

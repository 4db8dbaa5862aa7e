//! A limit on the number of calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wink_fs::ErrorKind;

use crate::tool::error::ToolError;

/// Counts calls down; a clone counts down the same number.
///
/// ```
/// use serde_json::json;
/// use wink_agent::{Budget, ToolContext};
///
/// let context = ToolContext::over(&wink_fs::Workspace::memory()).budget(Budget::calls(1));
/// assert!(wink_agent::call(&context, "ls", json!({})).ok());
/// assert_eq!(wink_agent::call(&context, "ls", json!({})).code(), Some("deadline"));
/// ```
#[derive(Clone, Debug)]
pub struct Budget(Arc<Counter>);

#[derive(Debug)]
struct Counter {
    given: u64,
    left: AtomicU64,
}

impl Budget {
    /// Allows this many calls of tools.
    pub fn calls(given: u64) -> Self {
        Self(Arc::new(Counter { given, left: AtomicU64::new(given) }))
    }

    /// Returns how many calls are left.
    pub fn left(&self) -> u64 {
        self.0.left.load(Ordering::Relaxed)
    }

    /// Spends one call; an error if none is left.
    pub(crate) fn spend(&self) -> Result<(), ToolError> {
        let spent = self
            .0
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        spent.map(drop).map_err(|_| {
            let given = self.0.given;
            ToolError::new(
                ErrorKind::Deadline,
                format!("All {given} allowed calls are used up; finish with what you know."),
            )
        })
    }
}

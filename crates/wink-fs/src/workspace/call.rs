//! What one tool call did to the files.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The operations of one tool call; see [`Workspace::for_call`](crate::Workspace::for_call).
#[derive(Debug)]
pub struct CallOperations {
    id: String,
    numbers: Mutex<Vec<u64>>,
}

impl CallOperations {
    /// Begins a call that has done nothing yet.
    pub fn new(id: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { id: id.into(), numbers: Mutex::default() })
    }

    /// Returns the id of the call.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the numbers of its operations, in their order; one that was rolled back is none.
    pub fn numbers(&self) -> Vec<u64> {
        self.lock().clone()
    }

    pub(super) fn add(&self, number: u64) {
        self.lock().push(number);
    }

    pub(super) fn remove(&self, numbers: &[u64]) {
        self.lock().retain(|number| !numbers.contains(number));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u64>> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

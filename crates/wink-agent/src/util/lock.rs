//! Locks that outlive a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits for a lock; what it guards is consistent even if a thread panicked while holding it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

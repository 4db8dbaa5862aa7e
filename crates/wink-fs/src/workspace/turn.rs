//! The writer's turn: one call that writes at a time, waited for no longer than the caller likes.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Operation, Result};

/// Something that one caller at a time may have.
pub(super) struct Turns<T> {
    value: Mutex<T>,
    taken: Mutex<bool>,
    free: Condvar,
}

/// The turn; it ends when this is dropped.
pub(super) struct Turn<'a, T> {
    value: MutexGuard<'a, T>,
    turns: &'a Turns<T>,
}

impl<T> Turns<T> {
    pub(super) fn new(value: T) -> Self {
        Self { value: Mutex::new(value), taken: Mutex::new(false), free: Condvar::new() }
    }

    /// Waits for the turn, for a time or for as long as it takes.
    pub(super) fn take(&self, at_most: Option<Duration>) -> Result<Turn<'_, T>> {
        let deadline = at_most.and_then(|time| Instant::now().checked_add(time));
        let mut taken = self.taken();
        while *taken {
            taken = match deadline {
                None => self.free.wait(taken).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => self.wait_until(deadline, taken)?,
            };
        }
        *taken = true;
        drop(taken);
        // A panic in a caller's closure leaves the files as the last complete call left them.
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Turn { value, turns: self })
    }

    fn wait_until<'g>(
        &'g self,
        deadline: Instant,
        taken: MutexGuard<'g, bool>,
    ) -> Result<MutexGuard<'g, bool>> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Error::new(Operation::Write, ErrorKind::Deadline)
                .with_detail("another call is writing; try again when it is done"));
        }
        let waited = self.free.wait_timeout(taken, left);
        Ok(waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    fn taken(&self) -> MutexGuard<'_, bool> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        *self.turns.taken() = false;
        self.turns.free.notify_one();
    }
}

impl<T> Deref for Turn<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Turn<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

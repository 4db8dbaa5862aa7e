//! Counts in sentences, base64.

pub(crate) mod encoding;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits for a lock; what it guards is consistent even if a thread panicked while holding it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a count with its noun, in the singular if it is one.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_singular() {
        let counts = [0, 1, 2].map(|count| counted(count, "file"));
        assert_eq!(counts, ["0 files", "1 file", "2 files"]);
        assert_eq!(counted(2, "directory"), "2 directories");
    }
}

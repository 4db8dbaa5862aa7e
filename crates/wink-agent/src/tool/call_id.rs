//! Ids for calls that came without one.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

/// Where this process begins to count: to ask the system for random bytes with each call takes longer
/// than to write the call down.
static FIRST: LazyLock<u128> = LazyLock::new(|| Uuid::new_v4().as_u128());
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Returns an id that no other call has.
pub(crate) fn next() -> String {
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let bytes = FIRST.wrapping_add(u128::from(number)).to_be_bytes();
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_uuids_and_differ() {
        let ids: HashSet<String> = (0..10_000).map(|_| next()).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| id.parse::<Uuid>().is_ok_and(|id| id.get_version_num() == 4)));
    }
}

//! Which snapshots the command line keeps.

use wink_fs::Retention;

/// How many snapshots without a tag stay.
const COUNT: usize = 500;

/// How much space the history takes at most; the oldest snapshots without a tag go, and more than by count.
const BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// Returns what holds where nobody says otherwise.
pub(crate) fn usual() -> Retention {
    Retention::default().max_count(COUNT).max_bytes(BYTES).space_first(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_snapshots_stay_within_a_bound_of_space_and_those_with_a_tag() {
        let usual = usual();
        assert_eq!((usual.max_count, usual.max_bytes), (Some(500), Some(2_147_483_648)));
        assert!(usual.keep_tagged && usual.space_first && usual.max_age.is_none());
    }
}

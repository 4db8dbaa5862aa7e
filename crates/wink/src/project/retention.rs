//! The retention of the command line.

use wink_fs::{OperationRecord, Retention};

use crate::error::CliError;
use crate::project::Project;
use crate::project::config::{Config, Key};
use crate::ui::format;

/// How many untagged snapshots are kept.
pub(crate) const COUNT: usize = 500;

/// The quota of a history: the oldest untagged snapshots are pruned to stay within it.
pub(crate) const BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// Returns the retention that applies unless the user sets another.
fn usual() -> Retention {
    let usual = Retention::default().max_count(COUNT).max_bytes(BYTES).space_first(true);
    // So that every listed operation can be undone.
    usual.max_safety(OperationRecord::MOST_KEPT)
}

/// Returns the retention of workspaces in memory.
pub(crate) fn in_memory() -> Retention {
    Retention::default().max_safety(OperationRecord::MOST_KEPT)
}

/// Returns the retention of a workspace; a fork without its own settings has that of its workspace.
pub(crate) fn of(project: &Project) -> Result<Retention, CliError> {
    let config = Config::read()?;
    let find = |key| config.find(key, Some(project));
    let mut retention = usual();
    // `find` has refused values that do not parse.
    if let Ok(count) = find(Key::RetentionCount)?.0.parse() {
        retention = retention.max_count(count);
    }
    if let Some(bytes) = format::parse_size(&find(Key::RetentionBytes)?.0) {
        retention = retention.max_bytes(bytes);
    }
    Ok(retention)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_snapshots_stay_within_a_bound_of_space_and_those_with_a_tag() {
        let usual = usual();
        assert_eq!((usual.max_count, usual.max_bytes), (Some(500), Some(2_147_483_648)));
        assert_eq!(usual.max_safety, OperationRecord::MOST_KEPT);
        assert!(usual.keep_tagged && usual.space_first && usual.max_age.is_none());
    }
}

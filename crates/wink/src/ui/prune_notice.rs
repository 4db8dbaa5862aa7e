//! The note about snapshots that were pruned while a command ran.

use std::sync::{Arc, Mutex, MutexGuard};

use wink_fs::Event;

use crate::sys::lock::lock;
use crate::ui::format;

/// Counts pruned snapshots; clones share the count.
#[derive(Clone, Debug, Default)]
pub(crate) struct PruneNotice(Arc<Mutex<Told>>);

#[derive(Debug, Default)]
struct Told {
    pruned: u64,
}

impl PruneNotice {
    pub(crate) fn hear(&self, event: &Event) {
        if let Event::SnapshotsPruned { ids } = event {
            self.told().pruned += ids.len() as u64;
        }
    }

    /// Returns how many snapshots were pruned.
    pub(crate) fn pruned(&self) -> u64 {
        self.told().pruned
    }

    /// Returns the note, if any snapshot was pruned.
    pub(crate) fn note(&self) -> Option<String> {
        let pruned = self.pruned();
        (pruned > 0).then(|| {
            let count = format::counted(pruned, "old snapshot", "old snapshots");
            format!(
                "note: pruned {count} without a tag, to free space; `wink tag` keeps a snapshot"
            )
        })
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        lock(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_is_said() {
        let prune_notice = PruneNotice::default();
        assert_eq!(prune_notice.note(), None);
        let id = "00000000-0000-4000-8000-000000000000".parse().unwrap();
        prune_notice.hear(&Event::SnapshotsPruned { ids: vec![id] });
        assert_eq!(prune_notice.pruned(), 1);
        assert_eq!(
            prune_notice.note().as_deref(),
            Some(
                "note: pruned 1 old snapshot without a tag, to free space; `wink tag` keeps a snapshot"
            )
        );
    }
}

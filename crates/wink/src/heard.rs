//! What the workspace told while a command ran, and a person should know.

use std::sync::{Arc, Mutex, MutexGuard};

use wink_fs::Event;

use crate::lock::lock;
use crate::words;

/// Remembers what was told; a clone is another handle to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard(Arc<Mutex<Told>>);

#[derive(Debug, Default)]
struct Told {
    pruned: u64,
    nearly_full: Option<(u64, u64)>,
}

impl Heard {
    pub(crate) fn hear(&self, event: &Event) {
        match event {
            Event::SnapshotsPruned { ids } => self.told().pruned += ids.len() as u64,
            Event::StoreNearlyFull { bytes, max_bytes } => {
                self.told().nearly_full = Some((*bytes, *max_bytes));
            }
            _ => {}
        }
    }

    /// Returns how many snapshots went.
    pub(crate) fn pruned(&self) -> u64 {
        self.told().pruned
    }

    /// Says it to a person.
    pub(crate) fn notes(&self) -> Vec<String> {
        let told = self.told();
        let pruned = (told.pruned > 0).then(|| {
            let count = words::counted(told.pruned, "old snapshot", "old snapshots");
            format!("note: {count} without a tag went, to make room; `wink tag` keeps one for good")
        });
        let nearly_full = told.nearly_full.map(|(bytes, most)| {
            let (bytes, most) = (words::size(bytes), words::size(most));
            format!("warning: the history takes {bytes} of {most}; see `wink prune --help`")
        });
        pruned.into_iter().chain(nearly_full).collect()
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        lock(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_and_how_full_it_is_are_said() {
        let heard = Heard::default();
        assert!(heard.notes().is_empty());
        heard.hear(&Event::StoreNearlyFull { bytes: 1024, max_bytes: 2048 });
        let id = "00000000-0000-4000-8000-000000000000".parse().unwrap();
        heard.hear(&Event::SnapshotsPruned { ids: vec![id] });
        assert_eq!(heard.pruned(), 1);
        assert_eq!(
            heard.notes(),
            [
                "note: 1 old snapshot without a tag went, to make room; `wink tag` keeps one for good",
                "warning: the history takes 1.0 KiB of 2.0 KiB; see `wink prune --help`",
            ]
        );
    }
}

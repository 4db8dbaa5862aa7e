//! Lines of work that no branch continues.

use std::collections::BTreeMap;

use crate::snapshot::{GONE, Snapshot, is_plain_name};
use crate::store::BRANCHES;
use crate::store::disk::Disk;

/// Says of the snapshots whose branch is not there any more that they are all of one line: so only the last
/// of them stay, however many branches there were.
pub(crate) fn settle(disk: &Disk, snapshots: &mut [Snapshot]) {
    let mut known: BTreeMap<String, bool> = BTreeMap::new();
    for line in snapshots.iter_mut().filter_map(|snapshot| snapshot.line.as_mut()) {
        let is_there = |line: &String| disk.is_there(&format!("{BRANCHES}/{line}"));
        if is_plain_name(line) && !*known.entry(line.clone()).or_insert_with(|| is_there(line)) {
            GONE.clone_into(line);
        }
    }
}

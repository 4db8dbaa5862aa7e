//! Forgetting operations.

use std::io;

use super::{FileOpLog, Known};
use crate::error::Result;
use crate::oplog::file::places::{self, DIRECTORY};
use crate::oplog::{MANY_RECORDS, OpLog as _, last_kept};

const FORGET_EVERY: u64 = 16;

impl FileOpLog {
    /// Takes away what is too old to be listed; not each time, because looking for it takes a while.
    pub(super) fn forget_oldest(&self, newest: u64) -> Result<()> {
        if !newest.is_multiple_of(FORGET_EVERY) {
            return Ok(());
        }
        let records = self.numbers()?;
        if records.len() <= MANY_RECORDS {
            return Ok(());
        }
        let whole = self.whole_records(&records)?;
        let listed = last_kept(whole.clone());
        let oldest = listed.first().map_or(0, |oldest| oldest.sequence);
        let is_listed = |number: &u64| listed.iter().any(|it| it.sequence == *number);
        // One that is damaged goes only when it is too old.
        let is_whole = |number: &u64| whole.iter().any(|it| it.sequence == *number);
        let goes = |it: &u64| *it < oldest || (is_whole(it) && !is_listed(it));
        self.forget(&records.into_iter().filter(goes).collect::<Vec<_>>())
    }

    /// Removes an operation. Without its record it counts as interrupted, so the list of what it may have
    /// changed goes before, or with it: then there is nothing to take back.
    pub(super) fn remove(
        &self,
        number: u64,
        entries: impl Iterator<Item = String>,
    ) -> io::Result<()> {
        self.disk.remove(&places::old_list(number))?;
        self.disk.remove(&places::begun(number))?;
        self.disk.remove(&places::record(number))?;
        for entry in entries {
            self.disk.remove_entry(&entry)?;
        }
        self.disk.remove_entry(&places::kept(number))
    }

    /// Removes what was begun.
    pub(super) fn remove_begun(&self, number: u64) -> io::Result<()> {
        if *self.known() == Known::Begun(number) {
            // One more than is listed: what failed may be that it could not be.
            let lines = 0..=line_count(&self.read_if_there(&places::begun(number))?);
            return self.remove(number, lines.map(|line| places::entry(number, line)));
        }
        let names = self.disk.names(DIRECTORY)?;
        self.remove(number, names.iter().filter_map(|name| places::kept_by(number, name)))
    }
}

fn line_count(list: &[u8]) -> usize {
    list.iter().filter(|byte| **byte == b'\n').count()
}

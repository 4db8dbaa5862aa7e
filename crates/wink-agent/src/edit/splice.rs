//! Bytes with some ranges replaced.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;

use super::lines;

/// How many changes are remembered; only the first few are shown.
const REMEMBERED: usize = lines::LISTED;

/// The result of edits of a file's bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Edited {
    /// The whole content now.
    pub(crate) bytes: Bytes,
    /// Where in it the first changes are, in order.
    pub(crate) changes: Vec<Range<usize>>,
    /// How many ranges the last edit replaced.
    pub(crate) replaced: usize,
}

/// New bytes for a range of the old ones.
pub(super) struct Replacement<'a> {
    pub(super) range: Range<usize>,
    pub(super) with: Cow<'a, [u8]>,
}

impl Edited {
    /// Begins with bytes that no edit has changed.
    pub(super) fn unchanged(bytes: Bytes) -> Self {
        Self { bytes, changes: Vec::new(), replaced: 0 }
    }

    /// Makes replacements, which are in order and do not overlap; `size` is about that of the result.
    pub(super) fn splice<'r>(
        &self,
        replacements: impl Iterator<Item = Replacement<'r>>,
        size: usize,
    ) -> Self {
        let mut bytes = Vec::with_capacity(size);
        let mut earlier = Follower::of(&self.changes);
        let mut copied = 0;
        let mut changes = Vec::new();
        let mut replaced = 0;
        for Replacement { range, with } in replacements {
            earlier.pass(&range, with.len(), copied, bytes.len());
            bytes.extend_from_slice(&self.bytes[copied..range.start]);
            if changes.len() < REMEMBERED {
                changes.push(bytes.len()..bytes.len() + with.len());
            }
            bytes.extend_from_slice(&with);
            (copied, replaced) = (range.end, replaced + 1);
        }
        earlier.pass(&(usize::MAX..usize::MAX), 0, copied, bytes.len());
        bytes.extend_from_slice(&self.bytes[copied..]);
        changes.extend(earlier.changes());
        changes.sort_by_key(|change| (change.start, change.end));
        changes.truncate(REMEMBERED);
        Self { bytes: bytes.into(), changes, replaced }
    }

    /// Returns the lines at which the first changes begin, counted from 1.
    pub(crate) fn lines(&self) -> Vec<usize> {
        lines::numbers(&self.bytes, self.changes.iter().map(|change| change.start))
    }
}

/// Earlier changes, followed to where they are after the next ones.
struct Follower<'a> {
    before: &'a [Range<usize>],
    /// Where each begins and ends, in pairs.
    positions: Vec<usize>,
    /// Which of them is followed when, in the order of the bytes.
    order: Vec<usize>,
    followed: usize,
}

impl<'a> Follower<'a> {
    fn of(before: &'a [Range<usize>]) -> Self {
        let ends = |change: &Range<usize>| [change.start, change.end];
        let positions: Vec<_> = before.iter().flat_map(ends).collect();
        let mut order: Vec<_> = (0..positions.len()).collect();
        order.sort_by_key(|at| positions[*at]);
        Self { before, positions, order, followed: 0 }
    }

    /// Follows those before the end of a range, where the bytes from `old` on are at `new`.
    ///
    /// What lay within the range is now at the end of the `length` bytes that replace it.
    fn pass(&mut self, range: &Range<usize>, length: usize, old: usize, new: usize) {
        let is_before = |at: &&usize| self.positions[**at] < range.end;
        let passed = self.order[self.followed..].iter().take_while(is_before).count();
        for at in &self.order[self.followed..self.followed + passed] {
            let position = &mut self.positions[*at];
            *position = if *position < range.start {
                new + *position - old
            } else {
                new + range.start - old + length
            };
        }
        self.followed += passed;
    }

    /// Returns where the changes are now, less those that were replaced altogether.
    fn changes(&self) -> impl Iterator<Item = Range<usize>> {
        let now = self.positions.chunks_exact(2).map(|pair| pair[0]..pair[1]);
        let pairs = self.before.iter().zip(now);
        pairs.filter(|(before, now)| before.is_empty() || !now.is_empty()).map(|(_, now)| now)
    }
}

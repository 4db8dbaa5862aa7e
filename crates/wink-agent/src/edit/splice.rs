//! Bytes with some ranges replaced.

use std::ops::Range;

use bytes::Bytes;

use super::lines;

/// How many earlier changes are followed to where they are now; only the first few are shown.
const FOLLOWED: usize = 8;

/// Holds what edits made of a file's bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Edited {
    /// The whole content now.
    pub(crate) bytes: Bytes,
    /// Where in it the changes are, in order.
    pub(crate) changes: Vec<Range<usize>>,
}

/// New bytes for a range of the old ones.
pub(super) struct Replacement {
    pub(super) range: Range<usize>,
    pub(super) with: Vec<u8>,
}

/// Makes the replacements, which are in order and do not overlap.
pub(super) fn splice(bytes: &[u8], replacements: &[Replacement]) -> Edited {
    let added: usize = replacements.iter().map(|replacement| replacement.with.len()).sum();
    let mut spliced = Vec::with_capacity(bytes.len() + added);
    let (mut copied, mut changes) = (0, Vec::with_capacity(replacements.len()));
    for Replacement { range, with } in replacements {
        spliced.extend_from_slice(&bytes[copied..range.start]);
        changes.push(spliced.len()..spliced.len() + with.len());
        spliced.extend_from_slice(with);
        copied = range.end;
    }
    spliced.extend_from_slice(&bytes[copied..]);
    Edited { bytes: spliced.into(), changes }
}

impl Edited {
    /// Returns the lines at which the first changes begin, counted from 1.
    pub(crate) fn lines(&self) -> Vec<usize> {
        let starts = self.changes.iter().map(|change| change.start);
        lines::numbers(&self.bytes, starts.take(lines::LISTED))
    }

    /// Adds the first changes that were made before these, at the places where they are now.
    pub(super) fn after(mut self, earlier: &[Range<usize>], replaced: &[Replacement]) -> Self {
        let earlier = earlier.iter().take(FOLLOWED);
        self.changes.extend(earlier.map(|change| moved(change, replaced)));
        self.changes.sort_by_key(|change| (change.start, change.end));
        self
    }
}

/// Returns where a range of the old bytes is in the new ones, less what was replaced of it.
fn moved(range: &Range<usize>, replaced: &[Replacement]) -> Range<usize> {
    let moved = |position: usize| {
        let before = replaced.iter().take_while(|other| other.range.end <= position);
        let (gone, come) = before.fold((0, 0), |(gone, come), other| {
            (gone + other.range.len(), come + other.with.len())
        });
        position + come - gone
    };
    let start = moved(range.start);
    start..moved(range.end).max(start)
}

//! Where a text that looks like lines of a file begins and ends in them.

use memchr::memchr;

use crate::edit::fold::Fold;
use crate::edit::lines;

/// What is around a text, without the white space at its ends, in the lines that look like it.
pub(super) struct Edges<'a> {
    /// What the file has before it in its line, and what the text has.
    file_before: &'a [u8],
    own_before: &'a [u8],
    /// What the file has after it in its line, and what the text has.
    file_after: &'a [u8],
    own_after: &'a [u8],
    /// Where its first and its last character are in the file, and in the text.
    first: (usize, usize),
    last: (usize, usize),
}

impl<'a> Edges<'a> {
    pub(super) fn of(bytes: &'a [u8], first: usize, last: usize, old: &'a str) -> Self {
        let old = old.as_bytes();
        let count = Fold::ALL.text(old).len();
        let own_first = Fold::ALL.original(old, 0);
        let own_last = Fold::ALL.original(old, count.saturating_sub(1));
        let after = last + Fold::first_length(&bytes[last..]);
        Self {
            file_before: &bytes[lines::start(bytes, first)..first],
            own_before: &old[..own_first],
            file_after: &bytes[after..lines::end(bytes, after.saturating_sub(1))],
            own_after: &old[own_last + Fold::first_length(&old[own_last..])..],
            first: (first, own_first),
            last: (last, own_last),
        }
    }

    /// Returns a place in the file and in the text whose lines differ in more than white space: where the text
    /// has its white space, the file has something else.
    pub(super) fn differing(&self) -> Option<(usize, usize)> {
        let differs = |own: &[u8], line: &[u8], next: &[u8]| match memchr(b'\n', own) {
            _ if own.is_empty() => false,
            Some(_) => !Fold::is_blank(line),
            None => !next.is_empty() && !Fold::is_blank(next),
        };
        let next = &self.file_after[..Fold::first_length(self.file_after)];
        if differs(self.own_after, self.file_after, next) {
            return Some(self.last);
        }
        let next = &self.file_before[self.file_before.len().saturating_sub(1)..];
        differs(self.own_before, self.file_before, next).then_some(self.first)
    }

    /// Returns whether white space at the beginning of the text is that of a line.
    pub(super) fn begins_line(&self) -> bool {
        self.own_before.is_empty() || Fold::is_blank(self.file_before)
    }

    /// Returns whether white space at the end of the text is that of a line.
    pub(super) fn ends_line(&self) -> bool {
        self.own_after.is_empty() || Fold::is_blank(self.file_after)
    }
}

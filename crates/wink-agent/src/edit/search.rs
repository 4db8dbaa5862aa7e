//! Finds a text in a file, whatever the line endings of either.

use std::ops::Range;

use memchr::memmem::{FindIter, Finder};
use memchr::{memchr, memchr_iter};

use super::ending;
use super::line_feeds::LineFeeds;
use super::overlaps::overlapping;

/// A text, spelt so that a plain search finds it, and the bytes it is searched in.
pub(super) struct Search<'a> {
    old: &'a [u8],
    /// Whether each `\n` of the text stands for a `\r\n` of the bytes.
    is_long: bool,
    /// Whether the text is compared byte for byte, line endings and all.
    pub(super) is_literal: bool,
    view: LineFeeds<'a>,
    finder: Finder<'a>,
}

impl<'a> Search<'a> {
    /// Looks for a text as `read_file` shows it; one with carriage returns that is not there in that way is
    /// compared byte for byte.
    pub(super) fn of(bytes: &'a [u8], old: &'a str) -> Self {
        let old = old.as_bytes();
        if memchr(b'\r', old).is_none() {
            return Self::without_returns(bytes, old);
        }
        let shown = Self::new(old, LineFeeds::of(bytes));
        match shown.places().next() {
            Some(_) => shown,
            None => Self { is_literal: true, ..Self::new(old, LineFeeds::as_is(bytes)) },
        }
    }

    fn without_returns(bytes: &'a [u8], old: &'a [u8]) -> Self {
        let has_lines = memchr(b'\n', old).is_some();
        // Only where line endings are mixed is a copy needed, without those that differ.
        match has_lines.then(|| Endings::of(bytes)) {
            None | Some(Endings::Short) => Self::new(old, LineFeeds::as_is(bytes)),
            Some(Endings::Mixed) => Self::new(old, LineFeeds::of(bytes)),
            Some(Endings::Long) => {
                let finder = Finder::new(&ending::long(old)).into_owned();
                Self { is_long: true, finder, ..Self::new(old, LineFeeds::as_is(bytes)) }
            }
        }
    }

    fn new(old: &'a [u8], view: LineFeeds<'a>) -> Self {
        Self { old, is_long: false, is_literal: false, view, finder: Finder::new(old) }
    }

    /// Finds the matches that do not overlap, in order.
    pub(super) fn places(&self) -> FindIter<'_, '_> {
        self.finder.find_iter(&self.view.text)
    }

    /// Returns the line of every match, counted from 1.
    pub(super) fn all_lines(&self) -> impl Iterator<Item = usize> {
        let mut counted = 0;
        let mut line = 1;
        overlapping(&self.view.text, self.finder.needle()).map(move |place| {
            line += memchr_iter(b'\n', &self.view.text[counted..place]).count();
            counted = place;
            line
        })
    }

    /// Finds another place of the text that overlaps one.
    pub(super) fn overlapping(&self, place: usize) -> Option<usize> {
        let text = &self.view.text;
        let length = self.finder.needle().len();
        let end = (place + 2 * length - 1).min(text.len());
        self.finder.find(&text[place + 1..end]).map(|second| place + 1 + second)
    }

    /// Returns where a part of the text at a place is in the bytes.
    pub(super) fn range(&self, place: usize, part: &Range<usize>) -> Range<usize> {
        let position = |at: usize| self.view.original(place + self.spelt(at));
        position(part.start)..position(part.end)
    }

    /// Returns where a position of the text is in what is searched for.
    fn spelt(&self, at: usize) -> usize {
        if self.is_long { at + memchr_iter(b'\n', &self.old[..at]).count() } else { at }
    }
}

/// The line endings of a file.
enum Endings {
    Short,
    Long,
    Mixed,
}

impl Endings {
    fn of(bytes: &[u8]) -> Self {
        let mut lines = memchr_iter(b'\n', bytes).map(|at| at > 0 && bytes[at - 1] == b'\r');
        match lines.next() {
            None => Self::Short,
            Some(first) if lines.any(|other| other != first) => Self::Mixed,
            Some(true) => Self::Long,
            Some(false) => Self::Short,
        }
    }
}

//! Finds the lines of a hunk in a file.

use memchr::{memchr_iter, memmem};

use super::error::Problem;
use super::{Hunk, Line};
use crate::edit::line_feeds::LineFeeds;
use crate::edit::lines::LISTED;
use crate::edit::nearest::nearest;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// A file as its lines are compared with those of hunks.
pub(super) struct Places<'a> {
    bytes: &'a [u8],
    /// How many bytes before the first line do not count.
    skipped: usize,
    view: LineFeeds<'a>,
    /// Whether a line of the hunks has a carriage return itself.
    pub(super) literal: bool,
    /// The text between two newlines, so that every line has one before and one after it.
    fenced: Vec<u8>,
    /// Where the lines begin in the text.
    starts: Vec<usize>,
}

impl<'a> Places<'a> {
    pub(super) fn of(bytes: &'a [u8], hunks: &[Hunk]) -> Self {
        let any = |found: fn(&Line) -> bool| hunks.iter().flat_map(|hunk| &hunk.lines).any(found);
        let has_bom = bytes.starts_with(BOM) && !any(|line| line.text.starts_with('\u{feff}'));
        let skipped = if has_bom { BOM.len() } else { 0 };
        let body = &bytes[skipped..];
        let literal = any(|line| line.text.ends_with('\r'));
        let view = if literal { LineFeeds::as_is(body) } else { LineFeeds::of(body) };
        let mut fenced = [b"\n", &*view.text].concat();
        if !view.text.is_empty() && !view.text.ends_with(b"\n") {
            fenced.push(b'\n');
        }
        let starts = memchr_iter(b'\n', &fenced[..fenced.len() - 1]).collect();
        Self { bytes, skipped, view, literal, fenced, starts }
    }

    /// Returns the length of the text.
    pub(super) fn len(&self) -> usize {
        self.view.text.len()
    }

    /// Returns whether the last line ends in a newline; an empty text has no line to end.
    pub(super) fn is_ended(&self) -> bool {
        self.view.text.is_empty() || self.view.text.ends_with(b"\n")
    }

    /// Returns where a position of the text is in the bytes; one past the end is at the end.
    pub(super) fn original(&self, at: usize) -> usize {
        self.skipped + self.view.original(at.min(self.len()))
    }

    /// Returns the number of the line that begins at a position of the text, counted from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start < at) + 1
    }

    /// Finds the lines of a hunk at or after `from`: where they begin in the text.
    pub(super) fn find(&self, hunk: &Hunk, from: usize) -> Result<usize, Problem> {
        let texts: Vec<&str> = hunk.old_lines().map(|line| line.text.as_str()).collect();
        if texts.is_empty() {
            return self.insertion(hunk, from);
        }
        let wanted = format!("\n{}\n", texts.join("\n")).into_bytes();
        let from = self.below(&hunk.target.anchors, from)?;
        let named = hunk.target.line.and_then(|line| self.starts.get(line.checked_sub(1)?));
        let last = || self.fenced.len().checked_sub(wanted.len());
        let fits = |at: usize| at >= from && self.fenced[at..].starts_with(&wanted);
        if let Some(at) = named.copied().filter(|at| fits(*at)) {
            return Ok(at);
        }
        if hunk.target.at_end {
            return last().filter(|at| fits(*at)).ok_or_else(|| self.missing(&wanted, &texts));
        }
        self.search(&wanted, from, !hunk.target.anchors.is_empty())
            .ok_or_else(|| self.missing(&wanted, &texts))?
    }

    /// Finds where a hunk that only adds lines belongs: below the line that it names, or at the end of the file.
    fn insertion(&self, hunk: &Hunk, from: usize) -> Result<usize, Problem> {
        let end = self.fenced.len() - 1;
        let at = if !hunk.target.anchors.is_empty() {
            self.below(&hunk.target.anchors, from)?
        } else if let Some(line) = hunk.target.line.filter(|_| self.len() > 0) {
            let mut starts = self.starts.iter().copied().chain([end]);
            starts.nth(line.saturating_sub(1)).ok_or(Problem::NoSuchLine { line })?
        } else {
            end
        };
        if at < from { Err(Problem::Elsewhere { line: self.line(at) }) } else { Ok(at) }
    }

    /// Searches for lines that are there once, or for the first of them.
    fn search(&self, wanted: &[u8], from: usize, first: bool) -> Option<Result<usize, Problem>> {
        let finder = memmem::Finder::new(wanted);
        let next = |from: usize| Some(from + finder.find(self.fenced.get(from..)?)?);
        let found = next(from)?;
        if first || next(found + 1).is_none() {
            return Some(Ok(found));
        }
        let places = std::iter::successors(Some(found), |found| next(found + 1));
        let lines: Vec<usize> = places.take(LISTED).map(|at| self.line(at)).collect();
        let count = finder.find_iter(&self.fenced[from..]).count().max(lines.len());
        Some(Err(Problem::Ambiguous { count, lines }))
    }

    fn missing(&self, wanted: &[u8], texts: &[&str]) -> Problem {
        match memmem::find(&self.fenced, wanted) {
            Some(at) => Problem::Elsewhere { line: self.line(at) },
            None => Problem::Missing(nearest(self.bytes, &texts.join("\n"))),
        }
    }

    /// Returns where the line below the last of some lines begins, each of which is there once.
    fn below(&self, anchors: &[String], mut from: usize) -> Result<usize, Problem> {
        for anchor in anchors {
            let after = &self.starts[self.starts.partition_point(|start| *start < from)..];
            let is_anchor =
                |start: &&usize| self.text_at(**start).trim_ascii() == anchor.trim().as_bytes();
            let found: Vec<_> = after.iter().filter(is_anchor).collect();
            match found.as_slice() {
                [only] => from = **only + self.text_at(**only).len() + 1,
                _ => {
                    let anchor = anchor.chars().take(200).collect();
                    return Err(Problem::Anchor { anchor, count: found.len() });
                }
            }
        }
        Ok(from)
    }

    /// Returns the line that begins at a position of the text, without its newline.
    fn text_at(&self, start: usize) -> &[u8] {
        let rest = &self.fenced[start + 1..];
        &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())]
    }
}

//! Searches a file with lines that are too long to be held in memory.

use std::collections::VecDeque;
use std::io::{self, Read};

use grep_matcher::Matcher as _;

use super::file::{FileSearch, Lines, check};
use super::line::{self, GrepMatch};

/// The most of a line that is held at once.
pub(super) const WINDOW: usize = 8 * 1024 * 1024;

/// A match that begins in so many last bytes of a window is left to the next one: it may end, as `x$` does, only because
/// the window ends there.
const OVERLAP: usize = 1024 * 1024;

/// A search line by line; a long line is searched window by window.
pub(super) struct LongLines<'l, 's> {
    search: &'s FileSearch,
    lines: &'l mut Lines<'s>,
    /// The lines before the current one, for context.
    before: VecDeque<String>,
    /// How many lines of context the last match still gets.
    after: usize,
    number: u64,
    found: LineMatches,
}

/// What was found in the current line so far.
#[derive(Default)]
struct LineMatches {
    first: Option<GrepMatch>,
    count: u64,
    /// The beginning of the line, for context.
    text: Option<String>,
}

impl<'l, 's> LongLines<'l, 's> {
    pub(super) fn new(search: &'s FileSearch, lines: &'l mut Lines<'s>) -> Self {
        let found = LineMatches::default();
        Self { search, lines, before: VecDeque::new(), after: 0, number: 1, found }
    }

    /// Searches everything that a reader returns.
    pub(super) fn run(mut self, mut reader: impl Read) -> io::Result<()> {
        let mut buffer = vec![0; WINDOW];
        let mut filled = 0;
        // Where the search of the line at the start of the buffer goes on.
        let mut from = 0;
        loop {
            filled += fill(&mut reader, &mut buffer[filled..])?;
            let mut start = 0;
            while let Some(len) = memchr::memchr(b'\n', &buffer[start..filled]) {
                self.part(&buffer[start..start + len], from, true)?;
                from = 0;
                start += len + 1;
                if !self.end_line() {
                    return Ok(());
                }
            }
            if filled < WINDOW {
                if start < filled {
                    self.part(&buffer[start..filled], from, true)?;
                    self.end_line();
                }
                return Ok(());
            }
            if start == 0 {
                // One byte more than is searched again: `^` must not match where the window begins.
                start = self.part(&buffer[..filled], from, false)? - 1;
                from = 1;
            }
            buffer.copy_within(start..filled, 0);
            filled -= start;
        }
    }

    /// Searches a part of a line from a position on; returns where the next part must go on.
    fn part(&mut self, bytes: &[u8], from: usize, is_last: bool) -> io::Result<usize> {
        let FileSearch { matcher, stop, max_line, .. } = self.search;
        let bytes = if is_last { line::without_ending(bytes) } else { bytes };
        let undecided = if is_last { bytes.len() + 1 } else { bytes.len() - OVERLAP };
        self.found.text.get_or_insert_with(|| line::context_line(bytes, *max_line));
        let is_whole = is_last && from == 0;
        let mut at = from;
        // The matcher's error type has no values.
        while let Ok(Some(hit)) = matcher.find_at(bytes, at.min(bytes.len())) {
            check(stop)?;
            if hit.start() >= undecided {
                return Ok(hit.start());
            }
            let place = (hit.start(), hit.end());
            let (path, number) = (self.lines.path, self.number);
            let found = || GrepMatch::around(path, number, bytes, place, *max_line, is_whole);
            self.found.first.get_or_insert_with(found);
            self.found.count += 1;
            at = hit.end().max(hit.start() + 1);
            if at > bytes.len() {
                break;
            }
        }
        Ok(at.max(undecided).min(bytes.len()))
    }

    /// Gives the line to the collector; returns whether to go on.
    fn end_line(&mut self) -> bool {
        let LineMatches { first, count, text } = std::mem::take(&mut self.found);
        self.number += 1;
        if let Some(mut first) = first {
            first.match_count = count;
            first.before = self.before.drain(..).collect();
            self.lines.add(first);
            self.after = self.search.context;
            return !self.search.first_only;
        }
        let text = text.unwrap_or_default();
        if self.after > 0 {
            self.after -= 1;
            self.lines.add_after(text);
        } else if self.search.context > 0 {
            if self.before.len() == self.search.context {
                self.before.pop_front();
            }
            self.before.push_back(text);
        }
        true
    }
}

/// Reads until a buffer is full or nothing is left.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

//! Cuts a page of lines out of content of any size.

use std::io;

use crate::tree::content::Content;

/// The lines to read, and the most bytes.
pub(super) struct Wanted {
    pub(super) offset: u64,
    pub(super) lines: u64,
    pub(super) bytes: u64,
}

/// A page as bytes.
pub(super) struct RawPage {
    pub(super) bytes: Vec<u8>,
    pub(super) lines: u64,
    pub(super) total_lines: u64,
    /// The start of the first line, if that line alone is too long.
    pub(super) oversized_at: Option<u64>,
}

/// Reads the lines and counts all, in one pass in which `see` receives every byte.
pub(super) fn cut(
    content: &Content,
    wanted: Wanted,
    mut see: impl FnMut(&[u8]),
) -> io::Result<RawPage> {
    let mut cutter = Cutter::new(wanted);
    content.for_each_chunk(|chunk| {
        cutter.take(chunk);
        see(chunk);
        Ok(())
    })?;
    Ok(cutter.finish())
}

struct Cutter {
    wanted: Wanted,
    to_skip: u64,
    collecting: bool,
    page: Vec<u8>,
    /// How many bytes of `page` are whole lines, and how many lines.
    whole: (usize, u64),
    newlines: u64,
    position: u64,
    oversized_at: Option<u64>,
    ends_in_newline: bool,
}

impl Cutter {
    fn new(wanted: Wanted) -> Self {
        Self {
            to_skip: wanted.offset,
            collecting: wanted.lines > 0,
            wanted,
            page: Vec::new(),
            whole: (0, 0),
            newlines: 0,
            position: 0,
            oversized_at: None,
            ends_in_newline: true,
        }
    }

    fn take(&mut self, chunk: &[u8]) {
        let newlines = memchr::memchr_iter(b'\n', chunk).count() as u64;
        if newlines < self.to_skip {
            self.to_skip -= newlines;
        } else if self.collecting {
            let start = skip_lines(chunk, self.to_skip);
            let rest = &chunk[start..];
            let position = self.position + start as u64;
            if !self.collect_whole(rest, newlines - self.to_skip) {
                self.collect(rest, position);
            }
            self.to_skip = 0;
        }
        self.newlines += newlines;
        self.position += chunk.len() as u64;
        self.ends_in_newline = chunk.last().map_or(self.ends_in_newline, |last| *last == b'\n');
    }

    /// Takes all of `rest` at once if it fits, which is the usual case.
    fn collect_whole(&mut self, rest: &[u8], newlines: u64) -> bool {
        let fits = (self.page.len() + rest.len()) as u64 <= self.wanted.bytes;
        if !fits || self.whole.1 + newlines >= self.wanted.lines {
            return false;
        }
        if let Some(last) = memchr::memrchr(b'\n', rest) {
            self.whole = (self.page.len() + last + 1, self.whole.1 + newlines);
        }
        self.page.extend_from_slice(rest);
        true
    }

    fn collect(&mut self, mut rest: &[u8], mut position: u64) {
        while self.collecting && !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let (part, tail) = rest.split_at(end);
            self.add(part, position);
            rest = tail;
            position += end as u64;
        }
    }

    /// Adds a line, or a part of one, that starts at `position`.
    fn add(&mut self, part: &[u8], position: u64) {
        if (self.page.len() + part.len()) as u64 > self.wanted.bytes {
            self.collecting = false;
            if self.whole.1 == 0 {
                self.oversized_at = Some(position - self.page.len() as u64);
            }
            return;
        }
        self.page.extend_from_slice(part);
        if part.ends_with(b"\n") {
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        self.whole = (self.page.len(), self.whole.1 + 1);
        self.collecting = self.whole.1 < self.wanted.lines;
    }

    fn finish(mut self) -> RawPage {
        let total_lines = self.newlines + u64::from(!self.ends_in_newline);
        if self.collecting && self.page.len() > self.whole.0 {
            self.end_line();
        }
        self.page.truncate(self.whole.0);
        RawPage {
            bytes: self.page,
            lines: self.whole.1,
            total_lines,
            oversized_at: self.oversized_at,
        }
    }
}

/// Returns the start of the line after `count` newlines; there are at least that many.
fn skip_lines(chunk: &[u8], count: u64) -> usize {
    match count.checked_sub(1) {
        None => 0,
        Some(nth) => {
            memchr::memchr_iter(b'\n', chunk).nth(nth as usize).map_or(chunk.len(), |at| at + 1)
        }
    }
}

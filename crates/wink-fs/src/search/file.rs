//! Searches one file.

use std::cell::RefCell;
use std::io::{self, Read};
use std::ops::Range;

use grep_matcher::LineTerminator;
use grep_regex::RegexMatcher;
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use parking_lot::Mutex;

use super::line::{self, GrepMatch};
use super::long_line::{LongLines, WINDOW};
use super::stop::Stop;
use crate::path::TreePath;
use crate::tree::content::Content;

/// A NUL in so many first bytes makes a file binary, on every backend.
const PROBE: usize = 8 * 1024;

/// A larger file is searched in parts.
const WHOLE: u64 = 16 * 1024 * 1024;

/// How much is searched between looks at the clock, because an expression may be slow.
const STEP: usize = 16 * 1024;

/// The settings of a search, shared by all files.
pub(super) struct FileSearch {
    pub(super) matcher: RegexMatcher,
    pub(super) stop: Stop,
    pub(super) context: usize,
    pub(super) max_line: usize,
    pub(super) first_only: bool,
    /// Idle searchers, for files whose lines are returned and for those that are only counted.
    showing: Mutex<Vec<Searcher>>,
    counting: Mutex<Vec<Searcher>>,
}

/// The result for one file.
pub(super) enum Found {
    Binary,
    Lines { count: u64, kept: Vec<GrepMatch> },
}

thread_local! {
    /// A read buffer for each worker.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl FileSearch {
    /// Prepares a search; it stops at a file's first match if only files are asked for.
    pub(super) fn new(
        matcher: RegexMatcher,
        stop: &Stop,
        context: usize,
        max_line: usize,
        first_only: bool,
    ) -> Self {
        let stop = stop.clone();
        let showing = Mutex::default();
        let counting = Mutex::default();
        Self { matcher, stop, context, max_line, first_only, showing, counting }
    }

    /// Searches content; counts all matching lines, and keeps those in a range of numbers from 0.
    pub(super) fn run(
        &self,
        path: &TreePath,
        content: &Content,
        wanted: Range<usize>,
    ) -> io::Result<Found> {
        if let Some(bytes) = content.shared() {
            return self.slice(path, bytes, wanted);
        }
        if content.len() > WHOLE {
            return self.stream(path, content, wanted);
        }
        BUFFER.with_borrow_mut(|buffer| {
            read_whole(content, buffer)?;
            self.slice(path, buffer, wanted)
        })
    }

    fn slice(&self, path: &TreePath, bytes: &[u8], wanted: Range<usize>) -> io::Result<Found> {
        if is_binary(&bytes[..bytes.len().min(PROBE)]) {
            return Ok(Found::Binary);
        }
        // The searcher cannot be interrupted within a slice, so a long one is read in steps.
        if bytes.len() > STEP && self.stop.is_set() {
            return self.read(path, || bytes, wanted);
        }
        let shows = !wanted.is_empty();
        let mut lines = Lines::new(self, path, wanted);
        self.with_searcher(shows, |searcher| {
            searcher.search_slice(&self.matcher, bytes, &mut lines)
        })?;
        Ok(lines.found())
    }

    fn stream(
        &self,
        path: &TreePath,
        content: &Content,
        wanted: Range<usize>,
    ) -> io::Result<Found> {
        if is_binary(&content.read_range(0, PROBE as u64)?) {
            return Ok(Found::Binary);
        }
        self.read(path, || content.reader(), wanted)
    }

    fn read<R: Read>(
        &self,
        path: &TreePath,
        open: impl Fn() -> R,
        wanted: Range<usize>,
    ) -> io::Result<Found> {
        let shows = !wanted.is_empty();
        let mut lines = Lines::new(self, path, wanted.clone());
        let mut reader = Stopping::new(open(), &self.stop, WINDOW);
        let searched = self.with_searcher(shows, |searcher| {
            searcher.search_reader(&self.matcher, &mut reader, &mut lines)
        });
        if reader.is_too_long() {
            // The searcher holds whole lines in memory. Everything again, because it cannot go on within a line.
            lines = Lines::new(self, path, wanted);
            let reader = Stopping::new(open(), &self.stop, usize::MAX);
            LongLines::new(self, &mut lines).run(reader)?;
        } else {
            searched?;
        }
        Ok(lines.found())
    }

    /// Lends a searcher, because making its buffers for every file is expensive.
    fn with_searcher<T>(&self, shows: bool, search: impl FnOnce(&mut Searcher) -> T) -> T {
        let pool = if shows { &self.showing } else { &self.counting };
        let lock = || pool.lock();
        // Popped and pushed back, so that the lock is not held during a search.
        let idle = lock().pop();
        let mut searcher = idle.unwrap_or_else(|| self.searcher(shows));
        let result = search(&mut searcher);
        lock().push(searcher);
        result
    }

    fn searcher(&self, shows: bool) -> Searcher {
        let context = if shows { self.context } else { 0 };
        SearcherBuilder::new()
            // Binary files were sorted out by our own probe, which is the same on every backend.
            .binary_detection(BinaryDetection::none())
            .line_terminator(LineTerminator::crlf())
            .bom_sniffing(false)
            .line_number(shows)
            .before_context(context)
            .after_context(context)
            .build()
    }
}

fn is_binary(start: &[u8]) -> bool {
    memchr::memchr(0, start).is_some()
}

/// Reads a file of known size, with one call if possible.
fn read_whole(content: &Content, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    // One byte more than expected shows the end without another call.
    let mut room = content.len() as usize + 1;
    loop {
        let filled = buffer.len();
        buffer.resize(filled + room, 0);
        let read = content.read_at(&mut buffer[filled..], filled as u64)?;
        buffer.truncate(filled + read);
        // The file may have grown or shrunk since its size was read.
        let is_whole = buffer.len() as u64 == content.len() && read < room;
        if is_whole || read == 0 {
            return Ok(());
        }
        room = (room - read).max(64 * 1024);
    }
}

/// Reads in steps, and fails once the search is stopped or a line is too long.
struct Stopping<'a, R> {
    reader: R,
    stop: &'a Stop,
    longest: usize,
    /// The length of the current line so far.
    line: usize,
}

impl<'a, R> Stopping<'a, R> {
    fn new(reader: R, stop: &'a Stop, longest: usize) -> Self {
        Self { reader, stop, longest, line: 0 }
    }

    fn is_too_long(&self) -> bool {
        self.line > self.longest
    }
}

impl<R: Read> Read for Stopping<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        check(self.stop)?;
        let step = if self.stop.is_set() { buffer.len().min(STEP) } else { buffer.len() };
        let read = self.reader.read(&mut buffer[..step])?;
        let bytes = &buffer[..read];
        self.line = memchr::memrchr(b'\n', bytes).map_or(self.line + read, |at| read - at - 1);
        if self.is_too_long() { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(read) }
    }
}

pub(super) fn check(stop: &Stop) -> io::Result<()> {
    if stop.reason().is_none() { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) }
}

/// Collects the matching lines of one file.
pub(super) struct Lines<'a> {
    search: &'a FileSearch,
    pub(super) path: &'a TreePath,
    wanted: Range<usize>,
    count: usize,
    kept: Vec<GrepMatch>,
    before: Vec<String>,
}

impl<'a> Lines<'a> {
    fn new(search: &'a FileSearch, path: &'a TreePath, wanted: Range<usize>) -> Self {
        Self { search, path, wanted, count: 0, kept: Vec::new(), before: Vec::new() }
    }

    fn found(self) -> Found {
        Found::Lines { count: self.count as u64, kept: self.kept }
    }

    /// Counts a matching line, and keeps it if it is wanted.
    pub(super) fn add(&mut self, line: GrepMatch) {
        if self.wanted.contains(&self.count) {
            self.kept.push(line);
        }
        self.count += 1;
    }

    /// Adds a line of context after the last matching one, if that was kept.
    pub(super) fn add_after(&mut self, text: String) {
        let is_last_kept =
            self.count.checked_sub(1).is_some_and(|last| self.wanted.contains(&last));
        if let Some(last) = self.kept.last_mut().filter(|_| is_last_kept) {
            last.after.push(text);
        }
    }

    fn keep_line(&mut self, found: &SinkMatch<'_>) {
        let number = found.line_number().unwrap_or(0);
        let FileSearch { matcher, stop, max_line, .. } = self.search;
        let mut kept = GrepMatch::new(self.path, number, found.bytes(), matcher, stop, *max_line);
        kept.before = std::mem::take(&mut self.before);
        self.kept.push(kept);
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.wanted.contains(&self.count) {
            self.keep_line(found);
        }
        self.count += 1;
        check(&self.search.stop)?;
        Ok(!self.search.first_only)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        let text = || line::context_line(context.bytes(), self.search.max_line);
        match context.kind() {
            SinkContextKind::Before if self.wanted.contains(&self.count) => {
                self.before.push(text())
            }
            SinkContextKind::After => self.add_after(text()),
            _ => {}
        }
        Ok(true)
    }
}

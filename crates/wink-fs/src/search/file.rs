//! One file, searched.

use std::cell::RefCell;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use grep_matcher::LineTerminator;
use grep_regex::RegexMatcher;
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};

use super::line::{self, GrepMatch};
use super::stop::Stop;
use crate::path::TreePath;
use crate::tree::content::Content;

/// A NUL in so many first bytes tells a binary file, on every backend alike.
const PROBE: usize = 8 * 1024;

/// A larger file is searched in parts instead of being read whole.
const WHOLE: u64 = 16 * 1024 * 1024;

/// How much is searched before the next look at the clock: an expression may take long for each byte.
const STEP: usize = 16 * 1024;

/// How a file is searched; one for a whole search.
pub(super) struct FileSearch {
    matcher: RegexMatcher,
    stop: Stop,
    context: usize,
    max_line: usize,
    first_only: bool,
    /// Idle searchers for files whose lines are shown, and for those that are only counted.
    showing: Mutex<Vec<Searcher>>,
    counting: Mutex<Vec<Searcher>>,
}

/// What was found in a file.
pub(super) enum Found {
    Binary,
    Lines { count: u64, kept: Vec<GrepMatch> },
}

thread_local! {
    /// Where the files of one worker are read to, one after the other.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl FileSearch {
    /// Prepares a search that stops at a file's first match where only files are wanted.
    pub(super) fn new(
        matcher: RegexMatcher,
        stop: &Stop,
        context: usize,
        max_line: usize,
        first_only: bool,
    ) -> Self {
        let (stop, (showing, counting)) = (stop.clone(), Default::default());
        Self { matcher, stop, context, max_line, first_only, showing, counting }
    }

    /// Searches content, counting all matching lines and keeping those whose numbers, from 0, are wanted; given
    /// up, it fails.
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
        if bytes.len() > STEP && self.stop.is_set() {
            return self.read(path, bytes, wanted);
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
        self.read(path, content.reader(), wanted)
    }

    fn read(&self, path: &TreePath, reader: impl Read, wanted: Range<usize>) -> io::Result<Found> {
        let shows = !wanted.is_empty();
        let mut lines = Lines::new(self, path, wanted);
        let reader = Stopping { reader, stop: &self.stop };
        self.with_searcher(shows, |searcher| {
            searcher.search_reader(&self.matcher, reader, &mut lines)
        })?;
        Ok(lines.found())
    }

    /// Lends a searcher, whose buffers are too dear to make for every file.
    fn with_searcher<T>(&self, shows: bool, search: impl FnOnce(&mut Searcher) -> T) -> T {
        let pool = if shows { &self.showing } else { &self.counting };
        let lock = || pool.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = lock().pop();
        let mut searcher = idle.unwrap_or_else(|| self.searcher(shows));
        let result = search(&mut searcher);
        lock().push(searcher);
        result
    }

    fn searcher(&self, shows: bool) -> Searcher {
        let context = if shows { self.context } else { 0 };
        SearcherBuilder::new()
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

/// Reads a file of which the size is known, in one call where the system gives all at once.
fn read_whole(content: &Content, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    // One byte more than there should be shows the end without another call.
    let mut room = content.len() as usize + 1;
    loop {
        let filled = buffer.len();
        buffer.resize(filled + room, 0);
        let read = content.read_at(&mut buffer[filled..], filled as u64)?;
        buffer.truncate(filled + read);
        // It may have grown, and then there is more; or shrunk, and then nothing comes.
        let is_whole = buffer.len() as u64 == content.len() && read < room;
        if is_whole || read == 0 {
            return Ok(());
        }
        room = (room - read).max(64 * 1024);
    }
}

/// Reads a step at a time, and fails once it is time to give up.
struct Stopping<'a, R> {
    reader: R,
    stop: &'a Stop,
}

impl<R: Read> Read for Stopping<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        check(self.stop)?;
        let step = if self.stop.is_set() { buffer.len().min(STEP) } else { buffer.len() };
        self.reader.read(&mut buffer[..step])
    }
}

fn check(stop: &Stop) -> io::Result<()> {
    if stop.reason().is_none() { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) }
}

/// Takes the matching lines of one file.
struct Lines<'a> {
    search: &'a FileSearch,
    path: &'a TreePath,
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
        let is_last_kept =
            self.count.checked_sub(1).is_some_and(|last| self.wanted.contains(&last));
        match context.kind() {
            SinkContextKind::Before if self.wanted.contains(&self.count) => {
                self.before.push(text())
            }
            SinkContextKind::After if is_last_kept => {
                let text = text();
                if let Some(last) = self.kept.last_mut() {
                    last.after.push(text);
                }
            }
            _ => {}
        }
        Ok(true)
    }
}

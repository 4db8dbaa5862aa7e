//! One matching line.

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;

use super::stop::Stop;
use crate::path::TreePath;

/// Replaces the omitted part of a line.
const CUT: &str = "…";

/// One matching line.
///
/// ```
/// use wink_fs::Workspace;
///
/// let files = Workspace::memory();
/// files.write("a.txt", "one\ntwo two\r\n")?;
/// let found = files.grep("two", "", &Default::default())?;
/// let line = &found.matches[0];
/// assert_eq!((line.line_number, line.line_content.as_str()), (2, "two two"));
/// assert_eq!((line.match_start, line.match_end, line.match_count), (0, 3, 2));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct GrepMatch {
    /// The file.
    pub path: TreePath,
    /// The line, counted from 1.
    pub line_number: u64,
    /// The line without its ending; bytes that are not UTF-8 are shown as U+FFFD.
    pub line_content: String,
    /// Where the first match starts in `line_content`, in bytes.
    pub match_start: usize,
    /// Where the first match ends in `line_content`, in bytes.
    pub match_end: usize,
    /// How many matches the line has.
    pub match_count: u64,
    /// Whether the line was too long and is shown around its first match.
    pub clamped: bool,
    /// The lines of context before it, nearest last.
    pub before: Vec<String>,
    /// The lines of context after it.
    pub after: Vec<String>,
}

impl GrepMatch {
    pub(super) fn new(
        path: &TreePath,
        line_number: u64,
        line: &[u8],
        matcher: &RegexMatcher,
        stop: &Stop,
        max_bytes: usize,
    ) -> Self {
        let line = without_ending(line);
        let (first, match_count) = find_all(matcher, stop, line);
        let found = Self::around(path, line_number, line, first, max_bytes, true);
        Self { match_count, ..found }
    }

    /// Makes the value for a match in a line without its ending, or in a part of one.
    pub(super) fn around(
        path: &TreePath,
        line_number: u64,
        line: &[u8],
        found: (usize, usize),
        max_bytes: usize,
        is_whole: bool,
    ) -> Self {
        let shown = Shown::around(line, found, max_bytes);
        Self {
            path: path.clone(),
            line_number,
            line_content: shown.text,
            match_start: shown.start,
            match_end: shown.end,
            match_count: 1,
            clamped: shown.clamped || !is_whole,
            before: Vec::new(),
            after: Vec::new(),
        }
    }
}

/// Returns a line of context, shortened if it is too long.
pub(super) fn context_line(line: &[u8], max_bytes: usize) -> String {
    Shown::around(without_ending(line), (0, 0), max_bytes).text
}

pub(super) fn without_ending(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns the first match and the number of matches, until the search is stopped.
///
/// Finding one match may take a look at the whole line, so all of them take quadratic time.
fn find_all(matcher: &RegexMatcher, stop: &Stop, line: &[u8]) -> ((usize, usize), u64) {
    let mut first = None;
    let mut count = 0;
    // The matcher's error type has no values.
    let _ = matcher.find_iter(line, |found| {
        first.get_or_insert((found.start(), found.end()));
        count += 1;
        stop.reason().is_none()
    });
    // A final carriage return without a newline is not shown, but `^$` matches after it.
    (first.unwrap_or((line.len(), line.len())), count.max(1))
}

/// A line as text, with the position of its first match.
struct Shown {
    text: String,
    start: usize,
    end: usize,
    clamped: bool,
}

impl Shown {
    fn around(line: &[u8], (start, end): (usize, usize), max_bytes: usize) -> Self {
        let (from, to) = window(line.len(), start, end, max_bytes);
        let from = char_boundary(line, from);
        let to = char_boundary(line, to);
        let start = start.clamp(from, to);
        let end = end.clamp(from, to);
        let mut text = String::with_capacity(to - from + 2 * CUT.len());
        if from > 0 {
            text.push_str(CUT);
        }
        text.push_str(&String::from_utf8_lossy(&line[from..start]));
        let shown_start = text.len();
        text.push_str(&String::from_utf8_lossy(&line[start..end]));
        let shown_end = text.len();
        text.push_str(&String::from_utf8_lossy(&line[end..to]));
        if to < line.len() {
            text.push_str(CUT);
        }
        let clamped = to - from < line.len();
        Self { text, start: shown_start, end: shown_end, clamped }
    }
}

/// Chooses the part of a long line to show: the match, and as much as fits around it.
fn window(len: usize, start: usize, end: usize, max_bytes: usize) -> (usize, usize) {
    if len <= max_bytes {
        return (0, len);
    }
    let spare = max_bytes.saturating_sub(end - start);
    let from = start.saturating_sub(spare / 2).min(len - max_bytes);
    (from, from + max_bytes)
}

/// Moves a position back to a character boundary.
fn char_boundary(line: &[u8], at: usize) -> usize {
    let is_inside = |at: usize| line.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at.saturating_sub(3)..=at).rev().find(|at| !is_inside(*at)).unwrap_or(at)
}

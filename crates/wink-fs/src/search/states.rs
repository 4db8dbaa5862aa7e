//! Finds lines by content in a series of states.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::grep::{GrepOptions, grep};
use super::line::GrepMatch;
use super::walk::Skipped;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::limits::Limits;
use crate::memory::MemoryBackend;
use crate::path::TreePath;
use crate::tree::compare::{Difference, compare};
use crate::tree::scope::Scope;
use crate::tree::{Kind, Tree};

/// A matching line, with the states that have it.
///
/// ```
/// use wink_fs::search::GrepOptions;
///
/// let files = wink_fs::Workspace::memory();
/// let empty = files.snapshot("empty")?;
/// files.write("a.txt", "one\n")?;
/// files.snapshot("one")?;
/// files.write("a.txt", "zero\none\n")?;
/// files.snapshot("two")?;
/// let found = files.grep_snapshots("one", &files.snapshots()?, &[], &GrepOptions::default())?;
/// let line = &found.lines[0];
/// assert_eq!((line.first, line.last, line.line_number), (1, 2, 2));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct StateMatch {
    /// The file.
    pub path: TreePath,
    /// The line in the last state that has it, counted from 1.
    pub line_number: u64,
    /// The line without its ending.
    pub line_content: String,
    /// The index of the first state with the line.
    pub first: usize,
    /// The index of the last state with the line.
    pub last: usize,
}

/// The lines found in several states, sorted by path and line.
///
/// ```
/// let files = wink_fs::Workspace::memory();
/// let found = files.grep_snapshots("x", &[], &[], &Default::default())?;
/// assert!(found.lines.is_empty() && !found.truncated && found.searched == 0);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct StatesResult {
    /// The lines, each once for a file.
    pub lines: Vec<StateMatch>,
    /// How often a file was searched; an unchanged one is not searched again.
    pub searched: u64,
    /// Whether lines were omitted because of a limit.
    pub truncated: bool,
    /// What was skipped.
    pub skipped: Skipped,
}

/// The most lines of one state: with fewer, it would not be known when a line was removed.
const MOST_LINES: u64 = 1_000_000;

/// Finds matching lines in consecutive states; only differences are searched.
pub(crate) fn grep_states(
    states: impl Iterator<Item = Result<Arc<dyn Tree>>>,
    pattern: &str,
    scope: &Scope,
    options: &GrepOptions,
    limits: &Limits,
) -> Result<StatesResult> {
    let each = options.clone().max_matches(MOST_LINES);
    let most = options.max_matches.unwrap_or(limits.max_grep_matches);
    let mut search = States {
        pattern,
        options: &each,
        limits,
        most,
        found: BTreeMap::new(),
        at: 0,
        result: StatesResult::default(),
    };
    let mut before: Arc<dyn Tree> = Arc::new(MemoryBackend::new());
    for (at, state) in states.enumerate() {
        let state = state?;
        search.at = at;
        for difference in compare(&*before, &*state, scope)? {
            search.look(&*state, &difference)?;
        }
        before = state;
    }
    Ok(search.finish())
}

/// The lines found so far.
struct States<'a> {
    pattern: &'a str,
    options: &'a GrepOptions,
    limits: &'a Limits,
    /// How many lines to return.
    most: u64,
    found: BTreeMap<(TreePath, String), Line>,
    /// The index of the current state.
    at: usize,
    result: StatesResult,
}

struct Line {
    number: u64,
    first: usize,
    /// `None` while the line is there.
    last: Option<usize>,
}

impl States<'_> {
    /// Ends the lines that were there before, and adds those that are there now.
    fn look(&mut self, state: &dyn Tree, difference: &Difference) -> Result<()> {
        if difference.directory_mode().is_some() {
            return Ok(());
        }
        let Difference { path, before, after, .. } = difference;
        if before.is_some() {
            let gone = self.found.iter_mut().filter(|((file, _), _)| file.starts_with(path));
            gone.for_each(|(_, line)| line.last = line.last.or(Some(self.at.saturating_sub(1))));
        }
        if !matches!(after, Some(Kind::File | Kind::Directory)) {
            return Ok(());
        }
        let found = grep(state, self.pattern, path, self.options, self.limits)?;
        self.result.searched += found.searched;
        if found.truncated {
            return Err(too_many());
        }
        self.result.skipped.binary += found.skipped.binary;
        self.result.skipped.unreadable += found.skipped.unreadable;
        found.matches.into_iter().for_each(|line| self.keep(line));
        Ok(())
    }

    fn keep(&mut self, found: GrepMatch) {
        let is_full = self.found.len() as u64 >= self.most;
        let key = (found.path, found.line_content);
        match self.found.get_mut(&key) {
            // Of several equal lines in a state, the first counts.
            Some(line) if line.last.is_some() => {
                (line.number, line.last) = (found.line_number, None);
            }
            Some(_) => {}
            None if is_full => self.result.truncated = true,
            None => {
                let line = Line { number: found.line_number, first: self.at, last: None };
                self.found.insert(key, line);
            }
        }
    }

    fn finish(mut self) -> StatesResult {
        let at = self.at;
        let lines = self.found.into_iter().map(|((path, line_content), line)| StateMatch {
            path,
            line_number: line.number,
            line_content,
            first: line.first,
            last: line.last.unwrap_or(at),
        });
        self.result.lines = lines.collect();
        self.result.lines.sort_by(|a, b| (&a.path, a.line_number).cmp(&(&b.path, b.line_number)));
        self.result
    }
}

fn too_many() -> Error {
    Error::new(Operation::Grep, ErrorKind::TooLarge).with_detail(format!(
        "more than {MOST_LINES} lines of one state match; search for something rarer, or in fewer paths"
    ))
}

//! Lines by content, over one state after the other.

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

/// Holds a line that matches, with the states that have it.
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
    /// The place of the first state that has it, counted from 0.
    pub first: usize,
    /// The place of the last state that has it.
    pub last: usize,
}

/// Holds the lines that were found in several states, in the order of paths and lines.
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
    /// How many times a file was searched; where it is the same as in the state before, it is not.
    pub searched: u64,
    /// Whether lines were left out because of a limit.
    pub truncated: bool,
    /// What was passed over.
    pub skipped: Skipped,
}

/// How many lines of one state are looked at: with fewer it would not be known when a line went.
const MOST_LINES: u64 = 1_000_000;

/// Finds the lines that match in states that follow each other; only what differs from one to the next is
/// searched.
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
    /// How many lines are returned.
    most: u64,
    found: BTreeMap<(TreePath, String), Line>,
    /// The place of the state that is looked at.
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
    /// Forgets the lines that were there, and finds those that are.
    fn look(&mut self, state: &dyn Tree, difference: &Difference) -> Result<()> {
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
            // Of several lines that are the same, the first of a state counts.
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

//! Lines by content.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::collector::Collector;
use super::file::{FileSearch, Found};
use super::glob::relative;
use super::later::Later;
use super::line::GrepMatch;
use super::pattern::PathPattern;
use super::regex;
use super::stop::Stop;
use super::walk::{Skipped, Walk};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::limits::Limits;
use crate::path::TreePath;
use crate::tree::{Kind, Tree};

/// Says whether upper and lower case differ.
///
/// ```
/// assert_eq!(wink_fs::search::Case::default(), wink_fs::search::Case::Sensitive);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Case {
    /// They differ.
    #[default]
    Sensitive,
    /// They are the same.
    Insensitive,
    /// They differ where the pattern has an upper-case letter.
    Smart,
}

/// Says what a search returns.
///
/// ```
/// assert_eq!(wink_fs::search::GrepMode::default(), wink_fs::search::GrepMode::Content);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum GrepMode {
    /// The matching lines.
    #[default]
    Content,
    /// The files that have one.
    Files,
    /// The files with the number of matching lines of each.
    Count,
}

/// Says how lines are looked for.
///
/// ```
/// use wink_fs::search::{Case, GrepMode, GrepOptions};
/// use wink_fs::Workspace;
///
/// let files = Workspace::memory();
/// files.write("a.txt", "Error: one\nerror: two\n")?;
/// let options = GrepOptions::default().case(Case::Insensitive).mode(GrepMode::Count);
/// let found = files.grep("error", "", &options)?;
/// assert_eq!(found.files[0].matching_lines, 2);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct GrepOptions {
    /// Only files whose path relative to the base matches this are searched.
    pub glob: Option<String>,
    /// Whether upper and lower case differ.
    pub case: Case,
    /// Whether the pattern is plain text and not a regular expression.
    pub literal: bool,
    /// Whether a match must be a whole word.
    pub word: bool,
    /// How many lines around each match are wanted.
    pub context: usize,
    /// What is returned.
    pub mode: GrepMode,
    /// How many of the first lines (or files) are left out.
    pub offset: u64,
    /// How many lines (or files) are returned at most; unset is the workspace's limit.
    pub max_matches: Option<u64>,
    /// How many lines of one file are returned at most.
    pub max_per_file: Option<u64>,
    /// Whether `.gitignore` and `.ignore` hide files.
    pub ignore_files: bool,
    /// When to give up.
    pub stop: Stop,
}

impl GrepOptions {
    /// Sets a pattern for the paths that are searched.
    #[must_use]
    pub fn glob(mut self, glob: impl Into<String>) -> Self {
        self.glob = Some(glob.into());
        self
    }

    /// Sets whether upper and lower case differ.
    #[must_use]
    pub fn case(mut self, case: Case) -> Self {
        self.case = case;
        self
    }

    /// Sets whether the pattern is plain text.
    #[must_use]
    pub fn literal(mut self, literal: bool) -> Self {
        self.literal = literal;
        self
    }

    /// Sets whether a match must be a whole word.
    #[must_use]
    pub fn word(mut self, word: bool) -> Self {
        self.word = word;
        self
    }

    /// Sets how many lines around each match are wanted.
    #[must_use]
    pub fn context(mut self, lines: usize) -> Self {
        self.context = lines;
        self
    }

    /// Sets what is returned.
    #[must_use]
    pub fn mode(mut self, mode: GrepMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets how many of the first lines (or files) are left out.
    #[must_use]
    pub fn offset(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// Sets how many lines (or files) are returned at most.
    #[must_use]
    pub fn max_matches(mut self, max: u64) -> Self {
        self.max_matches = Some(max);
        self
    }

    /// Sets how many lines of one file are returned at most.
    #[must_use]
    pub fn max_per_file(mut self, max: u64) -> Self {
        self.max_per_file = Some(max);
        self
    }

    /// Sets whether `.gitignore` and `.ignore` hide files.
    #[must_use]
    pub fn ignore_files(mut self, ignore_files: bool) -> Self {
        self.ignore_files = ignore_files;
        self
    }

    /// Sets when to give up.
    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }
}

/// Holds a file that has matching lines.
///
/// ```
/// use wink_fs::search::{GrepMode, GrepOptions};
///
/// let files = wink_fs::Workspace::memory();
/// files.write("a", "x\nx\n")?;
/// let found = files.grep("x", "", &GrepOptions::default().mode(GrepMode::Count))?;
/// assert_eq!((found.files[0].path.to_string(), found.files[0].matching_lines), ("a".into(), 2));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MatchedFile {
    /// The file.
    pub path: TreePath,
    /// How many lines match; in mode [`Files`](GrepMode::Files) at least so many.
    pub matching_lines: u64,
}

/// Holds what was found, in order of path and line; the totals are true also where lines were left out.
///
/// ```
/// use wink_fs::search::GrepOptions;
///
/// let files = wink_fs::Workspace::memory();
/// files.write("a", "x\nx\nx\n")?;
/// let found = files.grep("x", "", &GrepOptions::default().max_matches(2))?;
/// assert_eq!((found.matches.len(), found.total_lines, found.truncated), (2, 3, true));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct GrepResult {
    /// The matching lines, in mode [`Content`](GrepMode::Content).
    pub matches: Vec<GrepMatch>,
    /// The files that have some, in the other modes.
    pub files: Vec<MatchedFile>,
    /// How many lines match in all; in mode [`Files`](GrepMode::Files) one is counted for each file.
    pub total_lines: u64,
    /// How many files have a matching line.
    pub total_files: u64,
    /// How many files were searched.
    pub searched: u64,
    /// Whether lines or files after those returned were left out because of a limit.
    pub truncated: bool,
    /// What was passed over.
    pub skipped: Skipped,
}

/// Finds the lines below `base` that match a regular expression.
pub fn grep(
    tree: &dyn Tree,
    pattern: &str,
    base: &TreePath,
    options: &GrepOptions,
    limits: &Limits,
) -> Result<GrepResult> {
    let search = Search::new(tree, pattern, base, options, limits)?;
    let visit = |path: TreePath, kind: Kind| search.visit(path, kind);
    let mut walk = Walk::new(tree, Operation::Grep, &options.stop, &visit);
    walk.ignore_files = options.ignore_files;
    let skipped = walk.run(base)?;
    match search.given_up.get() {
        Some(kind) => Err(*kind),
        None => search.finish(skipped),
    }
    .map_err(|kind| Error::new(Operation::Grep, kind).with_path(base))
}

/// One search: what is looked for, and what was found so far.
struct Search<'a> {
    tree: &'a dyn Tree,
    base: &'a TreePath,
    paths: Option<PathPattern>,
    file: FileSearch,
    mode: GrepMode,
    offset: usize,
    max: usize,
    max_per_file: usize,
    stop: &'a Stop,
    /// Why a file was not searched to its end.
    given_up: OnceLock<ErrorKind>,
    found: Collector<Hits>,
    totals: Totals,
}

/// What was found in one file.
struct Hits {
    count: u64,
    kept: Vec<GrepMatch>,
}

#[derive(Default)]
struct Totals {
    lines: AtomicU64,
    files: AtomicU64,
    searched: AtomicU64,
    binary: AtomicU64,
    not_files: AtomicU64,
    unreadable: AtomicU64,
}

fn add(total: &AtomicU64, count: u64) {
    total.fetch_add(count, Ordering::Relaxed);
}

fn as_count(wanted: Option<u64>) -> usize {
    wanted.map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX))
}

impl<'a> Search<'a> {
    fn new(
        tree: &'a dyn Tree,
        pattern: &str,
        base: &'a TreePath,
        options: &'a GrepOptions,
        limits: &Limits,
    ) -> Result<Self> {
        let matcher = regex::build(pattern, options, limits)?;
        let paths = options.glob.as_deref();
        let paths = paths.map(|glob| PathPattern::parse(glob, limits)).transpose()?;
        let max = as_count(options.max_matches.or(Some(limits.max_grep_matches)));
        let offset = as_count(Some(options.offset));
        let first_only = options.mode == GrepMode::Files;
        let (stop, max_line) = (&options.stop, limits.max_line_bytes);
        let file = FileSearch::new(matcher, stop, options.context, max_line, first_only);
        Ok(Self {
            tree,
            base,
            paths,
            file,
            mode: options.mode,
            offset,
            max,
            max_per_file: as_count(options.max_per_file),
            stop,
            given_up: OnceLock::new(),
            found: Collector::new(offset.saturating_add(max)),
            totals: Totals::default(),
        })
    }

    fn visit(&self, path: TreePath, kind: Kind) {
        let wanted = |paths: &PathPattern| paths.matches_bytes(relative(&path, self.base));
        if !self.paths.as_ref().is_none_or(wanted) {
            return;
        }
        if kind == Kind::File { self.search(path) } else { add(&self.totals.not_files, 1) }
    }

    fn search(&self, path: TreePath) {
        let found = match self.tree.open(&path) {
            Ok(content) => self.file.run(&path, &content, 0..self.lines_to_keep(&path)).ok(),
            Err(_) => None,
        };
        if let (None, Some(kind)) = (&found, self.stop.reason()) {
            self.given_up.get_or_init(|| kind);
            return;
        }
        add(&self.totals.searched, 1);
        match found {
            None => add(&self.totals.unreadable, 1),
            Some(Found::Binary) => add(&self.totals.binary, 1),
            Some(Found::Lines { count: 0, .. }) => {}
            Some(Found::Lines { count, kept }) => self.add(path, Hits { count, kept }),
        }
    }

    fn lines_to_keep(&self, path: &TreePath) -> usize {
        match self.mode {
            GrepMode::Content if self.offset == 0 && self.found.wants(path) => {
                self.max.min(self.max_per_file)
            }
            _ => 0,
        }
    }

    fn add(&self, path: TreePath, hits: Hits) {
        add(&self.totals.lines, hits.count);
        add(&self.totals.files, 1);
        match self.mode {
            GrepMode::Content if self.offset > 0 => {
                self.found.add(path, self.returned_of(&hits), hits)
            }
            GrepMode::Content if hits.kept.is_empty() => {}
            GrepMode::Content => self.found.add(path, hits.kept.len(), hits),
            GrepMode::Files | GrepMode::Count => self.found.add(path, 1, hits),
        }
    }

    /// Returns how many lines of a file may be returned.
    fn returned_of(&self, hits: &Hits) -> usize {
        as_count(Some(hits.count)).min(self.max_per_file)
    }

    fn finish(mut self, skipped: Skipped) -> Result<GrepResult, ErrorKind> {
        let mut result = std::mem::take(&mut self.totals).result(skipped);
        let found = std::mem::replace(&mut self.found, Collector::new(0)).finish();
        match self.mode {
            GrepMode::Content if self.offset > 0 => {
                let later = Later { tree: self.tree, file: &self.file, stop: self.stop };
                let files = found.map(|(path, hits)| (path, self.returned_of(&hits)));
                result.matches = later.lines(files, self.offset, self.max)?;
            }
            GrepMode::Content => {
                result.matches.extend(found.flat_map(|(_, hits)| hits.kept).take(self.max));
            }
            _ => {
                let file =
                    |(path, hits): (_, Hits)| MatchedFile { path, matching_lines: hits.count };
                result.files.extend(found.map(file).skip(self.offset).take(self.max));
            }
        }
        let (returned, total) = match self.mode {
            GrepMode::Content => (result.matches.len(), result.total_lines),
            _ => (result.files.len(), result.total_files),
        };
        result.truncated = (self.offset.saturating_add(returned) as u64) < total;
        Ok(result)
    }
}

impl Totals {
    fn result(self, skipped: Skipped) -> GrepResult {
        GrepResult {
            total_lines: self.lines.into_inner(),
            total_files: self.files.into_inner(),
            searched: self.searched.into_inner(),
            skipped: Skipped {
                binary: self.binary.into_inner(),
                not_files: self.not_files.into_inner(),
                unreadable: skipped.unreadable + self.unreadable.into_inner(),
                ignored: skipped.ignored,
            },
            ..GrepResult::default()
        }
    }
}

//! Finds lines by content.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::collector::Collector;
use super::file::{FileSearch, Found};
use super::glob::relative;
use super::later::Later;
use super::line::GrepMatch;
use super::pattern::{self, PathPattern};
use super::stop::Stop;
use super::walk::{Skipped, Walk};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::limits::Limits;
use crate::path::TreePath;
use crate::tree::{Kind, Tree};

/// Whether upper and lower case differ.
///
/// ```
/// assert_eq!(wink_fs::search::Case::default(), wink_fs::search::Case::Sensitive);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Case {
    /// Upper and lower case differ.
    #[default]
    Sensitive,
    /// Upper and lower case are the same.
    Insensitive,
    /// They differ if the pattern has an upper-case letter.
    Smart,
}

/// What a search returns.
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
    /// The files with a match.
    Files,
    /// The files with their numbers of matching lines.
    Count,
}

/// Options of a search for lines.
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
    /// A pattern for the paths to search, relative to the base.
    pub glob: Option<String>,
    /// Whether upper and lower case differ.
    pub case: Case,
    /// Whether the pattern is plain text and not a regular expression.
    pub literal: bool,
    /// Whether a match must be a whole word.
    pub word: bool,
    /// How many lines of context to return around each match.
    pub context: usize,
    /// What is returned.
    pub mode: GrepMode,
    /// How many of the first lines (or files) to skip.
    pub offset: u64,
    /// The most lines (or files) to return; the workspace's limit if unset.
    pub max_matches: Option<u64>,
    /// The most lines of one file to return.
    pub max_per_file: Option<u64>,
    /// Whether `.gitignore` and `.ignore` hide files.
    pub ignore_files: bool,
    /// Whether directories named `.git` are skipped, unless the base or the pattern of the paths names one.
    pub skip_git: bool,
    /// When to stop.
    pub stop: Stop,
}

impl GrepOptions {
    /// Sets a pattern for the paths to search.
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

    /// Sets how many lines of context to return.
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

    /// Sets how many of the first lines (or files) to skip.
    #[must_use]
    pub fn offset(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// Sets the most lines (or files) to return.
    #[must_use]
    pub fn max_matches(mut self, max: u64) -> Self {
        self.max_matches = Some(max);
        self
    }

    /// Sets the most lines of one file to return.
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

    /// Sets whether directories named `.git` are skipped.
    #[must_use]
    pub fn skip_git(mut self, skip_git: bool) -> Self {
        self.skip_git = skip_git;
        self
    }

    /// Sets when to stop.
    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }
}

/// A file with matching lines.
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
    /// The number of matching lines; in mode [`Files`](GrepMode::Files) at least so many.
    pub matching_lines: u64,
}

/// The matches, sorted by path and line; the totals count omitted lines too.
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
    /// The files with matches, in the other modes.
    pub files: Vec<MatchedFile>,
    /// The number of all matching lines; in mode [`Files`](GrepMode::Files) one for each file.
    pub total_lines: u64,
    /// The number of files with a match.
    pub total_files: u64,
    /// The number of files searched.
    pub searched: u64,
    /// Whether later lines or files were omitted because of a limit.
    pub truncated: bool,
    /// What was skipped.
    pub skipped: Skipped,
}

/// Finds the lines below `base` that match a regular expression.
///
/// Memory does not depend on the length of lines. A line over 8 MiB is searched in parts that overlap by 1 MiB: there, a
/// match that is longer than 1 MiB may be missed or cut.
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
    if options.skip_git {
        walk.skip_git(base, search.paths.as_ref());
    }
    let skipped = walk.run(base)?;
    match search.given_up.get() {
        Some(kind) => Err(*kind),
        None => search.finish(skipped),
    }
    .map_err(|kind| Error::new(Operation::Grep, kind).with_path(base))
}

/// One search, and its results so far.
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
    /// Why a file was not searched completely.
    given_up: OnceLock<ErrorKind>,
    found: Collector<Hits>,
    totals: Totals,
}

/// The matches in one file.
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
        let matcher = pattern::build_regex(pattern, options, limits)?;
        let paths = options.glob.as_deref();
        let paths =
            paths.map(|glob| PathPattern::parse_in(tree, base, glob, limits)).transpose()?;
        let max = as_count(options.max_matches.or(Some(limits.max_grep_matches)));
        let offset = as_count(Some(options.offset));
        let first_only = options.mode == GrepMode::Files;
        let stop = &options.stop;
        let max_line = limits.max_line_bytes;
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
                git_directories: skipped.git_directories,
                unreadable: skipped.unreadable + self.unreadable.into_inner(),
                ignored: skipped.ignored,
            },
            ..GrepResult::default()
        }
    }
}

//! Walks a tree in parallel.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use rayon::Scope;

use super::ignored::Rules;
use super::pattern::PathPattern;
use super::stop::Stop;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::path::TreePath;
use crate::tree::{Entry, Kind, Tree};
use crate::util::parallel;

/// How many files of one directory a task visits.
const BATCH: usize = 64;

/// What a search skipped; nothing is skipped silently.
///
/// ```
/// let files = wink_fs::Workspace::memory();
/// files.write_bytes("image", &b"\x89PNG\0"[..])?;
/// let found = files.grep("x", "", &Default::default())?;
/// assert_eq!(found.skipped.binary, 1);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Skipped {
    /// Binary files.
    pub binary: u64,
    /// Files hidden by ignore files, if those apply.
    pub ignored: u64,
    /// Links, which are not followed, and FIFOs, sockets and devices.
    pub not_files: u64,
    /// Unreadable files and directories.
    pub unreadable: u64,
    /// Directories named `.git`, if those are to be skipped.
    pub git_directories: u64,
}

/// The directory in which Git keeps its own files.
const GIT: &str = ".git";

/// One walk.
pub(super) struct Walk<'a> {
    pub(super) tree: &'a dyn Tree,
    pub(super) operation: Operation,
    pub(super) ignore_files: bool,
    pub(super) skip_git: bool,
    pub(super) stop: &'a Stop,
    pub(super) visit: &'a (dyn Fn(TreePath, Kind) + Sync),
    state: State,
}

#[derive(Default)]
struct State {
    given_up: AtomicBool,
    why: Mutex<Option<ErrorKind>>,
    ignored: AtomicU64,
    unreadable: AtomicU64,
    git_directories: AtomicU64,
}

impl<'a> Walk<'a> {
    /// Prepares a walk that calls `visit` for everything that is not a directory.
    pub(super) fn new(
        tree: &'a dyn Tree,
        operation: Operation,
        stop: &'a Stop,
        visit: &'a (dyn Fn(TreePath, Kind) + Sync),
    ) -> Self {
        let state = State::default();
        Self { tree, operation, ignore_files: false, skip_git: false, stop, visit, state }
    }

    /// Skips directories named `.git`, unless the base or the pattern of the paths names one.
    pub(super) fn skip_git(&mut self, base: &TreePath, pattern: Option<&PathPattern>) {
        let is_named = base.segments().any(|name| name == GIT.as_bytes())
            || pattern.is_some_and(|pattern| pattern.names(GIT));
        self.skip_git = !is_named;
    }

    /// Visits everything below `base`, or `base` itself if it is a file.
    pub(super) fn run(self, base: &TreePath) -> Result<Skipped> {
        let kind = self.tree.stat(base).map_err(|error| error.during(self.operation))?.kind;
        if kind == Kind::Directory {
            let rules =
                if self.ignore_files { Rules::above(self.tree, base) } else { Rules::default() };
            parallel::run(|| rayon::scope(|scope| self.directory(scope, base.clone(), rules)));
        } else {
            checks::check_file(self.operation, base, kind)?;
            self.file(base.clone(), kind);
        }
        self.finish(base)
    }

    fn finish(self, base: &TreePath) -> Result<Skipped> {
        let State { why, ignored, unreadable, git_directories, .. } = self.state;
        if let Some(kind) = why.into_inner() {
            return Err(Error::new(self.operation, kind).with_path(base));
        }
        let ignored = ignored.into_inner();
        let unreadable = unreadable.into_inner();
        let git_directories = git_directories.into_inner();
        Ok(Skipped { ignored, unreadable, git_directories, ..Skipped::default() })
    }

    fn directory<'s>(&'s self, scope: &Scope<'s>, path: TreePath, rules: Rules) {
        let Some(entries) = self.list(&path) else { return };
        let rules = if self.ignore_files { rules.enter(self.tree, &path, &entries) } else { rules };
        let mut files = Vec::with_capacity(entries.len().min(BATCH));
        for Entry { name, kind } in entries {
            let Ok(child) = path.join(&name) else {
                self.state.unreadable.fetch_add(1, Ordering::Relaxed);
                continue;
            };
            if self.skip_git && kind == Kind::Directory && name.as_bytes() == GIT.as_bytes() {
                self.state.git_directories.fetch_add(1, Ordering::Relaxed);
            } else if self.ignore_files && rules.hide(&child, kind) {
                self.count_ignored(&child, kind);
            } else if kind == Kind::Directory {
                let rules = rules.clone();
                scope.spawn(move |scope| self.directory(scope, child, rules));
            } else {
                files.push((child, kind));
                if files.len() == BATCH {
                    let batch = std::mem::take(&mut files);
                    scope.spawn(move |_| self.files(batch));
                }
            }
        }
        self.files(files);
    }

    fn files(&self, files: Vec<(TreePath, Kind)>) {
        files.into_iter().for_each(|(path, kind)| self.file(path, kind));
    }

    fn file(&self, path: TreePath, kind: Kind) {
        if !self.given_up() {
            (self.visit)(path, kind);
        }
    }

    fn list(&self, path: &TreePath) -> Option<Vec<Entry>> {
        if self.given_up() {
            return None;
        }
        match self.tree.list(path) {
            Ok(entries) => Some(entries),
            // Another process removed or replaced it since its parent was listed.
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(_) => {
                self.state.unreadable.fetch_add(1, Ordering::Relaxed);
                None
            }
        }
    }

    fn given_up(&self) -> bool {
        if self.state.given_up.load(Ordering::Relaxed) {
            return true;
        }
        let Some(kind) = self.stop.reason() else { return false };
        *self.state.why.lock() = Some(kind);
        self.state.given_up.store(true, Ordering::Relaxed);
        true
    }

    /// Counts the files that are hidden with an entry.
    fn count_ignored(&self, path: &TreePath, kind: Kind) {
        if kind != Kind::Directory {
            self.state.ignored.fetch_add(1, Ordering::Relaxed);
            return;
        }
        for Entry { name, kind } in self.list(path).unwrap_or_default() {
            if let Ok(child) = path.join(&name) {
                self.count_ignored(&child, kind);
            }
        }
    }
}

//! Compares two trees, skipping what is known to be equal.

use crate::error::Result;
use crate::memory;
use crate::ops;
use crate::path::TreePath;
use crate::tree::descend;
use crate::tree::hash::directory_mode;
use crate::tree::scope::Scope;
use crate::tree::{Entry, FileMode, Kind, KnownEntry, KnownFile, Stat, Tree};
use crate::util::parallel;

/// An entry that differs in kind or content, or is in one tree only.
///
/// A directory in one tree only stands for everything below it. One in both stands for itself: only its mode differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Difference {
    pub(crate) path: TreePath,
    pub(crate) before: Option<Kind>,
    pub(crate) after: Option<Kind>,
    /// The mode of the file in the second tree, if it was read; always, if only a directory's mode differs.
    pub(crate) mode: Option<FileMode>,
}

impl Difference {
    /// Makes the difference of a directory that is in both trees, with another mode in the second.
    pub(crate) fn of_directory_mode(path: TreePath, mode: FileMode) -> Self {
        let directory = Some(Kind::Directory);
        Self { path, before: directory, after: directory, mode: Some(mode) }
    }

    /// Returns the new mode of a directory that is in both trees.
    pub(crate) fn directory_mode(&self) -> Option<FileMode> {
        let is_directory = |kind: Option<Kind>| kind == Some(Kind::Directory);
        self.mode.filter(|_| is_directory(self.before) && is_directory(self.after))
    }

    /// Counts the files and links of the first tree that differ.
    pub(crate) fn count_before(&self, tree: &dyn Tree) -> Result<u64> {
        count_files(tree, &self.path, self.before.filter(|_| self.directory_mode().is_none()))
    }

    /// Counts the files and links of the second tree that differ.
    pub(crate) fn count_after(&self, tree: &dyn Tree) -> Result<u64> {
        count_files(tree, &self.path, self.after.filter(|_| self.directory_mode().is_none()))
    }
}

/// Returns the differences, sorted by path.
pub(crate) fn compare(
    before: &dyn Tree,
    after: &dyn Tree,
    scope: &Scope,
) -> Result<Vec<Difference>> {
    if scope.is_everything()
        && let Some(differences) = memory::compare(before, after)
    {
        return differences;
    }
    let comparison = Comparison { before, after, scope };
    if scope.starts().is_empty() {
        return comparison.directory(&TreePath::root());
    }
    let starts = scope.starts().iter().filter(|path| !scope.excluded().matches(path));
    let mut differences = Vec::new();
    for path in starts {
        let found = comparison.start(path)?;
        if differences.is_empty() { differences = found } else { differences.extend(found) }
    }
    Ok(differences)
}

/// What is at a path of one tree, as far as it was read.
struct Found {
    kind: Kind,
    stat: Option<Stat>,
}

impl Found {
    fn at(tree: &dyn Tree, path: &TreePath) -> Result<Option<Self>> {
        Ok(stat_at(tree, path)?.map(|stat| Self { kind: stat.kind, stat: Some(stat) }))
    }

    fn of_kind(kind: Kind) -> Self {
        Self { kind, stat: None }
    }

    fn stat(&self, tree: &dyn Tree, path: &TreePath) -> Result<Stat> {
        self.stat.clone().map_or_else(|| tree.stat(path), Ok)
    }
}

struct Comparison<'a> {
    before: &'a dyn Tree,
    after: &'a dyn Tree,
    scope: &'a Scope,
}

impl Comparison<'_> {
    fn start(&self, path: &TreePath) -> Result<Vec<Difference>> {
        let before = Found::at(self.before, path)?;
        let after = Found::at(self.after, path)?;
        self.entry(path.clone(), before, after)
    }

    /// Compares the modes of two directories, and everything in them.
    fn both_directories(&self, path: &TreePath) -> Result<Vec<Difference>> {
        let mut differences = self.directory(path)?;
        // The hash of a directory covers its mode.
        if !self.is_known_to_be_same(path) {
            let before = directory_mode(self.before, path)?;
            let after = directory_mode(self.after, path)?;
            if before != after {
                differences.insert(0, Difference::of_directory_mode(path.clone(), after));
            }
        }
        Ok(differences)
    }

    fn is_known_to_be_same(&self, path: &TreePath) -> bool {
        let known = self.before.known_tree_hash(path).zip(self.after.known_tree_hash(path));
        known.is_some_and(|(before, after)| before == after)
    }

    fn directory(&self, path: &TreePath) -> Result<Vec<Difference>> {
        // Equal hashes prove equal content, so whole subtrees are skipped. Unknown hashes are not computed: that would
        // read every file.
        if self.is_known_to_be_same(path) {
            return Ok(Vec::new());
        }
        let mut pairs = pair_up(self.before.list_known(path)?, self.after.list_known(path)?);
        pairs.retain(|pair| !pair.is_known_to_be_same());
        let entry = |pair: &Pair| {
            let path = path.join(&pair.entry.name)?;
            if self.scope.excluded().matches_entry(&path) {
                return Ok(Vec::new());
            }
            self.entry(path, pair.before.map(Found::of_kind), pair.after.map(Found::of_kind))
        };
        Ok(parallel::try_map(&pairs, entry)?.concat())
    }

    fn entry(
        &self,
        path: TreePath,
        before: Option<Found>,
        after: Option<Found>,
    ) -> Result<Vec<Difference>> {
        let same = match (&before, &after) {
            (Some(before), Some(after)) if before.kind == after.kind => match after.kind {
                Kind::Directory => return descend(|| self.both_directories(&path)),
                Kind::File => self.same_file(&path, before, after)?,
                Kind::Symlink => self.before.read_link(&path)? == self.after.read_link(&path)?,
                Kind::Other => true,
            },
            (before, after) => before.is_none() && after.is_none(),
        };
        if same {
            return Ok(Vec::new());
        }
        let mode = after.as_ref().and_then(|it| it.stat.as_ref()).map(|stat| stat.mode);
        let before = before.map(|it| it.kind);
        let after = after.map(|it| it.kind);
        Ok(vec![Difference { path, before, after, mode }])
    }

    fn same_file(&self, path: &TreePath, before: &Found, after: &Found) -> Result<bool> {
        let before = before.stat(self.before, path)?;
        let after = after.stat(self.after, path)?;
        // Cheap comparisons first: content is read only if mode and size are equal.
        Ok(before.mode == after.mode
            && before.size_bytes == after.size_bytes
            && ops::content_hash(self.before, path)? == ops::content_hash(self.after, path)?)
    }
}

pub(crate) fn kind_at(tree: &dyn Tree, path: &TreePath) -> Result<Option<Kind>> {
    Ok(stat_at(tree, path)?.map(|stat| stat.kind))
}

/// Stats a path; `None` if nothing is there.
fn stat_at(tree: &dyn Tree, path: &TreePath) -> Result<Option<Stat>> {
    match tree.stat(path) {
        Ok(stat) => Ok(Some(stat)),
        Err(error) if error.is_absence() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Counts the files and links of an entry and everything below it.
pub(crate) fn count_files(tree: &dyn Tree, path: &TreePath, kind: Option<Kind>) -> Result<u64> {
    match kind {
        None => Ok(0),
        Some(Kind::Directory) => {
            let below = tree.list(path)?;
            let count = |it: &Entry| {
                let path = path.join(&it.name)?;
                descend(|| count_files(tree, &path, Some(it.kind)))
            };
            below.iter().map(count).sum()
        }
        Some(_) => Ok(1),
    }
}

/// Counts the files and links in scope, given the number of all.
pub(crate) fn count_in_scope(tree: &dyn Tree, all: u64, scope: &Scope) -> Result<u64> {
    let count = |path: &TreePath| count_files(tree, path, kind_at(tree, path)?);
    match scope.starts() {
        [] => Ok(all),
        starts => starts.iter().map(count).sum(),
    }
}

/// The entries of one name in two directories.
struct Pair {
    entry: Entry,
    before: Option<Kind>,
    after: Option<Kind>,
    files: Option<(KnownFile, KnownFile)>,
}

impl Pair {
    fn only_before(known: KnownEntry) -> Self {
        let before = Some(known.entry.kind);
        Self { entry: known.entry, before, after: None, files: None }
    }

    fn with_after(before: Option<KnownEntry>, after: KnownEntry) -> Self {
        let files = before.as_ref().and_then(|before| before.file.zip(after.file));
        let before = before.map(|before| before.entry.kind);
        let kind = after.entry.kind;
        Self { entry: after.entry, before, after: Some(kind), files }
    }

    fn is_known_to_be_same(&self) -> bool {
        self.files.is_some_and(|(before, after)| before == after)
    }
}

/// Joins two sorted listings by name.
fn pair_up(before: Vec<KnownEntry>, after: Vec<KnownEntry>) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(before.len().max(after.len()));
    let mut ours = before.into_iter().peekable();
    for their in after {
        while let Some(own) = ours.next_if(|own| own.entry.name < their.entry.name) {
            pairs.push(Pair::only_before(own));
        }
        let own = ours.next_if(|own| own.entry.name == their.entry.name);
        pairs.push(Pair::with_after(own, their));
    }
    pairs.extend(ours.map(Pair::only_before));
    pairs
}

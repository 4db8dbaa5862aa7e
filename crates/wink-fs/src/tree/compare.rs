//! Where two trees differ, found without looking at what is known to be the same.

use crate::error::Result;
use crate::memory;
use crate::ops;
use crate::path::TreePath;
use crate::tree::descend::descend;
use crate::tree::scope::Scope;
use crate::tree::{Entry, FileMode, Kind, KnownEntry, KnownFile, Stat, Tree};
use crate::util::parallel;

/// An entry that is not the same in both trees: of another kind, with other content, or only in one.
///
/// A directory that is only in one of them stands for all that is below it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Difference {
    pub(crate) path: TreePath,
    pub(crate) before: Option<Kind>,
    pub(crate) after: Option<Kind>,
    /// What is kept of the permissions of a file that is there after, where that was looked at.
    pub(crate) mode: Option<FileMode>,
}

/// Returns the differences in the order of their paths.
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

/// What is at a path of one of the trees, as far as the comparison has looked.
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
        let (before, after) = (Found::at(self.before, path)?, Found::at(self.after, path)?);
        self.entry(path.clone(), before, after)
    }

    fn directory(&self, path: &TreePath) -> Result<Vec<Difference>> {
        let known = self.before.known_tree_hash(path).zip(self.after.known_tree_hash(path));
        if known.is_some_and(|(before, after)| before == after) {
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
                Kind::Directory => return descend(|| self.directory(&path)),
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
        let (before, after) = (before.map(|it| it.kind), after.map(|it| it.kind));
        Ok(vec![Difference { path, before, after, mode }])
    }

    fn same_file(&self, path: &TreePath, before: &Found, after: &Found) -> Result<bool> {
        let (before, after) = (before.stat(self.before, path)?, after.stat(self.after, path)?);
        Ok(before.mode == after.mode
            && before.size_bytes == after.size_bytes
            && ops::content_hash(self.before, path)? == ops::content_hash(self.after, path)?)
    }
}

pub(crate) fn kind_at(tree: &dyn Tree, path: &TreePath) -> Result<Option<Kind>> {
    Ok(stat_at(tree, path)?.map(|stat| stat.kind))
}

/// Looks at what is at a path, if anything.
fn stat_at(tree: &dyn Tree, path: &TreePath) -> Result<Option<Stat>> {
    match tree.stat(path) {
        Ok(stat) => Ok(Some(stat)),
        Err(error) if error.is_absence() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Counts the files and links of an entry, with all that is below it.
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

/// Counts the files and links that are in scope, of a tree that is known to have so many.
pub(crate) fn count_in_scope(tree: &dyn Tree, all: u64, scope: &Scope) -> Result<u64> {
    let count = |path: &TreePath| count_files(tree, path, kind_at(tree, path)?);
    match scope.starts() {
        [] => Ok(all),
        starts => starts.iter().map(count).sum(),
    }
}

/// What is in two directories under one name.
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
        let (before, kind) = (before.map(|before| before.entry.kind), after.entry.kind);
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

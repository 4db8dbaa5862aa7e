//! What an operation kept: files and links by numbers, and all else at its own path.
//!
//! A directory costs more than all the rest of a small write, and a path of its own several.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;

use super::Host;
use super::root::{Resolver, Root};
use crate::content::Content;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::Backend as _;
use crate::hash::ContentHash;
use crate::memory::MemoryBackend;
use crate::operation::{BEFORE, beside, numbered};
use crate::path::{Name, TreePath};
use crate::refusal;
use crate::tree::{Entry, Kind, Stat, Tree};
use crate::tree_hash::TreeHash;

/// Looks at the entries that were kept as the tree that they were in.
pub(crate) struct BeforeTree {
    /// The directory of those that have numbers, and their names in it.
    numbered: Host,
    names: BTreeMap<TreePath, TreePath>,
    rest: Arc<dyn Tree>,
}

impl BeforeTree {
    /// Opens what was kept in the place of an operation, for which these lines of its list have entries.
    pub(crate) fn open(place: &Path, lines: Vec<(TreePath, usize)>) -> Result<Arc<dyn Tree>> {
        Self::open_by(place, lines, None)
    }

    /// Does the same, with paths walked by whom somebody chose before.
    pub(super) fn open_by(
        place: &Path,
        lines: Vec<(TreePath, usize)>,
        resolver: Option<Resolver>,
    ) -> Result<Arc<dyn Tree>> {
        let rest = open(&place.join(BEFORE), resolver)?;
        let rest = rest.map_or_else(|| MemoryBackend::new().live(), |rest| Arc::new(rest));
        let Some(directory) = place.parent().filter(|_| !lines.is_empty()) else { return Ok(rest) };
        let Some(numbered) = open(directory, resolver)? else { return Ok(rest) };
        let by_name = |(path, line)| Ok((path, name_of(place, line)?));
        let names = lines.into_iter().map(by_name).collect::<Result<_>>()?;
        Ok(Arc::new(Self { numbered, names, rest }))
    }

    /// Returns the paths with numbers that lie below another.
    fn below(&self, path: &TreePath) -> impl Iterator<Item = &TreePath> {
        let from_there = self.names.range(path.clone()..).map(|(kept, _)| kept);
        from_there.take_while(|kept| kept.starts_with(path))
    }

    /// Looks at an entry: by its number, or else at its path.
    fn look<T>(
        &self,
        path: &TreePath,
        look: impl FnOnce(&dyn Tree, &TreePath) -> Result<T>,
    ) -> Result<T> {
        match self.names.get(path) {
            Some(name) => look(&self.numbered, name).map_err(|error| error.with_path(path)),
            None => look(&*self.rest, path),
        }
    }
}

pub(super) fn open(directory: &Path, resolver: Option<Resolver>) -> Result<Option<Host>> {
    match Root::open_ambient(directory, resolver) {
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(Error::system(Operation::Open, errno)),
        Ok(root) => Ok(Some(Host::new(root))),
    }
}

/// Returns the name of the entry that is kept for a line.
fn name_of(place: &Path, line: usize) -> Result<TreePath> {
    let place = beside(place, &numbered(line));
    TreePath::from_disk(place.file_name().unwrap_or_default().as_encoded_bytes())
}

impl Tree for BeforeTree {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        match self.look(path, |tree, path| tree.stat(path)) {
            Err(error) if error.is_absence() && self.below(path).next().is_some() => {
                Ok(Stat::new(Kind::Directory, 0))
            }
            stat => stat,
        }
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        if self.names.contains_key(path) {
            return self.look(path, |tree, path| tree.list(path));
        }
        let is_above = self.below(path).next().is_some();
        let rest = match self.rest.list(path) {
            Err(error) if is_above && error.kind() == ErrorKind::NotFound => Vec::new(),
            listed => listed?,
        };
        let mut names: BTreeSet<Name> = rest.into_iter().map(|entry| entry.name).collect();
        let depth = path.depth();
        names.extend(
            self.below(path).filter_map(|it| it.segments().nth(depth)).map(Name::from_segment),
        );
        let entry = |name: Name| {
            let kind = self.stat(&path.join(&name)?)?.kind;
            Ok(Entry::new(name, kind))
        };
        names.into_iter().map(entry).collect()
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        if !self.names.contains_key(path) && self.rest.stat(path).is_err() {
            refusal::check_file(Operation::Read, path, self.stat(path)?.kind)?;
        }
        self.look(path, |tree, path| tree.open(path))
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        self.look(path, |tree, path| tree.read_link(path))
    }

    fn known_hash(&self, _: &TreePath) -> Option<ContentHash> {
        None
    }

    fn known_tree_hash(&self, _: &TreePath) -> Option<TreeHash> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystem::Filesystem as _;
    use crate::host::HostBackend;
    use crate::ops;

    fn path(text: &str) -> TreePath {
        TreePath::parse(text).unwrap()
    }

    fn names(tree: &dyn Tree, at: &TreePath) -> Vec<(String, Kind)> {
        let entries = tree.list(at).unwrap();
        entries.into_iter().map(|entry| (entry.name.to_string(), entry.kind)).collect()
    }

    #[test]
    fn numbers_and_paths_are_one_tree() {
        let mut holder = HostBackend::temporary().unwrap();
        let options = ops::WriteOptions::default();
        for (at, content) in [("7.0", "first"), ("7/before/d/removed/x", "x")] {
            ops::write(&mut holder, &path(at), content, &options).unwrap();
        }
        holder.symlink(&path("7.2"), b"to").unwrap();
        let place = holder.directory().unwrap().join("7");
        let tree = BeforeTree::open(&place, vec![(path("d/b/a"), 0), (path("link"), 2)]).unwrap();
        let (file, directory, link) = (Kind::File, Kind::Directory, Kind::Symlink);
        let at = |text: &str, kind| (text.to_owned(), kind);
        assert_eq!(names(&*tree, &TreePath::root()), [at("d", directory), at("link", link)]);
        assert_eq!(names(&*tree, &path("d")), [at("b", directory), at("removed", directory)]);
        assert_eq!(names(&*tree, &path("d/b")), [at("a", file)]);
        assert_eq!(tree.open(&path("d/b/a")).unwrap().read_all().unwrap(), "first");
        assert_eq!(tree.open(&path("d/removed/x")).unwrap().read_all().unwrap(), "x");
        assert_eq!(tree.read_link(&path("link")).unwrap(), b"to");
        let refused = |tree: &dyn Tree, at: &str| tree.open(&path(at)).unwrap_err().kind();
        assert_eq!(refused(&*tree, "d/b"), ErrorKind::IsADirectory);
        assert_eq!(refused(&*tree, "d/c"), ErrorKind::NotFound);
        assert_eq!(tree.stat(&path("7.0")).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(tree.list(&path("link")).unwrap_err().path(), Some("link"));
    }

    #[test]
    fn where_nothing_was_kept_nothing_is() {
        let holder = HostBackend::temporary().unwrap();
        let tree = BeforeTree::open(&holder.directory().unwrap().join("7"), Vec::new()).unwrap();
        assert!(tree.list(&TreePath::root()).unwrap().is_empty());
    }
}

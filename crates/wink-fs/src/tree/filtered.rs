//! A tree without excluded entries.

use std::any::Any;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Operation, Result};
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::tree::content::Content;
use crate::tree::hash::TreeHash;
use crate::tree::scope::Exclusions;
use crate::tree::{Entry, KnownEntry, Stat, Tree};

/// Hides excluded entries of a tree.
pub(crate) struct Filtered {
    pub(crate) tree: Arc<dyn Tree>,
    pub(crate) excluded: Exclusions,
}

impl Filtered {
    fn check(&self, operation: Operation, path: &TreePath) -> Result<()> {
        if self.excluded.matches(path) {
            Err(Error::new(operation, ErrorKind::NotFound).with_path(path))
        } else {
            Ok(())
        }
    }

    fn excludes(&self, directory: &TreePath, entry: &Entry) -> bool {
        // A name too long to be joined stays in the list: the caller that walks on reports it.
        directory.join(&entry.name).is_ok_and(|path| self.excluded.matches_entry(&path))
    }
}

#[deny(clippy::missing_trait_methods)]
impl Tree for Filtered {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        self.check(Operation::Stat, path)?;
        self.tree.stat(path)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        self.check(Operation::List, path)?;
        let mut entries = self.tree.list(path)?;
        entries.retain(|entry| !self.excludes(path, entry));
        Ok(entries)
    }

    fn list_known(&self, path: &TreePath) -> Result<Vec<KnownEntry>> {
        self.check(Operation::List, path)?;
        let mut entries = self.tree.list_known(path)?;
        entries.retain(|known| !self.excludes(path, &known.entry));
        Ok(entries)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        self.check(Operation::Read, path)?;
        self.tree.open(path)
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        self.check(Operation::Read, path)?;
        self.tree.read_link(path)
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        self.check(Operation::Stat, path).ok().and_then(|()| self.tree.known_hash(path))
    }

    /// Unknown, because something below may be excluded.
    fn known_tree_hash(&self, _: &TreePath) -> Option<TreeHash> {
        None
    }

    /// None: the tree that it would name has what is excluded.
    fn own_state(&self) -> Option<&dyn Any> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workspace;

    #[test]
    fn what_is_excluded_is_not_there_for_any_question() {
        let files = Workspace::memory();
        for path in [".git/config", "web/node_modules/a.js", "web/a.js"] {
            files.write(path, "x").unwrap();
        }
        let excluded = Exclusions::parse(["/.git", "node_modules/"]).unwrap();
        let tree = Filtered { tree: files.tree(), excluded };
        let names = |path: &str| {
            let path = TreePath::parse(path).unwrap();
            let listed = tree.list(&path).unwrap();
            let known = tree.list_known(&path).unwrap();
            assert_eq!(known.into_iter().map(|it| it.entry).collect::<Vec<_>>(), listed);
            listed.iter().map(|it| it.name.to_string()).collect::<Vec<_>>()
        };
        assert_eq!((names(""), names("web")), (vec!["web".into()], vec!["a.js".into()]));
        for path in [".git", ".git/config", "web/node_modules/a.js"].map(TreePath::parse) {
            let path = path.unwrap();
            let kinds = [
                tree.stat(&path).unwrap_err().kind(),
                tree.list(&path).unwrap_err().kind(),
                tree.open(&path).unwrap_err().kind(),
                tree.read_link(&path).unwrap_err().kind(),
            ];
            assert_eq!(kinds, [ErrorKind::NotFound; 4], "{path}");
            assert_eq!((tree.known_hash(&path), tree.known_tree_hash(&path)), (None, None));
        }
        assert_eq!(tree.open(&TreePath::parse("web/a.js").unwrap()).unwrap().len(), 1);
    }
}

//! Files restricted by the path rules of a session.

use std::any::Any;
use std::sync::Arc;

use wink_fs::{
    Content, ContentHash, Entry, Error, ErrorKind, FileMode, Filesystem, Kind, KnownEntry,
    Operation, Properties, Put, PutOptions, Recursion, Removed, Replacement, Result, Staged,
    Staging, Stat, Tree, TreeHash, TreePath,
};

use super::rules::PathRules;

/// A tree without the denied entries.
pub(crate) struct RuledTree {
    pub(crate) inner: Arc<dyn Tree>,
    pub(crate) rules: Arc<PathRules>,
}

/// Files of which the denied ones can be neither seen nor changed.
pub(crate) struct RuledFilesystem<'f> {
    pub(crate) inner: &'f mut dyn Filesystem,
    pub(crate) rules: &'f PathRules,
}

impl PathRules {
    fn stat(&self, tree: &dyn Tree, path: &TreePath) -> Result<Stat> {
        // Denied whatever it is, so that the model cannot learn whether it exists.
        self.check(Operation::Stat, path, Kind::Directory)?;
        let stat = tree.stat(path)?;
        self.check(Operation::Stat, path, stat.kind)?;
        Ok(stat)
    }

    fn list(&self, tree: &dyn Tree, path: &TreePath) -> Result<Vec<Entry>> {
        self.check(Operation::List, path, Kind::Directory)?;
        let mut entries = tree.list(path)?;
        entries.retain(|entry| self.permits_entry(path, entry));
        Ok(entries)
    }

    fn list_known(&self, tree: &dyn Tree, path: &TreePath) -> Result<Vec<KnownEntry>> {
        self.check(Operation::List, path, Kind::Directory)?;
        let mut entries = tree.list_known(path)?;
        entries.retain(|known| self.permits_entry(path, &known.entry));
        Ok(entries)
    }

    fn permits_entry(&self, directory: &TreePath, entry: &Entry) -> bool {
        directory.join(&entry.name).is_ok_and(|path| self.permits(&path, entry.kind))
    }

    /// Fails if a directory has something in it that is denied at its path or its new path.
    fn check_all(
        &self,
        operation: Operation,
        tree: &dyn Tree,
        path: &TreePath,
        to: Option<&TreePath>,
    ) -> Result<()> {
        let asked_for = path;
        let mut left = vec![(path.clone(), to.cloned(), tree.stat(path)?.kind)];
        while let Some((path, to, kind)) = left.pop() {
            let permits = |path: &TreePath| self.permits(path, kind);
            if !permits(&path) || !to.iter().all(permits) {
                return Err(denied_within(operation, asked_for));
            }
            if kind != Kind::Directory {
                continue;
            }
            for entry in tree.list(&path)? {
                let to = to.as_ref().map(|to| to.join(&entry.name)).transpose()?;
                left.push((path.join(&entry.name)?, to, entry.kind));
            }
        }
        Ok(())
    }
}

/// The error does not name the denied entry, whose existence the session must not learn.
fn denied_within(operation: Operation, path: &TreePath) -> Error {
    Error::new(operation, ErrorKind::PermissionDenied).with_path(path).with_detail(
        "the rules of this session deny it or something in it; take what can be seen one by one",
    )
}

macro_rules! look_by_the_rules {
    () => {
        fn stat(&self, path: &TreePath) -> Result<Stat> {
            self.rules.stat(&*self.inner, path)
        }

        fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
            self.rules.list(&*self.inner, path)
        }

        fn list_known(&self, path: &TreePath) -> Result<Vec<KnownEntry>> {
            self.rules.list_known(&*self.inner, path)
        }

        fn open(&self, path: &TreePath) -> Result<Content> {
            self.rules.check(Operation::Read, path, Kind::File)?;
            self.inner.open(path)
        }

        fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
            self.rules.check(Operation::Read, path, Kind::Symlink)?;
            self.inner.read_link(path)
        }

        fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
            self.rules.permits(path, Kind::File).then(|| self.inner.known_hash(path))?
        }

        /// Knows none: what is below may be denied.
        fn known_tree_hash(&self, _: &TreePath) -> Option<TreeHash> {
            None
        }

        /// None: the tree that it would name knows no rules.
        fn own_state(&self) -> Option<&dyn Any> {
            None
        }
    };
}

#[deny(clippy::missing_trait_methods)]
impl Tree for RuledTree {
    look_by_the_rules!();
}

#[deny(clippy::missing_trait_methods)]
impl Tree for RuledFilesystem<'_> {
    look_by_the_rules!();
}

#[deny(clippy::missing_trait_methods)]
impl Filesystem for RuledFilesystem<'_> {
    fn properties(&self) -> &Properties {
        self.inner.properties()
    }

    fn stage(&self) -> Result<Staging> {
        self.inner.stage()
    }

    fn put(&mut self, path: &TreePath, staged: &mut Staged, options: &PutOptions) -> Result<Put> {
        self.rules.check(Operation::Write, path, Kind::File)?;
        self.inner.put(path, staged, options)
    }

    fn create_dir(&mut self, path: &TreePath) -> Result<()> {
        self.rules.check(Operation::Mkdir, path, Kind::Directory)?;
        self.inner.create_dir(path)
    }

    fn symlink(&mut self, path: &TreePath, target: &[u8]) -> Result<()> {
        self.rules.check(Operation::Symlink, path, Kind::Symlink)?;
        self.inner.symlink(path, target)
    }

    fn set_mode(&mut self, path: &TreePath, mode: FileMode) -> Result<()> {
        self.rules.check(Operation::SetMode, path, Kind::File)?;
        self.inner.set_mode(path, mode)
    }

    fn remove(&mut self, path: &TreePath, recursion: Recursion) -> Result<Removed> {
        self.rules.check(Operation::Delete, path, Kind::Directory)?;
        self.rules.check_all(Operation::Delete, &*self.inner, path, None)?;
        self.inner.remove(path, recursion)
    }

    fn rename(&mut self, from: &TreePath, to: &TreePath, replacement: Replacement) -> Result<()> {
        for path in [from, to] {
            self.rules.check(Operation::Rename, path, Kind::Directory)?;
        }
        self.rules.check_all(Operation::Rename, &*self.inner, from, Some(to))?;
        self.inner.rename(from, to, replacement)
    }
}

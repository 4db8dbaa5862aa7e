//! Turns a tree into a manifest, and keeps every content.

use std::io;
use std::sync::Arc;

use parking_lot::Mutex;

use super::keeper::Work;
use super::manifest::{Directory, KeptFile, Node};
use crate::error::{Operation, Result};
use crate::path::{Name, TreePath};
use crate::snapshot::Skipped;
use crate::store::capture::{SPECIAL, changed};
use crate::store::failure;
use crate::tree::descend;
use crate::tree::hash::directory_mode;
use crate::tree::{Entry, Kind, Tree};
use crate::util::parallel;

/// Keeps a tree; returns its root and the paths that were left out.
pub(super) fn capture(tree: &dyn Tree, work: &dyn Work) -> Result<(Arc<Directory>, Vec<Skipped>)> {
    let capture = Capture { tree, work, skipped: Mutex::default() };
    let root = capture.directory(&TreePath::root(), work.base())?;
    let mut skipped = capture.skipped.into_inner();
    skipped.sort();
    Ok((root, skipped))
}

struct Capture<'a> {
    tree: &'a dyn Tree,
    work: &'a dyn Work,
    skipped: Mutex<Vec<Skipped>>,
}

type Found = Option<(Name, Node)>;

impl Capture<'_> {
    fn directory(&self, path: &TreePath, base: Option<&Arc<Directory>>) -> Result<Arc<Directory>> {
        let known = base.and_then(|_| self.tree.known_tree_hash(path));
        if let Some(base) = base.filter(|base| known == Some(base.hash)) {
            return Ok(Arc::clone(base));
        }
        self.work.enter(path).map_err(|error| unkept(path, error))?;
        let entries = self.entries(path, base.map(|base| &**base))?;
        let place = self.work.leave(&entries).map_err(|error| unkept(path, error))?;
        Ok(Arc::new(Directory::new(directory_mode(self.tree, path)?, entries, place)))
    }

    fn entries(&self, path: &TreePath, base: Option<&Directory>) -> Result<Vec<(Name, Node)>> {
        let entries = self.tree.list(path)?;
        let keep = |entry: &Entry| {
            self.entry(path, entry, base.and_then(|base| base.find(entry.name.as_bytes())))
        };
        let kept: Vec<Found> = if self.work.in_order() {
            entries.iter().map(keep).collect::<Result<_>>()?
        } else {
            parallel::try_map(&entries, keep)?
        };
        Ok(kept.into_iter().flatten().collect())
    }

    fn entry(&self, parent: &TreePath, entry: &Entry, base: Option<&Node>) -> Result<Found> {
        let path = parent.join(&entry.name)?;
        let node = match (entry.kind, base) {
            (Kind::File, base) => Node::File(self.file(&path, base)?),
            (Kind::Symlink, _) => Node::Link(self.link(&path)?),
            (Kind::Directory, Some(Node::Directory(base))) => {
                Node::Directory(descend(|| self.directory(&path, Some(base)))?)
            }
            (Kind::Directory, _) => Node::Directory(descend(|| self.directory(&path, None))?),
            (Kind::Other, _) => return Ok(self.leave_out(&path)),
        };
        Ok(Some((entry.name.clone(), node)))
    }

    fn leave_out(&self, path: &TreePath) -> Found {
        let left_out = Skipped::new(path.to_string(), SPECIAL);
        self.skipped.lock().push(left_out);
        None
    }

    fn link(&self, path: &TreePath) -> Result<Vec<u8>> {
        let target = self.tree.read_link(path)?;
        self.work.link(path, &target).map_err(|error| unkept(path, error))?;
        Ok(target)
    }

    fn file(&self, path: &TreePath, base: Option<&Node>) -> Result<KeptFile> {
        if let Some(Node::File(base)) = base
            && self.tree.known_hash(path) == Some(base.hash)
        {
            return Ok(KeptFile { mode: self.tree.stat(path)?.mode, ..base.clone() });
        }
        let content = self.tree.open(path)?;
        let mode = self.tree.stat(path)?.mode;
        let claimed = content.known_hash().or_else(|| self.tree.known_hash(path));
        let kept = self.work.file(path, mode, &content).map_err(|error| unkept(path, error))?;
        if claimed.is_none_or(|claimed| claimed == kept.hash) {
            Ok(KeptFile { mode, size: kept.size, hash: kept.hash, place: kept.place })
        } else {
            Err(changed(path, kept.hash))
        }
    }
}

fn unkept(path: &TreePath, error: io::Error) -> crate::Error {
    failure::of(Operation::Snapshot, error).with_path(path)
}

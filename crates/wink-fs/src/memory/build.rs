//! A state made of another tree.

use std::sync::Arc;
use std::time::SystemTime;

use imbl::OrdMap;
use rayon::prelude::*;

use super::node::{Directory, File, Link, Node, Times};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::Replaced;
use crate::path::{Name, TreePath};
use crate::tree::{Entry, Kind, Tree};

/// Makes the nodes of a directory of `target`, taking over those of `old` that are the same.
pub(super) fn directory(
    target: &dyn Tree,
    path: &TreePath,
    old: Option<&Directory>,
    now: SystemTime,
) -> Result<(Directory, Replaced)> {
    let entries = target.list(path)?;
    let child = |entry: &Entry| {
        let old = old.and_then(|old| old.children.get(&entry.name));
        let (node, counts) = node(target, &path.join(&entry.name)?, entry.kind, old, now)?;
        Ok((entry.name.clone(), node, counts))
    };
    let children: Vec<(Name, Node, Replaced)> =
        entries.par_iter().map(child).collect::<Result<_>>()?;
    let mut counts: Replaced = children.iter().map(|(_, _, counts)| *counts).sum();
    counts.removed += old.map_or(0, |old| count_missing(old, &entries));
    let children: OrdMap<_, _> = children.into_iter().map(|(name, node, _)| (name, node)).collect();
    let times = old.map_or(Times::new(now), |old| old.times);
    Ok((Directory::with(children, times), counts))
}

fn node(
    target: &dyn Tree,
    path: &TreePath,
    kind: Kind,
    old: Option<&Node>,
    now: SystemTime,
) -> Result<(Node, Replaced)> {
    match kind {
        Kind::Directory => {
            let old = match old {
                Some(Node::Directory(old)) => Some(&**old),
                _ => None,
            };
            let (made, counts) = directory(target, path, old, now)?;
            Ok((Node::Directory(Arc::new(made)), counts))
        }
        Kind::File => Ok(unless_same(file(target, path, now)?, old)),
        Kind::Symlink => {
            let link = Link { target: target.read_link(path)?.into(), times: Times::new(now) };
            Ok(unless_same(Node::Link(Arc::new(link)), old))
        }
        Kind::Other => Err(Error::new(Operation::Replace, ErrorKind::SpecialFile).with_path(path)),
    }
}

fn file(target: &dyn Tree, path: &TreePath, now: SystemTime) -> Result<Node> {
    let failed = |error| Error::system(Operation::Replace, error).with_path(path);
    let opened = target.open(path)?;
    let content = opened.read_all().map_err(failed)?;
    let known = opened.known_hash();
    let hash = known.unwrap_or_else(|| crate::hash::ContentHash::of(&content));
    let mode = target.stat(path)?.mode;
    Ok(Node::File(Arc::new(File { content, hash, mode, times: Times::new(now) })))
}

/// Takes the old node over where the new one says the same.
fn unless_same(new: Node, old: Option<&Node>) -> (Node, Replaced) {
    let same = match (&new, old) {
        (Node::File(new), Some(Node::File(old))) => new.hash == old.hash && new.mode == old.mode,
        (Node::Link(new), Some(Node::Link(old))) => new.target == old.target,
        _ => false,
    };
    match old.filter(|_| same) {
        Some(old) => (old.clone(), Replaced { unchanged: 1, ..Replaced::default() }),
        None => (new, Replaced { written: 1, ..Replaced::default() }),
    }
}

fn count_missing(old: &Directory, entries: &[Entry]) -> u64 {
    let is_kept = |name: &Name| entries.binary_search_by(|entry| entry.name.cmp(name)).is_ok();
    old.children.keys().filter(|name| !is_kept(name)).count() as u64
}

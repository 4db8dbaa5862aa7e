//! Compares two states in memory, at the cost of their differences alone.

use std::sync::Arc;

use imbl::ordmap::DiffItem;

use super::node::{Directory, Node};
use super::state::State;
use crate::error::Result;
use crate::path::{Name, TreePath};
use crate::tree::Tree;
use crate::tree::compare::Difference;
use crate::tree::descend;

/// Compares two trees, if both are states in memory.
pub(crate) fn compare(before: &dyn Tree, after: &dyn Tree) -> Option<Result<Vec<Difference>>> {
    let before = State::of(before)?;
    let after = State::of(after)?;
    let mut differences = Vec::new();
    let compared = directories(before.root(), after.root(), &TreePath::root(), &mut differences);
    Some(compared.map(|()| differences))
}

/// Descends only where nodes are not shared.
fn directories(
    before: &Directory,
    after: &Directory,
    path: &TreePath,
    into: &mut Vec<Difference>,
) -> Result<()> {
    before.children.diff(&after.children).try_for_each(|item| match item {
        DiffItem::Add(name, node) => push(path, name, None, Some(node), into),
        DiffItem::Remove(name, node) => push(path, name, Some(node), None, into),
        DiffItem::Update { old: (name, old), new: (_, new) } => update(path, name, old, new, into),
    })
}

fn update(
    path: &TreePath,
    name: &Name,
    old: &Node,
    new: &Node,
    into: &mut Vec<Difference>,
) -> Result<()> {
    match (old, new) {
        (Node::Directory(old), Node::Directory(new)) => {
            let path = path.join(name)?;
            if old.mode != new.mode {
                into.push(Difference::of_directory_mode(path.clone(), new.mode));
            }
            descend(|| directories(old, new, &path, into))
        }
        _ if old.says_the_same(new) => Ok(()),
        _ => push(path, name, Some(old), Some(new), into),
    }
}

fn push(
    directory: &TreePath,
    name: &Name,
    before: Option<&Node>,
    after: Option<&Node>,
    into: &mut Vec<Difference>,
) -> Result<()> {
    let path = directory.join(name)?;
    let before = before.map(Node::kind);
    let after = after.map(Node::kind);
    into.push(Difference { path, before, after, mode: None });
    Ok(())
}

/// Compares identity, not content: shared nodes are equal, and everything else is compared further.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(a), Self::File(b)) => Arc::ptr_eq(a, b),
            (Self::Directory(a), Self::Directory(b)) => Arc::ptr_eq(a, b),
            (Self::Link(a), Self::Link(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

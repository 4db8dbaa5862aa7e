//! Walks all directories below the root, level by level and in parallel.

use std::collections::HashMap;

use super::index::Index;
use super::stamp::Moment;
use super::tree::{Directory, Listing, Node, NodeData};
use super::visit::{Pending, Visited, Visitor};
use crate::error::Result;
use crate::filesystem::capture::{BUSY, NotCaptured, Totals};
use crate::path::TreePath;
use crate::tree::Kind;
use crate::util::parallel;

/// The result of a walk.
pub(super) struct Walked {
    /// Each after its parent; siblings are adjacent.
    pub(super) directories: Vec<Directory>,
    pub(super) totals: Totals,
    /// The latest stamp.
    pub(super) newest: Moment,
    pub(super) not_captured: Vec<NotCaptured>,
    /// Whether nothing was left out because it kept changing.
    pub(super) is_settled: bool,
}

pub(super) fn walk(visitor: &Visitor<'_>) -> Result<Walked> {
    parallel::run(|| by_levels(visitor))
}

fn by_levels(visitor: &Visitor<'_>) -> Result<Walked> {
    let mut walked = Walked::default();
    let mut level = vec![Pending { path: TreePath::root(), known: Some(0) }];
    while !level.is_empty() {
        let visited = parallel::try_map(&level, |place| visitor.visit(place))?;
        level = walked.add_level(visited);
    }
    walked.propagate_up();
    Ok(walked)
}

impl Default for Walked {
    fn default() -> Self {
        Self {
            directories: Vec::new(),
            totals: Totals::default(),
            newest: Moment::EARLIEST,
            not_captured: Vec::new(),
            is_settled: true,
        }
    }
}

impl Walked {
    /// Adds the directories of one level; returns the next level.
    fn add_level(&mut self, level: Vec<Visited>) -> Vec<Pending> {
        let mut next_number = (self.directories.len() + level.len()) as u32;
        let mut next = Vec::new();
        for mut visited in level {
            let end = next_number + visited.below.len() as u32;
            visited.directory.children = next_number..end;
            next_number = end;
            next.append(&mut visited.below);
            self.add(visited);
        }
        next
    }

    fn add(&mut self, visited: Visited) {
        self.directories.push(visited.directory);
        self.totals = self.totals.with(visited.totals, Totals::default());
        self.newest = self.newest.max(visited.newest);
        self.not_captured.extend(visited.not_captured);
    }

    /// Passes what is hidden or unknown below a directory up to it, from the last directory to the first.
    fn propagate_up(&mut self) {
        for at in (0..self.directories.len()).rev() {
            let children = self.directories[at].children.clone();
            let children = &self.directories[children.start as usize..children.end as usize];
            let hides = children.iter().any(|child| child.hides);
            let is_known = children.iter().all(|child| child.hash.is_some());
            let directory = &mut self.directories[at];
            directory.hides |= hides;
            directory.hash = directory.hash.filter(|_| is_known);
        }
        self.not_captured.sort_by(|a, b| a.path.cmp(&b.path));
    }

    /// Drops what two walks in a row did not see alike, and names it as missing.
    ///
    /// Everything else had not changed from the one walk to the other, so it is of one moment: the start of this walk.
    pub(super) fn keep_settled(&mut self, previous: &Self, index: &Index) {
        let before: HashMap<_, _> = previous.directories.iter().map(|it| (&it.path, it)).collect();
        let mut dropped = Totals::default();
        let mut busy = Vec::new();
        for directory in &mut self.directories {
            let then = before.get(&directory.path).copied();
            if then.is_some_and(|then| is_same(then, directory)) {
                continue;
            }
            let then = then.map(|then| nodes_of(&then.listing, index)).unwrap_or_default();
            let now = nodes_of(&directory.listing, index);
            let mut add = |node: &Node| busy.extend(directory.path.join(&node.name));
            let is_in = |nodes: &[Node], node: &Node| {
                let found = nodes.binary_search_by(|it| it.name.cmp(&node.name));
                found.is_ok_and(|at| is_same_node(&nodes[at], node) || node.is_directory())
            };
            then.iter()
                .filter(|it| now.binary_search_by(|now| now.name.cmp(&it.name)).is_err())
                .for_each(&mut add);
            now.iter().filter(|it| !is_in(&then, it)).for_each(&mut add);
            let settled = |node: &Node| node.is_directory() || is_in(&then, node);
            let (kept, gone): (Vec<_>, Vec<_>) = now.into_iter().partition(settled);
            if gone.is_empty() {
                continue;
            }
            for stamp in gone.iter().filter_map(Node::stamp) {
                dropped.files += 1;
                dropped.bytes += if stamp.kind() == Kind::File { stamp.size } else { 0 };
            }
            directory.listing = Listing::Read(kept);
            directory.hash = None;
            directory.is_whole = false;
            directory.hides = true;
        }
        self.totals = self.totals.with(Totals::default(), dropped);
        self.is_settled = busy.is_empty();
        self.not_captured.extend(busy.into_iter().map(|path| NotCaptured::missing(path, BUSY)));
        self.propagate_up();
    }

    /// Returns whether two walks saw the same, so that nothing changed between them.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        let these = &self.directories;
        let others = &other.directories;
        these.len() == others.len() && these.iter().zip(others).all(|(a, b)| is_same(a, b))
    }
}

/// Returns the entries of a directory, sorted by name.
fn nodes_of(listing: &Listing, index: &Index) -> Vec<Node> {
    match listing {
        Listing::Read(nodes) => nodes.clone(),
        Listing::Known { block, .. } => index.nodes(*block),
    }
}

fn is_same(a: &Directory, b: &Directory) -> bool {
    a.path == b.path && a.stamp == b.stamp && is_same_listing(&a.listing, &b.listing)
}

fn is_same_listing(a: &Listing, b: &Listing) -> bool {
    match (a, b) {
        (Listing::Read(a), Listing::Read(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same_node(a, b))
        }
        (Listing::Known { block: a, .. }, Listing::Known { block: b, .. }) => a == b,
        _ => false,
    }
}

fn is_same_node(a: &Node, b: &Node) -> bool {
    let is_same_what = match (a.what, b.what) {
        (NodeData::File { stamp: a, .. }, NodeData::File { stamp: b, .. })
        | (NodeData::Link { stamp: a }, NodeData::Link { stamp: b }) => a == b,
        (a, b) => a == b,
    };
    a.name == b.name && is_same_what
}

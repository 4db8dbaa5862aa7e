//! Walks all directories below the root, level by level and in parallel.

use super::stamp::Moment;
use super::tree::{Directory, Listing, Node, NodeData};
use super::visit::{Pending, Visited, Visitor};
use crate::error::Result;
use crate::filesystem::capture::{NotCaptured, Totals};
use crate::path::TreePath;
use crate::util::parallel;

/// The result of a walk.
pub(super) struct Walked {
    /// Each after its parent; siblings are adjacent.
    pub(super) directories: Vec<Directory>,
    pub(super) totals: Totals,
    /// The latest stamp.
    pub(super) newest: Moment,
    pub(super) not_captured: Vec<NotCaptured>,
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

    /// Returns whether two walks saw the same, so that nothing changed between them.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        let these = &self.directories;
        let others = &other.directories;
        these.len() == others.len() && these.iter().zip(others).all(|(a, b)| is_same(a, b))
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

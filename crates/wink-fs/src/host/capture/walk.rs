//! One look at every entry below the root, level by level and in parallel.

use super::stamp::Moment;
use super::tree::{Directory, Listing, Node, What};
use super::visit::{Place, Seen, Visitor};
use crate::error::Result;
use crate::filesystem::capture::{NotCaptured, Totals};
use crate::path::TreePath;
use crate::util::parallel;

/// What a walk saw.
pub(super) struct Walked {
    /// Each after its parent, those of one parent together.
    pub(super) directories: Vec<Directory>,
    pub(super) totals: Totals,
    /// The latest stamp of all.
    pub(super) newest: Moment,
    pub(super) not_captured: Vec<NotCaptured>,
}

/// Visits every directory.
pub(super) fn walk(visitor: &Visitor<'_>) -> Result<Walked> {
    parallel::run(|| by_levels(visitor))
}

fn by_levels(visitor: &Visitor<'_>) -> Result<Walked> {
    let mut walked = Walked::default();
    let mut level = vec![Place { path: TreePath::root(), known: Some(0) }];
    while !level.is_empty() {
        let seen = parallel::try_map(&level, |place| visitor.visit(place))?;
        level = walked.add_level(seen);
    }
    walked.settle();
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
    /// Adds the directories of one level; returns those of the next one.
    fn add_level(&mut self, level: Vec<Seen>) -> Vec<Place> {
        let mut next_number = (self.directories.len() + level.len()) as u32;
        let mut next = Vec::new();
        for mut seen in level {
            let end = next_number + seen.below.len() as u32;
            seen.directory.children = next_number..end;
            next_number = end;
            next.append(&mut seen.below);
            self.add(seen);
        }
        next
    }

    fn add(&mut self, seen: Seen) {
        self.directories.push(seen.directory);
        self.totals = self.totals.with(seen.totals, Totals::default());
        self.newest = self.newest.max(seen.newest);
        self.not_captured.extend(seen.not_captured);
    }

    /// Tells what is below to what is above: from the last directory to the first.
    fn settle(&mut self) {
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

    /// Tells whether two walks saw the same, so that nothing changed from the one to the other.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        let (these, others) = (&self.directories, &other.directories);
        these.len() == others.len() && these.iter().zip(others).all(|(a, b)| is_same(a, b))
    }
}

fn is_same(a: &Directory, b: &Directory) -> bool {
    a.path == b.path && a.stamp == b.stamp && is_same_listing(&a.listing, &b.listing)
}

fn is_same_listing(a: &Listing, b: &Listing) -> bool {
    match (a, b) {
        (Listing::Looked(a), Listing::Looked(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same_node(a, b))
        }
        (Listing::Known { block: a, .. }, Listing::Known { block: b, .. }) => a == b,
        _ => false,
    }
}

fn is_same_node(a: &Node, b: &Node) -> bool {
    let is_same_what = match (a.what, b.what) {
        (What::File { stamp: a, .. }, What::File { stamp: b, .. })
        | (What::Link { stamp: a }, What::Link { stamp: b }) => a == b,
        (a, b) => a == b,
    };
    a.name == b.name && is_same_what
}

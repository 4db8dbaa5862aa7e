//! One look at every entry below the root, level by level and in parallel.

use rayon::prelude::*;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::index::{Index, Known};
use super::stamp::{self, Moment, Stamp};
use super::tree::{Directory, Node, What, changed};
use crate::capture::{NotCaptured, Totals};
use crate::error::{Error, Operation, Result};
use crate::host::root::mount_in;
use crate::host::{Host, entry, failure};
use crate::path::{RESERVED_NAME, TreePath};
use crate::scope::Scope;
use crate::tree::{Entry, Kind};

pub(super) struct Walk<'a> {
    pub(super) host: &'a Host,
    pub(super) index: &'a Index,
    pub(super) scope: &'a Scope,
}

/// What a walk saw.
pub(super) struct Walked {
    /// Each after its parent.
    pub(super) directories: Vec<Directory>,
    pub(super) totals: Totals,
    /// The latest stamp of all.
    pub(super) newest: Moment,
    pub(super) not_captured: Vec<NotCaptured>,
    stamps: Vec<Stamp>,
}

/// A directory that is still to be looked at.
struct Place {
    path: TreePath,
    known: Option<u32>,
}

/// A directory that was looked at; its subdirectories are numbered within it.
struct Seen {
    directory: Directory,
    below: Vec<Place>,
    totals: Totals,
    stamp: Stamp,
    newest: Moment,
    not_captured: Vec<NotCaptured>,
}

impl Walk<'_> {
    pub(super) fn run(&self) -> Result<Walked> {
        let mut walked = Walked::default();
        let mut level = vec![Place { path: TreePath::root(), known: Some(0) }];
        while !level.is_empty() {
            let seen = level.par_iter().map(|place| self.directory(place));
            let seen: Vec<Seen> = seen.collect::<Result<_>>()?;
            level = walked.add_level(seen);
        }
        walked.settle();
        Ok(walked)
    }

    fn directory(&self, place: &Place) -> Result<Seen> {
        let (handle, entries) =
            self.open(&place.path).map_err(|errno| self.failed(place, errno))?;
        let block = place.known.and_then(|number| self.index.block(number));
        let stamp = stamp::look_at(&handle).map_err(|errno| self.failed(place, errno))?;
        let mut seen = Seen::new(place.path.clone(), Stamp::of(&stamp), entries.len());
        let (hash, mut rows) = block.map_or((None, None), |block| (block.hash, Some(block.rows)));
        let mut unchanged = true;
        for entry in entries {
            let name = entry.name.as_bytes();
            unchanged &= !rows.as_mut().is_some_and(|rows| rows.skip_to(name));
            let known = rows.as_mut().and_then(|rows| rows.take(name));
            unchanged &= self.entry(&mut seen, &handle, entry, known)?;
        }
        unchanged &= rows.is_none_or(|rows| rows.is_at_end());
        // What is below is looked at later.
        seen.directory.hash = hash.filter(|_| unchanged);
        Ok(seen)
    }

    fn open(&self, path: &TreePath) -> rustix::io::Result<(OwnedFd, Vec<Entry>)> {
        let handle = self.host.root.open(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let mut entries = entry::entries(handle.as_fd())?;
        if path.is_root() {
            entries.retain(|entry| entry.name.as_bytes() != RESERVED_NAME.as_bytes());
        }
        Ok((handle, entries))
    }

    /// Looks at an entry; returns whether it is what the index knows.
    fn entry(
        &self,
        seen: &mut Seen,
        handle: &OwnedFd,
        entry: Entry,
        known: Option<Known>,
    ) -> Result<bool> {
        let directory = &seen.directory.path;
        if !self.scope.is_everything() {
            let path = directory.join(&entry.name)?;
            if !self.scope.leads_to(&path) {
                return Ok(false);
            }
            if self.scope.excluded().matches_entry(&path) {
                seen.directory.hides = true;
                return Ok(known.is_none());
            }
        }
        let found = match stamp::look(handle.as_fd(), entry.name.as_bytes()) {
            Err(Errno::NOENT) => return Err(changed(&directory.join(&entry.name)?)),
            found => found.map_err(|errno| at(directory, &entry, errno))?,
        };
        let stamp = Stamp::of(&found);
        if stamp.kind() == Kind::Other || mount_in(&found) != self.host.root.mount() {
            seen.leave_out(&entry, stamp.kind())?;
            return Ok(known.is_none());
        }
        seen.add(entry, stamp, known)
    }

    fn failed(&self, place: &Place, errno: Errno) -> Error {
        match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => changed(&place.path),
            _ => failure::any(Operation::Capture, &place.path, errno),
        }
    }
}

fn at(directory: &TreePath, entry: &Entry, errno: Errno) -> Error {
    let path = directory.join(&entry.name).unwrap_or_else(|_| directory.clone());
    failure::any(Operation::Capture, &path, errno)
}

impl Seen {
    fn new(path: TreePath, stamp: Stamp, entries: usize) -> Self {
        let nodes = Vec::with_capacity(entries);
        Self {
            directory: Directory { path, nodes, hash: None, hides: false },
            below: Vec::new(),
            totals: Totals::default(),
            stamp,
            newest: stamp.changed,
            not_captured: Vec::new(),
        }
    }

    fn leave_out(&mut self, entry: &Entry, kind: Kind) -> Result<()> {
        let why = match kind {
            Kind::Other => "a FIFO, socket or device",
            _ => "on another file system",
        };
        let path = self.directory.path.join(&entry.name)?;
        self.not_captured.push(NotCaptured { path, why });
        self.directory.hides = true;
        Ok(())
    }

    /// Adds an entry; returns whether it is what was known before.
    fn add(&mut self, entry: Entry, stamp: Stamp, known: Option<Known>) -> Result<bool> {
        let (what, unchanged) = match (stamp.kind(), known) {
            (Kind::Directory, known) => {
                let number = self.below.len() as u32;
                let known = match known {
                    Some(Known::Directory { number }) => Some(number),
                    _ => None,
                };
                self.below.push(Place { path: self.directory.path.join(&entry.name)?, known });
                (What::Directory { number }, known.is_some())
            }
            (Kind::Symlink, known) => {
                let same = matches!(known, Some(Known::Link { stamp: old }) if old == stamp);
                (What::Link { stamp }, same)
            }
            (_, Some(Known::File { stamp: old, hash })) if old == stamp => {
                (What::File { stamp, hash }, hash.is_some())
            }
            _ => (What::File { stamp, hash: None }, false),
        };
        self.count(&what, stamp);
        self.directory.nodes.push(Node { name: entry.name, what });
        Ok(unchanged)
    }

    fn count(&mut self, what: &What, stamp: Stamp) {
        match what {
            What::Directory { .. } => self.totals.directories += 1,
            What::Link { .. } => self.totals.files += 1,
            What::File { .. } => {
                self.totals.files += 1;
                self.totals.bytes += stamp.size;
            }
        }
        if !matches!(what, What::Directory { .. }) {
            self.newest = self.newest.max(stamp.changed);
        }
    }
}

impl Default for Walked {
    fn default() -> Self {
        Self {
            directories: Vec::new(),
            totals: Totals::default(),
            newest: Moment::EARLIEST,
            not_captured: Vec::new(),
            stamps: Vec::new(),
        }
    }
}

impl Walked {
    /// Adds the directories of one level; returns those of the next one.
    fn add_level(&mut self, level: Vec<Seen>) -> Vec<Place> {
        let mut next_number = (self.directories.len() + level.len()) as u32;
        let mut next = Vec::new();
        for mut seen in level {
            for node in &mut seen.directory.nodes {
                if let What::Directory { number } = &mut node.what {
                    *number += next_number;
                }
            }
            next_number += seen.below.len() as u32;
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
        self.stamps.push(seen.stamp);
    }

    /// Tells what is below to what is above: from the last directory to the first.
    fn settle(&mut self) {
        for at in (0..self.directories.len()).rev() {
            let (above, below) = self.directories.split_at_mut(at + 1);
            let directory = &mut above[at];
            for node in &directory.nodes {
                let What::Directory { number } = node.what else { continue };
                let child = &below[number as usize - at - 1];
                directory.hides |= child.hides;
                if child.hash.is_none() {
                    directory.hash = None;
                }
            }
        }
        self.not_captured.sort_by(|a, b| a.path.cmp(&b.path));
    }

    /// Tells whether two walks saw the same, so that nothing changed from the one to the other.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        let same = |(a, b): (&Directory, &Directory)| {
            let stamps = |a: &What, b: &What| match (a, b) {
                (What::File { stamp: a, .. }, What::File { stamp: b, .. })
                | (What::Link { stamp: a }, What::Link { stamp: b }) => a == b,
                (What::Directory { number: a }, What::Directory { number: b }) => a == b,
                _ => false,
            };
            let nodes = a.nodes.iter().zip(&b.nodes);
            a.path == b.path
                && a.nodes.len() == b.nodes.len()
                && nodes.clone().all(|(a, b)| a.name == b.name && stamps(&a.what, &b.what))
        };
        self.stamps == other.stamps && self.directories.iter().zip(&other.directories).all(same)
    }
}

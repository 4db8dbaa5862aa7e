//! Visits one directory of a walk.
//!
//! The kernel changes a directory's stamp whenever an entry is created, deleted or renamed. So if the stamp is the one
//! in the index, the names are too, and the directory need not be read.

use std::iter::Peekable;
use std::sync::OnceLock;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::index::{Block, Index, RowData, Rows};
use super::stamp::{self, Moment, Stamp};
use super::tree::{Directory, Listing, Node, NodeData, changed};
use crate::error::{Error, Operation, Result};
use crate::filesystem::capture::{DENIED, NotCaptured, Totals};
use crate::host::root::mount_in;
use crate::host::{HostTree, entry, failure, staging};
use crate::path::{Name, RESERVED_NAME, TreePath};
use crate::tree::scope::Scope;
use crate::tree::{Entry, Kind};

/// Visits directories.
pub(super) struct Visitor<'a> {
    pub(super) host: &'a HostTree,
    pub(super) index: &'a Index,
    pub(super) scope: &'a Scope,
    /// Whether an unchanged directory stamp is trusted to mean unchanged names.
    pub(super) trusting: bool,
    /// The moment from which on an unchanged stamp says nothing about the content.
    pub(super) unsettled: Option<Moment>,
}

/// A directory to visit.
pub(super) struct Pending {
    pub(super) path: TreePath,
    pub(super) known: Option<u32>,
}

/// A visited directory.
pub(super) struct Visited {
    pub(super) directory: Directory,
    /// Its subdirectories, in the order of their names.
    pub(super) below: Vec<Pending>,
    pub(super) totals: Totals,
    pub(super) newest: Moment,
    pub(super) not_captured: Vec<NotCaptured>,
}

impl Visitor<'_> {
    pub(super) fn visit(&self, pending: &Pending) -> Result<Visited> {
        let known = pending.known.and_then(|number| Some((number, self.index.block(number)?)));
        if let Some((number, block)) = known.as_ref().filter(|_| self.trusting) {
            let visit_unchanged = self.visit_unchanged(pending, *number, block);
            if let Some(visited) = visit_unchanged.map_err(|errno| failed(pending, errno))? {
                return Ok(visited);
            }
        }
        self.read(pending, known.map(|(_, block)| block))
    }

    /// Visits a directory through the index, without reading it; `None` if anything in it changed.
    fn visit_unchanged(
        &self,
        pending: &Pending,
        number: u32,
        block: &Block<'_>,
    ) -> rustix::io::Result<Option<Visited>> {
        let Some(known) = block.stamp else { return Ok(None) };
        let handle = self.host.root.open(&pending.path, OFlags::PATH | OFlags::DIRECTORY)?;
        if Stamp::of(&stamp::look_at(&handle)?) != known || is_reserved_used(pending, &handle) {
            return Ok(None);
        }
        let listing = Listing::Known { block: number, nodes: OnceLock::new() };
        let mut visited = Visited::new(pending.path.clone(), known, listing);
        visited.directory.hash = block.hash.map(|(hash, _)| hash);
        let mut rows = block.rows.clone();
        for row in rows.by_ref() {
            let same = match row.what {
                RowData::Directory { number } => visited.add_below(row.name, Some(number)).is_ok(),
                RowData::File { hash: None, .. } => false,
                RowData::File { stamp, .. } | RowData::Link { stamp } => {
                    visited.count(&stamp);
                    self.is_still(&handle, row.name, &stamp)
                }
            };
            if !same {
                return Ok(None);
            }
        }
        Ok(rows.is_at_end().then_some(visited))
    }

    fn is_still(&self, directory: &OwnedFd, name: &[u8], known: &Stamp) -> bool {
        stamp::look(directory.as_fd(), name).is_ok_and(|found| {
            // A mount over an entry changes no stamp of the directory that it is in.
            Stamp::of(&found) == *known && mount_in(&found) == self.host.root.mount()
        })
    }

    /// Reads a directory and stats every entry.
    fn read(&self, pending: &Pending, block: Option<Block<'_>>) -> Result<Visited> {
        let (handle, entries) = match self.open(&pending.path) {
            // One directory that cannot be read must not keep all the others from being captured.
            Err(Errno::ACCESS | Errno::PERM) if !pending.path.is_root() => {
                return self.unreadable(pending).map_err(|errno| failed(pending, errno));
            }
            opened => opened.map_err(|errno| failed(pending, errno))?,
        };
        // Stat after reading, so that an entry created in between changes this stamp and is noticed by the next walk.
        let stamp = stamp::look_at(&handle).map_err(|errno| failed(pending, errno))?;
        let listing = Listing::Read(Vec::with_capacity(entries.len()));
        let mut visited = Visited::new(pending.path.clone(), Stamp::of(&stamp), listing);
        if is_reserved_used(pending, &handle) {
            visited.report_reserved();
        }
        let mut rows = block.as_ref().map(|block| block.rows.clone().peekable());
        let mut unchanged = true;
        for entry in entries {
            let (known, is_next) = take(rows.as_mut(), entry.name.as_bytes());
            unchanged &= self.entry(&mut visited, &handle, entry, known)? && is_next;
        }
        unchanged &= rows.is_none_or(|mut rows| rows.next().is_none());
        // Only if the subdirectories are unchanged too; the walk decides that once it has visited them.
        let mode = visited.directory.mode();
        let hash = block.and_then(|block| block.hash).filter(|(_, covered)| *covered == mode);
        visited.directory.hash = hash.map(|(hash, _)| hash).filter(|_| unchanged);
        Ok(visited)
    }

    /// Returns a directory that cannot be read: it is captured as an empty one, and named as missing.
    fn unreadable(&self, pending: &Pending) -> rustix::io::Result<Visited> {
        let handle = self.host.root.open(&pending.path, OFlags::PATH | OFlags::DIRECTORY)?;
        let stamp = Stamp::of(&stamp::look_at(&handle)?);
        let mut visited = Visited::new(pending.path.clone(), stamp, Listing::Read(Vec::new()));
        visited.not_captured.push(NotCaptured::missing(pending.path.clone(), DENIED));
        visited.mark_incomplete();
        Ok(visited)
    }

    fn open(&self, path: &TreePath) -> rustix::io::Result<(OwnedFd, Vec<Entry>)> {
        let handle = self.host.root.open(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let mut entries = entry::entries(handle.as_fd())?;
        if path.is_root() {
            entries.retain(|entry| entry.name.as_bytes() != RESERVED_NAME.as_bytes());
        }
        Ok((handle, entries))
    }

    /// Stats an entry; returns whether the index has the same.
    fn entry(
        &self,
        visited: &mut Visited,
        handle: &OwnedFd,
        entry: Entry,
        known: Option<RowData>,
    ) -> Result<bool> {
        let directory = &visited.directory.path;
        if !directory.has_room_for(&entry.name) {
            visited.report_too_long();
            return Ok(known.is_none());
        }
        if !self.scope.is_everything() {
            let path = directory.join(&entry.name)?;
            if !self.scope.leads_to(&path) {
                visited.directory.is_whole = false;
                return Ok(false);
            }
            if self.scope.excluded().matches_entry(&path) {
                visited.mark_incomplete();
                return Ok(known.is_none());
            }
        }
        let found = match stamp::look(handle.as_fd(), entry.name.as_bytes()) {
            Err(Errno::NOENT) => {
                // Its new name may be one that was not read. With a stamp of now, this walk is not the last one.
                visited.newest = visited.newest.max(Moment::now());
                return Ok(false);
            }
            // A directory whose names can be read, and not what they name.
            Err(Errno::ACCESS | Errno::PERM) => {
                let path = directory.join(&entry.name)?;
                visited.not_captured.push(NotCaptured::missing(path, DENIED));
                visited.mark_incomplete();
                return Ok(known.is_none());
            }
            found => found.map_err(|errno| at(directory, &entry, errno))?,
        };
        let stamp = Stamp::of(&found);
        if stamp.kind() == Kind::Other || mount_in(&found) != self.host.root.mount() {
            visited.report_skipped(&entry, stamp.kind())?;
            return Ok(known.is_none());
        }
        visited.add(entry, stamp, known.filter(|known| self.is_settled(known)))
    }

    fn is_settled(&self, known: &RowData) -> bool {
        match known {
            RowData::File { stamp, .. } => self.unsettled.is_none_or(|from| stamp.changed < from),
            RowData::Link { .. } | RowData::Directory { .. } => true,
        }
    }
}

/// Returns whether a directory is the root and holds a `.wink-staging` that wink did not make; no capture includes it.
fn is_reserved_used(pending: &Pending, handle: &OwnedFd) -> bool {
    pending.path.is_root() && staging::holds_others(handle.as_fd())
}

/// Takes the row of a name, and returns whether no rows were skipped, that is, no entry was deleted.
fn take(rows: Option<&mut Peekable<Rows<'_>>>, name: &[u8]) -> (Option<RowData>, bool) {
    let Some(rows) = rows else { return (None, true) };
    let mut is_next = true;
    while rows.next_if(|row| row.name < name).is_some() {
        is_next = false;
    }
    (rows.next_if(|row| row.name == name).map(|row| row.what), is_next)
}

fn failed(pending: &Pending, errno: Errno) -> Error {
    match errno {
        // It was there a moment ago: deleted, replaced, or covered by a mount.
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV => changed(&pending.path),
        _ => failure::any(Operation::Capture, &pending.path, errno),
    }
}

fn at(directory: &TreePath, entry: &Entry, errno: Errno) -> Error {
    let path = directory.join(&entry.name).unwrap_or_else(|_| directory.clone());
    failure::any(Operation::Capture, &path, errno)
}

impl Visited {
    fn new(path: TreePath, stamp: Stamp, listing: Listing) -> Self {
        let children = 0..0;
        let hash = None;
        let is_whole = true;
        let hides = false;
        Self {
            directory: Directory { path, listing, children, stamp, hash, is_whole, hides },
            below: Vec::new(),
            totals: Totals::default(),
            newest: stamp.changed,
            not_captured: Vec::new(),
        }
    }

    fn mark_incomplete(&mut self) {
        self.directory.is_whole = false;
        self.directory.hides = true;
    }

    fn report_skipped(&mut self, entry: &Entry, kind: Kind) -> Result<()> {
        let why = match kind {
            Kind::Other => "a FIFO, socket or device",
            _ => "on another file system",
        };
        let path = self.directory.path.join(&entry.name)?;
        self.not_captured.push(NotCaptured::special(path, why));
        self.mark_incomplete();
        Ok(())
    }

    fn report_reserved(&mut self) {
        let path = TreePath::reserved();
        let why = "a name reserved for wink";
        self.not_captured.push(NotCaptured::special(path, why));
        self.mark_incomplete();
    }

    /// Reports the directory itself, because no path can name the entries that are too deep.
    fn report_too_long(&mut self) {
        let why = "a directory with entries whose paths are longer than 4096 bytes";
        let here = NotCaptured::special(self.directory.path.clone(), why);
        if self.not_captured.last() != Some(&here) {
            self.not_captured.push(here);
        }
        self.mark_incomplete();
    }

    /// Adds an entry; returns whether the index has the same.
    fn add(&mut self, entry: Entry, stamp: Stamp, known: Option<RowData>) -> Result<bool> {
        let (what, unchanged) = match (stamp.kind(), known) {
            (Kind::Directory, known) => {
                let ordinal = self.below.len() as u32;
                let known = match known {
                    Some(RowData::Directory { number }) => Some(number),
                    _ => None,
                };
                self.add_below(entry.name.as_bytes(), known)?;
                (NodeData::Directory { ordinal }, known.is_some())
            }
            (Kind::Symlink, known) => {
                let same = matches!(known, Some(RowData::Link { stamp: old }) if old == stamp);
                (NodeData::Link { stamp }, same)
            }
            (_, Some(RowData::File { stamp: old, hash })) if old == stamp => {
                (NodeData::File { stamp, hash }, hash.is_some())
            }
            _ => (NodeData::File { stamp, hash: None }, false),
        };
        if !matches!(what, NodeData::Directory { .. }) {
            self.count(&stamp);
        }
        if let Listing::Read(nodes) = &mut self.directory.listing {
            nodes.push(Node { name: entry.name, what });
        }
        Ok(unchanged)
    }

    fn add_below(&mut self, name: &[u8], known: Option<u32>) -> Result<()> {
        let path = self.directory.path.join(&Name::from_disk(name)?)?;
        self.below.push(Pending { path, known });
        self.totals.directories += 1;
        Ok(())
    }

    /// Counts a file or link.
    fn count(&mut self, stamp: &Stamp) {
        self.totals.files += 1;
        if stamp.kind() == Kind::File {
            self.totals.bytes += stamp.size;
        }
        self.newest = self.newest.max(stamp.changed);
    }
}

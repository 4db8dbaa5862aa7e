//! A look at one directory and at every entry in it.
//!
//! The kernel changes a directory's stamp whenever an entry comes, goes or is renamed. So where the
//! stamp is the one that the index knows, so are the names, and the directory need not be read.

use std::iter::Peekable;
use std::sync::OnceLock;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::index::{Block, Index, Known, Rows};
use super::stamp::{self, Moment, Stamp};
use super::tree::{Directory, Listing, Node, What, changed};
use crate::error::{Error, Operation, Result};
use crate::filesystem::capture::{NotCaptured, Totals};
use crate::host::root::mount_in;
use crate::host::{HostTree, entry, failure, staging};
use crate::path::{Name, RESERVED_NAME, TreePath};
use crate::tree::scope::Scope;
use crate::tree::{Entry, Kind};

/// Looks at directories.
pub(super) struct Visitor<'a> {
    pub(super) host: &'a HostTree,
    pub(super) index: &'a Index,
    pub(super) scope: &'a Scope,
    /// Whether a directory with a known stamp is taken to have the known names.
    pub(super) trusting: bool,
    /// From which moment on a known stamp says nothing of the content.
    pub(super) unsettled: Option<Moment>,
}

/// A directory that is still to be looked at.
pub(super) struct Place {
    pub(super) path: TreePath,
    pub(super) known: Option<u32>,
}

/// A directory that was looked at.
pub(super) struct Seen {
    pub(super) directory: Directory,
    /// The directories in it, in the order of their names.
    pub(super) below: Vec<Place>,
    pub(super) totals: Totals,
    pub(super) newest: Moment,
    pub(super) not_captured: Vec<NotCaptured>,
}

impl Visitor<'_> {
    pub(super) fn visit(&self, place: &Place) -> Result<Seen> {
        let known = place.known.and_then(|number| Some((number, self.index.block(number)?)));
        if let Some((number, block)) = known.as_ref().filter(|_| self.trusting) {
            let as_known = self.as_known(place, *number, block);
            if let Some(seen) = as_known.map_err(|errno| failed(place, errno))? {
                return Ok(seen);
            }
        }
        self.read(place, known.map(|(_, block)| block))
    }

    /// Looks at what the index knows; `None` where anything is not as it was.
    fn as_known(
        &self,
        place: &Place,
        number: u32,
        block: &Block<'_>,
    ) -> rustix::io::Result<Option<Seen>> {
        let Some(known) = block.stamp else { return Ok(None) };
        let handle = self.host.root.open(&place.path, OFlags::PATH | OFlags::DIRECTORY)?;
        if Stamp::of(&stamp::look_at(&handle)?) != known || is_reserved_used(place, &handle) {
            return Ok(None);
        }
        let listing = Listing::Known { block: number, nodes: OnceLock::new() };
        let mut seen = Seen::new(place.path.clone(), known, listing);
        seen.directory.hash = block.hash;
        let mut rows = block.rows.clone();
        for row in rows.by_ref() {
            let same = match row.what {
                Known::Directory { number } => seen.add_below(row.name, Some(number)).is_ok(),
                Known::File { hash: None, .. } => false,
                Known::File { stamp, .. } | Known::Link { stamp } => {
                    seen.count(&stamp);
                    self.is_still(&handle, row.name, &stamp)
                }
            };
            if !same {
                return Ok(None);
            }
        }
        Ok(rows.is_at_end().then_some(seen))
    }

    fn is_still(&self, directory: &OwnedFd, name: &[u8], known: &Stamp) -> bool {
        stamp::look(directory.as_fd(), name).is_ok_and(|found| {
            Stamp::of(&found) == *known && mount_in(&found) == self.host.root.mount()
        })
    }

    /// Reads the directory and looks at everything in it.
    fn read(&self, place: &Place, block: Option<Block<'_>>) -> Result<Seen> {
        let (handle, entries) = self.open(&place.path).map_err(|errno| failed(place, errno))?;
        // After it was read, so that a change meanwhile shows.
        let stamp = stamp::look_at(&handle).map_err(|errno| failed(place, errno))?;
        let listing = Listing::Looked(Vec::with_capacity(entries.len()));
        let mut seen = Seen::new(place.path.clone(), Stamp::of(&stamp), listing);
        if is_reserved_used(place, &handle) {
            seen.name_reserved();
        }
        let mut rows = block.as_ref().map(|block| block.rows.clone().peekable());
        let mut unchanged = true;
        for entry in entries {
            let (known, is_next) = take(rows.as_mut(), entry.name.as_bytes());
            unchanged &= self.entry(&mut seen, &handle, entry, known)? && is_next;
        }
        unchanged &= rows.is_none_or(|mut rows| rows.next().is_none());
        // What is below is looked at later.
        seen.directory.hash = block.and_then(|block| block.hash).filter(|_| unchanged);
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
        if !directory.has_room_for(&entry.name) {
            seen.name_too_long();
            return Ok(known.is_none());
        }
        if !self.scope.is_everything() {
            let path = directory.join(&entry.name)?;
            if !self.scope.leads_to(&path) {
                seen.directory.is_whole = false;
                return Ok(false);
            }
            if self.scope.excluded().matches_entry(&path) {
                seen.leave_out();
                return Ok(known.is_none());
            }
        }
        let found = match stamp::look(handle.as_fd(), entry.name.as_bytes()) {
            Err(Errno::NOENT) => return Err(changed(&directory.join(&entry.name)?)),
            found => found.map_err(|errno| at(directory, &entry, errno))?,
        };
        let stamp = Stamp::of(&found);
        if stamp.kind() == Kind::Other || mount_in(&found) != self.host.root.mount() {
            seen.name_left_out(&entry, stamp.kind())?;
            return Ok(known.is_none());
        }
        seen.add(entry, stamp, known.filter(|known| self.is_settled(known)))
    }

    fn is_settled(&self, known: &Known) -> bool {
        match known {
            Known::File { stamp, .. } => self.unsettled.is_none_or(|from| stamp.changed < from),
            Known::Link { .. } | Known::Directory { .. } => true,
        }
    }
}

/// Returns whether a directory is the root, and another program keeps something under the reserved name in it, which
/// no capture includes.
fn is_reserved_used(place: &Place, handle: &OwnedFd) -> bool {
    place.path.is_root() && staging::holds_others(handle.as_fd())
}

/// Takes what is known of a name, and tells whether no other name was known before it.
fn take(rows: Option<&mut Peekable<Rows<'_>>>, name: &[u8]) -> (Option<Known>, bool) {
    let Some(rows) = rows else { return (None, true) };
    let mut is_next = true;
    while rows.next_if(|row| row.name < name).is_some() {
        is_next = false;
    }
    (rows.next_if(|row| row.name == name).map(|row| row.what), is_next)
}

fn failed(place: &Place, errno: Errno) -> Error {
    match errno {
        // What was looked at a moment ago is gone, or something was put over it.
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV => changed(&place.path),
        _ => failure::any(Operation::Capture, &place.path, errno),
    }
}

fn at(directory: &TreePath, entry: &Entry, errno: Errno) -> Error {
    let path = directory.join(&entry.name).unwrap_or_else(|_| directory.clone());
    failure::any(Operation::Capture, &path, errno)
}

impl Seen {
    fn new(path: TreePath, stamp: Stamp, listing: Listing) -> Self {
        let (children, hash) = (0..0, None);
        let (is_whole, hides) = (true, false);
        Self {
            directory: Directory { path, listing, children, stamp, hash, is_whole, hides },
            below: Vec::new(),
            totals: Totals::default(),
            newest: stamp.changed,
            not_captured: Vec::new(),
        }
    }

    fn leave_out(&mut self) {
        self.directory.is_whole = false;
        self.directory.hides = true;
    }

    fn name_left_out(&mut self, entry: &Entry, kind: Kind) -> Result<()> {
        let why = match kind {
            Kind::Other => "a FIFO, socket or device",
            _ => "on another file system",
        };
        let path = self.directory.path.join(&entry.name)?;
        self.not_captured.push(NotCaptured { path, why });
        self.leave_out();
        Ok(())
    }

    fn name_reserved(&mut self) {
        let (path, why) = (TreePath::reserved(), "a name reserved for wink");
        self.not_captured.push(NotCaptured { path, why });
        self.leave_out();
    }

    /// Names the directory itself, since no path can name what is in it.
    fn name_too_long(&mut self) {
        let why = "a directory with entries whose paths are longer than 4096 bytes";
        let here = NotCaptured { path: self.directory.path.clone(), why };
        if self.not_captured.last() != Some(&here) {
            self.not_captured.push(here);
        }
        self.leave_out();
    }

    /// Adds an entry; returns whether it is what was known before.
    fn add(&mut self, entry: Entry, stamp: Stamp, known: Option<Known>) -> Result<bool> {
        let (what, unchanged) = match (stamp.kind(), known) {
            (Kind::Directory, known) => {
                let ordinal = self.below.len() as u32;
                let known = match known {
                    Some(Known::Directory { number }) => Some(number),
                    _ => None,
                };
                self.add_below(entry.name.as_bytes(), known)?;
                (What::Directory { ordinal }, known.is_some())
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
        if !matches!(what, What::Directory { .. }) {
            self.count(&stamp);
        }
        if let Listing::Looked(nodes) = &mut self.directory.listing {
            nodes.push(Node { name: entry.name, what });
        }
        Ok(unchanged)
    }

    fn add_below(&mut self, name: &[u8], known: Option<u32>) -> Result<()> {
        let path = self.directory.path.join(&Name::from_disk(name)?)?;
        self.below.push(Place { path, known });
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

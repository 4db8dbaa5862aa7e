//! The staging directory, where new files wait until they are complete and displaced entries until they are deleted.
//!
//! Each open backend has its own in `.wink-staging` beside the root, or in the root if a rename from beside it fails. A
//! lock on it shows that its process is alive. The next process that opens the root recovers and deletes those of dead
//! processes.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write};
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::{Errno, Result};

use super::entry;
use super::purge;
use super::replace::{self, Finished};
use super::root::{self, Owner, Root};
use crate::error::{Error, ErrorKind, Operation};
use crate::filesystem::Durability;
use crate::filesystem::event::Event;
use crate::filesystem::staged::{StagedBody, StagingSink};
use crate::path::{RESERVED_NAME, TreePath};
use crate::tree::content::Content;
use crate::tree::{Entry, Kind};

/// How often making a directory is tried again while another process cleans up.
const TRIES: u64 = 16;

/// The name of the journal.
const JOURNAL: &str = "journal";

/// The name of an incomplete journal.
const DRAFT: &str = "draft";

const READ: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A backend's own staging directory.
pub(super) struct Area {
    root: Arc<Root>,
    /// The parent of `.wink-staging`.
    base: OwnedFd,
    holder: OwnedFd,
    name: String,
    directory: OwnedFd,
    next: AtomicU64,
}

impl Area {
    /// Makes a staging directory from which entries can be renamed into the root.
    pub(super) fn create(root: &Arc<Root>) -> Result<Self> {
        if let Ok(area) = Self::beside(root) {
            return Ok(area);
        }
        let base = root.open_below(root.as_fd(), b"", OFlags::PATH | OFlags::DIRECTORY)?;
        match Self::within(root, base.try_clone().map_err(|_| Errno::MFILE)?) {
            Err(Errno::NOTDIR) => {
                // In the root, the reserved name may be taken by a file of the user.
                give_other_name(&base)?;
                Self::within(root, base)
            }
            area => area,
        }
    }

    /// Returns whether the directory was not deleted meanwhile.
    pub(super) fn is_there(&self) -> bool {
        rustix::fs::fstat(&self.directory).is_ok_and(|stat| stat.st_nlink > 0)
    }

    fn beside(root: &Arc<Root>) -> Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = rustix::fs::openat(root.as_fd(), "..", flags, Mode::empty())?;
        let area = Self::within(root, parent)?;
        area.check_rename()?;
        // A process may have been killed during the check.
        let _ = rustix::fs::unlinkat(root.as_fd(), RESERVED_NAME, AtFlags::REMOVEDIR);
        Ok(area)
    }

    /// Tries a rename into the root, to the reserved name, which readers do not see.
    ///
    /// Comparing devices is not enough: a rename from one mount to another fails within one device too.
    fn check_rename(&self) -> Result<()> {
        let probe = self.new_name();
        rustix::fs::mkdirat(&self.directory, &*probe, Mode::RWXU)?;
        let from = self.directory.as_fd();
        let to = self.root.as_fd();
        let renamed =
            rustix::fs::renameat_with(from, &*probe, to, RESERVED_NAME, RenameFlags::NOREPLACE);
        let left = if renamed.is_ok() { (to, RESERVED_NAME) } else { (from, &*probe) };
        rustix::fs::unlinkat(left.0, left.1, AtFlags::REMOVEDIR)?;
        match renamed {
            // The name is taken by another backend's directory. The kernel got as far as comparing names, so a rename
            // works.
            Err(Errno::EXIST) => Ok(()),
            result => result,
        }
    }

    fn within(root: &Arc<Root>, base: OwnedFd) -> Result<Self> {
        for attempt in 0..TRIES {
            match Self::try_within(root, &base, attempt) {
                // Another process deleted `.wink-staging`, or took our directory for a dead one.
                Err(Errno::NOENT | Errno::EXIST | Errno::WOULDBLOCK) => {}
                Err(errno) => return Err(errno),
                Ok((holder, name, directory)) => {
                    let root = root.clone();
                    let next = AtomicU64::new(0);
                    return Ok(Self { root, base, holder, name, directory, next });
                }
            }
        }
        Err(Errno::AGAIN)
    }

    fn try_within(root: &Root, base: &OwnedFd, attempt: u64) -> Result<(OwnedFd, String, OwnedFd)> {
        let holder = open_holder(base)?;
        sweep(root, &holder);
        let name = unique_name(attempt);
        rustix::fs::mkdirat(&holder, &*name, Mode::RWXU)?;
        let directory = rustix::fs::openat(&holder, &*name, DIRECTORY, Mode::empty())?;
        // The lock ends with the process, however it dies, so nothing has to be cleaned up for it.
        rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
        // Until it was locked, another process may have taken it for a dead one and deleted it.
        if rustix::fs::fstat(&directory)?.st_nlink == 0 {
            return Err(Errno::NOENT);
        }
        Ok((holder, name, directory))
    }

    pub(super) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Returns an unused name.
    pub(super) fn new_name(&self) -> String {
        self.next.fetch_add(1, Ordering::Relaxed).to_string()
    }

    /// Syncs the whole file system, which includes this directory.
    pub(super) fn sync(&self) -> Result<()> {
        rustix::fs::syncfs(&self.directory)
    }

    /// Replaces the journal atomically.
    pub(super) fn write_journal(&self, journal: &[u8], durability: Durability) -> io::Result<()> {
        write_journal(self.directory.as_fd(), journal, durability)
    }

    /// Removes the journal, once all steps were done or undone.
    pub(super) fn remove_journal(&self) {
        self.discard(JOURNAL);
    }

    fn has_journal(&self) -> bool {
        self.holds(JOURNAL)
    }

    /// Returns whether something lies under a name.
    pub(super) fn holds(&self, name: &str) -> bool {
        rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Deletes an entry, as far as possible.
    pub(super) fn discard(&self, name: &str) {
        let removed = rustix::fs::unlinkat(&self.directory, name, AtFlags::empty());
        if removed == Err(Errno::ISDIR) {
            let _ = purge::purge(&self.root, self.directory.as_fd(), name.as_bytes());
        }
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // The next process needs the journal and the entries that it names.
        if self.has_journal() {
            return;
        }
        // Nothing to be done about a failure here; the next process cleans up.
        let _ = purge::purge(&self.root, self.holder.as_fd(), self.name.as_bytes());
        let _ = rustix::fs::unlinkat(&self.base, RESERVED_NAME, AtFlags::REMOVEDIR);
    }
}

/// Opens or makes `.wink-staging`; fails if another user owns it.
fn open_holder(base: &OwnedFd) -> Result<OwnedFd> {
    match rustix::fs::mkdirat(base, RESERVED_NAME, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno),
    }
    let holder = match rustix::fs::openat(base, RESERVED_NAME, DIRECTORY, Mode::empty()) {
        // A file of the user's, or a link.
        Err(Errno::LOOP) => return Err(Errno::NOTDIR),
        result => result?,
    };
    if !is_ours(&holder) {
        return Err(Errno::PERM);
    }
    if rustix::fs::fstat(&holder)?.st_mode & 0o077 != 0 {
        rustix::fs::fchmod(&holder, Mode::RWXU)?;
    }
    Ok(holder)
}

/// Renames a user's file with the reserved name, which would make every call fail.
fn give_other_name(root: &OwnedFd) -> Result<()> {
    for number in 1..=TRIES {
        let other = format!("{RESERVED_NAME}.{number}");
        match rustix::fs::renameat_with(root, RESERVED_NAME, root, &*other, RenameFlags::NOREPLACE)
        {
            Err(Errno::EXIST) => {}
            renamed => return renamed,
        }
    }
    Err(Errno::EXIST)
}

fn is_ours(holder: &OwnedFd) -> bool {
    let uid = rustix::process::geteuid().as_raw();
    rustix::fs::fstat(holder).is_ok_and(|stat| stat.st_uid == uid)
}

/// Finishes what dead processes of this root began, and deletes their staging directories.
///
/// Returns events about entries that other programs wrote into.
pub(super) fn recover(root: &Root) -> Vec<Event> {
    let mut found = Vec::new();
    for (base, holder) in holders(root) {
        found.extend(sweep(root, &holder));
        let _ = rustix::fs::unlinkat(&base, RESERVED_NAME, AtFlags::REMOVEDIR);
    }
    found
}

/// Returns each `.wink-staging` that may belong to this root, with its parent.
fn holders(root: &Root) -> impl Iterator<Item = (OwnedFd, OwnedFd)> {
    let beside = rustix::fs::openat(root.as_fd(), "..", DIRECTORY, Mode::empty());
    let within = root.open_below(root.as_fd(), b"", OFlags::RDONLY | OFlags::DIRECTORY);
    [beside, within].into_iter().flatten().filter_map(|base| {
        let holder = rustix::fs::openat(&base, RESERVED_NAME, DIRECTORY, Mode::empty());
        Some((base, holder.ok().filter(is_ours)?))
    })
}

/// Returns whether a dead process of this root left steps to do.
pub(super) fn is_unfinished(root: &Root) -> bool {
    holders(root).any(|(_, holder)| {
        let entries = entry::entries(holder.as_fd()).unwrap_or_default();
        entries.iter().filter(|left| is_own_name(left.name.as_bytes())).any(|left| {
            let staging = rustix::fs::openat(&holder, left.name.as_bytes(), DIRECTORY, Mode::empty());
            let Ok(staging) = staging else { return false };
            let journal = read_journal(staging.as_fd());
            matches!(journal, Ok(Some(bytes)) if replace::is_unfinished(root, staging.as_fd(), &bytes))
        })
    })
}

fn read_journal(staging: BorrowedFd<'_>) -> io::Result<Option<Vec<u8>>> {
    let mut journal = match rustix::fs::openat(staging, JOURNAL, READ, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        journal => File::from(journal?),
    };
    let mut bytes = Vec::new();
    journal.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Recovers and deletes the staging directories of dead processes.
fn sweep(root: &Root, holder: &OwnedFd) -> Vec<Event> {
    let mut found = Vec::new();
    for left in entry::entries(holder.as_fd()).unwrap_or_default() {
        let name = left.name.as_bytes();
        if !is_own_name(name) {
            continue;
        }
        let Ok(fd) = rustix::fs::openat(holder, name, DIRECTORY, Mode::empty()) else { continue };
        // Its process is alive. The process id in the name would not tell, because ids are reused.
        if rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        let Some(finished) = finish(root, fd.as_fd()) else { continue };
        if finished.stuck.is_none() {
            // Journal first: with it, the next process would look for the entries that are being deleted.
            let _ = rustix::fs::unlinkat(&fd, JOURNAL, AtFlags::empty());
            let _ = purge::purge(root, holder.as_fd(), name);
        }
        let place = root::real_path(&fd).map(|path| PathBuf::from(OsString::from_vec(path)));
        let waiting = finished.waiting.into_iter().map(|(path, name)| {
            let place = place.as_ref().map(|place| place.join(name)).unwrap_or_default();
            Event::EntryWaits { path, place }
        });
        found.extend(waiting);
        found.extend(finished.returned.into_iter().map(|path| Event::EntryReturned { path }));
    }
    found
}

/// Recovers from a journal; `None` if it must stay, because it belongs to another root or is unreadable.
fn finish(root: &Root, staging: BorrowedFd<'_>) -> Option<Finished> {
    let Some(bytes) = read_journal(staging).ok()? else { return Some(Finished::default()) };
    // A live process of this root may be between an exchange and its check.
    let _alone = root.lock().ok()?;
    let finished = replace::recover(root, staging, &bytes)?;
    if let Some(stuck) = &finished.stuck {
        // If this fails, the old journal stays, and all its steps are checked again.
        let _ = write_journal(staging, stuck, Durability::Synced);
    }
    Some(finished)
}

/// Replaces the journal of a staging directory.
fn write_journal(
    staging: BorrowedFd<'_>,
    journal: &[u8],
    durability: Durability,
) -> io::Result<()> {
    let is_synced = durability == Durability::Synced;
    let flags =
        OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(staging, DRAFT, flags, Mode::RUSR | Mode::WUSR)?;
    let file = File::from(fd);
    // Content first, then the name: after a power loss the journal is complete or absent.
    let sync = |()| if is_synced { file.sync_all() } else { Ok(()) };
    let written = (&file).write_all(journal).and_then(sync);
    let renamed =
        written.and_then(|()| Ok(rustix::fs::renameat(staging, DRAFT, staging, JOURNAL)?));
    if renamed.is_err() {
        let _ = rustix::fs::unlinkat(staging, DRAFT, AtFlags::empty());
    }
    // Without this the rename itself could be lost, and with it the only record of what was moved.
    renamed.and_then(|()| if is_synced { Ok(rustix::fs::fsync(staging)?) } else { Ok(()) })
}

/// Returns whether the reserved name is used by something that no backend made.
pub(super) fn holds_others(directory: BorrowedFd<'_>) -> bool {
    let holder = match rustix::fs::openat(directory, RESERVED_NAME, DIRECTORY, Mode::empty()) {
        Err(Errno::NOENT) => return false,
        holder => holder,
    };
    let is_own =
        |entry: &Entry| entry.kind == Kind::Directory && is_own_name(entry.name.as_bytes());
    let entries = holder.and_then(|holder| entry::entries(holder.as_fd()));
    entries.map_or(true, |entries| !entries.iter().all(is_own))
}

/// Returns whether a name looks like one of [`unique_name`].
fn is_own_name(name: &[u8]) -> bool {
    let mut numbers = name.split(|byte| *byte == b'-');
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    numbers.clone().count() == 4 && numbers.all(is_number)
}

fn unique_name(attempt: u64) -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("{}-{}-{count}-{attempt}", process::id(), now.as_nanos())
}

/// Returns the error for a staging directory that was deleted during a call.
pub(super) fn lost(path: &TreePath) -> Error {
    Error::new(Operation::Write, ErrorKind::Io)
        .with_path(path)
        .with_detail("the staging directory was removed meanwhile; nothing was changed, try again")
}

/// A file in staging, deleted on drop unless it was installed.
pub(super) struct Temporary {
    area: Arc<Area>,
    name: String,
    file: Arc<File>,
    placed: bool,
}

impl Temporary {
    pub(super) fn create(area: &Arc<Area>) -> Result<Self> {
        let name = area.new_name();
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let bits = Mode::from_raw_mode(0o666);
        let fd = rustix::fs::openat(area.directory(), &*name, flags, bits)?;
        let given = Owner::take(area.root.owner(), &fd);
        given.inspect_err(|_| area.discard(&name))?;
        Ok(Self { area: area.clone(), name, file: Arc::new(fd.into()), placed: false })
    }

    pub(super) fn area(&self) -> &Arc<Area> {
        &self.area
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Closes the writable handle, so that a lease finds only other programs' handles.
    pub(super) fn close_for_writing(&mut self) -> Result<()> {
        let file = rustix::fs::openat(self.area.directory(), &*self.name, READ, Mode::empty())?;
        self.file = Arc::new(file.into());
        Ok(())
    }

    /// Notes that the file has left staging.
    pub(super) fn set_placed(&mut self) {
        self.placed = true;
    }

    pub(super) fn is_placed(&self) -> bool {
        self.placed
    }

    /// Deletes what is under the file's name, which may be a displaced file by now.
    pub(super) fn discard(&mut self) {
        let _ = rustix::fs::unlinkat(self.area.directory(), &*self.name, AtFlags::empty());
        self.placed = true;
    }
}

impl StagedBody for Temporary {
    fn content(&self) -> Content {
        let len = self.file.metadata().map_or(0, |metadata| metadata.len());
        Content::positional(self.file.clone(), len)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.placed {
            self.discard();
        }
    }
}

/// Writes a temporary file.
pub(super) struct TemporaryWriter {
    temporary: Temporary,
    writer: BufWriter<Arc<File>>,
}

impl TemporaryWriter {
    pub(super) fn new(temporary: Temporary) -> Self {
        let writer = BufWriter::with_capacity(64 * 1024, temporary.file.clone());
        Self { temporary, writer }
    }
}

impl Write for TemporaryWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl StagingSink for TemporaryWriter {
    fn finish(mut self: Box<Self>) -> io::Result<Box<dyn StagedBody>> {
        self.writer.flush()?;
        Ok(Box::new(self.temporary))
    }
}

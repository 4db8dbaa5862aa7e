//! Putting a complete temporary file in the place of an entry, in one step.

pub(crate) mod bring_in;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, CWD, Gid, Mode, OFlags, RawMode, RenameFlags, Stat, Uid};
use rustix::io::{Errno, Result as SystemResult};

use super::copy::links::copy_file;
use super::displace::Looked;
use super::entry::{self, KEPT_BITS};
use super::preimage::write;
use super::root::{Root, Slot};
use super::staging::{self, Temporary};
use super::{HostTree, displace, failure, replace};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::filesystem::{Durability, Put, PutCondition, PutOptions};
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::tree::FileMode;
use crate::tree::content::Content;

/// How often a replacement starts again because the entry comes and goes meanwhile.
const TRIES: usize = 16;

/// A file changed so short a time ago may have been changed again within the clock's grain.
const RACY: Duration = Duration::from_secs(2);

/// Puts content in its place; what it displaces goes to `kept`, where that is said.
pub(super) fn put(
    host: &HostTree,
    path: &TreePath,
    slot: &Slot<'_>,
    temporary: &mut Temporary,
    options: &PutOptions,
    kept: Option<PathBuf>,
) -> Result<Put> {
    let root = &*host.root;
    if options.durability == Durability::Synced {
        // After a failure the kernel may have dropped the pages: never try again, write anew.
        rustix::fs::fsync(temporary.file())
            .map_err(|errno| failure::any(Operation::Write, path, errno))?;
    }
    let (mode, is_seated, ours, was_open) = (options.mode, false, None, false);
    let mut placing =
        Placing { host, path, slot, temporary, mode, kept, is_seated, ours, was_open };
    let created = match options.condition {
        PutCondition::Absent => placing.create().map(|()| true),
        PutCondition::AbsentOrFile => placing.create_or_replace(root),
        PutCondition::Unchanged(hash) => placing.exchange(root, hash).map(|()| false),
    };
    let created = created.inspect_err(|_| placing.unseat())?;
    Ok(Put::new(created, reach(options.durability, root, path)))
}

/// Goes as far towards the durability wanted as the system lets it, and says how far that was.
///
/// The content is in place already, so that what fails here is not a failure of the call.
fn reach(wanted: Durability, root: &Root, path: &TreePath) -> Durability {
    match wanted {
        Durability::Synced if sync_directories(root, path).is_ok() => Durability::Synced,
        _ => Durability::Atomic,
    }
}

struct Placing<'a> {
    host: &'a HostTree,
    path: &'a TreePath,
    slot: &'a Slot<'a>,
    temporary: &'a mut Temporary,
    mode: Option<FileMode>,
    /// Where what is displaced is to go.
    kept: Option<PathBuf>,
    /// Whether the new file waits there, so that one exchange puts it in place and keeps what was there.
    is_seated: bool,
    /// The new file as it was before it came into view, where it waits elsewhere.
    ours: Option<Stat>,
    /// Whether a program may have had the old file open when it was copied.
    was_open: bool,
}

/// The file that was there when it was checked.
struct Known {
    content: Content,
    stat: Stat,
}

impl Placing<'_> {
    fn create(&mut self) -> Result<()> {
        self.prepare_new().map_err(|errno| self.failed(errno))?;
        match self.rename(RenameFlags::NOREPLACE) {
            // Some file systems know only the plain rename, but all that matter have hard links.
            Err(Errno::INVAL) => self.link(),
            result => result,
        }
        .map_err(|errno| self.failed(errno))
    }

    fn link(&mut self) -> SystemResult<()> {
        let (from, name) = (self.temporary.area().directory(), self.temporary.name());
        let (directory, none) = (&self.slot.directory, AtFlags::empty());
        rustix::fs::linkat(from, name, directory, self.slot.name, none)?;
        self.temporary.discard();
        Ok(())
    }

    fn create_or_replace(&mut self, root: &Root) -> Result<bool> {
        for _ in 0..TRIES {
            match self.create() {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                result => return result.map(|()| true),
            }
            // What is there may be another process's exchange that is not settled yet.
            let _lock = root.lock().map_err(|errno| self.failed(errno))?;
            match self.look() {
                Ok(there) => match self.replace(&there) {
                    // It went between the look and the exchange.
                    Err(error) if error.kind() == ErrorKind::NotFound => self.unseat(),
                    replaced => return replaced.map(|()| false),
                },
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(self.failed(errno)),
            }
        }
        Err(self.failed(Errno::AGAIN))
    }

    fn replace(&mut self, there: &Stat) -> Result<()> {
        checks::check_file(Operation::Write, self.path, entry::kind_of(there.st_mode))?;
        self.adopt(there).map_err(|errno| self.failed(errno))?;
        if self.kept.is_none() {
            return self.rename(RenameFlags::empty()).map_err(|errno| self.failed(errno));
        }
        if !entry::may_be_read(self.slot.directory.as_fd(), self.slot.name) {
            return Err(checks::unreadable(Operation::Write, self.path));
        }
        self.seat(there).map_err(|errno| self.failed(errno))?;
        match self.rename(RenameFlags::EXCHANGE) {
            Ok(()) => self.settle_any(there),
            // This file system cannot exchange: what is kept is what was there a moment ago.
            Err(Errno::INVAL) => self.replace_after_a_copy(there),
            Err(errno) => Err(self.failed(errno)),
        }
    }

    /// Keeps whatever file the exchange brought out.
    fn settle_any(&mut self, there: &Stat) -> Result<()> {
        let displaced = self.look_displaced().map_err(|errno| self.failed(errno));
        let checked = displaced.and_then(|displaced| {
            checks::check_file(Operation::Write, self.path, entry::kind_of(displaced.st_mode))
        });
        match checked {
            Ok(()) => self.keep(there),
            Err(error) => {
                self.put_back()?;
                Err(error)
            }
        }
    }

    /// Replaces the file only if it is the one the caller knows, and looks again after the exchange.
    fn exchange(&mut self, root: &Root, expected: ContentHash) -> Result<()> {
        let _lock = root.lock().map_err(|errno| self.failed(errno))?;
        let known = self.open_expected(expected)?;
        self.adopt(&known.stat).map_err(|errno| self.failed(errno))?;
        if self.kept.is_some() {
            self.seat(&known.stat).map_err(|errno| self.failed(errno))?;
        }
        match self.rename(RenameFlags::EXCHANGE) {
            Ok(()) => self.settle(&known, expected),
            // This file system cannot exchange: what remains is a plain rename after the check.
            Err(Errno::INVAL) => self.replace_after_a_copy(&known.stat),
            Err(Errno::NOENT) if self.look_displaced().is_ok() => {
                Err(checks::conflict(self.path, None))
            }
            Err(errno) => Err(self.failed(errno)),
        }
    }

    /// Lets the new file wait where what it displaces is to go; on another file system, copies that first.
    fn seat(&mut self, there: &Stat) -> SystemResult<()> {
        let Some(kept) = &self.kept else { return Ok(()) };
        let (from, name) = (self.temporary.area().directory(), self.temporary.name());
        match rustix::fs::renameat(from, name, CWD, kept) {
            Err(Errno::XDEV) => {
                let (directory, at) = (self.slot.directory.as_fd(), self.slot.name);
                let looked = Looked::at(self.host, directory, at)?;
                copy_file(self.slot, there, kept)?;
                self.ours = Some(rustix::fs::fstat(self.temporary.file())?);
                self.was_open = looked.is_open;
                let area = self.temporary.area();
                replace::announce_keep(self.host, area, self.path, name, (&looked, kept))
                    .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
            }
            seated => {
                seated?;
                self.is_seated = true;
            }
        }
        Ok(())
    }

    /// Takes the new file back from there, so that it can be put again, and what was kept with it.
    fn unseat(&mut self) {
        let Some(kept) = &self.kept else { return };
        if self.temporary.is_placed() {
            return;
        }
        if self.is_seated {
            // After an exchange that could not be undone, what was displaced lies there.
            if !self.is_ours_waiting() {
                self.temporary.set_placed();
                return;
            }
            let (area, name) = (self.temporary.area().directory(), self.temporary.name());
            let _ = rustix::fs::renameat(CWD, kept, area, name);
            self.is_seated = false;
        } else {
            write::remove(kept);
            self.temporary.area().remove_journal();
        }
    }

    /// Keeps what was displaced, which is out of view now.
    fn keep(&mut self, expected: &Stat) -> Result<()> {
        let Some(kept) = self.kept.clone() else {
            self.temporary.discard();
            return Ok(());
        };
        let kept =
            if self.is_seated { self.keep_itself(&kept) } else { self.keep_copy(expected, &kept) };
        kept.or_else(|errno| {
            let error = self.failed(errno);
            self.put_back()?;
            Err(error)
        })
    }

    fn keep_itself(&mut self, kept: &Path) -> SystemResult<()> {
        let displaced = self.look_displaced()?;
        // Through another name of it, a program could write into what is kept.
        if displaced.st_nlink > 1 {
            self.copy_displaced(&displaced, kept)?;
        }
        self.temporary.set_placed();
        Ok(())
    }

    /// Keeps a copy, on another file system; what was displaced goes, unless a program may still write into it.
    fn keep_copy(&mut self, expected: &Stat, kept: &Path) -> SystemResult<()> {
        let (area, name) = (self.temporary.area().clone(), self.temporary.name().to_owned());
        // First: what is written after it shows.
        let mut looked = Looked::at(self.host, area.directory(), name.as_bytes())?;
        looked.is_open |= self.was_open;
        let displaced = self.look_displaced()?;
        if !same_file(&displaced, expected) {
            self.copy_displaced(&displaced, kept)?;
        }
        let copy = || replace::content_of(kept);
        replace::discard_settled(self.host, &area, self.path, &name, &looked, copy);
        self.temporary.set_placed();
        Ok(())
    }

    /// Puts a copy of what was displaced in the place of what is kept.
    fn copy_displaced(&mut self, displaced: &Stat, kept: &Path) -> SystemResult<()> {
        let area = self.temporary.area().clone();
        let source = if self.is_seated {
            Slot::at(CWD, kept.as_os_str().as_encoded_bytes())?
        } else {
            Slot::at(area.directory(), self.temporary.name().as_bytes())?
        };
        let copied = copy_file(&source, displaced, kept);
        // Where there is no room for a copy, or it may not be read, the file itself is better than nothing.
        if self.is_seated { Ok(()) } else { copied }
    }

    /// Replaces the file by a plain rename, after a copy of it was made.
    fn replace_after_a_copy(&mut self, there: &Stat) -> Result<()> {
        if let Some(kept) = self.kept.clone() {
            self.unseat();
            write::remove(&kept);
            copy_file(self.slot, there, &kept).map_err(|errno| self.failed(errno))?;
        }
        self.rename(RenameFlags::empty()).map_err(|errno| self.failed(errno))
    }

    fn open_expected(&self, expected: ContentHash) -> Result<Known> {
        let known = match self.open() {
            Err(Errno::NOENT) => return Err(checks::conflict(self.path, None)),
            result => result.map_err(|errno| self.failed(errno))?,
        };
        checks::check_file(Operation::Write, self.path, entry::kind_of(known.stat.st_mode))?;
        let found = self.hash(&known)?;
        if found == expected { Ok(known) } else { Err(checks::conflict(self.path, Some(found))) }
    }

    /// Keeps an exchange that brought out the file that was checked, and undoes any other.
    ///
    /// What came out lies under the temporary's name now.
    fn settle(&mut self, known: &Known, expected: ContentHash) -> Result<()> {
        match self.is_displaced(known, expected) {
            Ok(true) => self.keep(&known.stat),
            Ok(false) => {
                self.put_back()?;
                let current = self.open().ok().and_then(|now| now.content.hash().ok());
                Err(checks::conflict(self.path, current))
            }
            Err(error) => {
                self.put_back()?;
                Err(error)
            }
        }
    }

    /// Tells whether what the exchange brought out is the file that was checked, as it was then.
    fn is_displaced(&self, known: &Known, expected: ContentHash) -> Result<bool> {
        let displaced = self.look_displaced().map_err(|errno| self.failed(errno))?;
        let same = same_file(&displaced, &known.stat);
        Ok(same && (!is_racy(&known.stat) || self.hash(known)? == expected))
    }

    /// Undoes an exchange, until what comes out is what went in last.
    ///
    /// Anything else that comes out was put there meanwhile, is newer, and goes back in turn. Another program may have
    /// written into our file while it was in view, or have it open: what becomes of it is decided when the call has
    /// ended.
    fn put_back(&mut self) -> Result<()> {
        let put_back = self.exchange_back();
        match self.kept.clone() {
            Some(_) if self.is_seated => self.temporary.set_placed(),
            Some(kept) if !self.temporary.is_placed() => self.rescue(&kept)?,
            _ => {}
        }
        put_back.map_err(|errno| self.failed(errno))
    }

    /// Keeps what came out last where it is not our file as it was: another program's, or one that it wrote into.
    fn rescue(&mut self, kept: &Path) -> Result<()> {
        let (area, name) = (self.temporary.area().clone(), self.temporary.name().to_owned());
        let failed = |errno| failure::any(Operation::Write, self.path, errno);
        let looked = Looked::at(self.host, area.directory(), name.as_bytes()).map_err(failed)?;
        let waiting = self.look_displaced().map_err(failed)?;
        // What it was made of is back in view.
        write::remove(kept);
        self.temporary.set_placed();
        if !self.ours.is_some_and(|ours| same_file(&waiting, &ours)) {
            return displace::move_elsewhere(self.host, &area, self.path, &name, kept);
        }
        // A program may have it open.
        self.temporary.close_for_writing().map_err(failed)?;
        let itself = || replace::content_at(area.directory(), name.as_bytes());
        replace::discard_settled(self.host, &area, self.path, &name, &looked, itself);
        Ok(())
    }

    fn exchange_back(&mut self) -> SystemResult<()> {
        let mut placed = identity(&rustix::fs::fstat(self.temporary.file())?);
        loop {
            let held = identity(&self.look_displaced()?);
            match self.rename(RenameFlags::EXCHANGE) {
                // Our file was removed or moved away meanwhile. What we hold is another program's, which may
                // have meant something else: better there once too often than lost.
                Err(Errno::NOENT) => match self.rename(RenameFlags::NOREPLACE) {
                    Err(Errno::EXIST) => continue,
                    back => return back,
                },
                result => result?,
            }
            if identity(&self.look_displaced()?) == placed {
                return Ok(());
            }
            placed = held;
        }
    }

    fn rename(&mut self, flags: RenameFlags) -> SystemResult<()> {
        let (from, name) = self.waiting();
        rustix::fs::renameat_with(from, name, &self.slot.directory, self.slot.name, flags)?;
        if flags != RenameFlags::EXCHANGE {
            self.temporary.set_placed();
        }
        Ok(())
    }

    fn look(&self) -> SystemResult<Stat> {
        rustix::fs::statat(&self.slot.directory, self.slot.name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Returns where the new file waits, and after an exchange what it displaced.
    fn waiting(&self) -> (BorrowedFd<'_>, &[u8]) {
        match &self.kept {
            Some(kept) if self.is_seated => (CWD, kept.as_os_str().as_encoded_bytes()),
            _ => (self.temporary.area().directory(), self.temporary.name().as_bytes()),
        }
    }

    fn look_displaced(&self) -> SystemResult<Stat> {
        let (directory, name) = self.waiting();
        rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Tells whether what waits is known to be the new file.
    fn is_ours_waiting(&self) -> bool {
        let ours = rustix::fs::fstat(self.temporary.file());
        let waiting = self.look_displaced();
        matches!((ours, waiting), (Ok(ours), Ok(waiting)) if identity(&ours) == identity(&waiting))
    }

    fn open(&self) -> SystemResult<Known> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.slot.directory, self.slot.name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&fd)?;
        let content = Content::positional(Arc::new(File::from(fd)), stat.st_size as u64);
        Ok(Known { content, stat })
    }

    fn hash(&self, known: &Known) -> Result<ContentHash> {
        let failed = |error| Error::system(Operation::Write, error).with_path(self.path);
        known.content.hash().map_err(failed)
    }

    fn prepare_new(&self) -> SystemResult<()> {
        match self.mode {
            Some(mode) => {
                let bits = rustix::fs::fstat(self.temporary.file())?.st_mode & KEPT_BITS;
                self.set_bits(bits, entry::bits_with(bits, mode))
            }
            None => Ok(()),
        }
    }

    /// Gives the new file the mode and the owner of the one it replaces.
    fn adopt(&self, there: &Stat) -> SystemResult<()> {
        let own = rustix::fs::fstat(self.temporary.file())?;
        if (own.st_uid, own.st_gid) != (there.st_uid, there.st_gid) {
            self.adopt_owner(there)?;
        }
        let kept = there.st_mode & KEPT_BITS;
        let wanted = self.mode.map_or(kept, |mode| entry::bits_with(kept, mode));
        self.set_bits(own.st_mode & KEPT_BITS, wanted)
    }

    fn adopt_owner(&self, there: &Stat) -> SystemResult<()> {
        let (owner, group) = (Uid::from_raw(there.st_uid), Gid::from_raw(there.st_gid));
        match rustix::fs::fchown(self.temporary.file(), Some(owner), Some(group)) {
            // Only root gives files away, and only to owners its user namespace knows; else the file
            // is ours, as if it had been deleted and made.
            Err(Errno::PERM | Errno::INVAL) => Ok(()),
            result => result,
        }
    }

    fn set_bits(&self, present: RawMode, wanted: RawMode) -> SystemResult<()> {
        if present == wanted {
            return Ok(());
        }
        rustix::fs::fchmod(self.temporary.file(), Mode::from_raw_mode(wanted))
    }

    fn failed(&self, errno: Errno) -> Error {
        // Without this the caller would take his own file for missing.
        if errno == Errno::NOENT && matches!(self.look_displaced(), Err(Errno::NOENT)) {
            return staging::lost(self.path);
        }
        failure::any(Operation::Write, self.path, errno)
    }
}

/// Returns whether no other process touched the file; the exchange itself sets the time of its last status change.
fn same_file(a: &Stat, b: &Stat) -> bool {
    let key = |s: &Stat| (s.st_dev, s.st_ino, s.st_size, s.st_mtime, s.st_mtime_nsec);
    key(a) == key(b)
}

fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

fn is_racy(stat: &Stat) -> bool {
    let modified = Duration::from_secs(stat.st_mtime.try_into().unwrap_or(0));
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(modified) < RACY
}

/// Makes the new entry, and directories made for it, survive a loss of power.
fn sync_directories(root: &Root, path: &TreePath) -> SystemResult<()> {
    let mut above = path.parent();
    while let Some(directory) = above {
        let fd = root.open(&directory, OFlags::RDONLY | OFlags::DIRECTORY)?;
        rustix::fs::fsync(&fd)?;
        above = directory.parent();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::io::Write as _;

    use rustix::fs::{Timespec, Timestamps, UTIME_OMIT};

    use super::*;
    use crate::host::staging::Area;
    use crate::tree::content::ReadAt;

    /// A file `a` with `old` in it, and a temporary with `new`.
    struct Scene {
        directory: tempfile::TempDir,
        host: HostTree,
        area: Arc<Area>,
    }

    impl Scene {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let host = HostTree::new(Root::open_ambient(directory.path(), None).unwrap());
            let area = host.area().unwrap();
            let scene = Self { directory, host, area };
            rustix::io::write(scene.open_a(OFlags::CREATE), b"old").unwrap();
            scene
        }

        fn open_a(&self, flags: OFlags) -> rustix::fd::OwnedFd {
            let path = self.directory.path().join("a");
            let flags = flags | OFlags::RDWR;
            rustix::fs::openat(rustix::fs::CWD, path, flags, Mode::RUSR | Mode::WUSR).unwrap()
        }

        fn content(&self) -> String {
            let content =
                Content::positional(Arc::new(File::from(self.open_a(OFlags::empty()))), 64);
            String::from_utf8(content.read_all().unwrap().to_vec()).unwrap()
        }

        /// Exchanges the files and then settles it with what was known before.
        fn settle(&self, tamper: impl FnOnce(&mut Known)) -> Result<()> {
            let path = TreePath::parse("a").unwrap();
            let slot = self.host.root.open_parent(&path).unwrap().unwrap();
            let mut temporary = Temporary::create(&self.area).unwrap();
            temporary.file().write_all(b"new").unwrap();
            let (temporary, mode) = (&mut temporary, None);
            let mut placing = Placing {
                host: &self.host,
                path: &path,
                slot: &slot,
                temporary,
                mode,
                kept: None,
                is_seated: false,
                ours: None,
                was_open: false,
            };
            let mut known = placing.open().unwrap();
            tamper(&mut known);
            placing.rename(RenameFlags::EXCHANGE).unwrap();
            placing.settle(&known, ContentHash::of(b"old"))
        }
    }

    #[test]
    fn an_exchange_with_the_file_that_was_checked_stays() {
        let scene = Scene::new();
        scene.settle(|_| ()).unwrap();
        assert_eq!(scene.content(), "new");
    }

    #[test]
    fn a_change_in_place_that_time_and_size_hide_is_found_by_the_hash() {
        let scene = Scene::new();
        let error = scene.settle(|known| {
            let file = scene.open_a(OFlags::empty());
            rustix::io::write(&file, b"OLD").unwrap();
            let then =
                Timespec { tv_sec: known.stat.st_mtime, tv_nsec: known.stat.st_mtime_nsec as _ };
            let omit = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
            let times = Timestamps { last_access: omit, last_modification: then };
            rustix::fs::futimens(&file, &times).unwrap();
        });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(scene.content(), "OLD");
    }

    struct Failing;

    impl ReadAt for Failing {
        fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
            Err(io::Error::other("made to fail"))
        }
    }

    /// Once the call failed and the new content stayed all the same.
    #[test]
    fn an_exchange_that_cannot_be_judged_is_undone() {
        let scene = Scene::new();
        let error = scene.settle(|known| known.content = Content::positional(Arc::new(Failing), 3));
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Io);
        assert_eq!(scene.content(), "old");
    }
}

//! Puts a staged file in place with one rename.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, CWD, Gid, Mode, OFlags, RawMode, RenameFlags, Stat, Uid};
use rustix::io::{Errno, Result as SystemResult};

use super::copy::copy_file;
use super::displace::Observed;
use super::entry::{self, KEPT_BITS};
use super::preimage::write;
use super::replace::stage::Writer;
use super::root::{Root, Slot};
use super::staging::{self, Temporary};
use super::{HostTree, displace, failure, replace};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::filesystem::layer::Source;
use crate::filesystem::{Durability, Put, PutCondition, PutOptions};
use crate::hash::ContentHash;
use crate::oplog::KeptEntry;
use crate::path::TreePath;
use crate::tree::FileMode;
use crate::tree::content::Content;
use crate::tree::scope::Exclusions;

/// How often a replacement is tried again while another process keeps creating and deleting the entry.
const TRIES: usize = 16;

/// A file modified this recently may have been modified again within the same clock tick.
const RACY: Duration = Duration::from_secs(2);

/// Puts a staged file at a path; the file that it displaces moves to `preimage`, if given.
pub(super) fn put(
    host: &HostTree,
    path: &TreePath,
    slot: &Slot<'_>,
    temporary: &mut Temporary,
    options: &PutOptions,
    preimage: Option<PathBuf>,
) -> Result<Put> {
    let root = &*host.root;
    if options.durability == Durability::Synced {
        // Never retry a failed fsync: the kernel may have dropped the dirty pages and report success the second time.
        // The caller writes the content again.
        rustix::fs::fsync(temporary.file())
            .map_err(|errno| failure::any(Operation::Write, path, errno))?;
    }
    let mut install = Install {
        host,
        path,
        slot,
        temporary,
        mode: options.mode,
        preimage,
        is_parked: false,
        new_stat: None,
        was_open: false,
    };
    let created = match options.condition {
        PutCondition::Absent => install.create().map(|()| true),
        PutCondition::AbsentOrFile => install.create_or_replace(root),
        PutCondition::Unchanged(hash) => install.exchange(root, hash).map(|()| false),
    };
    let created = created.inspect_err(|_| install.unpark())?;
    // The content is in place already, so a failure to sync the directories does not fail the call.
    let durability = match options.durability {
        Durability::Synced if sync_directories(root, path).is_ok() => Durability::Synced,
        _ => Durability::Atomic,
    };
    Ok(Put::new(created, durability))
}

struct Install<'a> {
    host: &'a HostTree,
    path: &'a TreePath,
    slot: &'a Slot<'a>,
    temporary: &'a mut Temporary,
    mode: Option<FileMode>,
    /// Where the displaced file goes.
    preimage: Option<PathBuf>,
    /// Whether the new file waits at the pre-image's path, so that one exchange installs it and keeps the old one.
    is_parked: bool,
    /// The new file's stat from before it came into view, if the pre-image is a copy.
    new_stat: Option<Stat>,
    /// Whether a program may have had the old file open when it was copied.
    was_open: bool,
}

/// The file at the path when it was checked.
struct CheckedFile {
    content: Content,
    stat: Stat,
}

impl Install<'_> {
    fn create(&mut self) -> Result<()> {
        self.set_mode_of_new().map_err(|errno| self.failed(errno))?;
        match self.rename(RenameFlags::NOREPLACE) {
            // Some file systems have only the plain rename, which would replace a file. A hard link never does.
            Err(Errno::INVAL) => {
                let area = self.temporary.area().directory();
                let name = self.temporary.name();
                let Slot { directory, name: to } = self.slot;
                let linked = rustix::fs::linkat(area, name, directory, *to, AtFlags::empty());
                linked.inspect(|()| self.temporary.discard())
            }
            result => result,
        }
        .map_err(|errno| self.failed(errno))
    }

    fn create_or_replace(&mut self, root: &Root) -> Result<bool> {
        for _ in 0..TRIES {
            match self.create() {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                result => return result.map(|()| true),
            }
            // The file there may belong to an exchange that another process is still checking and may undo.
            let _lock = root.lock().map_err(|errno| self.failed(errno))?;
            match self.stat_target() {
                Ok(old) => match self.replace(&old) {
                    // It was deleted between the stat and the exchange.
                    Err(error) if error.kind() == ErrorKind::NotFound => self.unpark(),
                    replaced => return replaced.map(|()| false),
                },
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(self.failed(errno)),
            }
        }
        Err(self.failed(Errno::AGAIN))
    }

    fn replace(&mut self, old: &Stat) -> Result<()> {
        checks::check_file(Operation::Write, self.path, entry::kind_of(old.st_mode))?;
        self.adopt(old).map_err(|errno| self.failed(errno))?;
        if self.preimage.is_none() {
            return self.rename(RenameFlags::empty()).map_err(|errno| self.failed(errno));
        }
        if !entry::may_be_read(self.slot.directory.as_fd(), self.slot.name) {
            return Err(checks::unreadable(Operation::Write, self.path));
        }
        self.park(old).map_err(|errno| self.failed(errno))?;
        match self.rename(RenameFlags::EXCHANGE) {
            Ok(()) => self.keep_any_displaced(old),
            // This file system cannot exchange. The pre-image is then a copy made just before the rename.
            Err(Errno::INVAL) => self.copy_then_rename(old),
            Err(errno) => Err(self.failed(errno)),
        }
    }

    /// Keeps whichever file the exchange displaced.
    fn keep_any_displaced(&mut self, old: &Stat) -> Result<()> {
        let displaced = self.stat_displaced().map_err(|errno| self.failed(errno));
        let checked = displaced.and_then(|displaced| {
            // The entry may have become a directory or a link since it was checked.
            checks::check_file(Operation::Write, self.path, entry::kind_of(displaced.st_mode))
        });
        match checked {
            Ok(()) => self.keep(old),
            Err(error) => {
                self.undo_exchange()?;
                Err(error)
            }
        }
    }

    /// Replaces the file only if it has the expected content, and checks again after the exchange.
    ///
    /// Checking before a plain rename is not enough: a save between the check and the rename would be lost.
    fn exchange(&mut self, root: &Root, expected: ContentHash) -> Result<()> {
        let _lock = root.lock().map_err(|errno| self.failed(errno))?;
        let checked = self.open_expected(expected)?;
        self.adopt(&checked.stat).map_err(|errno| self.failed(errno))?;
        if self.preimage.is_some() {
            self.park(&checked.stat).map_err(|errno| self.failed(errno))?;
        }
        match self.rename(RenameFlags::EXCHANGE) {
            Ok(()) => self.keep_if_checked(&checked, expected),
            // This file system cannot exchange: a plain rename right after the check is the best there is.
            Err(Errno::INVAL) => self.copy_then_rename(&checked.stat),
            Err(Errno::NOENT) if self.stat_displaced().is_ok() => {
                Err(checks::conflict(self.path, None))
            }
            Err(errno) => Err(self.failed(errno)),
        }
    }

    /// Moves the new file to the pre-image's path; on another file system, copies the old file there.
    fn park(&mut self, old: &Stat) -> SystemResult<()> {
        let Some(preimage) = &self.preimage else { return Ok(()) };
        let from = self.temporary.area().directory();
        let name = self.temporary.name();
        // The new file waits at the pre-image's path: then one exchange installs it and keeps the old file, and a kill
        // at any moment loses neither.
        match rustix::fs::renameat(from, name, CWD, preimage) {
            Err(Errno::XDEV) => {
                let directory = self.slot.directory.as_fd();
                let at = self.slot.name;
                let observed = Observed::at(self.host, directory, at)?;
                copy_file(self.slot, old, preimage)?;
                self.new_stat = Some(rustix::fs::fstat(self.temporary.file())?);
                self.was_open = observed.is_open;
                let area = self.temporary.area();
                replace::journal_keep(self.host, area, self.path, name, (&observed, preimage))
                    .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
            }
            parked => {
                parked?;
                self.is_parked = true;
            }
        }
        Ok(())
    }

    /// Moves the new file back to staging, so that the call can try again or drop it.
    fn unpark(&mut self) {
        let Some(preimage) = &self.preimage else { return };
        if self.temporary.is_placed() {
            return;
        }
        if self.is_parked {
            // An exchange could not be undone, so the displaced file is there: it must stay.
            if !self.is_new_file_waiting() {
                self.temporary.set_placed();
                return;
            }
            let area = self.temporary.area().directory();
            let name = self.temporary.name();
            let _ = rustix::fs::renameat(CWD, preimage, area, name);
            self.is_parked = false;
        } else {
            write::remove(preimage);
            self.temporary.area().remove_journal();
        }
    }

    /// Keeps the displaced file, which is out of view now.
    fn keep(&mut self, expected: &Stat) -> Result<()> {
        let Some(preimage) = self.preimage.clone() else {
            self.temporary.discard();
            return Ok(());
        };
        let preimage = if self.is_parked {
            self.keep_moved(&preimage)
        } else {
            self.keep_copy(expected, &preimage)
        };
        preimage.or_else(|errno| {
            let error = self.failed(errno);
            self.undo_exchange()?;
            Err(error)
        })
    }

    fn keep_moved(&mut self, preimage: &Path) -> SystemResult<()> {
        let displaced = self.stat_displaced()?;
        // A program could still write into the pre-image through another hard link: keep a copy.
        if displaced.st_nlink > 1 {
            self.copy_displaced(&displaced, preimage)?;
        }
        self.temporary.set_placed();
        Ok(())
    }

    /// Keeps a copy on another file system; the displaced file is deleted once no program has it open.
    fn keep_copy(&mut self, expected: &Stat, preimage: &Path) -> SystemResult<()> {
        let area = self.temporary.area().clone();
        let name = self.temporary.name().to_owned();
        // Before the copy: a write after this shows.
        let mut observed = Observed::at(self.host, area.directory(), name.as_bytes())?;
        // A program that had the file open at either look may still have it open.
        observed.is_open |= self.was_open;
        let displaced = self.stat_displaced()?;
        if !same_file(&displaced, expected) {
            self.copy_displaced(&displaced, preimage)?;
        }
        let copy = || replace::content_of(preimage);
        replace::discard_unless_open(self.host, &area, self.path, &name, &observed, copy);
        self.temporary.set_placed();
        Ok(())
    }

    /// Replaces the pre-image by a copy of the displaced file.
    fn copy_displaced(&mut self, displaced: &Stat, preimage: &Path) -> SystemResult<()> {
        let area = self.temporary.area().clone();
        let source = if self.is_parked {
            Slot::at(CWD, preimage.as_os_str().as_encoded_bytes())?
        } else {
            Slot::at(area.directory(), self.temporary.name().as_bytes())?
        };
        let copied = copy_file(&source, displaced, preimage);
        // If the disk is full or the file unreadable, a shared hard link is better than no pre-image.
        if self.is_parked { Ok(()) } else { copied }
    }

    /// Replaces the file by a plain rename, after copying it.
    fn copy_then_rename(&mut self, old: &Stat) -> Result<()> {
        if let Some(preimage) = self.preimage.clone() {
            self.unpark();
            write::remove(&preimage);
            copy_file(self.slot, old, &preimage).map_err(|errno| self.failed(errno))?;
        }
        self.rename(RenameFlags::empty()).map_err(|errno| self.failed(errno))
    }

    fn open_expected(&self, expected: ContentHash) -> Result<CheckedFile> {
        let checked = match self.open() {
            Err(Errno::NOENT) => return Err(checks::conflict(self.path, None)),
            result => result.map_err(|errno| self.failed(errno))?,
        };
        checks::check_file(Operation::Write, self.path, entry::kind_of(checked.stat.st_mode))?;
        let found = self.hash(&checked)?;
        if found == expected { Ok(checked) } else { Err(checks::conflict(self.path, Some(found))) }
    }

    /// Keeps an exchange that displaced the file that was checked, and undoes any other.
    ///
    /// The displaced file has the temporary's name now.
    fn keep_if_checked(&mut self, checked: &CheckedFile, expected: ContentHash) -> Result<()> {
        match self.displaced_is_checked(checked, expected) {
            Ok(true) => self.keep(&checked.stat),
            Ok(false) => {
                self.undo_exchange()?;
                let current = self.open().ok().and_then(|now| now.content.hash().ok());
                Err(checks::conflict(self.path, current))
            }
            Err(error) => {
                self.undo_exchange()?;
                Err(error)
            }
        }
    }

    /// Returns whether the exchange displaced the file that was checked, unchanged.
    fn displaced_is_checked(&self, checked: &CheckedFile, expected: ContentHash) -> Result<bool> {
        let displaced = self.stat_displaced().map_err(|errno| self.failed(errno))?;
        let same = same_file(&displaced, &checked.stat);
        // A write within the same clock tick changes neither size nor time, so a recent file is hashed once more.
        Ok(same && (!is_racy(&checked.stat) || self.hash(checked)? == expected))
    }

    /// Undoes an exchange.
    ///
    /// Another program may have written into the new file while it was in view, or still has it open: then that file is
    /// kept too.
    fn undo_exchange(&mut self) -> Result<()> {
        let undo_exchange = self.exchange_back();
        match self.preimage.clone() {
            Some(_) if self.is_parked => self.temporary.set_placed(),
            Some(preimage) if !self.temporary.is_placed() => self.keep_last_out(&preimage)?,
            _ => {}
        }
        undo_exchange.map_err(|errno| self.failed(errno))
    }

    /// Keeps what came out last, unless it is the new file, unchanged and not open anywhere.
    fn keep_last_out(&mut self, preimage: &Path) -> Result<()> {
        let area = self.temporary.area().clone();
        let name = self.temporary.name().to_owned();
        let failed = |errno| failure::any(Operation::Write, self.path, errno);
        let observed =
            Observed::at(self.host, area.directory(), name.as_bytes()).map_err(failed)?;
        let waiting_place = self.stat_displaced().map_err(failed)?;
        // The copied file is back in view.
        write::remove(preimage);
        self.temporary.set_placed();
        if !self.new_stat.is_some_and(|new_stat| same_file(&waiting_place, &new_stat)) {
            return displace::copy_to_preimage(self.host, &area, self.path, &name, preimage);
        }
        // Our own writable handle would look like another program's to the lease below.
        self.temporary.close_for_writing().map_err(failed)?;
        let itself = || replace::content_at(area.directory(), name.as_bytes());
        replace::discard_unless_open(self.host, &area, self.path, &name, &observed, itself);
        Ok(())
    }

    fn exchange_back(&mut self) -> SystemResult<()> {
        let mut placed = identity(&rustix::fs::fstat(self.temporary.file())?);
        loop {
            let held = identity(&self.stat_displaced()?);
            match self.rename(RenameFlags::EXCHANGE) {
                // The new file was deleted or moved away meanwhile, maybe on purpose. The displaced file still goes
                // back: it belongs to another program, and an unexpected file is better than a lost one.
                Err(Errno::NOENT) => match self.rename(RenameFlags::NOREPLACE) {
                    Err(Errno::EXIST) => continue,
                    back => return back,
                },
                result => result?,
            }
            // Anything else that comes out was put there between the two exchanges. It is newer, and goes back in turn.
            if identity(&self.stat_displaced()?) == placed {
                return Ok(());
            }
            placed = held;
        }
    }

    fn rename(&mut self, flags: RenameFlags) -> SystemResult<()> {
        let (from, name) = self.waiting_place();
        rustix::fs::renameat_with(from, name, &self.slot.directory, self.slot.name, flags)?;
        if flags != RenameFlags::EXCHANGE {
            self.temporary.set_placed();
        }
        Ok(())
    }

    fn stat_target(&self) -> SystemResult<Stat> {
        rustix::fs::statat(&self.slot.directory, self.slot.name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Returns where the new file waits and, after an exchange, the displaced one.
    fn waiting_place(&self) -> (BorrowedFd<'_>, &[u8]) {
        match &self.preimage {
            Some(preimage) if self.is_parked => (CWD, preimage.as_os_str().as_encoded_bytes()),
            _ => (self.temporary.area().directory(), self.temporary.name().as_bytes()),
        }
    }

    fn stat_displaced(&self) -> SystemResult<Stat> {
        let (directory, name) = self.waiting_place();
        rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Returns whether the new file is still waiting.
    fn is_new_file_waiting(&self) -> bool {
        let new_stat = rustix::fs::fstat(self.temporary.file());
        let waiting_place = self.stat_displaced();
        matches!((new_stat, waiting_place), (Ok(new_stat), Ok(waiting_place)) if identity(&new_stat) == identity(&waiting_place))
    }

    fn open(&self) -> SystemResult<CheckedFile> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.slot.directory, self.slot.name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&fd)?;
        let content = Content::positional(Arc::new(File::from(fd)), stat.st_size as u64);
        Ok(CheckedFile { content, stat })
    }

    fn hash(&self, checked: &CheckedFile) -> Result<ContentHash> {
        let failed = |error| Error::system(Operation::Write, error).with_path(self.path);
        checked.content.hash().map_err(failed)
    }

    fn set_mode_of_new(&self) -> SystemResult<()> {
        let Some(mode) = self.mode else { return Ok(()) };
        let bits = rustix::fs::fstat(self.temporary.file())?.st_mode & KEPT_BITS;
        self.set_bits(bits, entry::bits_with(bits, mode))
    }

    /// Copies mode and owner of the replaced file.
    fn adopt(&self, old: &Stat) -> SystemResult<()> {
        let new = rustix::fs::fstat(self.temporary.file())?;
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) {
            let owner = Uid::from_raw(old.st_uid);
            let group = Gid::from_raw(old.st_gid);
            match rustix::fs::fchown(self.temporary.file(), Some(owner), Some(group)) {
                // Only root may give files away, and only to owners in its user namespace. Otherwise the file belongs
                // to this user, as if it had been deleted and created.
                Ok(()) | Err(Errno::PERM | Errno::INVAL) => {}
                Err(errno) => return Err(errno),
            }
        }
        let bits = old.st_mode & KEPT_BITS;
        let wanted = self.mode.map_or(bits, |mode| entry::bits_with(bits, mode));
        self.set_bits(new.st_mode & KEPT_BITS, wanted)
    }

    fn set_bits(&self, present: RawMode, wanted: RawMode) -> SystemResult<()> {
        if present == wanted {
            return Ok(());
        }
        rustix::fs::fchmod(self.temporary.file(), Mode::from_raw_mode(wanted))
    }

    fn failed(&self, errno: Errno) -> Error {
        // Otherwise the caller would believe that its own file is missing.
        if errno == Errno::NOENT && matches!(self.stat_displaced(), Err(Errno::NOENT)) {
            return staging::lost(self.path);
        }
        failure::any(Operation::Write, self.path, errno)
    }
}

/// Returns whether a file was not written. The exchange itself changes the status change time, so that one does not
/// count.
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

/// Syncs the directories above a path, which may be new too.
fn sync_directories(root: &Root, path: &TreePath) -> SystemResult<()> {
    let mut above = path.parent();
    while let Some(directory) = above {
        let fd = root.open(&directory, OFlags::RDONLY | OFlags::DIRECTORY)?;
        rustix::fs::fsync(&fd)?;
        above = directory.parent();
    }
    Ok(())
}

/// Copies an entry, with everything below it, to a free path.
pub(crate) fn install(host: &Arc<HostTree>, path: &TreePath, source: Source<'_>) -> Result<()> {
    let failed = |errno| failure::creating(Operation::Replace, path, errno);
    let slot = host.new_slot(Operation::Replace, path)?;
    let area = host.area().map_err(failed)?;
    let kind = source.tree.stat(source.at)?.kind;
    let writer = Writer {
        before: None,
        target: source.tree,
        excluded: &Exclusions::default(),
        owner: host.root.owner(),
    };
    let staged = writer.entry_at(&area, source.at, kind)?;
    let from = area.directory();
    let to = &slot.directory;
    let flags = RenameFlags::NOREPLACE;
    rustix::fs::renameat_with(from, staged.name(), to, slot.name, flags).map_err(failed)
}

/// Moves a pre-image back to its free path; returns false if it is on another file system.
pub(crate) fn give_back(host: &HostTree, path: &TreePath, kept: &KeptEntry) -> Result<bool> {
    let failed = |errno| failure::creating(Operation::Replace, path, errno);
    let holder = kept.tree.own_state().and_then(|tree| tree.downcast_ref::<HostTree>());
    let Some(holder) = holder else { return Ok(false) };
    let from = holder.slot(Operation::Replace, &kept.at)?;
    let to = host.new_slot(Operation::Replace, path)?;
    let flags = RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(&from.directory, from.name, &to.directory, to.name, flags) {
        Err(Errno::XDEV | Errno::INVAL) => Ok(false),
        moved => moved.map(|()| true).map_err(failed),
    }
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

        /// Exchanges the files and then compares with what was checked before.
        fn keep_if_checked(&self, tamper: impl FnOnce(&mut CheckedFile)) -> Result<()> {
            let path = TreePath::parse("a").unwrap();
            let slot = self.host.root.open_parent(&path).unwrap().unwrap();
            let mut temporary = Temporary::create(&self.area).unwrap();
            temporary.file().write_all(b"new").unwrap();
            let mut install = Install {
                host: &self.host,
                path: &path,
                slot: &slot,
                temporary: &mut temporary,
                mode: None,
                preimage: None,
                is_parked: false,
                new_stat: None,
                was_open: false,
            };
            let mut checked = install.open().unwrap();
            tamper(&mut checked);
            install.rename(RenameFlags::EXCHANGE).unwrap();
            install.keep_if_checked(&checked, ContentHash::of(b"old"))
        }
    }

    #[test]
    fn an_exchange_with_the_file_that_was_checked_stays() {
        let scene = Scene::new();
        scene.keep_if_checked(|_| ()).unwrap();
        assert_eq!(scene.content(), "new");
    }

    #[test]
    fn a_change_in_place_that_time_and_size_hide_is_found_by_the_hash() {
        let scene = Scene::new();
        let error = scene.keep_if_checked(|checked| {
            let file = scene.open_a(OFlags::empty());
            rustix::io::write(&file, b"OLD").unwrap();
            let then = Timespec {
                tv_sec: checked.stat.st_mtime,
                tv_nsec: checked.stat.st_mtime_nsec as _,
            };
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
        let error = scene
            .keep_if_checked(|checked| checked.content = Content::positional(Arc::new(Failing), 3));
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Io);
        assert_eq!(scene.content(), "old");
    }
}

//! Mounts a workspace: a base that does not change, and the changes beside it.

use std::ffi::{CString, OsStr, OsString};
use std::fmt;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, XattrFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};

use crate::error::{Error, ErrorKind, Operation, Result, worded};
use crate::host::root::{by_handle, mount_of, real_path};
use crate::store::disk::Disk;
use crate::strategy::reflink::{OVERLAY, file_system, home};

/// The link to the base, which marks the directory of such a workspace.
const BASE: &str = "base";

/// The file that the owner of the mount has locked.
const OWNER: &str = "owner.lock";

const ROOT: &str = "root";
const UPPER: &str = "upper";
const WORK: &str = "work";

/// A test attribute of the kind that OverlayFS uses for its marks.
const MARK: &str = "trusted.wink";

/// Allows renaming directories of the base; keeps files whole in one layer, and hard links together; hides that the
/// base may be on another file system.
const SETTINGS: &str = "redirect_dir=on,metacopy=off,index=on,xino=on";

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A workspace mounted with OverlayFS over a base that does not change.
///
/// Changes are kept in a separate place, and are there again at the next mount. Nothing may change the base
/// meanwhile: the kernel does not define what is seen then. Mounting needs administrator rights and a suitable file
/// system; otherwise it is Unsupported, with the reason. Dropping this value unmounts the workspace.
///
/// Its snapshots can be kept as differences from the base, by [`Strategy::Overlay`].
///
/// ```
/// use wink_fs::{ErrorKind, HostBackend, OverlayMount, Strategy, StrategyOptions, Workspace};
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let home = directory.path();
/// # let (base, place, snapshots) = (home.join("base"), home.join("place"), home.join("snapshots"));
/// # Workspace::host(home)?.write("base/a.txt", "of the base")?;
/// let mount = match OverlayMount::mount_ambient(&base, &place) {
///     Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
///     mount => mount?,
/// };
/// let options = StrategyOptions::new(&snapshots).strategy(Strategy::Overlay);
/// let files = Workspace::builder(HostBackend::open_ambient(mount.root())?)
///     .snapshots(options.create_ambient(mount.root())?)
///     .build();
/// let before = files.snapshot("before")?;
/// files.write("a.txt", "changed")?;
/// assert_eq!(Workspace::host(&base)?.read("a.txt")?.content, "of the base");
/// files.restore(&before)?;
/// assert_eq!(files.read("a.txt")?.content, "of the base");
/// # Ok::<(), wink_fs::Error>(())
/// ```
///
/// [`Strategy::Overlay`]: crate::Strategy::Overlay
pub struct OverlayMount {
    path: PathBuf,
    root: OwnedFd,
    _owner: File,
}

impl OverlayMount {
    /// Mounts the workspace in `place` over its base, with the ambient authority of the process.
    ///
    /// `place` is a new or empty directory, or one that was mounted over this base before. One that is in use is
    /// Locked; the mount of a dead process is taken over.
    pub fn mount_ambient(base: impl AsRef<Path>, place: impl AsRef<Path>) -> Result<Self> {
        let base = open_base(base.as_ref())?;
        let path = place.as_ref();
        let place = open_place(path, &base)?;
        let owner = own(&place)?;
        let root = open(&place, ROOT).map_err(failed)?;
        if mount_of(&root).map_err(failed)? == mount_of(&place).map_err(failed)? {
            mount(&base, &place, &root)?;
        }
        let root = open(&place, ROOT).map_err(failed)?;
        if file_system(&root) == OVERLAY {
            Ok(Self { path: path.join(ROOT), root, _owner: owner })
        } else {
            Err(foreign())
        }
    }

    /// Returns the mounted directory.
    pub fn root(&self) -> &Path {
        &self.path
    }
}

impl Drop for OverlayMount {
    fn drop(&mut self) {
        // Detached, because a program may still have files open. If unmounting fails, the next mount takes it over.
        let _ = rustix::mount::unmount(by_handle(&self.root), UnmountFlags::DETACH);
    }
}

impl fmt::Debug for OverlayMount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OverlayMount").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Returns the base of the workspace at a path, or why there is none.
pub(super) fn base_of(root: &Path) -> io::Result<PathBuf> {
    let root = rustix::fs::open(root, DIRECTORY, Mode::empty())?;
    let place = open(&root, "..")?;
    let file_system = file_system(&root);
    let is_mounted = file_system == OVERLAY && mount_of(&root)? != mount_of(&place)?;
    match rustix::fs::readlinkat(&place, BASE, Vec::new()) {
        Ok(base) if is_mounted => Ok(OsString::from_vec(base.into_bytes()).into()),
        _ => Err(worded(
            io::ErrorKind::Unsupported,
            format!(
                "overlay keeps snapshots of a workspace that `OverlayMount` has mounted, and this one is a \
                 directory on {file_system}; mount it so, or use `store`"
            ),
        )),
    }
}

fn open(directory: &impl AsFd, name: &str) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat(directory, name, DIRECTORY, Mode::empty())
}

fn open_base(base: &Path) -> Result<OwnedFd> {
    rustix::fs::open(base, DIRECTORY, Mode::empty())
        .map_err(|errno| failed(errno).with_detail("the base cannot be opened; name a directory"))
}

/// Opens the directory of a workspace, and makes what is missing in it.
fn open_place(path: &Path, base: &OwnedFd) -> Result<OwnedFd> {
    let base = real_path(base).map_err(failed)?;
    check_outside(path, &base)?;
    let link = || rustix::fs::readlinkat(CWD, path.join(BASE), Vec::new());
    if link() == Err(Errno::NOENT) {
        Disk::new(path).make_root().map_err(|error| failed(error).with_detail(FOREIGN))?;
        rustix::fs::symlinkat(&*base, CWD, path.join(BASE)).map_err(failed)?;
    }
    if !link().is_ok_and(|link| link.to_bytes() == base) {
        return Err(foreign());
    }
    let place = rustix::fs::open(path, DIRECTORY, Mode::empty()).map_err(failed)?;
    for name in [ROOT, UPPER, WORK] {
        match rustix::fs::mkdirat(&place, name, Mode::RWXU) {
            Err(Errno::EXIST) => {}
            made => made.map_err(failed)?,
        }
    }
    Ok(place)
}

/// Refuses a place inside the base, which every change of the workspace would change.
fn check_outside(place: &Path, base: &[u8]) -> Result<()> {
    let home = rustix::fs::open(home(place), DIRECTORY, Mode::empty()).map_err(failed)?;
    let home = real_path(&home).map_err(failed)?;
    if Path::new(OsStr::from_bytes(&home)).starts_with(OsStr::from_bytes(base)) {
        Err(Error::new(Operation::Mount, ErrorKind::InvalidArgument)
            .with_detail("the place lies in the base, which must not change; name one outside"))
    } else {
        Ok(())
    }
}

const FOREIGN: &str =
    "the place is neither empty nor that of a workspace over this base; name another";

fn foreign() -> Error {
    Error::new(Operation::Mount, ErrorKind::AlreadyExists).with_detail(FOREIGN)
}

fn own(place: &OwnedFd) -> Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(place, OWNER, flags, Mode::RUSR | Mode::WUSR);
    let owner = File::from(opened.map_err(failed)?);
    match owner.try_lock() {
        Ok(()) => Ok(owner),
        Err(TryLockError::WouldBlock) => Err(locked()),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

fn locked() -> Error {
    Error::new(Operation::Mount, ErrorKind::Locked)
        .with_detail(
        "the workspace is mounted already, or files of it are still open; use it where it is, or close it",
    )
}

/// Mounts by handles, so that no path is resolved again and no name can be taken for an option.
fn mount(base: &OwnedFd, place: &OwnedFd, root: &OwnedFd) -> Result<()> {
    let upper = open(place, UPPER).map_err(failed)?;
    let work = open(place, WORK).map_err(failed)?;
    check_marks(&upper)?;
    let [base, changes, work] = [base, &upper, &work].map(by_handle);
    let options = format!("lowerdir={base},upperdir={changes},workdir={work},{SETTINGS}");
    let options = CString::new(options).map_err(|error| failed(io::Error::from(error)))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount("wink", by_handle(root), "overlay", flags, &*options)
        .map_err(|errno| refused(errno, &upper))
}

/// Tests whether OverlayFS can mark deletions; without that, the mount succeeds and changes fail later.
fn check_marks(upper: &OwnedFd) -> Result<()> {
    rustix::fs::fsetxattr(upper, MARK, b"", XattrFlags::empty())
        .and_then(|()| rustix::fs::fremovexattr(upper, MARK))
        .map_err(|errno| refused(errno, upper))
}

fn refused(errno: Errno, upper: &OwnedFd) -> Error {
    match errno {
        Errno::PERM | Errno::ACCESS => unsupported(
            "mounting with OverlayFS needs the rights of the machine's administrator; \
             use a plain directory, or start as one who has them",
        ),
        Errno::NODEV => unsupported("this kernel has no OverlayFS; use a plain directory"),
        Errno::INVAL | Errno::OPNOTSUPP | Errno::NOTTY => unsupported(format!(
            "the place is on {}, which cannot hold the changes of an OverlayFS; \
             name one on another file system, such as ext4",
            file_system(upper)
        )),
        // The kernel remembers which base the changes belong to.
        Errno::STALE => foreign(),
        Errno::BUSY => locked(),
        _ => failed(errno),
    }
}

fn unsupported(why: impl Into<String>) -> Error {
    Error::new(Operation::Mount, ErrorKind::Unsupported).with_detail(why)
}

fn failed(error: impl Into<io::Error>) -> Error {
    Error::system(Operation::Mount, error)
}

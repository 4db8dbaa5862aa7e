//! The private directories of containers.
//!
//! ```text
//! wink-podman-UID/          0700
//!   wink-<id>/              one container, of that name
//!     lock                  locked while the process that owns the container lives
//!     made-of               what the container was made of
//!     pid                   the process id of its PID 1, written by Podman
//!     seccomp.json
//!     workspace             a link to the root of the workspace
//!     inside/               mounted into the container, read-only
//!       supervisor
//!       socket
//! ```
#![allow(clippy::disallowed_methods, reason = "these directories are its own")]

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use uuid::Uuid;

use crate::problem::Problem;

const PREFIX: &str = "wink-";

/// How often making one is tried.
const TRIES: usize = 3;

/// The private directory of one container; locked by the process that owns the container.
#[derive(Debug)]
pub(crate) struct Place {
    directory: PathBuf,
    name: String,
    /// The kernel gives the lock up when the process ends, however it ends.
    _lock: File,
}

impl Place {
    /// Makes a new one, with a name that no other container has.
    pub(crate) fn create() -> Result<Self, Problem> {
        let base = base()?;
        let made = (0..TRIES).map(|_| {
            // Short, because the path of a socket has at most 107 bytes.
            let name = format!("{PREFIX}{:016x}", Uuid::new_v4().as_u64_pair().0);
            Self::make(&base.join(&name), name)
        });
        // Another process may have taken it for an abandoned one before it was locked.
        let mut failed = io::ErrorKind::Other.into();
        for place in made {
            match place {
                Ok(place) => return Ok(place),
                Err(error) => failed = error,
            }
        }
        Err(problem(failed))
    }

    fn make(directory: &Path, name: String) -> io::Result<Self> {
        DirBuilder::new().mode(0o700).create(directory)?;
        let lock = File::create_new(directory.join("lock"))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        let inside = directory.join("inside");
        DirBuilder::new().create(&inside)?;
        // Not what the umask makes of it: the user of the container must find the socket.
        fs::set_permissions(&inside, Permissions::from_mode(0o755))?;
        Ok(Self { directory: directory.to_owned(), name, _lock: lock })
    }

    /// Takes over those that belong to no living process.
    pub(crate) fn abandoned() -> Vec<Self> {
        let Ok(entries) = base().and_then(|base| fs::read_dir(base).map_err(problem)) else {
            return Vec::new();
        };
        entries
            .flatten()
            .filter_map(|entry| Self::take_over(&entry.file_name().into_string().ok()?))
            .collect()
    }

    /// Takes over the one of a container, unless its owner lives.
    pub(crate) fn take_over(name: &str) -> Option<Self> {
        let directory = base().ok().filter(|_| is_own_name(name))?.join(name);
        let lock = File::open(directory.join("lock")).ok()?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
        Some(Self { directory, name: name.to_owned(), _lock: lock })
    }

    /// Returns the name of the container.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Writes a file that the container does not see.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<(), Problem> {
        fs::write(self.path(name), content).map_err(problem)
    }

    pub(crate) fn read(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.path(name)).ok()
    }

    /// Writes a program that the container can run.
    pub(crate) fn write_program(&self, name: &str, program: &[u8]) -> Result<(), Problem> {
        let path = self.path("inside").join(name);
        fs::write(&path, program).map_err(problem)?;
        fs::set_permissions(path, Permissions::from_mode(0o755)).map_err(problem)
    }

    /// Makes a link, so that the path of the workspace can have any bytes in it.
    pub(crate) fn link(&self, name: &str, target: &Path) -> Result<PathBuf, Problem> {
        let link = self.path(name);
        symlink(target, &link).map_err(problem)?;
        Ok(link)
    }

    /// Listens on the socket, instead of a process that is gone.
    pub(crate) fn listen(&self) -> Result<UnixListener, Problem> {
        let socket = self.path("inside").join("socket");
        let _ = fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).map_err(problem)?;
        fs::set_permissions(&socket, Permissions::from_mode(0o666)).map_err(problem)?;
        listener.set_nonblocking(true).map_err(problem)?;
        Ok(listener)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // The next process deletes what is left.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Returns whether Podman's container may be one of wink's.
pub(crate) fn is_own_name(name: &str) -> bool {
    let rest = name.strip_prefix(PREFIX).unwrap_or_default();
    !rest.is_empty() && rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Returns whether there is such a directory.
pub(crate) fn is_there(name: &str) -> bool {
    base().is_ok_and(|base| base.join(name).is_dir())
}

/// Returns the directory of this user's containers.
fn base() -> Result<PathBuf, Problem> {
    let user = rustix::process::geteuid().as_raw();
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let parent = runtime.filter(|path| path.is_dir()).unwrap_or_else(std::env::temp_dir);
    let base = parent.join(format!("wink-podman-{user}"));
    match DirBuilder::new().mode(0o700).create(&base) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(problem(error)),
        _ => {}
    }
    // In a directory for all users, another one may have made it.
    let found = fs::symlink_metadata(&base).map_err(problem)?;
    if found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0 {
        Ok(base)
    } else {
        Err(Problem::NoDirectory("one of that name belongs to another user".to_owned()))
    }
}

fn problem(error: io::Error) -> Problem {
    Problem::NoDirectory(error.kind().to_string())
}

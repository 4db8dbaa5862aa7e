//! Whole directories: looked through without a side effect, and removed where nobody sees them.

use std::collections::BTreeMap;
use std::path::Path;

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::{Errno, Result};

use super::capture::stamp::{self, Stamp};
use super::entry;
use super::lease;
use super::root::{self, Root};
use crate::filesystem::Removed;
use crate::tree::{Entry, Kind};

/// What is in a directory, and below.
pub(super) struct Survey {
    pub(super) counts: Removed,
    /// How many bytes the longest path has, relative to where the survey started.
    pub(super) longest: usize,
    /// The first FIFO, socket or device, as a path relative to where the survey started.
    pub(super) special: Option<Vec<u8>>,
    /// Every directory, parents first, as paths relative to where the survey started.
    directories: Vec<Vec<u8>>,
}

/// Looks through a directory and all that is below it.
///
/// Each directory is opened by its own path, so that depth costs no open files. One that cannot be
/// read, or on which another file system is mounted, is an error.
pub(super) fn survey(root: &Root, start: BorrowedFd<'_>, name: &[u8]) -> Result<Survey> {
    let (counts, directories) = (Removed::new(0, 1), vec![name.to_vec()]);
    let mut survey = Survey { counts, longest: name.len(), special: None, directories };
    let mut done = 0;
    while done < survey.directories.len() {
        let path = survey.directories[done].clone();
        for child in entries(root, start, &path)?.1 {
            survey.longest = survey.longest.max(path.len() + 1 + child.name.as_bytes().len());
            if child.kind == Kind::Directory {
                survey.counts.directories += 1;
                survey.directories.push([&path, &b"/"[..], child.name.as_bytes()].concat());
            } else {
                survey.counts.files += 1;
            }
            if child.kind == Kind::Other && survey.special.is_none() {
                survey.special = Some([&path, &b"/"[..], child.name.as_bytes()].concat());
            }
        }
        done += 1;
    }
    Ok(survey)
}

/// Counts the bytes of a file or, where it is a directory, of all files below it. What goes meanwhile, or may not be looked
/// at, takes no space.
pub(crate) fn bytes_below(place: &Path) -> Result<u64> {
    let Some((parent, name)) = place.parent().zip(place.file_name()) else { return Ok(0) };
    let root = match Root::open_ambient(parent, None) {
        Err(Errno::NOENT) => return Ok(0),
        root => root?,
    };
    let (mut bytes, mut waiting) = (0, vec![name.as_encoded_bytes().to_vec()]);
    while let Some(path) = waiting.pop() {
        let found = match root.open_below(root.as_fd(), &path, OFlags::PATH) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => continue,
            found => rustix::fs::fstat(found?)?,
        };
        if entry::kind_of(found.st_mode) != Kind::Directory {
            bytes += found.st_size as u64;
            continue;
        }
        match entries(&root, root.as_fd(), &path) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => {}
            below => {
                let below = below?.1.into_iter();
                waiting.extend(below.map(|it| [&path, &b"/"[..], it.name.as_bytes()].concat()));
            }
        }
    }
    Ok(bytes)
}

/// The stamps of what is no directory in one, and below, by paths relative to where the look started.
pub(super) type Stamps = BTreeMap<Vec<u8>, Stamp>;

/// Looks at everything in a directory and below.
pub(super) fn stamps_below(root: &Root, start: BorrowedFd<'_>, name: &[u8]) -> Result<Stamps> {
    let mut stamps = Stamps::new();
    for path in survey(root, start, name)?.directories {
        let (directory, children) = entries(root, start, &path)?;
        for child in children.iter().filter(|child| child.kind != Kind::Directory) {
            let found = stamp::look(directory.as_fd(), child.name.as_bytes())?;
            stamps.insert(below(&path, child), Stamp::of(&found));
        }
    }
    Ok(stamps)
}

/// Removes a directory with all that is below it, as far as the system lets it.
pub(super) fn purge(root: &Root, start: BorrowedFd<'_>, name: &[u8]) -> Result<()> {
    purge_where(root, start, name, |_, _, _| true)
}

/// Removes a directory that is out of view, but for what is new in it or was written into since its stamps were taken: a
/// program may have it as the one it works in. Tells whether there is nothing of that kind.
pub(super) fn purge_known(root: &Root, start: BorrowedFd<'_>, name: &[u8], known: &Stamps) -> bool {
    let purged = purge_where(root, start, name, |directory, path, child| {
        let found = lease::closed_stamp(directory, child.name.as_bytes()).ok();
        child.kind == Kind::Directory || known.get(&below(path, child)).copied() == found
    });
    // What resists, as on a disk that fails, is known.
    let is_known = |(path, stamp): (&Vec<u8>, &Stamp)| known.get(path) == Some(stamp);
    purged.is_ok() || stamps_below(root, start, name).map_or(true, |left| left.iter().all(is_known))
}

fn purge_where(
    root: &Root,
    start: BorrowedFd<'_>,
    name: &[u8],
    goes: impl Fn(BorrowedFd<'_>, &[u8], &Entry) -> bool,
) -> Result<()> {
    unlock(root, start, name);
    for path in survey(root, start, name)?.directories.iter().rev() {
        let (directory, children) = entries(root, start, path)?;
        for child in children.iter().filter(|child| goes(directory.as_fd(), path, child)) {
            // One entry that resists must not keep the others.
            let _ = remove(directory.as_fd(), child.name.as_bytes());
        }
    }
    remove(start, name)
}

fn below(directory: &[u8], child: &Entry) -> Vec<u8> {
    [directory, b"/", child.name.as_bytes()].concat()
}

/// Lets the owner into directories that are to be removed, each before those below it.
fn unlock(root: &Root, start: BorrowedFd<'_>, name: &[u8]) {
    let mut directories = vec![name.to_vec()];
    while let Some(path) = directories.pop() {
        let Ok(handle) = root.open_below(start, &path, OFlags::PATH | OFlags::DIRECTORY) else {
            continue;
        };
        let bits = rustix::fs::fstat(&handle).map_or(0, |stat| stat.st_mode & 0o700);
        if bits != 0o700 {
            let itself = root::by_handle(&handle);
            let _ = rustix::fs::chmodat(CWD, itself, Mode::RWXU, AtFlags::empty());
        }
        let Ok((_, children)) = entries(root, start, &path) else { continue };
        let below = children.into_iter().filter(|child| child.kind == Kind::Directory);
        directories.extend(below.map(|child| [&path, &b"/"[..], child.name.as_bytes()].concat()));
    }
}

fn entries(root: &Root, start: BorrowedFd<'_>, path: &[u8]) -> Result<(impl AsFd, Vec<Entry>)> {
    let directory = root.open_below(start, path, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let entries = entry::entries(directory.as_fd())?;
    Ok((directory, entries))
}

fn remove(directory: BorrowedFd<'_>, name: &[u8]) -> Result<()> {
    match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
        Err(Errno::ISDIR) => rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR),
        result => result,
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "plays another program")]
mod tests {
    use super::*;

    /// Once, what a program saved in a directory that it works in went with that directory.
    #[test]
    fn what_came_into_a_directory_or_changed_in_it_since_a_look_stays() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        std::fs::create_dir_all(path("d/sub")).unwrap();
        for name in ["d/known", "d/changed", "d/sub/known"] {
            std::fs::write(path(name), "before").unwrap();
        }
        let root = Root::open_ambient(place.path(), None).unwrap();
        let known = stamps_below(&root, root.as_fd(), b"d").unwrap();
        std::fs::write(path("d/changed"), "by a program").unwrap();
        std::fs::write(path("d/new"), "by a program").unwrap();
        assert!(!purge_known(&root, root.as_fd(), b"d", &known));
        assert!(path("d/changed").exists() && path("d/new").exists());
        assert!(!path("d/known").exists() && !path("d/sub").exists());
        let known = stamps_below(&root, root.as_fd(), b"d").unwrap();
        assert!(purge_known(&root, root.as_fd(), b"d", &known));
        assert!(!path("d").exists());
    }
}

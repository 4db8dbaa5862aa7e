//! Surveys whole directories, and deletes them out of view.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};
use rustix::io::{Errno, Result};

use super::capture::stamp::{self, Stamp};
use super::entry;
use super::lease;
use super::root::{self, Root};
use crate::filesystem::Removed;
use crate::tree::{Entry, Kind};

/// The directory in staging where an entry is checked before it is deleted. There it keeps its name, so that recovery can
/// move it back.
const REMOVED: &[u8] = b"removed";

/// How many names are tried for an entry that moves back.
const NAMES: usize = 16;

/// The contents of a directory, at all depths.
pub(super) struct Survey {
    pub(super) counts: Removed,
    /// The length of the longest path, relative to the start.
    pub(super) longest: usize,
    /// The first FIFO, socket or device, relative to the start.
    pub(super) special: Option<Vec<u8>>,
    /// The first unreadable file, relative to the start, if asked for.
    pub(super) unreadable: Option<Vec<u8>>,
    /// All directories, parents first, relative to the start.
    directories: Vec<Vec<u8>>,
}

/// Surveys a directory.
///
/// Each directory is opened by its path from the start, so that depth costs no open files. One that is unreadable, or
/// on another file system, is an error.
pub(super) fn survey(root: &Root, start: BorrowedFd<'_>, name: &[u8]) -> Result<Survey> {
    survey_with(root, start, name, |_, _| true)
}

/// Like [`survey`], and checks that all files are readable.
pub(super) fn survey_readable(root: &Root, start: BorrowedFd<'_>, name: &[u8]) -> Result<Survey> {
    survey_with(root, start, name, entry::may_be_read)
}

fn survey_with(
    root: &Root,
    start: BorrowedFd<'_>,
    name: &[u8],
    may_be_read: fn(BorrowedFd<'_>, &[u8]) -> bool,
) -> Result<Survey> {
    let mut survey = Survey {
        counts: Removed::new(0, 1),
        longest: name.len(),
        special: None,
        unreadable: None,
        directories: vec![name.to_vec()],
    };
    let mut done = 0;
    while done < survey.directories.len() {
        let path = survey.directories[done].clone();
        let (directory, children) = entries(root, start, &path)?;
        for child in children {
            survey.longest = survey.longest.max(path.len() + 1 + child.name.as_bytes().len());
            if child.kind == Kind::Directory {
                survey.counts.directories += 1;
                survey.directories.push(below(&path, &child));
            } else {
                survey.counts.files += 1;
            }
            if child.kind == Kind::Other && survey.special.is_none() {
                survey.special = Some(below(&path, &child));
            }
            let is_unreadable = child.kind == Kind::File
                && survey.unreadable.is_none()
                && !may_be_read(directory.as_fd(), child.name.as_bytes());
            if is_unreadable {
                survey.unreadable = Some(below(&path, &child));
            }
        }
        done += 1;
    }
    Ok(survey)
}

/// Counts the bytes of a file, or of all files below a directory.
///
/// What disappears meanwhile, or may not be accessed, counts as nothing.
pub(crate) fn bytes_below(place: &Path) -> Result<u64> {
    let Some((parent, name)) = place.parent().zip(place.file_name()) else { return Ok(0) };
    let root = match Root::open_ambient(parent, None) {
        Err(Errno::NOENT) => return Ok(0),
        root => root?,
    };
    let mut bytes = 0;
    let mut waiting = vec![name.as_encoded_bytes().to_vec()];
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
            entries => {
                let entries = entries?.1.into_iter();
                waiting.extend(entries.map(|child| below(&path, &child)));
            }
        }
    }
    Ok(bytes)
}

/// The stamps of all files and links below a directory, by path relative to the start.
pub(super) type Stamps = BTreeMap<Vec<u8>, Stamp>;

/// Stats everything below a directory.
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

/// Deletes a directory and everything below it, as far as possible.
pub(super) fn purge(root: &Root, start: BorrowedFd<'_>, name: &[u8]) -> Result<()> {
    purge_where(root, start, name, |directory, _, child| remove(directory, child.name.as_bytes()))
}

/// Deletes a displaced directory, except what was created or written since its stamps were taken; returns whether there
/// was nothing of that kind.
///
/// A program may have the directory as its working directory.
pub(super) fn purge_known(root: &Root, start: BorrowedFd<'_>, name: &[u8], known: &Stamps) -> bool {
    let is_known = |path: &[u8], found: &Stamp| known.get(path) == Some(found);
    purge_if(root, start, name, is_known).unwrap_or(true)
}

/// Continues a killed process's deletion, except what is not older than the directory's stamp; returns whether
/// there was nothing of that kind.
pub(super) fn purge_older(
    root: &Root,
    start: BorrowedFd<'_>,
    name: &[u8],
    limit: &Stamp,
) -> Result<bool> {
    let returned = return_unchecked(root, start, name, limit)?;
    Ok(purge_if(root, start, name, |_, found| found.is_older_than(limit))? && !returned)
}

/// Moves an entry that the killed process had not checked yet back into the directory, if a program may have written
/// into it; returns whether there was one.
fn return_unchecked(
    root: &Root,
    start: BorrowedFd<'_>,
    name: &[u8],
    limit: &Stamp,
) -> Result<bool> {
    let directory = match root.open_below(start, name, OFlags::RDONLY | OFlags::DIRECTORY) {
        // The process was killed in another directory: this one is deleted already.
        Err(Errno::NOENT) => return Ok(false),
        directory => directory?,
    };
    let (removed, unchecked) = match entries(root, start, REMOVED) {
        Err(Errno::NOENT) => return Ok(false),
        entries => entries?,
    };
    let mut returned = false;
    for entry in &unchecked {
        let name = entry.name.as_bytes();
        // The rename into staging set the status change time, so only the time of the last write tells.
        let found = lease::closed_stamp(removed.as_fd(), name);
        if !found.is_ok_and(|found| found.modified() < limit.changed()) {
            bring_back(removed.as_fd(), directory.as_fd(), name)?;
            returned = true;
        }
    }
    Ok(returned)
}

fn purge_if(
    root: &Root,
    start: BorrowedFd<'_>,
    name: &[u8],
    is_known: impl Fn(&[u8], &Stamp) -> bool,
) -> Result<bool> {
    // A killed process may have left one with entries that are deleted later, with the whole staging directory.
    match rustix::fs::mkdirat(start, REMOVED, Mode::RWXU) {
        Err(Errno::EXIST) => {}
        made => made?,
    }
    let removed = root.open_below(start, REMOVED, OFlags::RDONLY | OFlags::DIRECTORY)?;
    // An entry with a known stamp that cannot be deleted, on a failing disk say, is not another program's work.
    let resisting = RefCell::new(BTreeSet::new());
    let purged = purge_where(root, start, name, |directory, path, child| {
        let at = below(path, child);
        let done = remove_known(removed.as_fd(), directory, child, |found| is_known(&at, found));
        if done.is_err_and(|errno| errno != Errno::STALE) {
            resisting.borrow_mut().insert(at);
        }
        done
    });
    let _ = rustix::fs::unlinkat(start, REMOVED, AtFlags::REMOVEDIR);
    let resisting = resisting.into_inner();
    match purged {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(_) => {
            // Something is left. Only what is neither known nor undeletable belongs to another program.
            let mut left = stamps_below(root, start, name)?.into_iter();
            Ok(left.all(|(path, found)| resisting.contains(&path) || is_known(&path, &found)))
        }
    }
}

fn purge_where(
    root: &Root,
    start: BorrowedFd<'_>,
    name: &[u8],
    remove_child: impl Fn(BorrowedFd<'_>, &[u8], &Entry) -> Result<()>,
) -> Result<()> {
    // Not even the owner can delete entries of a directory without write permission.
    unlock(root, start, name);
    // Children before parents.
    for path in survey(root, start, name)?.directories.iter().rev() {
        let (directory, children) = entries(root, start, path)?;
        for child in &children {
            // One entry that cannot be deleted must not stop the others.
            let _ = remove_child(directory.as_fd(), path, child);
        }
    }
    remove(start, name)
}

/// Deletes a known entry of a displaced directory, unless a program wrote into it or has it open.
///
/// A program whose working directory this is can open the entry by name until the last moment: checking it and then
/// deleting it would lose a write in between. So it first moves to where no program finds it.
fn remove_known(
    removed: BorrowedFd<'_>,
    directory: BorrowedFd<'_>,
    child: &Entry,
    is_known: impl Fn(&Stamp) -> bool,
) -> Result<()> {
    let name = child.name.as_bytes();
    if child.kind == Kind::Directory {
        return remove(directory, name);
    }
    let found = Stamp::of(&stamp::look(directory, name)?);
    if !is_known(&found) {
        return Err(Errno::STALE);
    }
    // NOREPLACE: a killed process may have left an entry there.
    rustix::fs::renameat_with(directory, name, removed, name, RenameFlags::NOREPLACE)?;
    let failed = match lease::closed_stamp(removed, name) {
        Ok(out) if out.is_same_but_renamed(&found) => match remove(removed, name) {
            Err(errno) => errno,
            removed => return removed,
        },
        Ok(_) | Err(Errno::TXTBSY) => Errno::STALE,
        Err(errno) => errno,
    };
    bring_back(removed, directory, name)?;
    Err(failed)
}

/// Moves a checked entry back, under another name if a program has reused its own.
fn bring_back(removed: BorrowedFd<'_>, directory: BorrowedFd<'_>, name: &[u8]) -> Result<()> {
    let others = (1..NAMES).map(|number| [name, format!(".{number}").as_bytes()].concat());
    for back in [name.to_vec()].into_iter().chain(others) {
        let flags = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(removed, name, directory, back, flags) {
            Err(Errno::EXIST) => {}
            back => return back,
        }
    }
    Err(Errno::EXIST)
}

fn below(directory: &[u8], child: &Entry) -> Vec<u8> {
    [directory, b"/", child.name.as_bytes()].concat()
}

/// Makes directories accessible before deletion, parents first.
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
        let children = children.iter().filter(|child| child.kind == Kind::Directory);
        directories.extend(children.map(|child| below(&path, child)));
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
    fn what_a_program_has_open_stays() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        std::fs::create_dir(path("d")).unwrap();
        std::fs::write(path("d/open"), "before").unwrap();
        let root = Root::open_ambient(place.path(), None).unwrap();
        let known = stamps_below(&root, root.as_fd(), b"d").unwrap();
        let program = std::fs::File::options().append(true).open(path("d/open")).unwrap();
        assert!(!purge_known(&root, root.as_fd(), b"d", &known));
        assert!(path("d/open").exists() && !path("removed").exists());
        drop(program);
    }

    /// A process died when it had removed a part.
    #[test]
    fn the_rest_goes_but_for_what_is_not_older_than_the_directory_was() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        std::fs::create_dir_all(path("d/sub")).unwrap();
        std::fs::write(path("d/sub/known"), "before").unwrap();
        let root = Root::open_ambient(place.path(), None).unwrap();
        // Past the tick of the clock.
        std::thread::sleep(std::time::Duration::from_millis(12));
        std::fs::rename(path("d"), path("out")).unwrap();
        let limit = Stamp::of(&stamp::look(root.as_fd(), b"out").unwrap());
        std::fs::write(path("out/sub/new"), "by a program").unwrap();
        assert!(!purge_older(&root, root.as_fd(), b"out", &limit).unwrap());
        assert!(path("out/sub/new").exists() && !path("out/sub/known").exists());
        std::fs::remove_file(path("out/sub/new")).unwrap();
        assert!(purge_older(&root, root.as_fd(), b"out", &limit).unwrap());
        assert!(!path("out").exists());
        assert!(purge_older(&root, root.as_fd(), b"out", &limit).unwrap(), "it is gone");
    }

    /// A process died between the rename of a file and its check. Once, the file was deleted with the program's work.
    #[test]
    fn what_a_killed_process_had_not_checked_comes_back_if_a_program_wrote_into_it() {
        for is_written in [true, false] {
            let place = tempfile::tempdir().unwrap();
            let path = |name: &str| place.path().join(name);
            std::fs::create_dir_all(path("d/sub")).unwrap();
            std::fs::write(path("d/sub/notes"), "before").unwrap();
            let root = Root::open_ambient(place.path(), None).unwrap();
            // Past the tick of the clock.
            std::thread::sleep(std::time::Duration::from_millis(12));
            std::fs::rename(path("d"), path("out")).unwrap();
            let limit = Stamp::of(&stamp::look(root.as_fd(), b"out").unwrap());
            if is_written {
                std::fs::write(path("out/sub/notes"), "by a program").unwrap();
            }
            std::fs::create_dir(path("removed")).unwrap();
            std::fs::rename(path("out/sub/notes"), path("removed/notes")).unwrap();
            assert_eq!(purge_older(&root, root.as_fd(), b"out", &limit), Ok(!is_written));
            let returned = std::fs::read_to_string(path("out/notes"));
            assert_eq!(returned.is_ok_and(|it| it == "by a program"), is_written);
        }
    }

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
        assert!(!path("removed").exists());
        let known = stamps_below(&root, root.as_fd(), b"d").unwrap();
        assert!(purge_known(&root, root.as_fd(), b"d", &known));
        assert!(!path("d").exists());
    }
}

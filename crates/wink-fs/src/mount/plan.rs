//! Plans what one mount copies, before anything is written.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::allowed::{AllowedRoots, HeldFile, Opened};
use super::bring_in::refused;
use super::overlay::{Added, Node};
use super::{HostMount, LeftOut, MountReport};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::host::HostBackend;
use crate::limits::Limits;
use crate::path::{Name, TreePath};
use crate::search::PathPattern;
use crate::tree::{Kind, Stat, Tree, descend};

/// The most entries of one mount; followed links can multiply a few into very many.
const MAX_ENTRIES: usize = 1_000_000;

/// One mount being planned.
pub(super) struct Plan<'a> {
    mount: &'a HostMount,
    allowed: &'a AllowedRoots,
    /// The path that patterns see for a single mounted file, which has none below the mount.
    own_name: TreePath,
    include: Vec<PathPattern>,
    exclude: Vec<PathPattern>,
    added: &'a mut Added,
    report: MountReport,
    entries: usize,
}

/// A directory of the host, and how it was reached.
struct Source {
    tree: Arc<HostBackend>,
    directory: TreePath,
    /// The real path of the tree's root.
    real_root: PathBuf,
    /// The directories in which links were followed on the way here.
    trail: Vec<PathBuf>,
}

impl Source {
    fn real_directory(&self) -> PathBuf {
        self.real_root.join(OsStr::from_bytes(self.directory.as_bytes()))
    }

    fn below(&self, directory: TreePath) -> Self {
        let tree = self.tree.clone();
        let trail = self.trail.clone();
        Self { tree, directory, real_root: self.real_root.clone(), trail }
    }
}

impl<'a> Plan<'a> {
    /// Adds everything of a mount to `added`.
    pub(super) fn make(
        mount: &'a HostMount,
        allowed: &'a AllowedRoots,
        added: &'a mut Added,
    ) -> Result<MountReport> {
        let opened = allowed.resolve(mount)?;
        let mount_path = mount_path(mount, &opened)?;
        let own_name = last_component(mount, &opened).map_or(b"".as_slice(), OsStr::as_bytes);
        let own_name = TreePath::from_disk(own_name)?;
        let files = 0;
        let links = 0;
        let bytes = 0;
        let skipped = Vec::new();
        let report = MountReport { mount_path, files, links, bytes, skipped };
        let include = patterns(&mount.include_glob)?;
        let exclude = patterns(&mount.exclude_glob)?;
        let mut plan =
            Plan { mount, allowed, own_name, include, exclude, added, report, entries: 0 };
        plan.take_opened(opened, &TreePath::root(), Vec::new())?;
        Ok(plan.report)
    }

    /// Adds an opened file or directory; `inner` is its path in the mount.
    fn take_opened(&mut self, opened: Opened, inner: &TreePath, trail: Vec<PathBuf>) -> Result<()> {
        let Opened { handle, real_path: real_root } = opened;
        let kind = file_type(&handle).map_err(|errno| self.failed(errno))?;
        if kind == FileType::Directory {
            let tree = Arc::new(HostBackend::from_handle(handle)?);
            let directory = TreePath::root();
            return self.take_directory(&Source { tree, directory, real_root, trail }, inner);
        }
        if inner.is_root() && self.report.mount_path.is_root() {
            let why = "a file cannot be the root; say where it is put with mount_path";
            return Err(refused(self.mount, ErrorKind::InvalidArgument, why));
        }
        let file = HeldFile(handle);
        let stat = file.stat(&TreePath::root()).map_err(|error| error.during(Operation::Mount))?;
        self.take_file(Arc::new(file), TreePath::root(), stat, inner)
    }

    fn take_directory(&mut self, source: &Source, inner: &TreePath) -> Result<()> {
        if !inner.is_root() && self.excluded(inner) {
            self.leave_out(inner, "excluded by a pattern");
            return Ok(());
        }
        let Ok(entries) = source.tree.list(&source.directory) else {
            self.leave_out(inner, "it may not be read");
            return Ok(());
        };
        self.count(entries.len())?;
        if self.include.is_empty() {
            self.added.insert(self.place(inner)?, Node::Directory);
        }
        for entry in entries {
            let path = source.directory.join(&entry.name)?;
            let inner = inner.join(&entry.name)?;
            match entry.kind {
                Kind::Directory => descend(|| self.take_directory(&source.below(path), &inner))?,
                Kind::Symlink => self.take_link(source, &path, &entry.name, &inner)?,
                _ => match source.tree.stat(&path) {
                    Ok(stat) => self.take_file(source.tree.clone(), path, stat, &inner)?,
                    Err(_) => self.leave_out(&inner, "it may not be read"),
                },
            }
        }
        Ok(())
    }

    fn take_link(
        &mut self,
        source: &Source,
        path: &TreePath,
        name: &Name,
        inner: &TreePath,
    ) -> Result<()> {
        if self.mount.follow_symlinks {
            return self.follow(source, name, inner);
        }
        if self.wanted(inner) {
            let target = source.tree.read_link(path)?;
            self.added.insert(self.place(inner)?, Node::Link(target));
            self.report.links += 1;
        }
        Ok(())
    }

    fn follow(&mut self, source: &Source, name: &Name, inner: &TreePath) -> Result<()> {
        let directory = source.tree.open_directory(&source.directory)?;
        let mut trail = source.trail.clone();
        trail.push(source.real_directory());
        match self.allowed.follow(directory.as_fd(), name.as_bytes()) {
            // A link to a directory above itself would be followed for ever.
            Ok(Some(opened)) if trail.iter().any(|from| from.starts_with(&opened.real_path)) => {
                self.leave_out(inner, "the link leads back to where it was found");
            }
            Ok(Some(opened)) => self.take_opened(opened, inner, trail)?,
            Ok(None) => self.leave_out(inner, "the link leads out of the allowed host roots"),
            // Not a problem of the link: the process has no handles left.
            Err(errno @ (Errno::MFILE | Errno::NFILE)) => return Err(self.failed(errno)),
            Err(_) => self.leave_out(inner, "the link leads nowhere"),
        }
        Ok(())
    }

    fn count(&mut self, entries: usize) -> Result<()> {
        self.entries += entries;
        if self.entries <= MAX_ENTRIES {
            return Ok(());
        }
        let why = format!("it has more than {MAX_ENTRIES} entries; mount a part of it");
        Err(refused(self.mount, ErrorKind::TooLarge, why))
    }

    fn take_file(
        &mut self,
        tree: Arc<dyn Tree>,
        path: TreePath,
        stat: Stat,
        inner: &TreePath,
    ) -> Result<()> {
        if stat.kind != Kind::File {
            self.leave_out(inner, "it is a FIFO, socket or device");
            return Ok(());
        }
        if !self.wanted(inner) {
            return Ok(());
        }
        self.report.files += 1;
        self.report.bytes += stat.size_bytes;
        self.check_budget()?;
        self.added.insert(self.place(inner)?, Node::File { source: tree, path, stat });
        Ok(())
    }

    fn check_budget(&self) -> Result<()> {
        match self.mount.max_bytes {
            Some(max) if self.report.bytes > max => {
                let why = format!(
                    "its files have at least {} bytes and at most {max} are allowed (max_bytes); \
                     nothing was mounted: exclude some, or allow more",
                    self.report.bytes
                );
                Err(refused(self.mount, ErrorKind::TooLarge, why))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the patterns select a file, and notes it if they do not.
    fn wanted(&mut self, inner: &TreePath) -> bool {
        let seen = if inner.is_root() { &self.own_name } else { inner };
        if !self.include.is_empty() && !matches(&self.include, seen) {
            self.leave_out(inner, "not included by a pattern");
        } else if self.excluded(seen) {
            self.leave_out(inner, "excluded by a pattern");
        } else {
            return true;
        }
        false
    }

    fn excluded(&self, inner: &TreePath) -> bool {
        matches(&self.exclude, inner)
    }

    fn leave_out(&mut self, inner: &TreePath, reason: &'static str) {
        let path = self.place(inner).unwrap_or_else(|_| inner.clone());
        self.report.skipped.push(LeftOut { path, reason });
    }

    /// Returns the path of an entry of the mount in the workspace.
    fn place(&self, inner: &TreePath) -> Result<TreePath> {
        let place = [self.report.mount_path.as_bytes(), b"/", inner.as_bytes()].concat();
        TreePath::from_disk(&place)
    }

    fn failed(&self, errno: Errno) -> Error {
        let error = Error::system(Operation::Mount, errno);
        error.with_path_text(&self.mount.host_path.to_string_lossy())
    }
}

fn file_type(handle: &OwnedFd) -> rustix::io::Result<FileType> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(handle)?.st_mode))
}

fn patterns(globs: &[String]) -> Result<Vec<PathPattern>> {
    // A trailing slash marks a directory, and is not part of a name.
    let parse = |glob: &String| PathPattern::parse(glob.trim_end_matches('/'), &Limits::default());
    globs.iter().map(parse).collect()
}

fn matches(patterns: &[PathPattern], path: &TreePath) -> bool {
    patterns.iter().any(|pattern| pattern.matches(path))
}

fn mount_path(mount: &HostMount, opened: &Opened) -> Result<TreePath> {
    if let Some(path) = &mount.mount_path {
        return Ok(path.clone());
    }
    match last_component(mount, opened) {
        Some(name) => TreePath::from_disk(name.as_bytes()),
        None => {
            let why = "the host path has no last component; say where it is put with mount_path";
            Err(refused(mount, ErrorKind::InvalidArgument, why))
        }
    }
}

fn last_component<'p>(mount: &'p HostMount, opened: &'p Opened) -> Option<&'p OsStr> {
    mount.host_path.file_name().or_else(|| opened.real_path.file_name())
}

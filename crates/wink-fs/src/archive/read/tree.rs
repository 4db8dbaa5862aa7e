//! The archive as a tree.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use bytes::Bytes;

use super::index::{Directory, File, Index, Node};
use super::{central, end, layout};
use crate::archive::manifest::Manifest;
use crate::archive::options::ArchiveLimits;
use crate::archive::portability::{PortabilityProblem, portability};
use crate::archive::{refuse, spelling};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::tree::content::{Content, ReadAt};
use crate::tree::hash::TreeHash;
use crate::tree::{Entry, Kind, Stat, Tree};
use crate::util::parallel;

/// Reads an archive as a tree, without unpacking it.
///
/// Content up to 8 MiB is unpacked into memory when it is opened. Larger content is unpacked as it is read, fastest
/// from start to end: seeking back starts again from the first byte.
///
/// ```
/// use std::sync::Arc;
/// use wink_fs::archive::{self, ArchiveLimits, ArchiveTree, ExportOptions};
/// use wink_fs::{Content, ErrorKind, Workspace};
///
/// let files = Workspace::memory();
/// files.write("a.txt", "hello")?;
/// let mut bytes = Vec::new();
/// archive::write(&*files.tree(), &mut bytes, &ExportOptions::default())?;
///
/// let open = |bytes: Vec<u8>| {
///     let (len, source) = (bytes.len() as u64, Content::from(bytes::Bytes::from(bytes)));
///     ArchiveTree::open(Arc::new(source), len, &ArchiveLimits::default())
/// };
/// assert_eq!(open(bytes.clone())?.file_count(), 1);
/// bytes.pop();
/// assert_eq!(open(bytes).unwrap_err().kind(), ErrorKind::Corrupt);
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub struct ArchiveTree {
    source: Arc<dyn ReadAt>,
    root: Node,
    manifest: Manifest,
}

impl ArchiveTree {
    /// Opens an archive of `len` bytes after checking everything except the contents.
    ///
    /// The directory and each entry's own header must agree; entries must not overlap; names must be unique paths that
    /// form a tree, none below a file or through a link; and the manifest must have the right counts. Anything else is
    /// Corrupt, an archive over the limits is TooLarge, and one that uses other parts of the ZIP format is Unsupported.
    /// Contents are checked when they are opened, or all at once by [`verify`](Self::verify).
    pub fn open(source: Arc<dyn ReadAt>, len: u64, limits: &ArchiveLimits) -> Result<Self> {
        let directory = end::find(&source, len, limits)?;
        let entries = central::read(&source, &directory)?;
        let stored = layout::check(&source, &entries, directory.offset)?;
        let mut index = Index::new(&source, limits);
        for (entry, stored) in entries.iter().zip(stored) {
            index.add(entry, stored)?;
        }
        let (root, manifest) = index.finish()?;
        let tree = Self { source, root: Node::Directory(root), manifest };
        tree.check_folding(limits)?;
        Ok(tree)
    }

    fn check_folding(&self, limits: &ArchiveLimits) -> Result<()> {
        if !limits.refuse_folding_names {
            return Ok(());
        }
        let found = portability(self)?;
        match found.iter().find(|found| found.problem == PortabilityProblem::SameWhenFolded) {
            None => Ok(()),
            Some(found) => Err(refuse::unsupported(
                spelling::spell(&found.path).as_bytes(),
                "only case or normalisation tells its name from another, which the target cannot",
            )),
        }
    }

    /// Returns the number of files and links.
    pub fn file_count(&self) -> u64 {
        self.manifest.file_count
    }

    /// Returns the bytes of their contents and targets.
    pub fn total_bytes(&self) -> u64 {
        self.manifest.total_bytes
    }

    /// Returns when the archive was made, according to its manifest.
    pub fn created_at(&self) -> SystemTime {
        self.manifest.created_at()
    }

    /// Unpacks every content, discards it, and checks its size and checksum.
    ///
    /// No content is unpacked beyond its declared size, and the sizes are within the limits.
    pub fn verify(&self) -> Result<()> {
        let mut files = Vec::new();
        if let Node::Directory(root) = &self.root {
            collect(root, &TreePath::root(), &mut files)?;
        }
        let checked = parallel::map(&files, |(path, file)| self.check(path, file));
        checked.into_iter().collect()
    }

    fn check(&self, path: &TreePath, file: &File) -> Result<()> {
        if !file.checked.load(Ordering::Relaxed) {
            file.stored.check(&self.source).map_err(|error| unreadable(path, error))?;
            file.checked.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn content(&self, path: &TreePath, file: &File) -> Result<Content> {
        let content = file.stored.content(&self.source, file.checked.load(Ordering::Relaxed));
        file.checked.fetch_or(content.is_ok(), Ordering::Relaxed);
        content.map_err(|error| refuse::reading(error).during(Operation::Read).with_path(path))
    }

    fn find(&self, operation: Operation, path: &TreePath) -> Result<&Node> {
        let mut node = &self.root;
        for segment in path.segments() {
            let missing = || Error::new(operation, ErrorKind::NotFound).with_path(path);
            node = match node {
                Node::Directory(directory) => {
                    directory.children.get(segment).ok_or_else(missing)?
                }
                Node::Link(_) => return Err(Error::through_link(operation, path)),
                Node::File(_) => return Err(missing()),
            };
        }
        Ok(node)
    }
}

/// Collects the files below a directory.
fn collect<'a>(
    directory: &'a Directory,
    path: &TreePath,
    files: &mut Vec<(TreePath, &'a File)>,
) -> Result<()> {
    for (name, node) in &directory.children {
        match node {
            Node::File(file) => files.push((path.join(name)?, file)),
            Node::Directory(next) => collect(next, &path.join(name)?, files)?,
            Node::Link(_) => {}
        }
    }
    Ok(())
}

fn unreadable(path: &TreePath, error: std::io::Error) -> Error {
    refuse::reading_entry(spelling::spell(path).as_bytes(), error)
}

impl Tree for ArchiveTree {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        Ok(match self.find(Operation::Stat, path)? {
            Node::Directory(directory) => {
                let mut stat = Stat::new(Kind::Directory, 0);
                stat.mode = directory.mode;
                stat
            }
            Node::Link(target) => Stat::new(Kind::Symlink, target.len() as u64),
            Node::File(file) => {
                let mut stat = Stat::new(Kind::File, file.stored.size);
                stat.mode = file.mode;
                stat
            }
        })
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        let node = self.find(Operation::List, path)?;
        checks::check_directory(path, node.kind())?;
        let Node::Directory(directory) = node else { return Ok(Vec::new()) };
        let entry = |(name, node): (&_, &Node)| Entry::new(Clone::clone(name), node.kind());
        Ok(directory.children.iter().map(entry).collect())
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        let node = self.find(Operation::Read, path)?;
        checks::check_file(Operation::Read, path, node.kind())?;
        match node {
            Node::File(file) => self.content(path, file),
            Node::Directory(_) | Node::Link(_) => Ok(Bytes::new().into()),
        }
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        match self.find(Operation::Read, path)? {
            Node::Link(target) => Ok(target.to_vec()),
            Node::File(_) | Node::Directory(_) => Err(checks::not_a_link(path)),
        }
    }

    fn known_hash(&self, _: &TreePath) -> Option<ContentHash> {
        None
    }

    fn known_tree_hash(&self, _: &TreePath) -> Option<TreeHash> {
        None
    }
}

impl fmt::Debug for ArchiveTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArchiveTree({} files)", self.manifest.file_count)
    }
}

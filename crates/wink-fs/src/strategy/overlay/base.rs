//! The base of a workspace: the directory under the mount, and what it had when the snapshots began.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::error::{Error, damaged};
use crate::filesystem::Backend as _;
use crate::hash::ContentHash;
use crate::host::HostBackend;
use crate::host::copy::snapshot_files::Copies;
use crate::host_options::HostOptions;
use crate::path::TreePath;
use crate::snapshot::Snapshot;
use crate::store::disk::Disk;
use crate::strategy::capture::capture;
use crate::strategy::keeper::{Finished, KeptContent, Reader, Work};
use crate::strategy::manifest::{Directory, KeptFile, Manifest, Node, Place};
use crate::strategy::tree::KeptTree;
use crate::tree::FileMode;
use crate::tree::content::Content;
use crate::tree::hash::tree_hash;
use crate::tree::scope::Exclusions;

/// The file with the base's path and contents.
const NAME: &str = "base";

/// The index of the base's files.
const INDEX: &str = "base.index";

/// Larger than any manifest.
const MAX_BYTES: u64 = 4 * 1024 * 1024 * 1024;

/// The base that snapshots are compared with.
pub(super) struct Base {
    pub(super) root: Arc<Directory>,
    /// The location of each content in the base.
    places: HashMap<ContentHash, Place>,
    files: Mutex<HostBackend>,
    reader: Arc<BaseReader>,
}

/// Captures the base, and writes down what it has.
pub(super) fn describe(disk: &Disk, path: &Path) -> io::Result<()> {
    let files = open(disk, path)?;
    let captured = files.capture(&Exclusions::default()).map_err(unreadable)?;
    let (root, _) = capture(&*captured.tree, &Describing).map_err(unreadable)?;
    let manifest = Manifest { root, notes: path.as_os_str().as_bytes().to_vec() };
    let mut file = disk.create(NAME)?;
    file.write_all(&manifest.encode())?;
    file.sync_all()?;
    Base::read(disk)?.check()
}

impl Base {
    /// Reads what [`describe`] wrote.
    pub(super) fn read(disk: &Disk) -> io::Result<Self> {
        let Manifest { root, notes } = Manifest::decode(&disk.read(NAME, MAX_BYTES)?)?;
        let path = OsString::from_vec(notes);
        let mut places = HashMap::new();
        gather(&root, &mut places);
        let reader = Arc::new(BaseReader(Copies::open_ambient(path.as_ref())?));
        Ok(Self { files: Mutex::new(open(disk, path.as_ref())?), root, places, reader })
    }

    /// Fails if the base changed: what snapshots refer to would be lost.
    pub(super) fn check(&self) -> io::Result<()> {
        let mut files = self.files.lock();
        let captured = files.capture(&Exclusions::default()).map_err(unreadable)?;
        if tree_hash(&*captured.tree).map_err(unreadable)? != self.root.hash {
            return Err(damaged(
                "the base under the workspace is not what it was; \
                 put it back as it was, or keep snapshots in a new place",
            ));
        }
        if captured.unlearnt > 0 {
            let known = KeptTree::new(self.root.clone(), self.reader.clone());
            files.learn(&*captured.tree, &known);
        }
        Ok(())
    }

    pub(super) fn find(&self, hash: &ContentHash) -> Option<&Place> {
        self.places.get(hash)
    }

    pub(super) fn reader(&self) -> Arc<BaseReader> {
        self.reader.clone()
    }
}

impl fmt::Debug for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Base({})", self.root.hash)
    }
}

fn open(disk: &Disk, path: &Path) -> io::Result<HostBackend> {
    let options = HostOptions::default().index(disk.path(INDEX));
    HostBackend::open_ambient_with(path, &options).map_err(unreadable)
}

fn unreadable(error: Error) -> io::Error {
    damaged(format!("the base under the workspace cannot be read: {error}"))
}

fn gather(directory: &Directory, places: &mut HashMap<ContentHash, Place>) {
    for (_, node) in &directory.entries {
        match node {
            Node::File(file) => drop(places.insert(file.hash, file.place.clone())),
            Node::Directory(below) => crate::tree::descend(|| gather(below, places)),
            Node::Link(_) => {}
        }
    }
}

/// Keeps only the locations of contents.
struct Describing;

impl Work for Describing {
    fn file(&self, path: &TreePath, _: FileMode, content: &Content) -> io::Result<KeptContent> {
        let place = path.as_bytes().to_vec();
        Ok(KeptContent { hash: content.hash()?, size: content.len(), place })
    }

    fn finish(self: Box<Self>, _: &Snapshot, _: &Directory) -> io::Result<Finished> {
        Ok(Finished::default())
    }
}

/// Opens files of the base.
pub(super) struct BaseReader(Copies);

impl Reader for BaseReader {
    fn open(&self, _: &TreePath, file: &KeptFile) -> io::Result<Content> {
        let path = TreePath::from_disk(&file.place);
        let path = path.map_err(|_| damaged("a manifest names no file of the base"))?;
        let found = self.0.open(&path)?;
        let size = found.metadata()?.len();
        Ok(Content::positional(Arc::new(found), size))
    }
}

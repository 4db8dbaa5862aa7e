//! The content-addressed store of snapshots; see `docs/store-format.md`.

pub(crate) mod capture;
pub(crate) mod catalog;
pub(crate) mod disk;
pub(crate) mod failure;
pub(crate) mod format;
mod gc;
pub(crate) mod lock;
pub(crate) mod objects;
mod publish;
mod repair;
pub(crate) mod temporary;
mod tree;
mod verify;

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use self::catalog::{Catalog, pins};
use self::disk::Disk;
use self::gc::{Care, forget, redact};
use self::objects::index::ObjectIndex;
use self::objects::manifest::{self, PackManifest};
use self::objects::pack;
use self::tree::StoreTree;
use crate::error::{ErrorKind, Operation, Result, damaged};
use crate::oplog::file::FileOpLog;
use crate::snapshot::{
    Choose, NewSnapshot, Pin, Reclaimed, Redacted, Repaired, Snapshot, SnapshotId, SnapshotStore,
    Usage, Verification, VerifyOptions, is_plain_name,
};
use crate::tree::Tree;
use crate::tree::scope::Exclusions;

/// The directory of the histories of forks.
pub(crate) const FORKS_DIRECTORY: &str = "branches";

/// The strategy's name in settings and results.
const STRATEGY: &str = "store";

/// The index of host captures, which can be rebuilt.
const INDEX: &str = "index";

/// Keeps snapshots in a directory of the host: deduplicated, compressed, incremental.
///
/// Every object is named by its hash, which is checked when it is read. A snapshot writes only new objects, in one
/// file, and then its record: it appears as a whole or not at all. Several processes may use one store. Only its
/// owner may read it.
///
/// ```
/// use std::time::SystemTime;
/// use wink_fs::{NewSnapshot, SnapshotStore, Store, TreePath, Workspace};
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let place = directory.path().join("snapshots");
/// Store::create_ambient(&place)?;
///
/// let store = Store::open_ambient(&place)?;
/// let files = Workspace::memory();
/// files.write("a.txt", "before")?;
/// let snapshot = store.save(&*files.tree(), &NewSnapshot::new(SystemTime::now()))?;
/// files.write("a.txt", "after")?;
/// let content = store.load(&snapshot.id)?.open(&TreePath::parse("a.txt")?)?;
/// assert_eq!(content.read_all().unwrap(), "before");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Debug)]
pub struct Store {
    id: String,
    objects: Arc<ObjectIndex>,
    catalog: Catalog,
    /// The directory of the workspace's history: the store's own, or that of a fork.
    history: Disk,
    /// The name of the fork, if it is one.
    fork: Option<String>,
}

impl Store {
    /// Makes a store in a new or empty directory, with the ambient authority of the process.
    pub fn create_ambient(path: impl AsRef<Path>) -> Result<Self> {
        let disk = Disk::new(path.as_ref());
        make(&disk).map_err(|error| crate::Error::system(Operation::OpenStore, error))?;
        Self::open(disk)
    }

    /// Makes a store in a temporary directory, which is deleted with its last reader: the store itself, a tree loaded
    /// from it, or a fork of that.
    ///
    /// ```
    /// use wink_fs::{StateRef, MemoryBackend, Store, Workspace};
    ///
    /// let files = Workspace::builder(MemoryBackend::new()).store(Store::temporary()?).build();
    /// files.write("a.txt", "hello")?;
    /// let fork = files.fork(StateRef::Live)?;
    /// drop(files);
    /// assert_eq!(fork.read("a.txt")?.content, "hello");
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn temporary() -> Result<Self> {
        let failed = |error| crate::Error::system(Operation::OpenStore, error);
        let disk = Disk::temporary().map_err(failed)?;
        make(&disk).map_err(failed)?;
        Self::open(disk)
    }

    /// Opens the store in a directory, with the ambient authority of the process.
    ///
    /// A directory without a store is NotFound: an empty one may be the mount point of a disk that is not mounted. A
    /// store on a read-only disk can be read.
    pub fn open_ambient(path: impl AsRef<Path>) -> Result<Self> {
        Self::open(Disk::new(path.as_ref()))
    }

    /// Writes the format file again if it is missing or damaged and the rest of a store is there; returns whether it
    /// was.
    ///
    /// A directory without the rest is NotFound. The store gets a new id.
    ///
    /// ```
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let place = directory.path().join("store");
    /// use wink_fs::Store;
    ///
    /// assert!(Store::mend_ambient(&place).is_err());
    /// Store::create_ambient(&place)?;
    /// assert!(!Store::mend_ambient(&place)?);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn mend_ambient(path: impl AsRef<Path>) -> Result<bool> {
        let disk = Disk::new(path.as_ref());
        let is_there = |directory| disk.names(directory).is_ok();
        let has_records = || catalog::read_whole(&disk).is_ok_and(|all| !all.is_empty());
        let has_roster =
            || matches!(PackManifest::read(&disk), Ok(manifest::ManifestFile::Whole(_)));
        if [pack::DIRECTORY, catalog::DIRECTORY].into_iter().all(is_there)
            && (has_records() || has_roster())
        {
            format::repair(&disk, STRATEGY)
        } else {
            format::check(&disk, STRATEGY).map(|_| false)
        }
    }

    fn open(disk: Disk) -> Result<Self> {
        let id = format::check(&disk, STRATEGY)?;
        sweep(&disk, &[pack::DIRECTORY, catalog::DIRECTORY]);
        let history = disk.clone();
        let objects = Arc::new(ObjectIndex::new(disk));
        Ok(Self { id, objects, catalog: Catalog::default(), history, fork: None })
    }

    /// Returns the store for a fork, which shares its snapshots.
    ///
    /// The fork's operations and head are kept separately, under a name of letters, digits, `-`, `_` and `.`.
    /// Retention counts its snapshots separately too.
    ///
    /// ```
    /// use wink_fs::{Store, Workspace};
    ///
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let (root, place) = (directory.path().join("root"), directory.path().join("store"));
    /// # Workspace::host(directory.path())?.mkdir("root")?;
    /// Store::create_ambient(&place)?;
    /// let fork = Store::open_ambient(&place)?.for_fork("attempt")?;
    /// let files = Workspace::host_with_store(&root, fork)?;
    /// let kept = files.snapshot("there")?;
    ///
    /// let main = Store::open_ambient(&place)?;
    /// assert_eq!(wink_fs::SnapshotStore::list(&main)?[0].id, kept.id);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn for_fork(mut self, name: &str) -> Result<Self> {
        Self::check_fork_name(name)?;
        let place = format!("{FORKS_DIRECTORY}/{name}");
        let made = self
            .disk()
            .make_dir_unless_there(FORKS_DIRECTORY)
            .and_then(|()| self.disk().make_dir_unless_there(&place));
        made.map_err(|error| crate::Error::system(Operation::OpenStore, error))?;
        self.history = self.disk().below(&place);
        self.fork = Some(name.to_owned());
        Ok(self)
    }

    /// Fails if no fork can have this name.
    pub fn check_fork_name(name: &str) -> Result<()> {
        let detail = "a fork is named with up to 100 letters, digits, `-`, `_` and `.`";
        let refused = || {
            crate::Error::new(Operation::OpenStore, ErrorKind::InvalidArgument)
                .with_path_text(name)
                .with_detail(detail)
        };
        is_plain_name(name).then_some(()).ok_or_else(refused)
    }

    /// Deletes a fork's own records: its operations and its current snapshot. Succeeds if there is no such fork.
    ///
    /// ```
    /// # use wink_fs::Store;
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let place = directory.path().join("store");
    /// Store::create_ambient(&place)?.for_fork("attempt")?;
    /// Store::open_ambient(&place)?.forget_fork("attempt")?;
    /// assert!(!place.join("branches/attempt").exists());
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn forget_fork(&self, name: &str) -> Result<()> {
        Self::check_fork_name(name)?;
        let removed = self.disk().remove_all(&format!("{FORKS_DIRECTORY}/{name}"));
        removed.map_err(|error| crate::Error::system(Operation::Delete, error))
    }

    /// Returns the store's unique id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the path of the index of host captures.
    pub(crate) fn index_path(&self) -> std::path::PathBuf {
        self.history.path(INDEX)
    }

    /// Returns the operation log in the store.
    pub(crate) fn oplog(&self) -> FileOpLog {
        FileOpLog::new(self.history.clone())
    }

    fn disk(&self) -> &Disk {
        &self.objects.disk
    }
}

fn make(disk: &Disk) -> std::io::Result<()> {
    disk.make_root()?;
    disk.make_dir(pack::DIRECTORY)?;
    disk.make_dir(catalog::DIRECTORY)?;
    PackManifest::of_new_store().write(disk)?;
    format::write(disk, STRATEGY)
}

/// Removes unfinished files of dead processes, if no process writes now.
fn sweep(disk: &Disk, directories: &[&str]) {
    let Some(_alone) = lock::alone(disk) else { return };
    for directory in directories {
        let names = disk.names(directory).unwrap_or_default();
        for name in names.iter().filter(|name| temporary::is_temporary(name)) {
            let _ = disk.remove(&format!("{directory}/{name}"));
        }
    }
}

impl SnapshotStore for Store {
    fn strategy(&self) -> &'static str {
        STRATEGY
    }

    fn save(&self, tree: &dyn Tree, new: &NewSnapshot) -> Result<Snapshot> {
        let saved = publish::save(self, tree, new);
        let saved = saved.map_err(|error| error.during(Operation::Snapshot))?;
        // The snapshot is stored; what could not be completed now is tried again with the next one.
        let _ = repair::heal::heal(self);
        Ok(saved)
    }

    fn fork(&self) -> Option<&str> {
        self.fork.as_deref()
    }

    fn preparation(&self) -> Option<Box<dyn FnOnce() + Send + '_>> {
        // A failure here comes again, and is reported, when the packs are needed.
        Some(Box::new(|| drop(self.objects.refresh())))
    }

    fn load(&self, id: &SnapshotId) -> Result<Arc<dyn Tree>> {
        let snapshot = catalog::read(self.disk(), &id.to_string())?;
        let root = snapshot.tree_hash.ok_or_else(|| damaged("the snapshot names no tree"));
        let tree = root.and_then(|root| StoreTree::open(Arc::clone(&self.objects), root));
        Ok(Arc::new(tree.map_err(|error| failure::of(Operation::Restore, error))?))
    }

    fn describe(&self, id: &SnapshotId) -> Result<Snapshot> {
        let mut snapshot = catalog::read(self.disk(), &id.to_string())?;
        catalog::group_orphaned(self.disk(), std::slice::from_mut(&mut snapshot));
        Ok(snapshot)
    }

    fn list(&self) -> Result<Vec<Snapshot>> {
        let listed = self.catalog.list(self.disk());
        let mut listed = listed.map_err(|error| failure::of(Operation::List, error))?;
        catalog::group_orphaned(self.disk(), &mut listed);
        Ok(listed)
    }

    fn delete(&self, id: &SnapshotId) -> Result<bool> {
        forget::delete(self, id).map_err(|error| error.during(Operation::Delete))
    }

    fn delete_unpinned(&self, id: &SnapshotId, now: SystemTime) -> Result<bool> {
        forget::delete_unpinned(self, id, now).map_err(|error| error.during(Operation::Prune))
    }

    fn forget(&self, choose: Choose<'_>) -> Result<Vec<Snapshot>> {
        forget::forget(self, choose).map_err(|error| error.during(Operation::Prune))
    }

    /// Deletes packs without needed objects. Packs with many unneeded objects, and small ones if there are many, are
    /// merged into new ones. If anything is damaged, nothing is done, and the error is Corrupt.
    fn reclaim(&self) -> Result<Reclaimed> {
        match gc::reclaim(self, Care::Usual) {
            // Rewriting needs space before it frees any: delete only whole packs then.
            Err(error) if error.kind() == ErrorKind::NoSpace => gc::reclaim(self, Care::Sparing),
            done => done,
        }
    }

    fn redact(&self, out: &Exclusions) -> Result<Redacted> {
        redact::redact(self, out).map_err(|error| error.during(Operation::Prune))
    }

    /// Moves damaged files to `quarantine` in the store's directory, after intact objects of a damaged pack were
    /// copied; nothing is deleted. The next snapshot stores again what is missing.
    fn repair_by(&self, heal: &mut dyn FnMut() -> Result<()>) -> Result<Repaired> {
        repair::repair(self, heal).map_err(|error| error.during(Operation::Repair))
    }

    fn is_fragmented(&self) -> Result<bool> {
        gc::is_fragmented(self.disk()).map_err(|error| failure::of(Operation::Stat, error))
    }

    /// None once the pack of the snapshot was merged with others.
    fn stored_bytes(&self, snapshot: &Snapshot) -> Option<u64> {
        match snapshot.reference.as_str() {
            "" => Some(0),
            pack => self.disk().size(&pack::place(pack)).ok(),
        }
    }

    fn usage(&self) -> Result<Usage> {
        gc::usage(self.disk()).map_err(|error| failure::of(Operation::Stat, error))
    }

    fn usage_with(&self, kept: &[Snapshot]) -> Result<Option<Usage>> {
        let usage = gc::usage_with(self, kept);
        usage.map(Some).map_err(|error| failure::of(Operation::Stat, error))
    }

    fn pin(&self, pin: &Pin) -> Result<()> {
        pins::add(self.disk(), pin).map_err(|error| error.during(Operation::Snapshot))
    }

    fn unpin(&self, id: &SnapshotId, owner: &str) -> Result<bool> {
        let removed = pins::remove(self.disk(), id, owner);
        removed.map_err(|error| failure::of(Operation::Snapshot, error))
    }

    fn pins(&self) -> Result<Vec<Pin>> {
        pins::list(self.disk()).map_err(|error| failure::of(Operation::List, error))
    }

    fn set_tag(&self, id: &SnapshotId, tag: Option<&str>) -> Result<Snapshot> {
        catalog::set_tag(self, id, tag)
    }

    fn verify(&self, options: &VerifyOptions) -> Result<Verification> {
        verify::verify(self.disk(), options)
    }

    fn directory(&self) -> Option<&Path> {
        Some(self.disk().root())
    }
}

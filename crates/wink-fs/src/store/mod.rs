//! The content-addressed store of snapshots; `docs/store-format.md` has its format.

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

use self::catalog::{Catalog, orphaned_forks, pins, tagging};
use self::disk::Disk;
use self::gc::{Care, forget, redact, usage};
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

/// The directory of the histories of other workspaces.
pub(crate) const BRANCHES: &str = "branches";

/// The strategy's name in settings and results.
const STRATEGY: &str = "store";

/// What a host's captures learnt, which they can learn again.
const INDEX: &str = "index";

/// Keeps snapshots in a directory of the host: deduplicated, compressed, incremental.
///
/// Every object is named by its hash and checked by it when it is read. A snapshot writes only what the
/// store does not hold yet, in one file, and then its record: whatever happens, it is there as a whole
/// or not at all. Several processes may use one store. Only its owner may read it.
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
    /// Where the history of the workspace is kept: in the store itself, or in that of a branch.
    history: Disk,
    /// The name of the branch, where it is one.
    branch: Option<String>,
}

impl Store {
    /// Makes a store in a new or empty directory, with the ambient authority of the process.
    pub fn create_ambient(path: impl AsRef<Path>) -> Result<Self> {
        let disk = Disk::new(path.as_ref());
        make(&disk).map_err(|error| crate::Error::system(Operation::OpenStore, error))?;
        Self::open(disk)
    }

    /// Makes a store in a directory that is removed, with all that is in it, when the last one goes who may
    /// read from it: the store itself, a tree that was loaded from it, or a fork of that.
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
    /// A directory that is no store is NotFound: an empty one may be the place of a disk that is not
    /// mounted. A store on a read-only disk can be read.
    pub fn open_ambient(path: impl AsRef<Path>) -> Result<Self> {
        Self::open(Disk::new(path.as_ref()))
    }

    /// Writes the file again by which a directory is known as a store, where it is missing or damaged and the rest
    /// of a store is there; tells whether it was.
    ///
    /// A directory without the rest is NotFound. The store has another id then.
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
        let has_roster = || matches!(PackManifest::read(&disk), Ok(manifest::Found::Whole(_)));
        if [pack::DIRECTORY, catalog::DIRECTORY].into_iter().all(is_there)
            && (has_records() || has_roster())
        {
            format::mend(&disk, STRATEGY)
        } else {
            format::check(&disk, STRATEGY).map(|_| false)
        }
    }

    fn open(disk: Disk) -> Result<Self> {
        let id = format::check(&disk, STRATEGY)?;
        sweep(&disk, &[pack::DIRECTORY, catalog::DIRECTORY]);
        let history = disk.clone();
        let objects = Arc::new(ObjectIndex::new(disk));
        Ok(Self { id, objects, catalog: Catalog::default(), history, branch: None })
    }

    /// Returns the store for another workspace that shares its snapshots, such as a fork in a directory of
    /// its own; what that one did and was last is kept beside, under a name of letters, digits, `-`, `_`
    /// and `.`. Its snapshots are a line by themselves: they push none of the others out.
    ///
    /// ```
    /// use wink_fs::{Store, Workspace};
    ///
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let (root, place) = (directory.path().join("root"), directory.path().join("store"));
    /// # Workspace::host(directory.path())?.mkdir("root")?;
    /// Store::create_ambient(&place)?;
    /// let branch = Store::open_ambient(&place)?.on_branch("attempt")?;
    /// let files = Workspace::host_with_store(&root, branch)?;
    /// let kept = files.snapshot("there")?;
    ///
    /// let main = Store::open_ambient(&place)?;
    /// assert_eq!(wink_fs::SnapshotStore::list(&main)?[0].id, kept.id);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn on_branch(mut self, name: &str) -> Result<Self> {
        Self::check_branch_name(name)?;
        let place = format!("{BRANCHES}/{name}");
        let made = self
            .disk()
            .make_dir_unless_there(BRANCHES)
            .and_then(|()| self.disk().make_dir_unless_there(&place));
        made.map_err(|error| crate::Error::system(Operation::OpenStore, error))?;
        self.history = self.disk().below(&place);
        self.branch = Some(name.to_owned());
        Ok(self)
    }

    /// Refuses a name that no branch can have.
    pub fn check_branch_name(name: &str) -> Result<()> {
        let detail = "a branch is named with up to 100 letters, digits, `-`, `_` and `.`";
        let refused = || {
            crate::Error::new(Operation::OpenStore, ErrorKind::InvalidArgument)
                .with_path_text(name)
                .with_detail(detail)
        };
        is_plain_name(name).then_some(()).ok_or_else(refused)
    }

    /// Takes away what a branch has for itself: its operations, and the snapshot that it was at. One that is
    /// not there is as good as gone.
    ///
    /// ```
    /// # use wink_fs::Store;
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let place = directory.path().join("store");
    /// Store::create_ambient(&place)?.on_branch("attempt")?;
    /// Store::open_ambient(&place)?.forget_branch("attempt")?;
    /// assert!(!place.join("branches/attempt").exists());
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn forget_branch(&self, name: &str) -> Result<()> {
        Self::check_branch_name(name)?;
        let removed = self.disk().remove_all(&format!("{BRANCHES}/{name}"));
        removed.map_err(|error| crate::Error::system(Operation::Delete, error))
    }

    /// Returns the id that the store was given when it was made.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the place for what a host's captures learn.
    pub(crate) fn index_path(&self) -> std::path::PathBuf {
        self.history.path(INDEX)
    }

    /// Returns the history that is kept in the store's directory.
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

/// Removes what dead writers left behind, if no process is writing and the disk allows it.
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
        publish::save(self, tree, new).map_err(|error| error.during(Operation::Snapshot))
    }

    fn line(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    fn preparation(&self) -> Option<Box<dyn FnOnce() + Send + '_>> {
        // What fails now fails again, and is reported, when it is needed.
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
        orphaned_forks::settle(self.disk(), std::slice::from_mut(&mut snapshot));
        Ok(snapshot)
    }

    fn list(&self) -> Result<Vec<Snapshot>> {
        let listed = self.catalog.list(self.disk());
        let mut listed = listed.map_err(|error| failure::of(Operation::List, error))?;
        orphaned_forks::settle(self.disk(), &mut listed);
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

    /// Packs go of which nothing is needed; those of which much is not needed, and small ones where there
    /// are many, become new ones. Where anything is damaged nothing is done, and it is Corrupt.
    fn reclaim(&self) -> Result<Reclaimed> {
        match gc::reclaim(self, Care::Usual) {
            // What is written anew needs space before it gives any back.
            Err(error) if error.kind() == ErrorKind::NoSpace => gc::reclaim(self, Care::Sparing),
            done => done,
        }
    }

    fn redact(&self, out: &Exclusions) -> Result<Redacted> {
        redact::redact(self, out).map_err(|error| error.during(Operation::Prune))
    }

    /// What is damaged is moved to `quarantine` in the store's directory, what is whole of a damaged pack
    /// is in another pack before, and nothing is deleted. The next snapshot stores again what is missing.
    fn repair_by(&self, heal: &mut dyn FnMut() -> Result<()>) -> Result<Repaired> {
        repair::repair(self, heal).map_err(|error| error.during(Operation::Repair))
    }

    fn is_fragmented(&self) -> Result<bool> {
        usage::is_fragmented(self.disk()).map_err(|error| failure::of(Operation::Stat, error))
    }

    fn usage(&self) -> Result<Usage> {
        usage::of(self.disk()).map_err(|error| failure::of(Operation::Stat, error))
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
        tagging::set_tag(self, id, tag)
    }

    fn verify(&self, options: &VerifyOptions) -> Result<Verification> {
        verify::verify(self.disk(), options)
    }

    fn directory(&self) -> Option<&Path> {
        Some(self.disk().root())
    }
}

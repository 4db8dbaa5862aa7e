//! The content-addressed store of snapshots; `docs/store-format.md` has its format.

mod bytes;
mod cache;
pub(crate) mod capture;
pub(crate) mod catalog;
pub(crate) mod disk;
pub(crate) mod failure;
pub(crate) mod format;
mod large;
pub(crate) mod ledger;
mod library;
mod list;
pub(crate) mod lock;
mod object;
mod operation_record;
mod pack;
mod parts;
mod record;
mod save;
pub(crate) mod temporary;
mod tree;
mod verify;

use std::path::Path;
use std::sync::Arc;

use self::catalog::Catalog;
use self::disk::Disk;
use self::library::Library;
use self::tree::StoreTree;
use crate::error::{Operation, Result, damaged};
use crate::snapshot::{
    NewSnapshot, Snapshot, SnapshotId, SnapshotStore, Verification, VerifyOptions,
};
use crate::tree::Tree;

/// The strategy's name in settings and results.
const STRATEGY: &str = "store";

/// Keeps snapshots in a directory of the host: deduplicated, compressed, incremental.
///
/// Every object is named by its hash and checked by it when it is read. A snapshot writes only what the
/// store does not hold yet, in one file, and then its record: whatever happens, it is there as a whole
/// or not at all. Several processes may use one store. Nobody but its owner may read it.
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
    library: Arc<Library>,
    catalog: Catalog,
}

impl Store {
    /// Makes a store in a new or empty directory, with the ambient authority of the process.
    pub fn create_ambient(path: impl AsRef<Path>) -> Result<Self> {
        let disk = Disk::new(path.as_ref());
        make(&disk).map_err(|error| crate::Error::system(Operation::OpenStore, error))?;
        Self::open(disk)
    }

    /// Opens the store in a directory, with the ambient authority of the process.
    ///
    /// A directory that is no store is NotFound: an empty one may be the place of a disk that is not
    /// mounted. A store on a read-only disk can be read.
    pub fn open_ambient(path: impl AsRef<Path>) -> Result<Self> {
        Self::open(Disk::new(path.as_ref()))
    }

    fn open(disk: Disk) -> Result<Self> {
        let id = format::check(&disk, STRATEGY)?;
        sweep(&disk, &[pack::DIRECTORY, catalog::DIRECTORY]);
        Ok(Self { id, library: Arc::new(Library::new(disk)), catalog: Catalog::default() })
    }

    /// Returns the id that the store was given when it was made.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the place for what a host's captures learn.
    pub(crate) fn index_path(&self) -> std::path::PathBuf {
        self.disk().path("index")
    }

    fn disk(&self) -> &Disk {
        &self.library.disk
    }
}

fn make(disk: &Disk) -> std::io::Result<()> {
    disk.make_root()?;
    disk.make_dir(pack::DIRECTORY)?;
    disk.make_dir(catalog::DIRECTORY)?;
    format::write(disk, STRATEGY)
}

/// Removes what writers that died left behind, where nobody writes and the disk takes it.
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
        save::save(self, tree, new).map_err(|error| error.during(Operation::Snapshot))
    }

    fn load(&self, id: &SnapshotId) -> Result<Arc<dyn Tree>> {
        let snapshot = catalog::read(self.disk(), &id.to_string())?;
        let root = snapshot.tree_hash.ok_or_else(|| damaged("the snapshot names no tree"));
        let tree = root.and_then(|root| StoreTree::open(Arc::clone(&self.library), root));
        Ok(Arc::new(tree.map_err(|error| failure::of(Operation::Restore, error))?))
    }

    fn describe(&self, id: &SnapshotId) -> Result<Snapshot> {
        catalog::read(self.disk(), &id.to_string())
    }

    fn list(&self) -> Result<Vec<Snapshot>> {
        self.catalog.list(self.disk()).map_err(|error| failure::of(Operation::List, error))
    }

    fn delete(&self, id: &SnapshotId) -> Result<bool> {
        catalog::remove(self.disk(), id).map_err(|error| failure::of(Operation::Delete, error))
    }

    fn verify(&self, options: &VerifyOptions) -> Result<Verification> {
        verify::verify(self.disk(), options)
    }

    fn directory(&self) -> Option<&Path> {
        Some(self.disk().root())
    }
}

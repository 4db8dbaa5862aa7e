//! A workspace for one round, and where contents can be found in it.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use wink_fs::{
    Kind, OperationRecord, Retention, SnapshotStore as _, Store, Tree, TreePath, VerifyOptions,
    Workspace,
};

use crate::writers::mark::Mark;

/// A file system that is kept in memory.
const IN_MEMORY: &str = "/dev/shm";

/// A directory with a workspace in `root`, its store in `store`, and an archive of how it began.
pub(crate) struct Scene {
    directory: TempDir,
    /// Where the store really is, if that is on another file system.
    elsewhere: Option<TempDir>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with_store(None)
    }

    /// Makes one whose store is on another file system: what a call displaces cannot be moved there.
    pub(crate) fn with_store_elsewhere() -> Self {
        let elsewhere = tempfile::tempdir().unwrap();
        let device = |path: &Path| fs::metadata(path).unwrap().dev();
        assert_ne!(device(elsewhere.path()), device(Path::new(IN_MEMORY)), "they are to differ");
        Self::with_store(Some(elsewhere))
    }

    fn with_store(elsewhere: Option<TempDir>) -> Self {
        // Kept in memory, because restores sync.
        let directory = tempfile::tempdir_in(IN_MEMORY).expect("/dev/shm is needed");
        fs::create_dir(directory.path().join("root")).unwrap();
        let store = directory.path().join("store");
        if let Some(elsewhere) = &elsewhere {
            symlink(elsewhere.path(), &store).unwrap();
        }
        drop(Store::create_ambient(store).unwrap());
        let scene = Self { directory, elsewhere };
        let files = scene.open();
        for path in ["d/a", "d/b", "d/sub/c", "e/a", "e/b", "top"] {
            files.write(path, "as it began\n").unwrap();
        }
        files.snapshot("base").unwrap();
        files.export_archive(scene.path("archive.fs.zip")).unwrap();
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Opens the workspace so that nothing is forgotten for its age or number.
    pub(crate) fn open(&self) -> Workspace {
        let files = Workspace::host_builder(self.path("root"), self.store()).unwrap();
        let retention = Retention::everything().max_safety(4 * OperationRecord::MOST_KEPT);
        files.retention(retention).build()
    }

    fn store(&self) -> Store {
        Store::open_ambient(self.path("store")).unwrap()
    }

    /// Returns those of some contents that are nowhere to be found.
    pub(crate) fn missing(&self, mut wanted: BTreeSet<Mark>) -> BTreeSet<Mark> {
        let mut remove = |found: Vec<Mark>| found.iter().for_each(|mark| _ = wanted.remove(mark));
        remove(marks_below(&self.path("root")));
        remove(marks_below(&self.path("store/operations")));
        if self.elsewhere.is_some() {
            // What a program may still write into waits there.
            remove(marks_below(&self.path(".wink-staging")));
        }
        if wanted.is_empty() {
            return wanted;
        }
        let store = self.store();
        for snapshot in store.list().unwrap() {
            let mut found = Vec::new();
            let tree = store.load(&snapshot.id).unwrap();
            collect_from_tree(&*tree, &TreePath::root(), &mut found);
            found.iter().for_each(|mark| _ = wanted.remove(mark));
        }
        wanted
    }

    /// Goes on with the workspace, now that all is quiet; returns what does not work.
    pub(crate) fn check_usable(&self) -> Result<(), String> {
        let said = |what: &'static str| move |error| format!("{what}: {error}");
        let files = self.open();
        files.write("fresh", "fresh\n").map_err(said("write of a fresh file"))?;
        let taken = files.snapshot("quiet").map_err(said("snapshot"))?;
        files.write("fresh", "once more\n").map_err(said("second write"))?;
        files.restore(&taken).map_err(said("restore"))?;
        if fs::read_to_string(self.path("root/fresh")).ok().as_deref() != Some("fresh\n") {
            return Err("the restore did not bring the file back".to_owned());
        }
        for _ in 0..3 {
            files.undo().map_err(said("undo of a quiet call"))?;
        }
        if fs::symlink_metadata(self.path("root/fresh")).is_ok() {
            return Err("three undos left the fresh file".to_owned());
        }
        let undone = files.undo();
        let kind = undone.as_ref().err().map(wink_fs::Error::kind);
        use wink_fs::ErrorKind::{Conflict, NotFound};
        if !matches!(kind, None | Some(Conflict | NotFound)) {
            return Err(format!("undo of a disturbed call: {}", undone.unwrap_err()));
        }
        files.write("fresh", "fresh\n").map_err(said("write after the undo"))?;
        let found = self.store().verify(&VerifyOptions::default().data(true));
        let found = found.map_err(said("verify"))?;
        if found.problems.is_empty() { Ok(()) } else { Err(format!("{:?}", found.problems)) }
    }
}

/// Returns all contents in the files and links below a directory, but for the staging of the workspace.
pub(crate) fn marks_below(directory: &Path) -> Vec<Mark> {
    let (mut found, mut waiting) = (Vec::new(), vec![directory.to_path_buf()]);
    while let Some(directory) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.flatten().filter(|it| it.file_name() != ".wink-staging") {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                waiting.push(entry.path());
            } else {
                found.extend(read_marks(&entry.path()));
            }
        }
    }
    found
}

/// Returns the contents in one file, or the target of one link.
pub(crate) fn read_marks(path: &Path) -> Vec<Mark> {
    match fs::read_link(path) {
        Ok(target) => Mark::all_in(target.as_os_str().as_encoded_bytes()),
        Err(_) => Mark::all_in(&fs::read(path).unwrap_or_default()),
    }
}

fn collect_from_tree(tree: &dyn Tree, directory: &TreePath, found: &mut Vec<Mark>) {
    for entry in tree.list(directory).unwrap() {
        let path = directory.join(&entry.name).unwrap();
        match entry.kind {
            Kind::Directory => collect_from_tree(tree, &path, found),
            Kind::Symlink => found.extend(Mark::all_in(&tree.read_link(&path).unwrap())),
            _ => found.extend(Mark::all_in(&tree.open(&path).unwrap().read_all().unwrap())),
        }
    }
}

//! Directories of a lower layer of OverlayFS, as those of a container's image are: the kernel does not rename them.

use std::ffi::CString;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use tempfile::TempDir;
use wink_fs::{MoveOptions, SnapshotStore as _, Store, TreeHash, Workspace, tree_hash};

/// A workspace whose files are all in the lower layer.
struct Scene {
    directory: TempDir,
    store: PathBuf,
}

/// Where the store is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    SameFileSystem,
    Elsewhere,
}

const PLACES: [Place; 2] = [Place::SameFileSystem, Place::Elsewhere];

impl Scene {
    fn new(place: Place) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in ["lower/root/d/sub/deep", "lower/root/empty", "upper", "work", "merged"] {
            fs::create_dir_all(path(name)).unwrap();
        }
        for name in ["d/a", "d/sub/b", "d/sub/deep/c", "other"] {
            fs::write(path("lower/root").join(name), name).unwrap();
        }
        fs::set_permissions(path("lower/root/d/sub"), fs::Permissions::from_mode(0o750)).unwrap();
        symlink("a", path("lower/root/d/link")).unwrap();
        let options = format!(
            "lowerdir={0}/lower,upperdir={0}/upper,workdir={0}/work,redirect_dir=off",
            directory.path().display()
        );
        let options = CString::new(options).unwrap();
        rustix::mount::mount("overlay", path("merged"), "overlay", MountFlags::empty(), &*options)
            .expect("mounting needs root");
        let store = match place {
            Place::SameFileSystem => path("merged/store"),
            Place::Elsewhere => path("store"),
        };
        drop(Store::create_ambient(&store).unwrap());
        let scene = Self { directory, store };
        let renamed = rustix::fs::rename(scene.path("d"), scene.path("renamed"));
        assert_eq!(renamed, Err(Errno::XDEV), "the kernel does not rename it");
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join("merged/root").join(name)
    }

    fn open(&self) -> Workspace {
        let store = Store::open_ambient(&self.store).unwrap();
        Workspace::host_with_store(self.path(""), store).unwrap()
    }

    fn is_there(&self, name: &str) -> bool {
        fs::symlink_metadata(self.path(name)).is_ok()
    }

    fn hash(&self) -> TreeHash {
        tree_hash(&*self.open().tree()).unwrap()
    }

    /// Nothing is left beside the files, and the history is whole.
    fn check_tidy(&self) {
        let staging = self.directory.path().join("merged/.wink-staging");
        assert!(!Path::new(&staging).exists(), "{:?}", fs::read_dir(&staging).unwrap().next());
        let found = Store::open_ambient(&self.store).unwrap().verify(&Default::default()).unwrap();
        assert_eq!(found.problems, []);
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let merged = self.directory.path().join("merged");
        let _ = rustix::mount::unmount(merged, UnmountFlags::DETACH);
    }
}

/// Makes a change, undoes it and makes it again.
#[track_caller]
fn check(change: impl Fn(&Workspace), is_changed: impl Fn(&Scene) -> bool) {
    for place in PLACES {
        let scene = Scene::new(place);
        let before = scene.hash();
        change(&scene.open());
        assert!(is_changed(&scene), "{place:?}");
        let after = scene.hash();
        let undone = scene.open().undo().unwrap();
        assert_eq!(undone.conflicts, [], "{place:?}");
        assert_eq!(scene.hash(), before, "{place:?}");
        scene.open().redo().unwrap();
        assert_eq!(scene.hash(), after, "{place:?}");
        scene.check_tidy();
    }
}

#[test]
#[ignore = "needs root"]
fn a_directory_is_removed_and_comes_back() {
    check(|files| _ = files.delete_all("d").unwrap(), |scene| !scene.is_there("d"));
}

#[test]
#[ignore = "needs root"]
fn a_directory_below_is_removed_and_comes_back() {
    check(|files| _ = files.delete_all("d/sub").unwrap(), |scene| !scene.is_there("d/sub"));
}

#[test]
#[ignore = "needs root"]
fn a_directory_is_moved_and_moves_back() {
    check(
        |files| files.rename("d", "moved").unwrap(),
        |scene| {
            let mode = fs::metadata(scene.path("moved/sub")).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o750);
            !scene.is_there("d") && scene.is_there("moved/sub/deep/c")
        },
    );
}

#[test]
#[ignore = "needs root"]
fn a_directory_takes_the_place_of_an_empty_one() {
    check(
        |files| files.rename_with("d", "empty", &MoveOptions::default().replace(true)).unwrap(),
        |scene| !scene.is_there("d") && scene.is_there("empty/sub/deep/c"),
    );
}

#[test]
#[ignore = "needs root"]
fn a_file_of_the_layer_takes_the_place_of_another() {
    check(
        |files| files.rename_with("other", "d/a", &MoveOptions::default().replace(true)).unwrap(),
        |scene| !scene.is_there("other"),
    );
}

/// Merges a fork in which something was changed.
fn merge(files: &Workspace, change: impl Fn(&Workspace)) {
    let base = files.snapshot("base").unwrap();
    let fork = files.fork(&base).unwrap();
    change(&fork);
    assert!(files.merge(&fork).unwrap().applied);
}

#[test]
#[ignore = "needs root"]
fn a_replacement_removes_a_directory() {
    check(
        |files| merge(files, |fork| _ = fork.delete_all("d").unwrap()),
        |scene| !scene.is_there("d"),
    );
}

#[test]
#[ignore = "needs root"]
fn a_replacement_puts_a_file_in_the_place_of_a_directory() {
    check(
        |files| {
            merge(files, |fork| {
                fork.delete_all("d").unwrap();
                fork.write("d", "a file").unwrap();
            });
        },
        |scene| fs::read_to_string(scene.path("d")).is_ok_and(|text| text == "a file"),
    );
}

#[test]
#[ignore = "needs root"]
fn a_replacement_changes_files_in_a_directory() {
    check(
        |files| merge(files, |fork| drop(fork.write("d/sub/b", "changed").unwrap())),
        |scene| fs::read_to_string(scene.path("d/sub/b")).is_ok_and(|text| text == "changed"),
    );
}

//! Where a store is, and where none is.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::mount::{MountFlags, UnmountFlags};
use wink_fs::testkit::dump;
use wink_fs::{ErrorKind, SnapshotStore, Store, VerifyOptions};

use crate::store::support::{Scene, names, new, planted};

/// A small file system mounted for one test.
pub(crate) struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    pub(crate) fn tmpfs(at: &'a Path, options: &std::ffi::CStr) -> Self {
        rustix::mount::mount("tmpfs", at, "tmpfs", MountFlags::empty(), options)
            .expect("mounting needs root");
        Self(at)
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(self.0, UnmountFlags::DETACH);
    }
}

fn kind(result: wink_fs::Result<Store>) -> ErrorKind {
    result.unwrap_err().kind()
}

#[test]
fn only_the_owner_may_look_into_a_store() {
    let scene = Scene::new();
    let snapshot = scene.save(&planted());
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    for directory in ["", "packs", "snapshots"] {
        assert_eq!(mode(&scene.root().join(directory)), 0o700, "{directory}");
    }
    let (pack, record) = (scene.pack(&snapshot), scene.record(&snapshot.id));
    for file in [pack, record, scene.root().join("format"), scene.root().join("lock")] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn a_store_is_made_only_where_nothing_is() {
    let directory = tempfile::tempdir().unwrap();
    Store::create_ambient(directory.path()).unwrap();
    assert_eq!(kind(Store::create_ambient(directory.path())), ErrorKind::AlreadyExists);
    Store::open_ambient(directory.path()).unwrap();
}

#[test]
fn fault_20_no_empty_store_is_made_where_a_disk_is_not_mounted() {
    let directory = tempfile::tempdir().unwrap();
    for place in [directory.path().to_path_buf(), directory.path().join("missing")] {
        let error = Store::open_ambient(&place).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(!error.to_string().contains(place.to_str().unwrap()), "{error}");
    }
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
#[ignore = "needs root"]
fn fault_20_a_store_on_a_read_only_disk_can_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let _mounted = Mounted::tmpfs(directory.path(), c"");
    let snapshot = Store::create_ambient(directory.path()).unwrap().save(&planted(), &new());
    rustix::mount::mount_remount(directory.path(), MountFlags::RDONLY, c"").unwrap();
    let store = Store::open_ambient(directory.path()).unwrap();
    let snapshot = snapshot.unwrap();
    assert_eq!(store.list().unwrap(), std::slice::from_ref(&snapshot));
    assert_eq!(dump(&*store.load(&snapshot.id).unwrap()).unwrap(), dump(&planted()).unwrap());
    let found = store.verify(&VerifyOptions::default().data(true)).unwrap();
    assert_eq!(found.problems, []);
    assert_eq!(store.save(&planted(), &new()).unwrap_err().kind(), ErrorKind::ReadOnly);
}

#[test]
#[ignore = "needs root"]
fn fault_20_a_disk_that_goes_away_is_said_to_be_gone() {
    let directory = tempfile::tempdir().unwrap();
    let mounted = Mounted::tmpfs(directory.path(), c"");
    let store = Store::create_ambient(directory.path()).unwrap();
    let snapshot = store.save(&planted(), &new()).unwrap();
    drop(mounted);
    assert_eq!(store.save(&planted(), &new()).unwrap_err().kind(), ErrorKind::Unavailable);
    assert!(store.load(&snapshot.id).is_err());
    assert_eq!(store.list().unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn fault_34_a_newer_store_is_refused_and_left_as_it_is() {
    let scene = Scene::new();
    scene.save(&planted());
    let format = scene.root().join("format");
    let newer = std::fs::read_to_string(&format).unwrap().replace("store 1", "store 2");
    std::fs::write(&format, &newer).unwrap();
    let before = names(&scene.root());
    let error = Store::open_ambient(scene.root()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SnapshotIncompatible);
    assert_eq!(std::fs::read_to_string(&format).unwrap(), newer);
    assert_eq!(names(&scene.root()), before);
}

#[test]
fn fault_34_a_newer_record_is_refused_and_an_unknown_field_is_passed_over() {
    let scene = Scene::new();
    let (first, second) = (scene.save(&planted()), scene.save(&planted()));
    let edit = |id, from: &str, to: &str| {
        let path = scene.record(id);
        let text = std::fs::read_to_string(&path).unwrap();
        let json = text.lines().next().unwrap().replace(from, to);
        let record = format!("{json}\nblake3 {}\n", blake3::hash(json.as_bytes()).to_hex());
        std::fs::write(path, &record).unwrap();
        record
    };
    let newer = edit(&first.id, "\"version\":1", "\"version\":2");
    edit(&second.id, "{\"version\"", "{\"colour\":\"blue\",\"version\"");
    let store = Store::open_ambient(scene.root()).unwrap();
    let error = store.load(&first.id).map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SnapshotIncompatible);
    assert_eq!(store.list().unwrap(), std::slice::from_ref(&second));
    assert_eq!(dump(&*store.load(&second.id).unwrap()).unwrap(), dump(&planted()).unwrap());
    assert_eq!(store.verify(&VerifyOptions::default()).unwrap().problems.len(), 1);
    assert_eq!(std::fs::read_to_string(scene.record(&first.id)).unwrap(), newer);
}

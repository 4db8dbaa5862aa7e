//! What is left when the system fails, or the process dies, in the middle of a snapshot.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use crate::common::again;
use wink_fs::testkit::dump;
use wink_fs::{Backend, ErrorKind, Pin, Scope, Snapshot, SnapshotStore, Store, VerifyOptions};

use crate::common::short::Short;
use crate::store::places::Mounted;
use crate::store::support::{
    Scene, names, new, noise, path, plant, plant_small, planted, put, read_everything,
};

/// Runs a test of this program again under strace, with faults, on a store.
fn again_under_strace(test: &str, store: &Path, arguments: &[&str]) -> ExitStatus {
    Command::new("strace")
        .args(["-f", "-o", "/dev/null"])
        .args(arguments)
        .args(again::only(module_path!(), test))
        .env("WINK_TRACED", store)
        .output()
        .unwrap()
        .status
}

/// The store to work on, in the process that is traced.
fn traced() -> Option<PathBuf> {
    std::env::var_os("WINK_TRACED").map(PathBuf::from)
}

#[track_caller]
fn check_whole(root: &Path, expected: &[usize]) {
    let store = Store::open_ambient(root).unwrap();
    let found = store.verify(&VerifyOptions::default().data(true)).unwrap();
    assert_eq!(found.problems, []);
    let snapshots = store.list().unwrap();
    assert!(expected.contains(&snapshots.len()), "{} snapshots", snapshots.len());
    for snapshot in snapshots {
        dump(&*store.load(&snapshot.id).unwrap()).unwrap();
    }
    for directory in ["packs", "snapshots"] {
        let names = names(&root.join(directory));
        assert!(names.iter().all(|name| !name.starts_with('.')), "{names:?}");
    }
}

#[test]
#[ignore = "needs strace"]
fn fault_02_a_kill_at_any_write_leaves_no_snapshot_or_a_whole_one() {
    if let Some(root) = traced() {
        Store::open_ambient(root).unwrap().save(&planted(), &new()).unwrap();
        return;
    }
    let test = "fault_02_a_kill_at_any_write_leaves_no_snapshot_or_a_whole_one";
    let mut files = wink_fs::MemoryBackend::new();
    plant_small(&mut files);
    let calls = ["write", "fsync", "/^rename", "flock", "lseek"];
    for (call, at_least) in calls.into_iter().zip([5, 4, 2, 3, 1]) {
        let nth = (1..).find(|nth| {
            let scene = Scene::new();
            scene.save(&files);
            let inject = format!("inject={call}:signal=KILL:when={nth}");
            let survived = again_under_strace(test, &scene.root(), &["-e", &inject]).success();
            check_whole(&scene.root(), if survived { &[2] } else { &[1, 2] });
            scene.save(&planted());
            survived
        });
        assert!(nth > Some(at_least), "{call}: killed {nth:?} times only");
    }
}

#[test]
#[ignore = "needs root"]
fn fault_08_a_full_disk_is_said_to_be_one_and_leaves_the_rest() {
    let mut noticed = 0;
    let scene = Scene::new();
    let pack = scene.pack_bytes(&scene.save(&planted())) / 1024;
    for kilobytes in [64, pack / 2].into_iter().chain((pack - 16..pack + 48).step_by(4)) {
        let directory = tempfile::tempdir().unwrap();
        let options = std::ffi::CString::new(format!("size={kilobytes}k")).unwrap();
        let _mounted = Mounted::tmpfs(directory.path(), &options);
        let store = Store::create_ambient(directory.path()).unwrap();
        let mut files = wink_fs::MemoryBackend::new();
        put(&mut files, b"small", "small");
        let first = store.save(&files, &new()).unwrap();
        let packs = names(&directory.path().join("packs"));
        match store.save(&planted(), &new()) {
            Ok(_) => check_whole(directory.path(), &[2]),
            Err(error) => {
                noticed += 1;
                assert_eq!(error.kind(), ErrorKind::NoSpace, "{error}");
                assert_eq!(names(&directory.path().join("packs")), packs, "its space is free");
                check_whole(directory.path(), &[1]);
                assert_eq!(dump(&*store.load(&first.id).unwrap()).unwrap(), dump(&files).unwrap());
            }
        }
    }
    assert!((6..18).contains(&noticed), "{noticed}");
}

/// Once, which snapshots are forgotten had to be written down first, for which there was no space either.
#[test]
#[ignore = "needs root"]
fn fault_08_snapshots_are_forgotten_although_the_disk_is_full() {
    let directory = tempfile::tempdir().unwrap();
    let _mounted = Mounted::tmpfs(directory.path(), c"size=512k");
    let store = Store::create_ambient(directory.path()).unwrap();
    let mut files = wink_fs::MemoryBackend::new();
    let mut save = |content: &'static str| {
        put(&mut files, b"small", content);
        store.save(&files, &new()).unwrap()
    };
    let (first, second) = (save("1"), save("2"));
    store.reclaim().unwrap();
    let mut filler = std::fs::File::create(directory.path().join("filler")).unwrap();
    let full = std::iter::repeat_with(|| filler.write_all(&[1; 4096])).find_map(Result::err);
    assert_eq!(full.unwrap().kind(), std::io::ErrorKind::StorageFull);
    assert!(store.delete(&first.id).unwrap());
    check_whole(directory.path(), &[1]);
    filler.write_all(&[1; 4096]).unwrap_or_default();
    let record = directory.path().join(format!("snapshots/{}", second.id));
    std::fs::OpenOptions::new().write(true).open(record).unwrap().write_all(b"damaged").unwrap();
    assert!(store.delete(&second.id).unwrap());
    check_whole(directory.path(), &[0]);
}

/// Once, the packs of those that go had to be written down first, so that a prune failed for want of space.
#[test]
#[ignore = "needs root"]
fn fault_08_a_prune_gives_space_back_although_the_disk_is_full() {
    let directory = tempfile::tempdir().unwrap();
    let _mounted = Mounted::tmpfs(directory.path(), c"size=1m");
    let store = Store::create_ambient(directory.path()).unwrap();
    let mut files = wink_fs::MemoryBackend::new();
    put(&mut files, b"kept", noise(50_000, 9));
    for seed in 0..6 {
        put(&mut files, b"large", noise(100_000, seed));
        store.save(&files, &new()).unwrap();
    }
    let mut filler = std::fs::File::create(directory.path().join("filler")).unwrap();
    let full = std::iter::repeat_with(|| filler.write_all(&[1; 4096])).find_map(Result::err);
    assert_eq!(full.unwrap().kind(), std::io::ErrorKind::StorageFull);
    let but_last = |all: &[Snapshot], _: &[Pin]| all[..5].iter().map(|it| it.id).collect();
    assert_eq!(store.forget(&but_last).unwrap().len(), 5);
    let packs = || {
        let all = std::fs::read_dir(directory.path().join("packs")).unwrap();
        all.map(|it| it.unwrap().metadata().unwrap().len()).sum::<u64>()
    };
    store.reclaim().unwrap();
    assert!((250_000..300_000).contains(&packs()), "only what nothing is needed of: {}", packs());
    store.reclaim().unwrap();
    assert!(packs() < 200_000, "the first is written anew when there is space: {}", packs());
    check_whole(directory.path(), &[1]);
    let last = store.list().unwrap();
    assert_eq!(dump(&*store.load(&last[0].id).unwrap()).unwrap(), dump(&files).unwrap());
}

#[test]
#[ignore = "needs root"]
fn fault_10_exhausted_inodes_are_no_space() {
    let directory = tempfile::tempdir().unwrap();
    let _mounted = Mounted::tmpfs(directory.path(), c"nr_inodes=7");
    let store = Store::create_ambient(directory.path()).unwrap();
    let error = store.save(&planted(), &new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoSpace, "{error}");
    assert!(error.to_string().contains("inode"), "{error}");
    check_whole(directory.path(), &[0]);
}

#[test]
#[ignore = "needs strace"]
fn fault_12_a_disk_that_cannot_read_an_object_is_reported_with_its_name() {
    if let Some(root) = traced() {
        let store = Store::open_ambient(root).unwrap();
        let tree = store.load(&store.list().unwrap()[0].id).unwrap();
        let error = tree.open(&path(b"file")).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Io, Some("file")));
        let hash = tree.known_hash(&path(b"file")).unwrap();
        assert!(error.to_string().contains(&hash.to_string()), "{error}");
        tree.open(&path(b"file")).unwrap();
        return;
    }
    let test = "fault_12_a_disk_that_cannot_read_an_object_is_reported_with_its_name";
    let scene = Scene::new();
    let mut files = wink_fs::MemoryBackend::new();
    put(&mut files, b"file", noise(200_000, 1));
    let snapshot = scene.save(&files);
    let pack = scene.pack(&snapshot);
    // Three reads for the tables, one for the directory.
    let arguments = ["-P", pack.to_str().unwrap(), "-e", "inject=pread64:error=EIO:when=5"];
    assert!(again_under_strace(test, &scene.root(), &arguments).success());
}

#[test]
#[ignore = "needs strace"]
fn fault_13_a_failed_sync_fails_the_snapshot_and_is_not_tried_again() {
    if let Some(root) = traced() {
        let store = Store::open_ambient(&root).unwrap();
        let error = store.save(&planted(), &new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
        for directory in ["packs", "snapshots"] {
            assert_eq!(
                names(&root.join(directory)),
                [""; 0],
                "nothing unsynced is left to rely on"
            );
        }
        assert!(!store.save(&planted(), &new()).unwrap().reference.is_empty());
        return;
    }
    let test = "fault_13_a_failed_sync_fails_the_snapshot_and_is_not_tried_again";
    // The pack, the record, the directory of packs, the directory of records.
    for sync in 1..=4 {
        let scene = Scene::new();
        let inject = format!("inject=fsync:error=EIO:when={sync}");
        assert!(again_under_strace(test, &scene.root(), &["-e", &inject]).success(), "sync {sync}");
        check_whole(&scene.root(), &[1]);
    }
    let scene = Scene::new();
    let inject = "inject=fsync:error=EIO:when=5";
    assert!(
        !again_under_strace(test, &scene.root(), &["-e", inject]).success(),
        "four syncs suffice"
    );
}

/// A system may read and write less than it was asked to.
#[test]
fn fault_15_content_that_comes_and_goes_in_small_pieces_is_whole() {
    let mut files = Short::default();
    plant(&mut files);
    let scene = Scene::new();
    let snapshot = scene.save(&files);
    let whole = read_everything(&planted()).unwrap();
    assert_eq!(read_everything(&*scene.load(&snapshot)).unwrap(), whole);
    let mut back = Short::default();
    back.replace(&*scene.load(&snapshot), &Scope::everything()).unwrap();
    assert_eq!(read_everything(&back).unwrap(), whole);
    assert_eq!(scene.verify().problems, []);
}

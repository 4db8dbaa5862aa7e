//! The examples about snapshots of the documents this crate was made from: on every backend, and on the host by
//! every strategy.
//!
//! Where the documents disagree with each other, the decision is the specification's.

#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use wink_fs::{
    Changed, ErrorKind, HostBackend, NamedSnapshots, NewSnapshot, OverlayMount, PruneOptions,
    Retention, SnapshotOptions, SnapshotStore as _, StateRef, Store, Strategy, StrategyOptions,
    Workspace, tree_hash,
};

use crate::common::disk::Disk;

/// A workspace, and what has to stay as long; the fields go in their order.
struct Scene {
    files: Workspace,
    _mount: Option<OverlayMount>,
    _disk: Option<Disk>,
    _directory: TempDir,
}

impl Scene {
    fn memory() -> Self {
        let files = Workspace::memory();
        Self { files, _mount: None, _disk: None, _directory: tempfile::tempdir().unwrap() }
    }

    /// `HostFilesystemConfig(snapshot_strategy, snapshot_dir)`
    fn host(strategy: Strategy) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let disk = (strategy == Strategy::Reflink).then(|| Disk::new("mkfs.btrfs -q"));
        let home = disk.as_ref().map_or(directory.path().to_path_buf(), |it| it.path("mounted"));
        std::fs::create_dir(home.join("root")).unwrap();
        let mount = (strategy == Strategy::Overlay)
            .then(|| OverlayMount::mount_ambient(home.join("root"), home.join("place")).unwrap());
        let root = mount.as_ref().map_or(home.join("root"), |it| it.root().to_path_buf());
        let options = StrategyOptions::new(home.join("snapshots")).strategy(strategy);
        let snapshots = options.create_ambient(&root).unwrap();
        let files = Workspace::builder(HostBackend::open_ambient(&root).unwrap());
        let files = files.snapshots(snapshots).build();
        Self { files, _mount: mount, _disk: disk, _directory: directory }
    }
}

/// Makes a test of each example for memory and for every strategy.
macro_rules! examples {
    ($($example:ident)*) => {
        examples!(@on [] memory, Scene::memory(), [$($example)*]);
        examples!(@on [] store, Scene::host(Strategy::Store), [$($example)*]);
        examples!(@on [] git, Scene::host(Strategy::Git), [$($example)*]);
        examples!(@on [] archive, Scene::host(Strategy::Archive), [$($example)*]);
        examples!(@on [] copy, Scene::host(Strategy::Copy), [$($example)*]);
        examples!(@on [#[ignore = "needs root"]] reflink, Scene::host(Strategy::Reflink), [$($example)*]);
        examples!(@on [#[ignore = "needs root"]] overlay, Scene::host(Strategy::Overlay), [$($example)*]);
    };
    (@on $attributes:tt $name:ident, $scene:expr, [$($example:ident)*]) => {
        mod $name {
            use super::*;

            $(examples!(@test $attributes $example, $scene);)*
        }
    };
    (@test [$($attribute:tt)*] $example:ident, $scene:expr) => {
        #[test]
        $($attribute)*
        fn $example() {
            super::$example(&$scene.files);
        }
    };
}

examples! {
    usage_example
    before_refactor
    snapshot_protocol
    diff_with_the_current_state
    current_snapshot_id
    lifecycle
    snapshots_that_are_not_there
    retention_policy
}

fn names(changed: &[Changed]) -> Vec<String> {
    changed.iter().map(|it| it.path.to_string()).collect()
}

fn content(files: &Workspace, path: &str) -> String {
    files.read(path).unwrap().content
}

/// "Usage Example": `fs.snapshot(tag="initial")`, `fs.diff(snapshot_v1, snapshot_v2)`, `fs.restore(snapshot_v1)`
fn usage_example(files: &Workspace) {
    files.write("config.py", "DEBUG = True").unwrap();
    files.write("app.py", "from config import DEBUG").unwrap();
    let snapshot_v1 = files.snapshot("initial").unwrap();

    files.write("config.py", "DEBUG = False").unwrap();
    files.write("tests.py", "import pytest").unwrap();
    let snapshot_v2 = files.snapshot("with-tests").unwrap();

    let diff = files.diff(&snapshot_v1, &snapshot_v2).unwrap();
    assert_eq!(names(&diff.added), ["tests.py"]);
    assert_eq!(names(&diff.modified), ["config.py"]);
    assert!(diff.deleted.is_empty());
    assert_eq!(diff.unchanged_count, 1);

    files.restore(&snapshot_v1).unwrap();
    assert_eq!(content(files, "config.py"), "DEBUG = True");
    assert!(!files.exists("tests.py"));

    files.restore(&snapshot_v2).unwrap();
    assert_eq!(content(files, "config.py"), "DEBUG = False");
    assert!(files.exists("tests.py"));
}

/// `snapshot = fs.snapshot(tag="before-refactor")`, `fs.restore(snapshot)`
fn before_refactor(files: &Workspace) {
    files.write("src/main.py", "print('hello')").unwrap();
    let snapshot = files.snapshot("before-refactor").unwrap();
    files.rename("src", "lib").unwrap();
    files.restore(&snapshot).unwrap();
    assert_eq!(content(files, "src/main.py"), "print('hello')");
    assert!(!files.exists("lib"));
}

/// `FilesystemSnapshot(snapshot_id, created_at, parent_id, file_count, total_bytes)`, with `tag`
fn snapshot_protocol(files: &Workspace) {
    let start = SystemTime::now();
    files.write("a.txt", "12345").unwrap();
    files.write("d/ü.txt", "ü").unwrap();
    let first = files.snapshot("first").unwrap();
    assert_eq!((first.file_count, first.total_bytes), (2, 7), "the sum of the files");
    assert!(first.created_at >= start && first.created_at <= SystemTime::now());
    assert_eq!((first.parent, first.tag.as_deref()), (None, Some("first")));
    let second = files.snapshot_with(&SnapshotOptions::default()).unwrap();
    assert_eq!((second.parent, second.tag), (Some(first.id), None));
    assert_ne!(second.id, first.id);
    assert_eq!(first.id.to_string().len(), 36, "a UUID");
    assert_eq!(files.snapshots().unwrap()[0], first, "it stays as it is");
}

/// `diff(base, target=None)`: "If None, compares with current state"
fn diff_with_the_current_state(files: &Workspace) {
    for name in ["kept", "changed", "gone"] {
        files.write(name, "1").unwrap();
    }
    let base = files.snapshot("base").unwrap();
    assert!(files.diff(&base, StateRef::Live).unwrap().is_empty());
    files.write("changed", "2").unwrap();
    files.delete("gone").unwrap();
    files.write("added", "1").unwrap();
    let diff = files.diff(&base, StateRef::Live).unwrap();
    assert_eq!(names(&diff.added), ["added"]);
    assert_eq!(names(&diff.modified), ["changed"]);
    assert_eq!(names(&diff.deleted), ["gone"]);
    assert_eq!(diff.unchanged_count, 1);
}

/// `current_snapshot_id`: "ID of the snapshot this filesystem was restored from, if any"
fn current_snapshot_id(files: &Workspace) {
    assert_eq!(files.current_snapshot_id().unwrap(), None);
    let first = files.snapshot("first").unwrap();
    assert_eq!(files.current_snapshot_id().unwrap(), Some(first.id));
    files.write("a", "1").unwrap();
    let second = files.snapshot("second").unwrap();
    assert_eq!(files.current_snapshot_id().unwrap(), Some(second.id));
    files.restore(&first).unwrap();
    assert_eq!(files.current_snapshot_id().unwrap(), Some(first.id));
    let third = files.snapshot("third").unwrap();
    assert_eq!(third.parent, Some(first.id), "created from another snapshot");
}

/// "Snapshot Lifecycle": continue working, restore, continue from the restored state, review changes
fn lifecycle(files: &Workspace) {
    files.write("a", "1").unwrap();
    let one = files.snapshot("one").unwrap();
    files.write("a", "2").unwrap();
    let two = files.snapshot("two").unwrap();
    files.restore(&one).unwrap();
    files.write("b", "from the restored state").unwrap();
    assert_eq!(names(&files.diff(&one, &two).unwrap().modified), ["a"]);
    assert_eq!(content(files, "b"), "from the restored state", "a look changes nothing");
    let trees = [&one, &two].map(|it| tree_hash(&*files.tree_at(it).unwrap()).unwrap());
    files.restore(&two).unwrap();
    assert_eq!(tree_hash(&*files.tree()).unwrap(), trees[1]);
    files.restore(&one).unwrap();
    assert_eq!(tree_hash(&*files.tree()).unwrap(), trees[0]);
}

/// `SnapshotNotFoundError`: "Requested snapshot does not exist"
fn snapshots_that_are_not_there(files: &Workspace) {
    files.write("a", "1").unwrap();
    let gone = files.snapshot("gone").unwrap();
    assert!(files.snapshot_store().unwrap().delete(&gone.id).unwrap());
    for error in [
        files.restore(&gone).unwrap_err(),
        files.restore("never").unwrap_err(),
        files.diff(&gone, StateRef::Live).unwrap_err(),
        files.snapshot_store().unwrap().load(&gone.id).err().unwrap(),
    ] {
        assert_eq!(error.kind(), ErrorKind::SnapshotNotFound, "{error}");
    }
    assert_eq!(content(files, "a"), "1");
}

/// `SnapshotRetentionPolicy(max_count=10, max_age_hours=None, keep_tagged=True)`, `prune(policy)`
fn retention_policy(files: &Workspace) {
    let policy = Retention::default();
    assert_eq!((policy.max_count, policy.max_age, policy.keep_tagged), (Some(10), None, true));
    let tagged = files.snapshot("kept").unwrap().id;
    let take = |number: u32| {
        files.write("a", &number.to_string()).unwrap();
        files.snapshot_with(&SnapshotOptions::default()).unwrap().id
    };
    let taken: Vec<_> = (0..12).map(take).collect();
    let left = || files.snapshots().unwrap().iter().map(|it| it.id).collect::<Vec<_>>();
    let ten: Vec<_> = [tagged].into_iter().chain(taken[2..].iter().copied()).collect();
    assert_eq!(left(), ten, "max_snapshots: int = 10");

    let prune = |policy| files.prune(&PruneOptions::default().retention(policy)).unwrap();
    assert_eq!(prune(policy.clone().max_count(3)).snapshots.len(), 7);
    assert_eq!(left(), [tagged, taken[9], taken[10], taken[11]]);
    assert_eq!(prune(policy.clone().max_age(Duration::from_secs(3600))).snapshots.len(), 0);
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(prune(policy.clone().max_age(Duration::from_millis(1))).snapshots.len(), 2);
    assert_eq!(left(), [tagged, taken[11]], "those with a tag stay, and the newest");
    assert_eq!(prune(policy.max_count(1).keep_tagged(false)).snapshots.len(), 1);
    assert_eq!(left(), [taken[11]]);
    files.restore(&files.snapshots().unwrap()[0]).unwrap();
    assert_eq!(content(files, "a"), "11");
}

/// `SnapshotStrategy`: "Snapshot implementation strategies ordered by preference", `HostFilesystemConfig`
#[test]
fn strategy_hierarchy() {
    let names = ["reflink", "git", "overlay", "archive", "copy"];
    for name in names {
        assert_eq!(name.parse::<Strategy>().unwrap().name(), name);
    }
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(StrategyOptions::new(directory.path()).max_snapshots, 10);
    let auto = StrategyOptions::new(directory.path().join("auto")).strategy(Strategy::Auto);
    let chosen = auto.create_ambient(directory.path()).unwrap().strategy();
    assert!(names.contains(&chosen), "auto-detected: {chosen}");
}

/// `HostFilesystemSnapshot(snapshot_id, created_at, strategy=SnapshotStrategy.GIT, reference=commit_hash)`
#[test]
fn git_reference_is_a_commit() {
    let scene = Scene::host(Strategy::Git);
    let snapshot = scene.files.snapshot("tagged").unwrap();
    assert_eq!(snapshot.strategy, "git");
    assert_eq!(snapshot.reference.len(), 40);
    assert!(snapshot.reference.bytes().all(|it| it.is_ascii_hexdigit()));
}

/// "COW in action": `fs.write("large_file.txt", "x" * 1_000_000)`
#[test]
fn cow_in_action() {
    let files = Workspace::memory();
    let large = "x".repeat(1_000_000);
    files.write("large_file.txt", &large).unwrap();
    let snap1 = files.snapshot_with(&SnapshotOptions::default()).unwrap();
    files.write("small_file.txt", "hello").unwrap();
    let snap2 = files.snapshot_with(&SnapshotOptions::default()).unwrap();
    let path = files.path("large_file.txt").unwrap();
    let place = |tree: std::sync::Arc<dyn wink_fs::Tree>| {
        tree.open(&path).unwrap().shared().unwrap().as_ptr() as usize
    };
    let [first, second] = [&snap1, &snap2].map(|it| place(files.tree_at(it).unwrap()));
    assert_eq!((first, second), (second, place(files.tree())), "all share the content");

    files.write("large_file.txt", &"y".repeat(1_000_000)).unwrap();
    assert_ne!(place(files.tree()), first, "a new one for the file that changed");
    for snapshot in [&snap1, &snap2] {
        let tree = files.tree_at(snapshot).unwrap();
        assert_eq!(tree.open(&path).unwrap().read_all().unwrap(), large.as_bytes());
    }
}

/// `SnapshotStore`: `save`, `load`, `list`, `delete`
#[test]
fn snapshot_store_protocol() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create_ambient(directory.path().join("store")).unwrap();
    let files = Workspace::memory();
    files.write("a.txt", "hello").unwrap();
    let saved = store.save(&*files.tree(), &NewSnapshot::new(SystemTime::now())).unwrap();
    let loaded = store.load(&saved.id).unwrap();
    assert_eq!(tree_hash(&*loaded).unwrap(), tree_hash(&*files.tree()).unwrap());
    assert_eq!(store.list().unwrap(), std::slice::from_ref(&saved));
    assert!(store.delete(&saved.id).unwrap());
    assert_eq!(store.load(&saved.id).err().unwrap().kind(), ErrorKind::SnapshotNotFound);
}

/// `SnapshotIncompatibleError`: "Snapshot is incompatible with the target filesystem"
#[test]
fn incompatible_snapshots() {
    let directory = tempfile::tempdir().unwrap();
    let options = StrategyOptions::new(directory.path().join("snapshots"));
    options.clone().strategy(Strategy::Copy).create_ambient(directory.path()).unwrap();
    let error = options.strategy(Strategy::Git).open_ambient().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::SnapshotIncompatible);
}

fn workspaces() -> [Workspace; 2] {
    [Workspace::memory(), Workspace::builder(HostBackend::temporary().unwrap()).build()]
}

/// `test_filesystem_snapshot`
#[test]
fn filesystem_snapshot() {
    for files in workspaces() {
        let directory = tempfile::tempdir().unwrap();
        let snapshots = NamedSnapshots::open_ambient(files.clone(), directory.path()).unwrap();
        files.write("file.txt", "v1").unwrap();
        snapshots.snapshot("s1").unwrap();
        files.write("file.txt", "v2").unwrap();
        snapshots.snapshot("s2").unwrap();
        files.write("file.txt", "v3").unwrap();

        assert_eq!(snapshots.rollback("s1").unwrap(), 1);
        assert_eq!(content(&files, "file.txt"), "v1");
        assert_eq!(snapshots.rollback("s2").unwrap(), 1);
        assert_eq!(content(&files, "file.txt"), "v2");
        let error = snapshots.rollback("s3").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SnapshotNotFound, "`KeyError`");
    }
}

/// `SnapshotInfo(snapshot_id, archive_path, file_count, total_bytes, created_at)`, `get`, `list_snapshots`, `delete`
#[test]
fn snapshot_info() {
    for files in workspaces() {
        let directory = tempfile::tempdir().unwrap();
        let snapshots = NamedSnapshots::open_ambient(files.clone(), directory.path()).unwrap();
        files.write("a.txt", "12345").unwrap();
        let info = snapshots.snapshot("turn-5").unwrap();
        assert_eq!(info.snapshot_id, "turn-5");
        let place: PathBuf = directory.path().join("turn-5.fs.zip");
        assert!(info.archive_path == place && place.is_file());
        assert_eq!((info.file_count, info.total_bytes), (1, 5), "the sum of the files");
        assert_eq!(snapshots.get("turn-5"), Some(info.clone()));
        assert_eq!(snapshots.list().unwrap(), [info]);
        assert!(snapshots.delete("turn-5").unwrap() && !place.exists());
        assert!(!snapshots.delete("turn-5").unwrap());
        assert!(snapshots.list().unwrap().is_empty() && snapshots.get("turn-5").is_none());
    }
}

//! Several at work in one workspace.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use wink_fs::{
    Call, ErrorKind, HostBackend, Layer, Layered, OperationRecord, Result, SnapshotOptions, Store,
    Tree, TreePath, VerifyOptions, Workspace,
};

use crate::history::scene::Scene;

/// Handles to one workspace, as two processes have them, take turns and lose nothing.
#[test]
fn fault_25_two_handles_on_one_workspace_lose_nothing() {
    let scene = Scene::host();
    let handles = [scene.open_again(), scene.open_again()];
    std::thread::scope(|scope| {
        for (number, files) in handles.iter().enumerate() {
            scope.spawn(move || {
                for round in 0..40 {
                    files.write(&format!("{number}/{round}"), "x").unwrap();
                    if round % 10 == 0 {
                        files.snapshot_with(&SnapshotOptions::default()).unwrap();
                    }
                }
            });
        }
    });
    let last = scene.files.snapshot("last").unwrap();
    assert_eq!(last.file_count, 80);
    assert_eq!(scene.files.snapshots().unwrap().len(), 9);
    let sequences: Vec<_> =
        scene.files.operations().unwrap().iter().map(|it| it.sequence).collect();
    assert_eq!(sequences, (1..=80).collect::<Vec<_>>());
}

#[test]
fn fault_25_a_wait_that_is_too_long_names_who_is_at_work() {
    let scene = Scene::host();
    let other = scene.open_again();
    let waited = scene.files.as_owner("slow", |_| Ok(other.write("a", "").unwrap_err())).unwrap();
    assert_eq!(waited.kind(), ErrorKind::Locked);
    let pid = format!("process {}", std::process::id());
    assert!(waited.to_string().contains(&pid), "{waited}");
    other.write("a", "").unwrap();
}

/// Two who restore and one who writes: it is as if one had come after the other.
#[test]
fn fault_26_restores_and_writes_at_once_have_a_serial_outcome() {
    let scene = Scene::host();
    let files = &scene.files;
    for name in ["A", "B"] {
        (0..10).for_each(|file| drop(files.write(&format!("f{file}"), name).unwrap()));
        files.snapshot(name).unwrap();
    }
    let first = files.operations().unwrap().len();
    let handles = [scene.open_again(), scene.open_again(), scene.open_again()];
    let removed = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for (files, name) in handles.iter().zip(["A", "B"]) {
            let removed = &removed;
            scope.spawn(move || {
                let changes = (0..10).flat_map(|_| files.restore(name).unwrap().changes);
                let gone = changes.filter(|it| it.after.is_none()).map(|it| it.path.to_string());
                removed.lock().unwrap().extend(gone.collect::<Vec<_>>());
            });
        }
        scope.spawn(|| {
            for round in 0..30 {
                handles[2].write(&format!("written-{round}"), "by another process").unwrap();
            }
        });
    });
    let contents: BTreeSet<String> =
        (0..10).map(|file| files.read(&format!("f{file}")).unwrap().content).collect();
    assert_eq!(contents.len(), 1, "one restore was the last: {contents:?}");
    check_in_turn(files, &files.operations().unwrap()[first..], &removed.into_inner().unwrap());
    let verified = files.snapshot_store().unwrap().verify(&VerifyOptions::default()).unwrap();
    assert_eq!(verified.problems, []);
}

/// Checks that what was written after the last restore is there, and what came before was reported.
fn check_in_turn(files: &Workspace, done: &[OperationRecord], removed: &BTreeSet<String>) {
    let last = done.iter().rposition(|it| it.name == "restore").unwrap();
    let written = done.iter().enumerate().filter(|(_, it)| it.name == "write");
    let written: Vec<_> = written.map(|(at, it)| (at, it.changes[0].path.to_string())).collect();
    assert_eq!(written.len(), 30, "every write is an operation");
    for (at, path) in written {
        assert_eq!(files.exists(&path), at > last, "{path}");
        assert!(files.exists(&path) || removed.contains(&path), "{path} is lost and not reported");
    }
}

/// Fifty files are rewritten in order, over and over, past wink: at any one moment the first ones are at
/// most a generation ahead of the rest.
#[test]
fn fault_27_a_snapshot_while_another_program_writes_is_of_one_moment_or_refused() {
    let scene = Scene::host();
    let write = |generation: u64| {
        for number in 0..50 {
            let path = scene.path(&format!("root/{number:02}"));
            let mut file =
                fs::OpenOptions::new().write(true).create(true).truncate(false).open(path).unwrap();
            file.write_all(&generation.to_le_bytes()).unwrap();
        }
    };
    write(0);
    let done = AtomicBool::new(false);
    let taken: Vec<_> = std::thread::scope(|scope| {
        scope.spawn(|| (1..).take_while(|_| !done.load(Ordering::Relaxed)).for_each(write));
        let taken =
            (0..20).map(|_| scene.files.snapshot_with(&SnapshotOptions::default())).collect();
        done.store(true, Ordering::Relaxed);
        taken
    });
    for taken in taken {
        match taken {
            Ok(snapshot) => check_one_moment(&*scene.files.tree_at(&snapshot).unwrap()),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
        }
    }
    scene.files.snapshot("quiet").unwrap();
    let verified = scene.files.snapshot_store().unwrap().verify(&VerifyOptions::default());
    assert_eq!(verified.unwrap().problems, []);
}

fn check_one_moment(tree: &dyn Tree) {
    let generation = |number: u64| {
        let content = tree.open(&TreePath::parse(&format!("{number:02}")).unwrap()).unwrap();
        u64::from_le_bytes(content.read_all().unwrap()[..].try_into().unwrap())
    };
    let generations: Vec<u64> = (0..50).map(generation).collect();
    let of_one_moment = generations.is_sorted_by(|a, b| a >= b);
    assert!(of_one_moment && generations[0] - generations[49] <= 1, "{generations:?}");
}

/// Another program that writes a file just before something is removed.
struct Meanwhile(std::path::PathBuf);

impl Layer for Meanwhile {
    fn before(&self, _: &dyn Tree, call: &Call<'_>) -> Result<()> {
        if let Call::Remove { .. } = call {
            fs::write(&self.0, "theirs").unwrap();
        }
        Ok(())
    }
}

/// Once, what an undo had prepared that met such a write was taken for a call that was cut off, and the next undo
/// took back what the other program had written.
#[test]
fn an_undo_that_meets_what_another_program_writes_leaves_that_and_names_it() {
    let scene = Scene::host();
    let (root, store) = (scene.path("root"), Store::open_ambient(scene.path("store")).unwrap());
    let backend = HostBackend::open_ambient(&root).unwrap();
    let backend = Layered::new(backend, Meanwhile(root.join("made/new")));
    let files = Workspace::builder(backend).store(store).build();
    files.write("made/one", "ours").unwrap();
    let undone = files.undo().unwrap();
    assert_eq!(undone.paths, [files.path("made/one").unwrap()]);
    assert_eq!(undone.conflicts, [files.path("made/new").unwrap()]);
    let again = scene.open_again();
    assert_eq!(again.operations().unwrap().len(), 2);
    assert_eq!(fs::read_to_string(root.join("made/new")).unwrap(), "theirs");
    assert!(!root.join("made/one").exists());
    assert_eq!(again.undo().unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(fs::read_to_string(root.join("made/new")).unwrap(), "theirs");
}

//! Snapshots of the files and of the container.

use std::path::Path;

use wink_agent::exec::Executor as _;
use wink_fs::{MemoryBackend, Snapshot, Strategy, StrategyOptions, Workspace, tree_hash};

use crate::common::{Scene, podman, stdout};

fn hash(files: &Workspace) -> wink_fs::TreeHash {
    tree_hash(&*files.tree()).unwrap()
}

/// Lets a program make files of all kinds that a snapshot keeps.
fn fill(scene: &Scene) {
    scene.run(
        "mkdir -p src/empty .git; echo a > src/a; printf 'x\\r\\n' > src/crlf; printf '\\377' > bytes; \
         echo '#!/bin/sh' > run; chmod 755 run; ln -s ../nowhere src/link; touch .git/config; chmod 700 src/empty; \
         touch \"$(printf 'bad\\377name')\"; head -c 3000000 /dev/urandom > large",
    );
}

#[test]
#[ignore = "needs Podman"]
fn files_go_from_a_container_to_memory_to_a_directory_and_back_unchanged() {
    let scene = Scene::new();
    fill(&scene);
    let in_container = hash(&scene.files);
    let archive = |name: &str| scene.place.join(name);
    let memory = Workspace::builder(MemoryBackend::new()).build();
    scene.files.export_archive(archive("1.zip")).unwrap();
    memory.import_archive(archive("1.zip")).unwrap();
    assert_eq!(hash(&memory), in_container);
    let directory = scene.place.join("host");
    std::fs::create_dir(&directory).unwrap();
    let host = Workspace::host(&directory).unwrap();
    memory.export_archive(archive("2.zip")).unwrap();
    host.import_archive(archive("2.zip")).unwrap();
    assert_eq!(hash(&host), in_container);
    scene.run("rm -rf ..?* .[!.]* *");
    host.export_archive(archive("3.zip")).unwrap();
    scene.files.import_archive(archive("3.zip")).unwrap();
    assert_eq!(hash(&scene.files), in_container);
    assert_eq!(stdout(&scene.run("./run && cat src/a; echo b >> src/a")), "a");
}

/// Keeps snapshots by a strategy, and returns what a restore made of the files.
fn by(strategy: Strategy, scene: &Scene, place: &Path) -> Snapshot {
    let snapshots = StrategyOptions::new(place).strategy(strategy).create_ambient(&scene.root);
    let options = wink_podman::host_options(&scene.root);
    let backend = wink_fs::HostBackend::open_ambient_with(&scene.root, &options).unwrap();
    let files = Workspace::builder(backend).snapshots(snapshots.unwrap()).build();
    let before = hash(&files);
    let taken = files.snapshot("kept").unwrap();
    scene.run("rm -rf ..?* .[!.]* *; echo other > other");
    files.restore(&taken).unwrap();
    assert_eq!(hash(&files), before, "{strategy}");
    taken
}

#[test]
#[ignore = "needs Podman"]
fn every_strategy_keeps_the_files_of_a_container() {
    let scene = Scene::new();
    fill(&scene);
    for strategy in [Strategy::Store, Strategy::Copy, Strategy::Archive] {
        let taken = by(strategy, &scene, &scene.place.join(format!("by-{strategy}")));
        assert_eq!(taken.backend, "podman");
        assert_eq!(stdout(&scene.run("cat src/a; echo more >> src/a; echo a > src/a")), "a");
    }
}

#[test]
#[ignore = "needs Podman"]
fn a_container_is_kept_as_an_image_listed_started_from_and_pruned() {
    let scene = Scene::new();
    scene.files.write("a.txt", "first").unwrap();
    scene.run("true");
    let taken = scene.files.snapshot("first").unwrap();
    let image = scene.executor.commit(&taken.id).unwrap();
    assert_eq!(image, format!("localhost/wink-snapshot-{}", taken.id));
    assert!(scene.executor.commits().unwrap().contains(&taken.id));
    scene.files.write("a.txt", "second").unwrap();
    let name = scene.executor.container_name();
    scene.files.restore(&taken).unwrap();
    scene.executor.use_commit(&taken.id).unwrap();
    assert_eq!(stdout(&scene.run("cat a.txt")), "first");
    assert_ne!(scene.executor.container_name(), name);
    let used = podman(
        &scene.podman,
        &["inspect", "--format={{.ImageName}}", &scene.executor.container_name().unwrap()],
    );
    assert!(used.contains(&image), "{used}");
    scene.executor.stop();
    // Other tests may keep images at the same time.
    let gone = scene.executor.prune_commits(|id| *id != taken.id).unwrap();
    assert_eq!(gone, 1);
    assert!(!scene.executor.commits().unwrap().contains(&taken.id));
    assert!(scene.executor.use_commit(&taken.id).is_err());
}

#[test]
#[ignore = "needs Podman"]
fn a_checkpoint_is_refused_with_the_reason_of_podman() {
    let scene = Scene::new();
    scene.run("true");
    let refused = scene.executor.checkpoint().unwrap_err();
    assert_eq!(refused.kind(), wink_fs::ErrorKind::Unsupported);
    assert!(refused.to_string().contains("cannot be checkpointed: "), "{refused}");
    assert_eq!(stdout(&scene.run("echo works")), "works");
}

#[test]
#[ignore = "needs Podman"]
fn a_snapshot_waits_for_the_command_that_runs() {
    let scene = Scene::new();
    scene.run("true");
    std::thread::scope(|scope| {
        scope.spawn(|| scene.run("touch begun; sleep 1; echo complete > file"));
        while !scene.files.exists("begun") {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let taken = scene.files.snapshot("after").unwrap();
        let tree = scene.files.tree_at(&taken).unwrap();
        assert!(tree.stat(&wink_fs::TreePath::parse("file").unwrap()).is_ok());
    });
}

//! Repositories, hooks and filters in a workspace are data: nothing of it runs, nothing of it changes.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use wink_fs::{Strategy, tree_hash};

use crate::strategies::scene::{Scene, all_files, by_every_strategy, read_everything};

by_every_strategy! {
    #[ignore = "needs strace"]
    a1_17_no_program_of_a_hostile_repository_runs_and_every_byte_is_captured,
}

crate::common::on_both::on_both! {
    #[ignore = "needs root"]
    a1_17_a_hostile_repository_is_kept_as_data_by_every_strategy,
}

fn a1_17_a_hostile_repository_is_kept_as_data_by_every_strategy(mut files: impl wink_fs::Backend) {
    for name in [".git/config", ".git/hooks/pre-commit", ".gitattributes", "sub/.git"] {
        crate::common::trees::put(&mut files, name.as_bytes(), PROGRAM);
    }
    for strategy in
        [Strategy::Store, Strategy::Copy, Strategy::Archive, Strategy::Git, Strategy::Overlay]
    {
        let scene = Scene::new(strategy);
        let capture = files.capture(&Default::default()).unwrap();
        let saved = scene.store.save(&*capture.tree, &crate::strategies::scene::new()).unwrap();
        let loaded = scene.store.load(&saved.id).unwrap();
        assert_eq!(read_everything(&*loaded).unwrap(), read_everything(&files).unwrap());
        assert_eq!(tree_hash(&*loaded).unwrap(), tree_hash(&files).unwrap());
    }
}

const PROGRAM: &str = "#!/bin/sh\ntouch \"$(dirname \"$0\")/../../ran\" ; cat\n";

/// Everything by which a repository lets programs run, or changes bytes on their way in.
fn plant_hostile(root: &Path) {
    crate::common::disk::run("git", ["init".as_ref(), "-q".as_ref(), root.as_os_str()]);
    let program = root.join(".git/evil");
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {0}\n\thooksPath = {1}\n\tworktree = /\n\
         \tsshCommand = {0}\n\tautocrlf = true\n\tpager = {0}\n\
         [filter \"evil\"]\n\tclean = {0}\n\tsmudge = {0}\n\tprocess = {0}\n\trequired = true\n\
         [alias]\n\tadd = !{0}\n\tcommit = !{0}\n[include]\n\tpath = /etc/passwd\n",
        program.display(),
        root.join(".git/hooks").display(),
    );
    std::fs::write(root.join(".git/config"), config).unwrap();
    std::fs::create_dir_all(root.join(".git/hooks")).unwrap();
    for name in ["pre-commit", "post-commit", "fsmonitor-watchman", "reference-transaction"] {
        write_program(&root.join(".git/hooks").join(name));
    }
    write_program(&program);
    std::fs::write(root.join(".gitattributes"), "* filter=evil ident text eol=crlf\n").unwrap();
    std::fs::write(root.join(".gitignore"), "*\n").unwrap();
    std::fs::write(root.join("crlf.txt"), "one\r\ntwo\n$Id$\n").unwrap();
    std::fs::create_dir_all(root.join("nested/.git")).unwrap();
    std::fs::write(root.join("nested/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(root.join("nested/uncommitted"), "kept\n").unwrap();
    std::fs::create_dir(root.join("file")).unwrap();
    std::fs::write(root.join("file/.git"), "gitdir: /etc\n").unwrap();
}

fn write_program(path: &Path) {
    std::fs::write(path, PROGRAM).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Every file with its bytes and the time of its last change.
fn look(root: &Path) -> BTreeMap<PathBuf, (Vec<u8>, i64, i64)> {
    let look = |path: PathBuf| {
        let (bytes, found) = (std::fs::read(&path).unwrap(), path.metadata().unwrap());
        (path, (bytes, found.ctime(), found.ctime_nsec()))
    };
    all_files(root).into_iter().map(look).collect()
}

/// Runs the child under `strace`; returns every program that was started.
fn programs_started(scene: &Scene, what: &str) -> Vec<String> {
    let trace = scene.home().join("trace");
    let done = Command::new("strace")
        .args(["-f", "-qq", "-e", "trace=execve,execveat", "-o"])
        .arg(&trace)
        .arg(env!("CARGO_BIN_EXE_crash_child"))
        .arg(format!("strategy-{what}"))
        .arg(scene.home())
        .status();
    assert!(done.expect("strace is needed").success(), "{what}");
    let text = std::fs::read_to_string(trace).unwrap();
    text.lines().filter(|line| line.contains("execve")).map(str::to_owned).collect()
}

fn a1_17_no_program_of_a_hostile_repository_runs_and_every_byte_is_captured(strategy: Strategy) {
    let scene = Scene::new(strategy);
    plant_hostile(&scene.root());
    let before = look(&scene.root());
    let started = programs_started(&scene, "snapshot");
    assert_eq!(started.len(), 1, "only the child itself: {started:?}");
    assert_eq!(look(&scene.root()), before, "nothing changed");

    let store = scene.reopened();
    let taken = store.list().unwrap().pop().unwrap();
    let loaded = store.load(&taken.id).unwrap();
    assert_eq!(tree_hash(&*loaded).unwrap(), tree_hash(&scene.files).unwrap());
    let contents = read_everything(&scene.files).unwrap();
    assert_eq!(read_everything(&*loaded).unwrap(), contents);

    std::fs::remove_dir_all(scene.root().join("nested")).unwrap();
    std::fs::write(scene.root().join("crlf.txt"), "changed").unwrap();
    let started = programs_started(&scene, "restore");
    assert_eq!(started.len(), 1, "only the child itself: {started:?}");
    assert_eq!(read_everything(&scene.files).unwrap(), contents);
    assert!(!scene.root().join("ran").exists() && !scene.home().join("ran").exists());
}

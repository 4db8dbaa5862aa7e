//! `wink fork` is killed: the next one finishes what it left, or clears it, and touches nothing else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::cli::faults::run_by;
use crate::cli::scene::{Scene, stderr, stdout};

const FORK: [&str; 3] = ["fork", "attempt", "-q"];

/// A workspace whose fork is beside it.
fn scene() -> Scene {
    let scene = Scene::new();
    for name in ["a", "b", "c/d", "c/e/f"] {
        scene.write(name, format!("{name}\n"));
    }
    std::fs::create_dir(scene.project("empty")).unwrap();
    std::os::unix::fs::symlink("a", scene.project("link")).unwrap();
    scene
}

/// Kills the command when it makes a system call for the n-th time; returns whether it came to that.
fn killed_at(scene: &Scene, call: &str, nth: usize) -> bool {
    let trace = format!("trace={call}");
    let inject = format!("inject={call}:signal=KILL:when={nth}");
    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
    let output = run_by(scene, &strace, &FORK);
    assert!(output.status.success() || output.status.code().is_none(), "{}", stderr(&output));
    !output.status.success()
}

/// Returns all that is in a directory, with the content of files and the targets of links.
fn content(directory: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut all = BTreeMap::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(next) = directories.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let content = if path.is_symlink() {
                Some(std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
            } else if path.is_dir() {
                directories.push(path.clone());
                None
            } else {
                Some(std::fs::read(&path).unwrap())
            };
            all.insert(path.strip_prefix(directory).unwrap().to_owned(), content);
        }
    }
    all
}

/// Kills the command at every call of a name, or in the ordinary run at one of `step`; fails unless the same
/// command then succeeds, and the fork is complete and can be used. Tells how often it was killed.
fn check_killed_at(call: &str, step: usize) -> usize {
    check_killed_after(call, step, |_| ())
}

/// The same, where something happens before it is killed.
fn check_killed_after(call: &str, step: usize, before: impl Fn(&Scene)) -> usize {
    let scene = scene();
    before(&scene);
    let step = if std::env::var_os("WINK_LONG_TESTS").is_some() { 1 } else { step };
    let fork = scene.path("project-attempt");
    let notes = scene.history().join("making");
    let mut nth = 1;
    while killed_at(&scene, call, nth) {
        let at = format!("{call} {nth}");
        let output = scene.run(&FORK);
        assert!(output.status.success(), "{at}: {}", stderr(&output));
        assert!(stdout(&output).contains("as attempt: 5 files"), "{at}: {}", stdout(&output));
        assert_eq!(content(&fork), content(&scene.path("project")), "{at}");
        assert_eq!(content(&notes), BTreeMap::new(), "{at}");
        assert!(!scene.path(".wink-staging").exists(), "{at}");

        std::fs::write(fork.join("c/d"), &at).unwrap();
        let status = scene.wink_in(&fork, &["status"]).output().unwrap();
        assert!(stdout(&status).contains("(+0 ~1 -0)"), "{at}: {}", stdout(&status));
        scene.ok(&["merge", "attempt", "-q"]);
        assert_eq!(scene.read("c/d"), at);
        scene.ok(&["fork", "delete", "attempt", "--yes", "-q"]);
        std::fs::remove_dir_all(&fork).unwrap();
        before(&scene);
        nth += step;
    }
    nth / step
}

#[test]
#[ignore = "needs strace"]
fn a_fork_that_is_killed_at_mkdir_is_made_by_the_same_command() {
    assert!(check_killed_at("mkdir", 1) > 3);
}

#[test]
#[ignore = "needs strace"]
fn a_fork_that_is_killed_at_mkdirat_is_made_by_the_same_command() {
    assert!(check_killed_at("mkdirat", 1) > 3);
}

#[test]
#[ignore = "needs strace"]
fn a_fork_that_is_killed_at_renameat2_is_made_by_the_same_command() {
    assert!(check_killed_at("renameat2", 1) > 5);
}

#[test]
#[ignore = "needs strace"]
fn a_fork_that_is_killed_at_rename_is_made_by_the_same_command() {
    assert!(check_killed_at("rename", 1) > 3);
}

#[test]
#[ignore = "needs strace"]
fn a_fork_that_is_killed_at_link_or_unlink_is_made_by_the_same_command() {
    assert!(check_killed_at("linkat", 1) > 0);
    assert!(check_killed_at("unlink", 1) > 1);
}

#[test]
#[ignore = "needs strace"]
fn a_fork_that_is_killed_at_unlinkat_is_made_by_the_same_command() {
    assert!(check_killed_at("unlinkat", 2) > 3);
}

#[test]
#[ignore = "needs strace"]
fn a_fork_that_is_killed_at_fsync_is_made_by_the_same_command() {
    assert!(check_killed_at("fsync", 3) > 3);
}

#[test]
#[ignore = "needs strace"]
fn a_fork_that_is_killed_at_openat_is_made_by_the_same_command() {
    assert!(check_killed_at("openat", 16) > 5);
}

/// Leaves some files of the fork.
fn kill_between_files(scene: &Scene) {
    assert!(killed_at(scene, "renameat2", 4));
}

#[test]
#[ignore = "needs strace"]
fn a_fork_that_is_killed_again_while_it_removes_files_is_made_by_the_same_command() {
    assert!(check_killed_after("unlinkat", 4, kill_between_files) > 3);
}

#[test]
#[ignore = "needs strace"]
fn a_fork_that_is_killed_again_while_it_finishes_a_change_is_made_by_the_same_command() {
    assert!(check_killed_after("renameat2", 3, kill_between_files) > 2);
}

/// Fails unless all that was in a directory is there and unchanged; files of the fork may have come since,
/// which opening a directory brings whose change was interrupted.
fn check_all_there(fork: &Path, before: &BTreeMap<PathBuf, Option<Vec<u8>>>) {
    let after = content(fork);
    for (path, content) in before {
        assert_eq!(after.get(path), Some(content), "{}", path.display());
    }
}

/// Leaves a directory with some files of the fork, and not all.
fn half_made() -> (Scene, PathBuf) {
    let whole = scene();
    whole.ok(&FORK);
    let all = content(&whole.path("project-attempt")).len();
    for nth in 1.. {
        let scene = scene();
        assert!(killed_at(&scene, "renameat2", nth), "it never leaves some files");
        let fork = scene.path("project-attempt");
        let left = if fork.exists() { content(&fork).len() } else { 0 };
        if left > 1 && left < all {
            return (scene, fork);
        }
    }
    unreachable!("it ends some time")
}

/// Checks that a user's file stays and is named, and that it is all that is in the way.
fn check_file_of_user(own: impl Fn(&Path) -> PathBuf) {
    let (scene, fork) = half_made();
    let path = own(&fork);
    let named = path.strip_prefix(&fork).unwrap().display().to_string();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "of a user").unwrap();
    let before = content(&fork);
    for args in [&FORK[..], &["fork", "attempt", "@", "--json"]] {
        let (code, said) = scene.fails(args);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains("was left by an interrupted `wink fork`"), "{said}");
        assert!(said.contains(&format!("`{named}`")), "{said}");
        check_all_there(&fork, &before);
    }
    std::fs::remove_file(&path).unwrap();
    scene.ok(&FORK);
    assert_eq!(content(&fork), content(&scene.path("project")));
}

#[test]
#[ignore = "needs strace"]
fn a_users_file_in_a_half_made_fork_stays_and_is_named() {
    check_file_of_user(|fork| fork.join("own.txt"));
}

#[test]
#[ignore = "needs strace"]
fn a_users_file_below_a_directory_of_a_half_made_fork_stays_and_is_named() {
    check_file_of_user(|fork| fork.join("c/own.txt"));
}

#[test]
#[ignore = "needs strace"]
fn a_users_file_in_the_place_of_one_that_a_half_made_fork_lacks_stays_and_is_named() {
    check_file_of_user(|fork| {
        let missing = ["a", "b", "c/d", "c/e/f"].map(|name| fork.join(name));
        missing.into_iter().find(|path| !path.exists()).unwrap()
    });
}

#[test]
#[ignore = "needs strace"]
fn a_file_of_a_half_made_fork_that_a_user_changed_stays_and_is_named() {
    check_file_of_user(|fork| {
        let files = content(fork).into_iter().filter(|(_, content)| content.is_some());
        fork.join(files.map(|(path, _)| path).next().unwrap())
    });
}

#[test]
#[ignore = "needs strace"]
fn an_empty_directory_of_a_user_in_a_half_made_fork_stays_and_is_named() {
    let (scene, fork) = half_made();
    std::fs::create_dir(fork.join("own")).unwrap();
    let before = content(&fork);
    let (_, said) = scene.fails(&FORK);
    assert!(said.contains("`own`"), "{said}");
    check_all_there(&fork, &before);
    std::fs::remove_dir(fork.join("own")).unwrap();
    scene.ok(&FORK);
}

#[test]
#[ignore = "needs strace"]
fn another_fork_clears_what_a_killed_one_left() {
    let (scene, fork) = half_made();
    let notes = scene.history().join("making");
    scene.ok(&["fork", "other", "-q"]);
    assert!(!fork.exists(), "it was made for the fork");
    assert_eq!(content(&notes), BTreeMap::new());
    assert_eq!(content(&scene.path("project-other")), content(&scene.path("project")));
    scene.ok(&FORK);
}

#[test]
#[ignore = "needs strace"]
fn another_fork_leaves_files_of_a_user_in_a_half_made_one() {
    let (scene, fork) = half_made();
    std::fs::write(fork.join("own.txt"), "mine").unwrap();
    let all = content(&fork);
    scene.ok(&["fork", "other", "-q"]);
    check_all_there(&fork, &all);
    let (_, said) = scene.fails(&FORK);
    assert!(said.contains("`own.txt`"), "{said}");
}

/// The files come from a snapshot that is taken first, and the project changes on.
#[test]
#[ignore = "needs strace"]
fn a_half_made_fork_is_cleared_although_the_project_has_changed_since() {
    let (scene, fork) = half_made();
    scene.write("a", "changed\n");
    scene.write("new", "new\n");
    std::fs::remove_file(scene.project("b")).unwrap();
    scene.ok(&FORK);
    assert_eq!(content(&fork), content(&scene.path("project")));
}

/// Earlier versions wrote down that a directory becomes a fork, and not from which snapshot.
#[test]
#[ignore = "needs strace"]
fn a_half_made_fork_whose_snapshot_is_not_known_is_named_and_left() {
    let (scene, fork) = half_made();
    let notes = scene.history().join("making");
    for note in content(&notes).keys() {
        std::fs::write(notes.join(note), "").unwrap();
    }
    let all = content(&fork);
    let (code, said) = scene.fails(&FORK);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("was left by an interrupted `wink fork`"), "{said}");
    assert!(said.contains(&format!("rm -r {}", fork.display())), "{said}");
    check_all_there(&fork, &all);
    std::fs::remove_dir_all(&fork).unwrap();
    scene.ok(&FORK);
}

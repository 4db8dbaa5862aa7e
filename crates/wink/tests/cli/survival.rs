//! What comes back.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::cli::faults::run_by;
use crate::cli::repair::damage;
use crate::cli::scene::{Scene, mode_of, stderr, stdout};

#[test]
fn everything_that_is_captured_comes_back() {
    let scene = Scene::new();
    let odd = [&b"line\nbreak"[..], b"caf\xe9", b"\"quoted\\", b" "].map(OsStr::from_bytes);
    for name in odd {
        std::fs::write(scene.path("project").join(name), name.as_bytes()).unwrap();
    }
    scene.write(".gitignore", "ignored.log\n");
    scene.write("ignored.log", "precious\n");
    scene.write("script", "#!/bin/sh\n");
    let mode = |bits| std::fs::Permissions::from_mode(bits);
    std::fs::set_permissions(scene.project("script"), mode(0o755)).unwrap();
    scene.write("secret", "s");
    std::fs::set_permissions(scene.project("secret"), mode(0o600)).unwrap();
    symlink("/nowhere/at all", scene.project("dangling")).unwrap();
    std::fs::create_dir_all(scene.project("empty/inside")).unwrap();
    scene.ok(&["snapshot", "--tag", "one"]);

    std::fs::remove_dir_all(scene.path("project")).unwrap();
    std::fs::create_dir(scene.path("project")).unwrap();
    scene.write("made since", "");
    scene.ok(&["restore", "one"]);

    for name in odd {
        let content = std::fs::read(scene.path("project").join(name)).unwrap();
        assert_eq!(content, name.as_bytes());
    }
    assert_eq!(scene.read("ignored.log"), "precious\n");
    assert_eq!(mode_of(&scene.project("script")) & 0o100, 0o100);
    assert_eq!(mode_of(&scene.project("secret")), 0o600);
    assert!(scene.project("empty/inside").is_dir());
    let target = std::fs::read_link(scene.project("dangling")).unwrap();
    assert_eq!(target, OsStr::new("/nowhere/at all"));
    assert!(!scene.project("made since").exists());
    assert_eq!(scene.ok(&["diff", "--name-status"]), "");
    scene.ok(&["undo"]);
    assert!(scene.project("made since").exists());
}

/// Once, the next process rolled the call back with what the user had written there since, and said nothing.
#[test]
#[ignore = "needs strace"]
fn what_was_written_since_a_call_was_cut_off_stays_and_is_named() {
    let scene = Scene::new();
    for name in ["a", "b", "c", "d", "e"] {
        scene.write(name, "old\n");
    }
    let hunk = |name: &str| format!("--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-old\n+new\n");
    let patch = ["a", "b", "c", "d", "e"].map(hunk).concat();
    // Beside the one by which a file is put, there is one for the files kept of it.
    let inject = "inject=renameat2:signal=KILL:when=4";
    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2", "-e", inject];
    let cut_off = run_by(&scene, &strace, &["tool", "apply_patch", &format!("patch={patch}")]);
    assert!(!cut_off.status.success());
    let changed: Vec<&str> =
        ["a", "b", "c", "d", "e"].into_iter().filter(|it| scene.read(it) == "new\n").collect();
    assert!((2..5).contains(&changed.len()), "{changed:?}");
    scene.write("a", "by hand\n");
    let next = scene.run(&["status"]);
    let taken_back = changed[1..].join(", ");
    let said = stderr(&next);
    assert!(said.contains(&format!("were rolled back: {taken_back}\n")), "{said}");
    assert!(said.contains("so they are left alone: a; `wink op log`"), "{said}");
    assert_eq!((&*scene.read("a"), &*scene.read("b")), ("by hand\n", "old\n"));
    // Once, the next undo replaced what was written by hand.
    assert_eq!(scene.run(&["undo"]).status.code(), Some(13));
    assert_eq!(scene.read("a"), "by hand\n");
}

#[test]
fn a_change_from_outside_does_not_keep_older_operations_from_being_undone() {
    let scene = Scene::new();
    scene.write("a", "a");
    scene.write("b", "b");
    scene.ok(&["fs", "edit", "a", "a", "A"]);
    scene.ok(&["fs", "edit", "b", "b", "B"]);
    scene.write("b", "from outside");
    let refused = scene.run(&["undo"]);
    assert_eq!(refused.status.code(), Some(13));
    assert!(stderr(&refused).contains("wink undo --skip"), "{}", stderr(&refused));
    assert!(scene.ok(&["undo", "--skip"]).starts_with("Skipped edit"));
    let log = scene.ok(&["op", "log"]);
    assert!(log.contains("skip of 2") && !log.contains("(undone)"), "{log}");
    scene.ok(&["undo"]);
    assert_eq!((scene.read("a"), scene.read("b")), ("a".into(), "from outside".into()));
}

#[test]
fn after_a_restore_is_undone_the_last_snapshot_is_the_one_before_it() {
    let scene = Scene::new();
    for tag in ["one", "two"] {
        scene.write("a", tag);
        scene.ok(&["snapshot", "--tag", tag]);
    }
    scene.ok(&["restore", "one"]);
    scene.ok(&["undo"]);
    assert_eq!(scene.ok(&["diff", "--name-status"]), "");
    scene.ok(&["show", "@-2"]);
}

/// Returns bytes that no two files share.
fn noise(mut seed: u64) -> Vec<u8> {
    let next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 56) as u8
    };
    std::iter::repeat_with(next).take(300_000).collect()
}

#[test]
fn fault_18_damage_that_the_files_can_mend_loses_no_snapshot() {
    let scene = Scene::new();
    (1..=5).for_each(|number| scene.write(&format!("noise{number}"), noise(number)));
    for tag in ["v1", "v2", "v3"] {
        scene.write("code", tag);
        scene.ok(&["snapshot", "--tag", tag]);
    }
    damage(&scene);
    assert_eq!(scene.fails(&["verify", "--data"]).0, 14);

    let said = scene.ok(&["repair"]);
    assert!(said.contains("quarantine") && !said.contains("no longer be restored"), "{said}");
    scene.ok(&["verify", "--data"]);
    for tag in ["v1", "v2", "v3"] {
        scene.ok(&["restore", tag]);
        assert_eq!(scene.read("code"), tag);
        assert!(std::fs::read(scene.project("noise2")).unwrap() == noise(2));
    }
    let (code, said) = scene.fails(&["prune", "--path", "noise3", "--yes"]);
    assert_eq!(code, 3, "what was put aside may hold it: {said}");
    assert!(said.contains("store/quarantine"), "{said}");
    std::fs::remove_dir_all(scene.history().join("store/quarantine")).unwrap();
    scene.ok(&["prune", "--path", "noise4", "--yes"]);
}

#[test]
fn fault_18_snapshots_that_are_lost_are_named_as_people_know_them() {
    let scene = Scene::new();
    scene.write("noise", noise(1));
    scene.ok(&["snapshot", "--tag", "old"]);
    let pack = std::fs::read_dir(scene.history().join("store/packs")).unwrap().next().unwrap();
    let pack = pack.unwrap().path();
    scene.write("noise", noise(2));
    scene.ok(&["snapshot", "--tag", "new"]);
    let mut bytes = std::fs::read(&pack).unwrap();
    bytes[100_000] ^= 1;
    std::fs::write(&pack, bytes).unwrap();
    let repaired = scene.run(&["repair"]);
    assert_eq!(repaired.status.code(), Some(3), "one snapshot is not whole any more");
    let said = stdout(&repaired);
    let lost = said.split_once("can no longer be restored").unwrap().1;
    assert!(lost.contains("old") && !lost.contains("  new"), "{said}");
    scene.ok(&["restore", "new"]);
}

/// Once, that was called nothing.
#[test]
fn fault_18_what_was_missing_and_is_stored_again_is_said() {
    let scene = Scene::new();
    scene.write("code", "kept");
    scene.ok(&["snapshot", "--tag", "one"]);
    for pack in std::fs::read_dir(scene.history().join("store/packs")).unwrap() {
        std::fs::remove_file(pack.unwrap().path()).unwrap();
    }
    let said = scene.ok(&["repair"]);
    assert!(!said.contains("No damage found"), "{said}");
    assert!(said.contains("has everything that the current files still have"), "{said}");
    assert_eq!(scene.ok(&["repair"]), "No damage found.\n");
    scene.write("code", "lost");
    scene.ok(&["restore", "one"]);
    assert_eq!(scene.read("code"), "kept");
}

/// Else a snapshot that is taken meanwhile would hold it again.
#[test]
fn what_is_pruned_is_excluded_before_it_is_taken_out() {
    let scene = Scene::new();
    scene.write(".env", "secret");
    scene.ok(&["snapshot"]);
    let packs = scene.history().join("store/packs");
    std::fs::rename(&packs, scene.path("away")).unwrap();
    scene.fails(&["prune", "--path", ".env", "--yes"]);
    assert_eq!(scene.ok(&["config", "get", "exclude"]), ".env\n");
    std::fs::rename(scene.path("away"), &packs).unwrap();
    scene.fails(&["prune", "--path", "a[", "--yes"]);
    assert_eq!(scene.ok(&["config", "get", "exclude"]), ".env\n");
    assert!(scene.ok(&["prune", "--path", ".env", "--yes"]).contains("1 path"));
}

/// A program that uses the library keeps ten where it says nothing.
#[test]
fn many_snapshots_stay_although_they_have_no_tag() {
    let scene = Scene::new();
    for round in 0..13 {
        scene.write("notes.txt", format!("round {round}\n"));
        scene.ok(&["snapshot", "-q"]);
    }
    assert_eq!(scene.ids().len(), 13);
    scene.ok(&["prune"]);
    assert_eq!(scene.ids().len(), 13);
}

#[test]
fn a_path_that_is_taken_out_is_gone_from_what_forks_keep_too() {
    let scene = Scene::new();
    scene.write("notes.txt", "1");
    let (history, fork) = (scene.history(), scene.path("attempt"));
    scene.ok(&["fork", "attempt", "--materialize", fork.to_str().unwrap()]);
    let in_fork = |args: &[&str]| {
        let output = scene.wink_in(&fork, args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    };
    std::fs::write(fork.join(".env"), "TOKEN=secret").unwrap();
    in_fork(&["snapshot", "--tag", "with"]);
    std::fs::write(fork.join(".env"), "TOKEN=other").unwrap();
    in_fork(&["restore", "with"]);
    in_fork(&["undo"]);
    in_fork(&["fs", "edit", ".env", "other", "third"]);
    let operations = history.join("store/branches/attempt/operations");
    let kept = || {
        let entries = std::fs::read_dir(&operations).unwrap().map(|it| it.unwrap().path());
        entries.filter(|it| std::fs::read(it).is_ok_and(|it| it.starts_with(b"TOKEN="))).count()
    };
    assert!(kept() > 0, "the fork's history has it");
    let said = scene.ok(&["prune", "--path", ".env", "--yes"]);
    assert!(said.contains("Deleted 3 operations that kept a match"), "{said}");
    assert_eq!(kept(), 0);
    assert_eq!(std::fs::read_to_string(fork.join(".env")).unwrap(), "TOKEN=third");
    in_fork(&["restore", "with"]);
    assert_eq!(std::fs::read_to_string(fork.join(".env")).unwrap(), "TOKEN=third");
}

/// A restore once deleted the live file and kept its content in the safety snapshot, for good.
#[test]
fn a_path_that_was_taken_out_stays_out_and_its_file_is_left_alone() {
    let scene = Scene::new();
    scene.write(".env", "TOKEN=secret");
    scene.write("x", "1");
    scene.ok(&["snapshot", "--tag", "s"]);
    scene.ok(&["prune", "--path", ".env", "--yes"]);
    assert!(scene.ok(&["status"]).contains("excluded        .env\n"));
    scene.write("x", "2");
    scene.ok(&["restore", "s"]);
    assert_eq!((scene.read(".env").as_str(), scene.read("x").as_str()), ("TOKEN=secret", "1"));
    scene.ok(&["snapshot"]);
    for (id, _) in scene.ids() {
        assert!(!scene.ok(&["fs", "ls", "--at", &id]).contains(".env"), "{id}");
    }
    assert!(!scene.run(&["search", "TOKEN"]).status.success());
}

#[test]
fn what_is_excluded_is_left_alone() {
    let scene = Scene::empty();
    scene.ok(&["init", "--exclude", "target/", "--exclude", "/.git"]);
    scene.write("a/target/out", "built");
    scene.write(".git/HEAD", "ref: refs/heads/main\n");
    scene.write("kept.txt", "kept");
    scene.ok(&["snapshot", "--tag", "one"]);
    scene.write("a/target/out", "built again");
    std::fs::remove_file(scene.project("kept.txt")).unwrap();
    scene.ok(&["restore", "one"]);
    assert_eq!(scene.read("a/target/out"), "built again");
    assert_eq!(scene.read("kept.txt"), "kept");
}

/// The file with these notes was read from its beginning, and only as far as 16 MiB.
#[test]
fn where_head_was_is_found_behind_any_number_of_older_notes() {
    let scene = Scene::empty();
    scene.write(".git/HEAD", "ref: refs/heads/first\n");
    scene.ok(&["init", "-q"]);
    let older = format!("{} other\n", "0".repeat(36)).repeat(420_000);
    assert!(older.len() > 16 * 1024 * 1024);
    std::fs::write(scene.history().join("git-heads"), older).unwrap();
    scene.ok(&["snapshot", "-q"]);
    scene.write(".git/HEAD", "ref: refs/heads/second\n");
    let status = scene.ok(&["status"]);
    assert!(status.contains("moved since: first → second"), "{status}");
    let kept = std::fs::metadata(scene.history().join("git-heads")).unwrap().len();
    assert!(kept <= 4 * 1024 * 1024, "{kept}");
}

#[test]
fn what_is_excluded_is_in_no_archive() {
    let scene = Scene::empty();
    scene.ok(&["init", "--exclude", "target/", "--exclude", "/.git"]);
    scene.write("a/target/out", "built");
    scene.write(".git/HEAD", "ref: refs/heads/main\n");
    scene.write("a/kept.txt", "kept");
    scene.ok(&["export", "../now.fs.zip"]);
    scene.ok(&["session", "dump", "../dump"]);
    let dumped = std::fs::read_dir(scene.path("dump")).unwrap().map(|it| it.unwrap().path());
    let dumped = dumped.into_iter().find(|it| it.to_string_lossy().ends_with("fs.zip")).unwrap();
    for archive in ["../now.fs.zip", dumped.to_str().unwrap()] {
        assert_eq!(scene.ok(&["fs", "glob", "**", "--at", archive]), "a/kept.txt\n", "{archive}");
    }
    scene.write("a/kept.txt", "changed");
    scene.ok(&["import", "../now.fs.zip"]);
    assert_eq!(
        (scene.read("a/kept.txt"), scene.read("a/target/out")),
        ("kept".into(), "built".into())
    );
}

#[test]
fn a_workspace_is_found_from_below_and_from_elsewhere() {
    let scene = Scene::new();
    scene.write("src/deep/a.rs", "before");
    scene.write("src/b.rs", "before");
    scene.ok(&["snapshot", "--tag", "one"]);
    scene.write("src/deep/a.rs", "after");
    scene.write("src/b.rs", "after");
    let below = scene.project("src/deep");
    let output = scene.wink_in(&below, &["restore", "one", "--", "a.rs"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(
        (scene.read("src/deep/a.rs"), scene.read("src/b.rs")),
        ("before".into(), "after".into())
    );

    symlink(scene.path("project"), scene.path("another-way")).unwrap();
    let way = scene.path("another-way/src/b.rs");
    let args = ["-C", "another-way/src/deep", "restore", "one", "--", way.to_str().unwrap()];
    let output = scene.wink_in(&scene.path(""), &args).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(scene.read("src/b.rs"), "before");
}

#[test]
fn a_store_that_was_named_once_is_found_again() {
    let scene = Scene::empty();
    let elsewhere = scene.path("disk/histories/project");
    scene.write("a.txt", "one");
    scene.ok(&["init", "--store", elsewhere.to_str().unwrap()]);
    scene.ok(&["snapshot", "--tag", "one"]);
    let status = scene.json(&["status"]);
    assert_eq!(status["store"]["path"], elsewhere.join("store").to_str().unwrap());
    let args = ["--store", elsewhere.to_str().unwrap(), "log", "--json"];
    let output = scene.wink_in(&scene.path("home"), &args).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"tag\":\"one\""));
}

#[test]
fn a_patch_is_one_that_git_applies() {
    let scene = Scene::new();
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(args).current_dir(scene.path("project")).env("HOME", scene.path("home"));
        git.output().unwrap()
    };
    scene.write("changed.txt", "one\ntwo\nthree\n");
    scene.write("gone.txt", "no end");
    scene.write("script", "#!/bin/sh\n");
    symlink("changed.txt", scene.project("link")).unwrap();
    scene.ok(&["snapshot", "--tag", "before"]);
    scene.write("changed.txt", "one\n2\nthree\nfour");
    scene.write("new \"file\"\n.txt", "new\n");
    scene.write("empty", "");
    std::fs::remove_file(scene.project("gone.txt")).unwrap();
    std::fs::remove_file(scene.project("link")).unwrap();
    symlink("gone.txt", scene.project("link")).unwrap();
    std::fs::set_permissions(scene.project("script"), std::fs::Permissions::from_mode(0o755))
        .unwrap();
    scene.ok(&["snapshot", "--tag", "after"]);
    std::fs::write(scene.path("patch"), scene.ok(&["diff", "before", "after"])).unwrap();
    scene.ok(&["restore", "before"]);
    let applied = git(&["apply", scene.path("patch").to_str().unwrap()]);
    assert!(applied.status.success(), "{}", stderr(&applied));
    assert_eq!(scene.ok(&["diff", "after", "@"]), "");
}

#[test]
fn a_repository_that_came_later_is_left_alone_by_a_restore() {
    let scene = Scene::new();
    scene.write("a", "one");
    scene.ok(&["snapshot", "--tag", "before"]);
    std::fs::create_dir(scene.project(".git")).unwrap();
    scene.write(".git/HEAD", "ref: refs/heads/main\n");
    scene.write("a", "two");
    assert!(scene.ok(&["status"]).contains("/.git"), "what is excluded is always said");
    scene.ok(&["restore", "before"]);
    assert_eq!((scene.read("a"), scene.project(".git/HEAD").exists()), ("one".into(), true));
    scene.ok(&["config", "set", "exclude", "dist/"]);
    scene.ok(&["snapshot", "--tag", "after"]);
    assert_eq!(scene.fails(&["fs", "glob", "**/HEAD", "--at", "after"]).0, 1);
    scene.write("a", "three");
    scene.ok(&["restore", "after"]);
    assert!(scene.project(".git/HEAD").exists());
}

#[test]
fn what_git_keeps_is_captured_where_a_person_wants_it() {
    let scene = Scene::new();
    std::fs::create_dir(scene.project(".git")).unwrap();
    scene.write(".git/HEAD", "one");
    scene.ok(&["config", "remove", "exclude", "/.git"]);
    scene.ok(&["snapshot", "--tag", "with"]);
    scene.write(".git/HEAD", "two");
    scene.ok(&["restore", "with"]);
    assert_eq!(scene.read(".git/HEAD"), "one");
    scene.ok(&["config", "add", "exclude", "/.git"]);
    scene.ok(&["snapshot", "--tag", "without"]);
    assert_eq!(scene.fails(&["fs", "glob", "**/HEAD", "--at", "without"]).0, 1);
}

#[test]
fn what_git_keeps_is_wanted_by_whatever_pattern_for_it_is_removed() {
    for named in [".git", ".git/", "/.git/"] {
        let scene = Scene::new();
        scene.write(".git/HEAD", "one");
        assert!(scene.ok(&["status"]).contains("/.git"));
        scene.ok(&["config", "remove", "exclude", named]);
        scene.ok(&["snapshot", "--tag", "with"]);
        scene.ok(&["fs", "cat", ".git/HEAD", "--at", "with"]);
        scene.ok(&["config", "add", "exclude", named]);
        let other = if named == ".git" { "/.git" } else { ".git" };
        let (code, said) = scene.fails(&["config", "remove", "exclude", other]);
        assert!(code != 0 && said.contains(named), "{said}");
        scene.ok(&["snapshot", "--tag", "without"]);
        assert_eq!(scene.fails(&["fs", "glob", "**/HEAD", "--at", "without"]).0, 1);
    }
}

#[test]
fn what_is_to_be_taken_out_is_named_as_paths_are() {
    let scene = Scene::new();
    std::fs::create_dir(scene.project("sub")).unwrap();
    for name in ["k1", "sub/k2"] {
        scene.write(name, "SECRET");
    }
    scene.ok(&["snapshot", "--tag", "s"]);
    let absolute = scene.project("k1");
    scene.ok(&["prune", "--path", absolute.to_str().unwrap(), "--yes"]);
    scene.ok(&["-C", "sub", "prune", "--path", "./k2", "--yes"]);
    assert_eq!(scene.fails(&["search", "SECRET"]).0, 1);
    assert_ne!(scene.fails(&["prune", "--path", "", "--yes"]).0, 0);
}

#[test]
fn a_patch_of_a_name_with_spaces_says_where_the_name_ends() {
    let scene = Scene::new();
    scene.write("a name", "one\n");
    scene.ok(&["snapshot"]);
    scene.write("a name", "two\n");
    let patch = scene.ok(&["diff"]);
    assert!(patch.contains("--- a/a name\t\n+++ b/a name\t\n"), "{patch}");
}

#[test]
fn a_dry_run_of_a_restore_is_refused_where_the_restore_is() {
    let scene = Scene::new();
    scene.ok(&["config", "set", "exclude", "*.log"]);
    scene.write("d", "a file");
    scene.ok(&["snapshot", "--tag", "before"]);
    std::fs::remove_file(scene.project("d")).unwrap();
    scene.write("d/x.log", "not to be removed");
    let refused = scene.fails(&["restore", "before"]);
    assert_eq!(refused.0, 13, "{}", refused.1);
    assert_eq!(scene.fails(&["restore", "before", "--dry-run"]), refused);
    assert!(refused.1.contains("`d`") && refused.1.contains("not captured"), "{}", refused.1);
    assert_eq!(scene.read("d/x.log"), "not to be removed");
    std::fs::remove_file(scene.project("d/x.log")).unwrap();
    scene.ok(&["restore", "before", "--dry-run"]);
    scene.ok(&["restore", "before"]);
    assert_eq!(scene.read("d"), "a file");
}

/// Once, such a store was used as if nothing had happened, and the workspace was said to be protected.
#[test]
fn a_store_that_was_put_in_the_place_of_another_is_not_used() {
    let (scene, other) = (Scene::new(), Scene::new());
    for scene in [&scene, &other] {
        scene.write("a", "1");
        scene.ok(&["snapshot"]);
    }
    let (store, aside) = (scene.history().join("store"), scene.path("aside"));
    std::fs::rename(&store, &aside).unwrap();
    std::fs::rename(other.history().join("store"), &store).unwrap();
    for command in ["status", "snapshot", "log"] {
        let (code, said) = scene.fails(&[command]);
        assert!(said.contains("is not the one of this history"), "{command}: {code} {said}");
    }
    std::fs::remove_dir_all(&store).unwrap();
    std::fs::rename(&aside, &store).unwrap();
    assert!(scene.ok(&["status"]).contains("is protected"));
}

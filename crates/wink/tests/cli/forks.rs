//! `wink fork list|rename|delete`.

use std::path::Path;

use wink_fs::{SnapshotStore as _, Store};

use crate::cli::faults::run_by;
use crate::cli::scene::{Scene, stderr, stdout};

/// A workspace in a git repository, with a fork.
fn forked() -> Scene {
    let scene = Scene::empty();
    scene.write(".git/HEAD", "ref: refs/heads/main\n");
    scene.write("notes.txt", "one\n");
    scene.ok(&["init", "-q"]);
    scene.ok(&["snapshot", "--tag", "one"]);
    scene.ok(&["fork", "attempt", "one", "-q"]);
    scene
}

fn in_fork(scene: &Scene, directory: &str, args: &[&str]) -> String {
    let output = scene.wink_in(&scene.path(directory), args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

fn count(directory: &Path) -> usize {
    std::fs::read_dir(directory).unwrap().count()
}

#[test]
fn a_fork_that_gets_another_name_keeps_what_is_its_own() {
    let scene = forked();
    let fork = |args: &[&str]| in_fork(&scene, "project-attempt", args);
    fork(&["config", "set", "retention.count", "7"]);
    std::fs::create_dir(scene.path("project-attempt/.git")).unwrap();
    let head = scene.path("project-attempt/.git/HEAD");
    std::fs::write(&head, "ref: refs/heads/first\n").unwrap();
    fork(&["fs", "mkdir", "made"]);
    fork(&["snapshot", "-q"]);
    std::fs::write(&head, "ref: refs/heads/second\n").unwrap();

    scene.ok(&["fork", "rename", "attempt", "better"]);
    assert_eq!(fork(&["config", "get", "retention.count"]), "7\n");
    assert!(fork(&["status"]).contains("moved since: first → second"), "{}", fork(&["status"]));
    fork(&["undo"]);
    assert!(!scene.path("project-attempt/made").exists());
}

/// Once, a fork kept the usual 2 GiB, and took from what it shares all that the workspace wanted to keep.
#[test]
fn a_fork_keeps_of_the_history_what_the_workspace_keeps() {
    let scene = forked();
    let fork = |args: &[&str]| in_fork(&scene, "project-attempt", args);
    scene.ok(&["config", "set", "retention.bytes", "20 GiB"]);
    scene.ok(&["config", "set", "retention.count", "2"]);
    assert_eq!(fork(&["config", "get", "retention.bytes"]), "20 GiB\n");
    let listed = fork(&["config", "list", "--origin"]);
    let place = scene.fork_settings("attempt").join("../../workspace.json").canonicalize().unwrap();
    let said = format!("retention.count = 2  ({})", place.display());
    assert!(listed.contains(&said), "{listed}");
    for round in ["1", "2", "3", "4"] {
        std::fs::write(scene.path("project-attempt/notes.txt"), round).unwrap();
        fork(&["snapshot", "-q"]);
    }
    assert_eq!(scene.ids().len(), 3, "one with a tag, and two of the fork");
    fork(&["config", "set", "retention.count", "7"]);
    assert_eq!(fork(&["config", "get", "retention.count"]), "7\n", "what it says itself counts");
    assert_eq!(scene.ok(&["config", "get", "retention.count"]), "2\n");
    scene.ok(&["config", "set", "exclude", "made-here"]);
    assert!(!fork(&["config", "list"]).contains("made-here"), "what is excluded is its own");
}

/// Once, it was called empty there, and told to make a fork, which a fork cannot.
#[test]
fn in_a_fork_the_list_has_all_forks_and_says_the_way_back() {
    let scene = forked();
    let fork = scene.path("project-attempt");
    let listed = scene.wink_in(&fork, &["fork", "list"]).output().unwrap();
    assert_eq!(stdout(&listed), scene.ok(&["fork", "list"]));
    let main = scene.path("project");
    let back = format!("wink -C {} merge attempt", main.display());
    let said = stderr(&listed);
    assert!(said.contains("this is the fork attempt of") && said.contains(&back), "{said}");
    assert!(!said.contains("wink fork"), "{said}");
    assert_eq!(scene.json(&["fork", "list"])["current"], serde_json::Value::Null);
    let refused: [&[&str]; 4] = [
        &["fork", "other"],
        &["merge", "attempt"],
        &["fork", "rename", "attempt", "other"],
        &["fork", "delete", "attempt", "--yes"],
    ];
    for args in refused {
        let output = scene.wink_in(&fork, args).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let said = stderr(&output);
        assert!(said.contains("the fork `attempt` of"), "{args:?}: {said}");
        assert!(said.contains(&format!("wink -C {}", main.display())), "{args:?}: {said}");
    }
    scene.ok(&["merge", "attempt"]);
}

#[test]
fn the_name_that_a_fork_had_is_free_for_another() {
    let scene = forked();
    std::fs::write(scene.path("project-attempt/notes.txt"), "two\n").unwrap();
    in_fork(&scene, "project-attempt", &["snapshot", "-q"]);
    scene.ok(&["fork", "rename", "attempt", "better"]);
    let again = scene.path("again");
    scene.ok(&["fork", "attempt", "one", "--materialize", again.to_str().unwrap(), "-q"]);
    assert_eq!(scene.ok(&["fs", "cat", "notes.txt", "--at", "attempt"]), "one\n");
    assert_eq!(scene.ok(&["fs", "cat", "notes.txt", "--at", "better"]), "two\n");
    scene.ok(&["fork", "delete", "attempt", "--yes"]);
    assert_eq!(scene.ok(&["fs", "cat", "notes.txt", "--at", "better"]), "two\n");
    assert!(in_fork(&scene, "project-attempt", &["status"]).contains("is protected"));
    scene.ok(&["prune", "--keep", "1", "--yes"]);
    scene.ok(&["merge", "better"]);
    assert_eq!(scene.read("notes.txt"), "two\n");
}

/// Once, the snapshot that it begins with became one of the fork that had the name before.
#[test]
fn a_fork_of_an_archive_takes_no_place_in_the_history_of_one_that_had_its_name() {
    let scene = forked();
    scene.ok(&["export", "../one.fs.zip", "--at", "one"]);
    std::fs::write(scene.path("project-attempt/notes.txt"), "two\n").unwrap();
    in_fork(&scene, "project-attempt", &["snapshot", "-q", "-m", "theirs"]);
    scene.ok(&["fork", "rename", "attempt", "better"]);
    let again = scene.path("again");
    scene.ok(&["fork", "attempt", "../one.fs.zip", "--materialize", again.to_str().unwrap()]);
    scene.ok(&["prune", "--keep", "1", "--yes"]);
    let log = scene.ok(&["log"]);
    assert!(log.contains("theirs") && log.contains("fork of ../one.fs.zip"), "{log}");
}

#[test]
fn a_fork_of_an_archive_that_cannot_be_made_leaves_nothing() {
    let scene = Scene::new();
    scene.write("notes.txt", "one\n");
    scene.ok(&["snapshot", "--tag", "one"]);
    scene.ok(&["export", "../one.fs.zip", "--at", "one"]);
    let taken = scene.path("taken");
    std::fs::create_dir(&taken).unwrap();
    std::fs::write(taken.join("mine"), "mine").unwrap();
    let args = ["fork", "attempt", "../one.fs.zip", "--materialize", taken.to_str().unwrap()];
    let (_, said) = scene.fails(&args);
    assert!(said.contains("not empty"), "{said}");
    let store = scene.history().join("store");
    assert_eq!((count(&store.join("branches")), count(&store.join("snapshots"))), (0, 1));
    assert!(!scene.history().join("branches").exists());
    std::fs::remove_file(taken.join("mine")).unwrap();
    scene.ok(&args);
}

#[test]
fn a_fork_that_was_forgotten_only_in_part_can_be_forgotten_again() {
    let scene = forked();
    let histories = std::fs::read_dir(scene.path("data/wink")).unwrap();
    let pointer = histories
        .map(|it| it.unwrap().path().join("workspace.json"))
        .find(|it| std::fs::read_to_string(it).unwrap().contains("kept_in"))
        .unwrap();
    let history = pointer.parent().unwrap().parent().unwrap().to_owned();
    let main = std::fs::read_dir(&history).unwrap().map(|it| it.unwrap().path());
    let main = main.into_iter().find(|it| it.join("branches").exists()).unwrap();
    assert_eq!(count(&main.join("store/pins")), 1);
    let said = std::fs::read(&pointer).unwrap();
    std::fs::write(&pointer, "{").unwrap();
    scene.fails(&["fork", "delete", "attempt", "--yes"]);
    assert_eq!(count(&main.join("store/pins")), 0, "nothing is kept that cannot be found");
    assert!(scene.ok(&["fork", "list"]).contains("attempt"), "it is still found");
    std::fs::write(&pointer, said).unwrap();
    scene.ok(&["fork", "delete", "attempt", "--yes"]);
    assert!(!pointer.exists());
    assert_eq!((count(&main.join("branches")), count(&main.join("store/branches"))), (0, 0));
}

#[test]
fn what_was_merged_once_is_not_merged_again_unless_that_was_undone() {
    let scene = forked();
    std::fs::write(scene.path("project-attempt/new"), "").unwrap();
    scene.ok(&["merge", "attempt"]);
    scene.ok(&["fs", "rm", "new"]);
    assert!(scene.ok(&["merge", "attempt"]).starts_with("Nothing to merge"));
    assert!(!scene.project("new").exists());
    scene.ok(&["undo", "2"]);
    scene.ok(&["merge", "attempt"]);
    assert!(scene.project("new").exists());

    std::fs::write(scene.path("project-attempt/notes.txt"), "theirs\n").unwrap();
    scene.write("notes.txt", "ours\n");
    scene.ok(&["merge", "attempt", "--ours"]);
    assert!(scene.ok(&["merge", "attempt"]).starts_with("Nothing to merge"));
    assert_eq!(scene.read("notes.txt"), "ours\n");
    scene.ok(&["fork", "delete", "attempt", "--yes"]);
}

/// Once, `merge --markers` took nothing of a binary file, exited 0, and left "Nothing to merge".
#[test]
fn a_merge_with_markers_leaves_what_it_cannot_mark_to_merge() {
    let scene = forked();
    let markers = ["merge", "attempt", "--markers"];
    let wink = |args: &[&str]| {
        let output = scene.run(args);
        (output.status.code(), stdout(&output))
    };
    scene.write("image", "\0ours");
    std::fs::write(scene.path("project-attempt/image"), "\0theirs").unwrap();
    let (exit, text) = wink(&markers);
    assert!(exit == Some(13) && text.contains("image  both changed it"), "{exit:?} {text}");

    scene.write("notes.txt", "ours\n");
    std::fs::write(scene.path("project-attempt/notes.txt"), "theirs\n").unwrap();
    let (exit, text) = wink(&markers);
    assert!(exit == Some(3) && text.contains("left, unchanged here:\n  image"), "{exit:?} {text}");
    assert!(scene.read("notes.txt").contains("======="));
    assert_eq!(scene.read("image"), "\0ours");

    let (exit, text) = wink(&["merge", "attempt"]);
    assert!(exit == Some(13) && !text.contains("notes.txt"), "{exit:?} {text}");
    scene.ok(&["merge", "attempt", "--theirs"]);
    assert_eq!(scene.read("image"), "\0theirs");
    assert!(scene.read("notes.txt").contains("======="));
    assert!(scene.ok(&["merge", "attempt"]).starts_with("Nothing to merge"));
}

#[test]
fn a_merge_that_is_only_asked_about_or_refused_keeps_nothing() {
    let scene = forked();
    let kept = scene.ids().len();
    std::fs::write(scene.path("project-attempt/notes.txt"), "theirs\n").unwrap();
    scene.ok(&["merge", "attempt", "--dry-run"]);
    scene.write("notes.txt", "ours\n");
    assert_eq!(scene.fails(&["merge", "attempt"]).0, 13);
    assert_eq!(scene.ids().len(), kept);
}

/// Kills `wink fork` when it makes a system call for the n-th time; returns whether it came to that.
fn killed_at(scene: &Scene, call: &str, nth: usize) -> bool {
    let (trace, inject) =
        (format!("trace={call}"), format!("inject={call}:signal=KILL:when={nth}"));
    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
    let directory = format!("../{call}-{nth}");
    let args = ["fork", "attempt", "one", "-q", "--materialize", &directory];
    !run_by(scene, &strace, &args).status.success()
}

/// Fails unless there is a fork that is whole, or can be made, and goes without a trace.
fn check_fork(scene: &Scene, store: &Path, place: &str) -> bool {
    let pins = || {
        let pins = Store::open_ambient(store).unwrap().pins().unwrap();
        // What is pinned while files are written expires by itself.
        pins.iter().filter(|pin| pin.expires.is_none()).count()
    };
    let listed = scene.ok(&["fork", "list", "-q"]).contains("attempt");
    let directory = if listed { place.to_owned() } else { format!("{place}-again") };
    if !listed {
        let directory = format!("../{directory}");
        scene.ok(&["fork", "attempt", "one", "-q", "--materialize", &directory]);
    }
    assert!(in_fork(scene, &directory, &["status"]).contains("is protected"), "{place}");
    assert_eq!(pins(), 1, "{place}");
    std::fs::write(scene.path(&directory).join("notes.txt"), place).unwrap();
    scene.ok(&["merge", "attempt"]);
    assert_eq!(scene.read("notes.txt"), place);
    scene.ok(&["fork", "delete", "attempt", "--yes"]);
    assert_eq!((pins(), count(&store.join("branches"))), (0, 0), "{place}");
    scene.ok(&["restore", "one"]);
    listed
}

/// Kills forks at calls of some names; tells how often one was whole then, and how often there was none.
fn check_dying(calls: &[&str], step: usize) -> (usize, usize) {
    let scene = Scene::new();
    scene.write("notes.txt", "one\n");
    scene.ok(&["snapshot", "--tag", "one"]);
    let store = scene.history().join("store");
    let (mut whole, mut unmade) = (0, 0);
    let step = if std::env::var_os("WINK_LONG_TESTS").is_some() { 1 } else { step };
    for call in calls {
        let mut nth = 1;
        while killed_at(&scene, call, nth) {
            let listed = check_fork(&scene, &store, &format!("{call}-{nth}"));
            *(if listed { &mut whole } else { &mut unmade }) += 1;
            nth += step;
        }
        scene.ok(&["fork", "delete", "attempt", "--yes"]);
    }
    (whole, unmade)
}

/// Once, settings were left of a fork that its own directory did not know of, or that nothing kept.
#[test]
#[ignore = "needs strace"]
fn a_fork_that_dies_half_way_is_whole_or_leaves_nothing_in_the_way_of_the_next() {
    let (whole, unmade) = check_dying(&["rename", "linkat", "unlink"], 1);
    assert!(whole > 1 && unmade > 3, "it was there {whole} times, and {unmade} times not");
}

#[test]
#[ignore = "needs strace"]
fn a_fork_that_dies_where_it_makes_a_directory_is_whole_or_leaves_nothing_in_the_way() {
    let (whole, unmade) = check_dying(&["mkdir"], 1);
    assert!(whole > 0 && unmade > 3, "it was there {whole} times, and {unmade} times not");
}

#[test]
#[ignore = "needs strace"]
fn a_fork_that_dies_while_files_are_written_leaves_nothing_in_the_way() {
    let (_, unmade) = check_dying(&["mkdirat", "renameat2", "fsync"], 4);
    assert!(unmade > 3, "it was {unmade} times not there");
}

#[test]
fn a_directory_with_files_of_the_user_is_not_taken_for_one() {
    let scene = forked();
    std::fs::create_dir(scene.path("own")).unwrap();
    std::fs::write(scene.path("own/precious"), "mine").unwrap();
    let args = ["fork", "other", "one", "--materialize", "../own"];
    for _ in 0..2 {
        let (code, said) = scene.fails(&args);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains("not empty") && !said.contains("rm -r"), "{said}");
    }
    std::fs::remove_file(scene.path("own/precious")).unwrap();
    scene.ok(&args);
    scene.ok(&["fork", "delete", "other", "--yes"]);
    let (_, said) = scene.fails(&args);
    assert!(said.contains("not empty") && !said.contains("rm -r"), "{said}");
}

/// A workspace with three forks, of which the settings of one are damaged.
fn with_damaged() -> Scene {
    let scene = forked();
    for name in ["broken", "whole"] {
        scene.ok(&["fork", name, "one", "-q"]);
    }
    std::fs::write(scene.fork_settings("broken").join("workspace.json"), "{\"version\": 1,")
        .unwrap();
    scene
}

/// Once, no fork was listed at all.
#[test]
fn a_fork_that_is_damaged_is_told_and_the_others_are_listed() {
    let scene = with_damaged();
    for directory in ["project", "project-whole"] {
        let listed = scene.wink_in(&scene.path(directory), &["fork", "list", "-q"]).output();
        let listed = listed.unwrap();
        assert_eq!(listed.status.code(), Some(3), "{}", stderr(&listed));
        let names: Vec<_> = stdout(&listed).lines().map(|it| it[..7].to_owned()).collect();
        assert_eq!(names, ["attempt", "whole  "]);
        let said = stderr(&listed);
        assert!(said.starts_with("warning: the fork made as broken is damaged: "), "{said}");
    }
    let listed = scene.run(&["fork", "list", "--json"]);
    assert_eq!((listed.status.code(), &*stderr(&listed)), (Some(3), ""));
    let listed: serde_json::Value = serde_json::from_str(&stdout(&listed)).unwrap();
    crate::cli::form::check_form(&listed, "summary");
    assert_eq!(listed["forks"].as_array().unwrap().len(), 2);
    assert_eq!(listed["damaged"][0]["key"], "broken");
}

/// Once, the user could not tag, fork, merge, rename or forget any more.
#[test]
fn a_damaged_fork_is_only_in_its_own_way() {
    let scene = with_damaged();
    scene.ok(&["tag", "named", "one"]);
    scene.ok(&["snapshot", "--tag", "next"]);
    scene.ok(&["fork", "another", "named", "-q"]);
    std::fs::write(scene.path("project-whole/new.txt"), "new\n").unwrap();
    scene.ok(&["merge", "whole"]);
    scene.ok(&["fork", "rename", "whole", "better"]);
    scene.ok(&["fork", "delete", "better", "--yes"]);
    for args in [["tag", "broken", "named"].as_slice(), &["merge", "broken"], &["fork", "broken"]] {
        let (code, said) = scene.fails(args);
        assert_eq!(code, 14, "{args:?}: {said}");
        assert!(said.contains("cannot parse the settings"), "{said}");
    }
}

/// Once, the secret stayed because a fork was damaged.
#[test]
fn a_secret_is_taken_out_although_a_fork_is_damaged() {
    let scene = with_damaged();
    let args = ["prune", "--path", "notes.txt", "--yes"];
    let pruned = scene.run(&args);
    assert_eq!(pruned.status.code(), Some(3), "{}", stderr(&pruned));
    assert!(stderr(&pruned).contains("the fork made as broken is damaged"), "{}", stderr(&pruned));
    assert_eq!(scene.run(&["search", "one"]).status.code(), Some(1));
    let again = scene.run(&[&args[..], &["--json"]].concat());
    assert_eq!((again.status.code(), &*stderr(&again)), (Some(3), ""));
    let again: serde_json::Value = serde_json::from_str(&stdout(&again)).unwrap();
    assert_eq!(again["damaged_forks"][0]["key"], "broken");
}

/// `wink fork list` lists forks, so no fork can be made or renamed to that name.
#[test]
fn a_fork_cannot_have_the_name_of_a_subcommand() {
    let scene = forked();
    for name in ["list", "rename", "delete", "help"] {
        for args in [["fork", "--quiet", name].as_slice(), &["fork", "rename", "attempt", name]] {
            let (code, said) = scene.fails(args);
            assert_eq!(code, 2, "{args:?}: {said}");
            let message = format!("error: `{name}` is a subcommand of `wink fork`");
            assert!(said.starts_with(&message), "{args:?}: {said}");
        }
    }
    assert_eq!(scene.json(&["fork", "list"])["forks"].as_array().map(Vec::len), Some(1));
}

#[test]
fn branch_is_an_alias_of_fork() {
    let scene = forked();
    assert_eq!(scene.ok(&["branch", "list"]), scene.ok(&["fork", "list"]));
    scene.ok(&["branch", "rename", "attempt", "better"]);
    scene.ok(&["branch", "delete", "better", "--yes"]);
    assert_eq!(scene.ok(&["fork", "list"]), "");
    assert!(!scene.ok(&["--help"]).contains("branch"));
}

/// The settings of a fork call it `branch`, as they always did.
#[test]
fn the_settings_of_a_fork_keep_their_form() {
    let scene = forked();
    let settings = scene.fork_settings("attempt").join("workspace.json");
    let settings: serde_json::Value =
        serde_json::from_slice(&std::fs::read(settings).unwrap()).unwrap();
    assert_eq!(settings["branch"]["name"], "attempt");
    assert_eq!(settings["fork"], serde_json::Value::Null);
}

//! What is refused, how it is said, and with which code.

use std::process::Stdio;

use wink_fs::{MemoryBackend, NewSnapshot, SnapshotStore as _, Store};

use crate::cli::scene::{Scene, mode_of, stderr};

#[test]
fn a_directory_that_is_no_workspace() {
    let scene = Scene::empty();
    for command in ["status", "snapshot", "log", "diff", "undo", "redo", "verify"] {
        let (code, said) = scene.fails(&[command]);
        assert_eq!(code, 10, "{command}");
        assert!(said.contains("is not protected") && said.contains("wink init"), "{said}");
    }
}

#[test]
fn broad_directories() {
    let scene = Scene::empty();
    let (home, above) = (scene.path("home"), scene.path(""));
    for broad in ["/", home.to_str().unwrap(), above.to_str().unwrap()] {
        let (code, said) = scene.fails(&["init", broad]);
        assert_eq!(code, 2, "{broad}");
        assert!(said.contains("--force"), "{said}");
    }
    scene.ok(&["init", home.to_str().unwrap(), "--force", "--yes"]);
}

/// `prune --path '**'` in a script once took everything away without a question.
#[test]
fn what_cannot_be_undone_needs_yes_without_a_terminal() {
    let scene = Scene::new();
    scene.write("a", "1");
    scene.ok(&["snapshot"]);
    scene.ok(&["snapshot"]);
    scene.ok(&["fork", "x", "-q"]);
    for args in [
        &["prune", "--keep", "1"][..],
        &["prune", "--path", "**"],
        &["prune", "--path", "**", "--json"],
        &["fork", "delete", "x"],
        &["fork", "delete", "x", "--json"],
    ] {
        let (code, said) = scene.fails(args);
        assert_eq!(code, 2, "{args:?}: {said}");
        assert!(said.contains("nothing was done") && said.contains("--yes"), "{said}");
    }
    assert_eq!(scene.ids().len(), 3);
    assert!(scene.ok(&["fs", "ls", "--at", "@-"]).ends_with("  a\n"));
    assert!(scene.ok(&["fork", "list"]).contains('x'));
}

/// A misspelt level once became a file in the workspace.
#[test]
fn a_level_of_the_log_that_is_none() {
    let scene = Scene::new();
    let (code, said) = scene.fails(&["status", "--log", "nosuchlevel"]);
    assert_eq!(code, 2);
    assert!(said.contains("name a level"), "{said}");
    assert!(!scene.project("nosuchlevel").exists());
}

#[test]
fn a_count_of_nothing() {
    let scene = Scene::new();
    for args in [&["search", "a", "-n", "0"][..], &["fs", "grep", "a", "-n", "0"]] {
        assert_eq!(scene.fails(args).0, 2, "{args:?}");
    }
}

#[test]
fn a_path_that_was_never_there() {
    let scene = Scene::new();
    scene.write("a", "1");
    scene.ok(&["snapshot", "--tag", "one"]);
    std::fs::remove_file(scene.project("a")).unwrap();
    scene.write("b", "1");
    for args in
        [&["log", "nosuch"][..], &["diff", "--", "nosuch"], &["restore", "one", "--", "nosuch"]]
    {
        let (code, said) = scene.fails(args);
        assert_eq!(code, 1, "{args:?}");
        assert!(said.contains("`nosuch` is neither in the workspace nor in"), "{said}");
    }
    for args in [&["log", "a"][..], &["log", "b"], &["diff", "--", "a", "b"]] {
        scene.ok(args);
    }
}

#[test]
fn a_fork_that_is_named_like_a_path() {
    let scene = Scene::new();
    let (code, said) = scene.fails(&["fork", "../x"]);
    assert_eq!(code, 2);
    assert!(said.starts_with("error: `../x` is not a valid name for a fork: "), "{said}");
    assert!(said.contains("--materialize"), "{said}");
}

/// Both were once called damaged, with the code for that.
#[test]
fn files_that_are_no_archive_and_no_session() {
    let scene = Scene::new();
    for content in ["", "hello", "{\n  \"name\": 1\n}\n"] {
        scene.write("some.txt", content);
        let (code, said) = scene.fails(&["import", "some.txt"]);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains("some.txt` is not an archive"), "{said}");
    }
    for content in ["hello", "{\n  \"name\": 1\n}\n"] {
        scene.write("some.txt", content);
        let (code, said) = scene.fails(&["session", "show", "some.txt"]);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains("some.txt` is not a session"), "{said}");
    }
    scene.write("some.jsonl", "{\"format\":\"wink session\",\"version\":1,");
    let (code, said) = scene.fails(&["session", "show", "some.jsonl"]);
    assert_eq!(code, 14, "this one is: {said}");
}

#[test]
fn a_fork_whose_directory_is_gone_is_not_said_to_stay() {
    let scene = Scene::new();
    scene.ok(&["fork", "kept", "-q"]);
    scene.ok(&["fork", "gone", "-q"]);
    std::fs::remove_dir_all(scene.path("project-gone")).unwrap();
    let said = scene.ok(&["fork", "delete", "gone", "--yes"]);
    assert!(said.contains("was already missing") && !said.contains("stays"), "{said}");
    let said = scene.ok(&["fork", "delete", "kept", "--yes"]);
    assert!(said.contains("stays, but is no longer protected"), "{said}");
}

#[test]
fn a_second_init_changes_nothing() {
    let scene = Scene::new();
    let settings = scene.history().join("workspace.json");
    let before = std::fs::read(&settings).unwrap();
    let (code, said) = scene.fails(&["init", "--exclude", "x"]);
    assert_eq!(code, 1);
    assert!(said.contains("is already a workspace"), "{said}");
    assert_eq!(std::fs::read(&settings).unwrap(), before);
    let elsewhere = scene.path("elsewhere");
    scene.fails(&["init", "--store", elsewhere.to_str().unwrap()]);
    assert!(!elsewhere.exists());
}

#[test]
fn a_store_inside_the_workspace() {
    let scene = Scene::empty();
    for inside in [".", ".history", "a/b/../c"] {
        let (code, said) = scene.fails(&["init", "--store", inside]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("inside the workspace"), "{said}");
    }
    assert_eq!(std::fs::read_dir(scene.path("project")).unwrap().count(), 0);
}

#[test]
fn a_store_in_a_directory_that_is_not_empty() {
    let scene = Scene::empty();
    let taken = scene.path("taken");
    std::fs::create_dir(&taken).unwrap();
    std::fs::write(taken.join("mine"), "mine").unwrap();
    let (code, said) = scene.fails(&["init", "--store", taken.to_str().unwrap()]);
    assert_eq!(code, 1);
    assert!(said.contains("is not empty"), "{said}");
    assert_eq!(std::fs::read_dir(&taken).unwrap().count(), 1);
}

#[test]
fn a_pattern_that_does_not_parse() {
    let scene = Scene::empty();
    assert_eq!(scene.fails(&["init", "--exclude", "a[b"]).0, 2);
    scene.fails(&["status"]);
}

#[test]
fn a_store_that_is_gone() {
    let scene = Scene::new();
    std::fs::remove_dir_all(scene.history().join("store")).unwrap();
    let (code, said) = scene.fails(&["status"]);
    assert_eq!(code, 10);
    assert!(said.contains("there is no history in"), "{said}");
}

#[test]
fn unknown_states() {
    let scene = Scene::new();
    scene.ok(&["snapshot", "--tag", "one"]);
    for unknown in ["nothing", "@-2", "@-0", "@-x", "@--", "@-+1", ""] {
        let (code, said) = scene.fails(&["restore", unknown]);
        assert_eq!(code, 12, "{unknown}: {said}");
        assert!(said.contains("wink log"), "{said}");
    }
    assert_eq!(scene.fails(&["restore", "@"]).0, 2);
}

/// Adds a snapshot whose id begins with the same four characters as that of the first.
fn add_neighbour(scene: &Scene) {
    let store = Store::open_ambient(scene.history().join("store")).unwrap();
    let mut snapshot = store.list().unwrap().remove(0);
    let mut id = snapshot.id.to_string();
    // 20 bits are five digits of it.
    let other = if &id[5..6] == "0" { "1" } else { "0" };
    id.replace_range(5..6, other);
    snapshot.id = id.parse().unwrap();
    store.save(&MemoryBackend::new(), &NewSnapshot::copy_of(&snapshot)).unwrap();
}

#[test]
fn less_than_four_characters_of_an_id_name_no_snapshot() {
    let scene = Scene::new();
    scene.ok(&["snapshot"]);
    let short = scene.ids()[0].1.clone();
    for length in 1..4 {
        let (code, said) = scene.fails(&["show", &short[..length]]);
        assert_eq!(code, 12, "{said}");
        assert!(said.contains("too short") && said.contains("at least 4"), "{said}");
        let (_, said) = scene.fails(&["restore", &short[..length].to_uppercase(), "--json"]);
        let error: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert_eq!(error["code"], "ref_too_short");
    }
    scene.ok(&["show", &short[..4]]);
    scene.ok(&["tag", "x", "@-"]);
    scene.ok(&["show", "x"]);
    assert!(
        scene.fails(&["show", "u"]).1.contains("no snapshot is named"),
        "no id has this letter"
    );
}

#[test]
fn an_ambiguous_prefix_names_what_it_may_mean() {
    let scene = Scene::new();
    scene.ok(&["snapshot"]);
    let prefix = scene.ids()[0].1[..4].to_owned();
    // Ids are random; this is one that a program asks for.
    add_neighbour(&scene);
    let ids = scene.ids();
    let two = [ids[0].1.clone(), ids[1].1.clone()];
    let (code, said) = scene.fails(&["restore", &prefix]);
    assert_eq!(code, 12);
    assert!(said.contains("is ambiguous") && said.contains("one more character"), "{said}");
    assert!(two.iter().all(|short| said.contains(short)), "{said}");
    let (_, said) = scene.fails(&["restore", &prefix, "--json"]);
    let error: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&error["code"], &error["exit"]), (&"ref_ambiguous".into(), &12.into()));
    assert_eq!(error["candidates"].as_array().unwrap().len(), 2);
    scene.ok(&["restore", &two[0]]);
}

#[test]
fn paths_that_cannot_be_meant() {
    let scene = Scene::empty();
    scene.write("kept.txt", "");
    scene.ok(&["init", "--exclude", "/target"]);
    scene.ok(&["snapshot", "--tag", "one"]);
    let refused = [("..", 1), ("/etc/passwd", 1), ("nowhere", 1), ("target/x", 2)];
    for (path, expected) in refused {
        let (code, said) = scene.fails(&["restore", "one", "--", path]);
        assert_eq!(code, expected, "{path}: {said}");
        assert!(said.starts_with("error: ") && said.contains("\nhelp: "), "{said}");
    }
}

#[test]
fn a_damaged_pack() {
    let scene = Scene::new();
    scene.write("notes.txt", "one\n".repeat(1000));
    scene.ok(&["snapshot", "--tag", "one"]);
    let packs = scene.history().join("store/packs");
    let pack = std::fs::read_dir(packs).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&pack).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    std::fs::write(&pack, bytes).unwrap();
    let output = scene.run(&["verify", "--data", "--json"]);
    assert_eq!(output.status.code(), Some(14), "{}", stderr(&output));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["ok"], false);
    assert_eq!(found["problems"][0]["snapshots"][0], scene.ids()[0].0.as_str());
    let output = scene.run(&["verify", "--data"]);
    assert_eq!(output.status.code(), Some(14));
    assert!(String::from_utf8_lossy(&output.stdout).contains("incomplete: "));
    assert!(scene.ok(&["log"]).contains("the last snapshot is damaged"));
    assert!(scene.ok(&["status"]).contains("is not protected: the last snapshot is damaged"));
    let (code, said) = scene.fails(&["restore", "one"]);
    assert_eq!(code, 14, "{said}");
    assert!(!said.contains("cause:"), "{said}");
    assert!(said.contains("help: `wink verify --data` lists what is damaged"), "{said}");
    scene.write("notes.txt", "two\n");
    assert!(scene.ok(&["snapshot"]).contains("the previous one is missing or damaged"));
    assert!(scene.ok(&["status"]).contains("is protected."));
}

#[test]
fn a_directory_that_is_not_there() {
    let (code, said) = Scene::empty().fails(&["-C", "none", "status"]);
    assert_eq!(code, 1);
    assert!(said.contains("error: cannot find") && said.contains("\ncause: "), "{said}");
    assert!(said.contains("\nhelp: choose one that exists"), "{said}");
}

#[test]
fn settings_of_another_version() {
    let scene = Scene::new();
    std::fs::write(scene.history().join("workspace.json"), r#"{"version":99}"#).unwrap();
    let (code, said) = scene.fails(&["status"]);
    assert_eq!(code, 14);
    assert!(said.contains("were written by another version of wink"), "{said}");
}

#[test]
fn only_the_owner_may_read_a_history() {
    let scene = Scene::new();
    let history = scene.history();
    assert_eq!(mode_of(&history), 0o700);
    assert_eq!(mode_of(&history.join("store")), 0o700);
    assert_eq!(mode_of(&history.join("workspace.json")), 0o600);
}

#[test]
fn arguments_that_do_not_parse_are_told_as_asked_for() {
    let scene = Scene::new();
    let (code, said) = scene.fails(&["revert", "--json"]);
    let error: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &error["code"], &error["exit"]), (2, &"usage".into(), &2.into()));
    let (code, said) = scene.fails(&["revert"]);
    assert_eq!(code, 2);
    assert!(said.contains("Usage:"), "{said}");
}

/// `wink … | head` closes standard output before all is written.
#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let scene = Scene::new();
    scene.ok(&["snapshot"]);
    scene.write("long.txt", "a line of it\n".repeat(100_000));
    let mut diff = scene.wink_in(&scene.path("project"), &["diff"]);
    let mut child = diff.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
}

/// A directory that was a workspace has a history, also when it is empty.
#[test]
fn a_fork_takes_no_directory_that_has_a_history() {
    let scene = Scene::new();
    scene.write("a", "1");
    let other = scene.path("other");
    std::fs::create_dir(&other).unwrap();
    assert!(scene.wink_in(&other, &["init", "-q"]).output().unwrap().status.success());
    let (exit, said) = scene.fails(&["fork", "x", "--materialize", "../other"]);
    assert_eq!(exit, 1, "{said}");
    assert!(said.contains("already a workspace"), "{said}");
    assert!(scene.wink_in(&other, &["status"]).output().unwrap().status.success());
    assert_eq!(scene.ids().len(), 0, "nothing was done");
    scene.ok(&["fork", "x"]);
    let (_, said) = scene.fails(&["fork", "y", "--materialize", "sub"]);
    assert!(said.contains("is inside the workspace"), "{said}");
    let nested = scene.wink_in(&scene.path("project-x"), &["fork", "z"]).output().unwrap();
    assert!(!nested.status.success());
}

/// What a merge will need stays, whatever is pruned meanwhile.
#[test]
fn the_beginning_of_a_fork_is_not_pruned() {
    let scene = Scene::new();
    scene.write("a", "1");
    scene.ok(&["fork", "x"]);
    for round in 0..3 {
        scene.write("b", format!("{round}"));
        scene.ok(&["snapshot"]);
    }
    let begun = scene.ids()[0].clone();
    scene.ok(&["prune", "--keep", "1", "--yes"]);
    assert!(scene.ids().contains(&begun));
    std::fs::write(scene.path("project-x/a"), "2").unwrap();
    scene.ok(&["merge", "x"]);
    assert_eq!(scene.read("a"), "2");
    scene.ok(&["fork", "delete", "x", "--yes"]);
    scene.ok(&["snapshot"]);
    scene.ok(&["prune", "--keep", "1", "--yes"]);
    assert!(!scene.ids().contains(&begun));
}

/// Once, what was printed to be pasted had paths as they are: `rm -r /home/me/my project-x` takes `/home/me/my`.
#[test]
fn commands_that_are_printed_to_be_pasted_have_paths_that_a_shell_takes_whole() {
    let scene = Scene::empty();
    scene.write("my project/a", "");
    scene.ok(&["init", "my project", "-q"]);
    scene.ok(&["-C", "my project", "fork", "x", "-q"]);
    let (main, fork) = (scene.project("my project"), scene.project("my project-x"));
    let main = main.display();
    let listed = scene.wink_in(&fork, &["fork", "list"]).output().unwrap();
    assert!(stderr(&listed).contains(&format!("wink -C '{main}' merge x")), "{}", stderr(&listed));
    let refused = scene.wink_in(&fork, &["fork", "y"]).output().unwrap();
    assert!(stderr(&refused).contains(&format!("wink -C '{main}' …")), "{}", stderr(&refused));
    let dumped = scene.wink_in(&fork, &["session", "dump", "../my dump"]).output().unwrap();
    let place = scene.project("my dump");
    let line = format!("wink session load '{}/", place.display());
    assert!(stderr(&dumped).contains(&line), "{}", stderr(&dumped));
    std::fs::remove_dir_all(scene.project("my project")).unwrap();
    let (code, said) = scene.fails(&["-C", "my project", "status"]);
    assert_eq!(code, 15);
    assert!(said.contains(&format!("mkdir -p '{main}' && cd '{main}' && wink restore")), "{said}");
}

/// Once, each of them said too little to go on with.
#[test]
fn a_refusal_names_what_is_missing_and_what_is_accepted() {
    let scene = Scene::new();
    scene.write("a.txt", "one\none\n");
    scene.ok(&["snapshot"]);
    for (args, said) in [
        (&["revert", "--json"][..], "not provided: <A..B>"),
        (&["export", "/nonexistent/x.fs.zip"], "`/nonexistent` does not exist"),
        (&["fs", "edit", "a.txt", "nothing of it", "x"], "with `wink fs cat a.txt`."),
        (&["fs", "edit", "a.txt", "one", "x"], "or give `--all`."),
        (&["fs", "edit", "a.txt", "", "x"], "`wink fs write`"),
        (&["restore", "an hour ago"], "such as `10m ago` or `2 hours ago`"),
        (&["restore", "1 hour ago"], "is from `1 hour ago` or earlier"),
    ] {
        let (_, told) = scene.fails(args);
        assert!(told.contains(said), "{args:?}: {told}");
        assert!(!told.contains("read_file") && !told.contains("old_string"), "{told}");
    }
}

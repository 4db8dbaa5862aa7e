//! Which files are served.

use std::process::{Output, Stdio};

use serde_json::json;

use crate::mcp_stdio::scene::{Client, wink_in};

fn failing(args: &[&str]) -> (Output, String) {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    let output = wink_in(place.path()).arg("mcp").args(args).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.stdout.is_empty(), "only protocol on stdout");
    (output, stderr)
}

#[test]
fn a_directory_gets_a_history_outside_of_it_and_undo_works() {
    let mut client = Client::new(&[]);
    client.done("write_file", json!({"path": "src/a.txt", "content": "one\n"}));
    assert_eq!(std::fs::read_to_string(client.file("src/a.txt")).unwrap(), "one\n");
    client.done("undo", json!({}));
    assert!(!client.file("src/a.txt").exists());
    client.done("snapshot", json!({"tag": "kept"}));
    let log = wink_in(client.place.path()).arg("log").output().unwrap();
    assert!(String::from_utf8_lossy(&log.stdout).contains("kept"), "the command line sees it too");
}

#[test]
fn a_history_in_another_place_is_used_where_it_is_named() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    let store = place.path().join("elsewhere");
    let init = wink_in(place.path()).arg("init").arg("--store").arg(&store).output().unwrap();
    assert!(init.status.success());
    std::fs::remove_dir_all(place.path().join("data")).unwrap();
    let store = store.to_str().unwrap().to_owned();
    let mut client = Client::start_in(place, &["--store", &store]);
    client.request("initialize", crate::mcp_stdio::scene::initialize());
    client.done("snapshot", json!({"tag": "kept"}));
    let log = wink_in(client.place.path()).args(["log", "--store", &store]).output().unwrap();
    assert!(String::from_utf8_lossy(&log.stdout).contains("kept"));
}

#[test]
fn a_workspace_that_cannot_be_found_whole_gets_no_second_history_below_it() {
    for (damaged, words) in [(true, "cannot parse the settings"), (false, "there is no history in")]
    {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(place.path().join("work/src")).unwrap();
        let store = place.path().join("disk");
        let init = wink_in(place.path()).arg("init").arg("--store").arg(&store).output().unwrap();
        assert!(init.status.success());
        if damaged {
            std::fs::write(store.join("workspace.json"), "{}").unwrap()
        } else {
            std::fs::remove_dir_all(&store).unwrap()
        }
        let mut below = wink_in(place.path());
        let output = below.arg("mcp").current_dir(place.path().join("work/src")).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && stderr.contains(words), "{stderr}");
        let histories = std::fs::read_dir(place.path().join("data/wink")).unwrap().count();
        assert_eq!(histories, 1, "only the one that says where the history is");
    }
}

#[test]
fn absolute_paths_below_the_root_are_taken_and_others_refused() {
    let mut client = Client::new(&[]);
    let inside = client.file("a.txt").canonicalize().unwrap_or_else(|_| client.file("a.txt"));
    client.done("write_file", json!({"path": inside, "content": "x"}));
    assert!(client.file("a.txt").exists());
    let outside = json!({"path": client.place.path().join("home/b.txt"), "content": "x"});
    assert_eq!(client.refused("write_file", outside), "permission_denied");
}

#[test]
fn another_directory_is_served_by_its_name() {
    let place = tempfile::tempdir().unwrap();
    for name in ["work", "other"] {
        std::fs::create_dir(place.path().join(name)).unwrap();
    }
    std::fs::write(place.path().join("other/there.txt"), "").unwrap();
    let mut client = Client::start_in(place, &["--root", "../other"]);
    client.request("initialize", crate::mcp_stdio::scene::initialize());
    assert_eq!(client.done("ls", json!({}))["entries"][0]["name"], "there.txt");
}

#[test]
fn host_files_are_brought_into_memory_and_stay_as_they_are() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(place.path().join("work/docs")).unwrap();
    std::fs::write(place.path().join("work/docs/a.md"), "one\n").unwrap();
    let mut client = Client::start_in(place, &["--mount", "docs:given/docs"]);
    client.request("initialize", crate::mcp_stdio::scene::initialize());
    let edit = json!({"path": "given/docs/a.md", "old_string": "one", "new_string": "two"});
    client.done("edit_file", edit);
    assert_eq!(std::fs::read_to_string(client.file("docs/a.md")).unwrap(), "one\n");
}

#[test]
fn what_is_mounted_read_only_stays_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(place.path().join("work/docs")).unwrap();
    std::fs::write(place.path().join("work/docs/a.md"), "one\n").unwrap();
    let mut client = Client::start_in(place, &["--mount", "docs:given/docs:ro"]);
    client.request("initialize", crate::mcp_stdio::scene::initialize());
    for (name, arguments) in [
        ("edit_file", json!({"path": "given/docs/a.md", "old_string": "one", "new_string": "x"})),
        ("write_file", json!({"path": "given/docs/b.md", "content": "x"})),
        ("mkdir", json!({"path": "given/docs/c"})),
        ("rm", json!({"path": "given"})),
        ("mv", json!({"from": "given", "to": "taken"})),
        ("mv", json!({"from": "given/docs/a.md", "to": "taken"})),
    ] {
        assert_eq!(client.refused(name, arguments), "read_only", "{name}");
    }
    client.done("read_file", json!({"path": "given/docs/a.md"}));
    client.done("write_file", json!({"path": "given/beside.md", "content": "x"}));
    client.done("snapshot", json!({"tag": "kept"}));
    client.done("rm", json!({"path": "given/beside.md"}));
    client.done("restore", json!({"snapshot": "kept"}));
    client.done("undo", json!({}));
}

#[test]
fn a_home_directory_or_the_root_is_served_only_with_force() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    let started = |args: &[&str]| {
        let mut command = wink_in(place.path());
        command.args(args).env("HOME", place.path().join("work"));
        let output = command.stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for args in [
        &["mcp"][..],
        &["mcp", "--root", "."],
        &["mcp", "--root", "/"],
        &["mcp", "--root", ".", "--no-history"],
        &["mcp", "--root", ".", "--read-only"],
        &["serve", "--port", "0", "--root", "/"],
        &["serve", "--port", "0", "--workspace", "home=."],
    ] {
        let (code, stderr) = started(args);
        assert_eq!(code, Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains("--root") && stderr.contains("--force"), "{stderr}");
    }
    let (code, stderr) = started(&["mcp", "--root", ".", "--force"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("the history of"), "{stderr}");
}

/// Once, such a server offered every tool that writes, and what they deleted was gone.
#[test]
fn a_server_that_cannot_keep_a_history_does_not_start() {
    for command in [&["mcp"][..], &["serve", "--port", "0", "--root", "."]] {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("work")).unwrap();
        std::fs::write(place.path().join("data"), "no directory").unwrap();
        let output = wink_in(place.path()).args(command).stdin(Stdio::null()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty(), "{stderr}");
        let words = ["cannot keep a history of", "cause: ", "--no-history", "--store"];
        assert!(words.iter().all(|it| stderr.contains(it)), "{stderr}");
    }
}

#[test]
fn without_a_history_every_change_and_the_instructions_say_so() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    std::fs::write(place.path().join("data"), "no directory").unwrap();
    let mut client = Client::start_in(place, &["--no-history"]);
    let begun = client.request("initialize", crate::mcp_stdio::scene::initialize());
    let instructions = begun["result"]["instructions"].as_str().unwrap();
    assert!(instructions.contains("No history is kept"), "{instructions}");
    let mut said = |name: &str, arguments| {
        let answer = client.call(name, arguments);
        let text = answer["content"][0]["text"].as_str().unwrap().to_owned();
        text.contains("this cannot be undone")
    };
    assert!(said("write_file", json!({"path": "a", "content": "x"})));
    assert!(!said("read_file", json!({"path": "a"})));
    assert!(said("rm", json!({"path": "a"})));
    assert!(!said("rm", json!({"path": "a"})), "it changed nothing");
}

#[test]
fn what_cannot_be_had_is_said_and_nothing_begins() {
    for (args, words) in [
        (&["--backend", "podman", "--image=--privileged"][..], "is not the name of an image"),
        (&["--backend", "podman", "--mount", "a:b"], "into memory"),
        (&["--backend", "host", "--image", "a:1"], "use it with --backend podman"),
        (&["--mount", "missing:b:ro"], "cannot find"),
        (&["--backend", "memory", "--root", "."], "cannot be in memory"),
        (&["--backend", "host", "--mount", "a:b"], "into memory"),
        (&["--backend", "memory", "--no-history"], "have a history"),
        (&["--tools", "some"], "files, history or all"),
        (&["--root", "missing"], "cannot find"),
    ] {
        let (output, stderr) = failing(args);
        assert!(!output.status.success(), "{args:?}");
        assert!(stderr.contains(words), "{args:?}: {stderr}");
    }
}

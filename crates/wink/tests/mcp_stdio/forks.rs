//! Forks that an agent made and did not merge are forks that the user finds when the server has ended.

use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::mcp_stdio::scene::{Client, initialize, wink_in};

/// Runs a command of the same person in the workspace; returns what it says, and its exit code.
fn wink(client: &Client, args: &[&str]) -> (String, Option<i32>) {
    let output = wink_in(client.place.path()).args(args).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (String::from_utf8(said).unwrap(), output.status.code())
}

fn ok(client: &Client, args: &[&str]) -> String {
    let (said, code) = wink(client, args);
    assert_eq!(code, Some(0), "{args:?}: {said}");
    said
}

fn prepared() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    place
}

/// Calls a tool that refuses; returns what it says.
fn why(client: &mut Client, tool: &str, arguments: Value) -> String {
    let refused = client.call(tool, arguments);
    assert_eq!(refused["isError"], true, "{refused}");
    refused["structuredContent"]["message"].as_str().expect("words").to_owned()
}

/// Leaves a fork with a new file in it, and ends the server; returns what that said.
fn left() -> (Client, String) {
    let mut client = Client::start_telling(prepared(), &[], Stdio::piped());
    client.request("initialize", initialize());
    client.done("fork", json!({"name": "idea"}));
    client.done("write_file", json!({"path": "new.txt", "content": "tried\n", "fork": "idea"}));
    client.end();
    let told = std::io::read_to_string(client.child.stderr.take().unwrap()).unwrap();
    (client, told)
}

/// Once, it was only a snapshot, and `wink merge` knew of no such fork.
#[test]
fn a_fork_that_was_kept_is_merged_by_its_name() {
    let (client, told) = left();
    assert!(told.contains("bring it in with `wink merge idea`"), "{told}");
    assert!(ok(&client, &["fork", "list"]).starts_with("idea "));
    assert!(ok(&client, &["diff", "@", "idea", "--name-status"]).contains("new.txt"));
    assert!(!ok(&client, &["merge", "idea", "--dry-run"]).is_empty());
    assert!(!client.file("new.txt").exists());
    std::fs::write(client.file("ours.txt"), "ours").unwrap();
    ok(&client, &["merge", "idea"]);
    assert_eq!(std::fs::read_to_string(client.file("new.txt")).unwrap(), "tried\n");
    assert!(client.file("ours.txt").exists());
    let again: Value = serde_json::from_str(&ok(&client, &["merge", "idea", "--json"])).unwrap();
    assert_eq!(again["entries"], json!([]), "it is here already: {again}");
    ok(&client, &["undo"]);
    assert!(!client.file("new.txt").exists());
    ok(&client, &["merge", "idea"]);
    assert!(client.file("new.txt").exists(), "what was taken back can be merged again");
}

#[test]
fn a_fork_that_was_kept_stays_until_it_is_forgotten() {
    let (client, _) = left();
    for number in 0..3 {
        std::fs::write(client.file("a"), number.to_string()).unwrap();
        ok(&client, &["snapshot"]);
    }
    ok(&client, &["prune", "--keep", "1", "--yes"]);
    ok(&client, &["fork", "rename", "idea", "better"]);
    let listed: Value = serde_json::from_str(&ok(&client, &["fork", "list", "--json"])).unwrap();
    let fork = &listed["forks"][0];
    assert_eq!((&fork["name"], &fork["directory"]), (&json!("better"), &json!("")), "{listed}");
    assert_eq!(ok(&client, &["fs", "cat", "new.txt", "--at", "better"]), "tried\n");
    assert!(ok(&client, &["fork", "delete", "better", "--yes"]).contains("its snapshot stays"));
    let (said, code) = wink(&client, &["merge", "better"]);
    assert_ne!(code, Some(0), "{said}");
    assert_eq!(ok(&client, &["verify"]).matches("damaged").count(), 0);
}

#[test]
fn a_fork_that_a_person_made_is_named_as_on_the_command_line() {
    let mut client = Client::new(&[]);
    client.done("write_file", json!({"path": "a", "content": "one"}));
    ok(&client, &["fork", "attempt", "-q"]);
    std::fs::write(client.place.path().join("work-attempt/a"), "two").unwrap();
    let kept = wink_in(client.place.path()).args(["-C", "../work-attempt", "snapshot"]).status();
    assert!(kept.unwrap().success());
    let diff = client.done("diff", json!({"from": "attempt"}));
    assert_eq!(diff["hunks"][0]["lines"][0], "-two", "{diff}");
    client.done("restore", json!({"snapshot": "attempt"}));
    assert_eq!(std::fs::read_to_string(client.file("a")).unwrap(), "two");
}

/// Starts another server over the files of one that ended.
fn again(mut client: Client) -> Client {
    let place = std::mem::replace(&mut client.place, tempfile::tempdir().unwrap());
    Client::start_telling(place, &[], Stdio::piped())
}

/// Once, the next server refused to merge it, to enter it and to make another of its name, and said nothing else.
#[test]
fn a_fork_that_an_earlier_server_kept_is_merged_by_an_agent() {
    let mut client = again(left().0);
    client.request("initialize", initialize());
    let entered = json!({"path": "more.txt", "content": "", "fork": "idea"});
    let refused = why(&mut client, "write_file", entered);
    assert!(
        refused.contains("an earlier server kept it") && refused.contains("merge"),
        "{refused}"
    );
    let refused = why(&mut client, "fork", json!({"name": "idea"}));
    assert!(refused.contains("merge it"), "{refused}");
    std::fs::write(client.file("ours.txt"), "ours").unwrap();
    let rehearsed = client.done("merge", json!({"name": "idea", "dry_run": true}));
    assert!(!client.file("new.txt").exists(), "{rehearsed}");
    client.done("merge", json!({"name": "idea"}));
    assert_eq!(std::fs::read_to_string(client.file("new.txt")).unwrap(), "tried\n");
    assert!(client.file("ours.txt").exists());
    // What is done here since is no conflict: the merge is remembered, as that of a command.
    std::fs::write(client.file("new.txt"), "since\n").unwrap();
    let again = client.done("merge", json!({"name": "idea"}));
    assert!(
        again["message"].as_str().unwrap().starts_with("There is nothing to change"),
        "{again}"
    );
    let again: Value = serde_json::from_str(&ok(&client, &["merge", "idea", "--json"])).unwrap();
    assert_eq!((&again["entries"], &again["conflicts"]), (&json!([]), &json!([])), "{again}");
}

#[test]
fn a_fork_in_a_directory_is_left_to_the_person_who_made_it() {
    let mut client = Client::new(&[]);
    client.done("write_file", json!({"path": "a", "content": "one"}));
    ok(&client, &["fork", "attempt", "-q"]);
    let refused = why(&mut client, "merge", json!({"name": "attempt"}));
    assert!(refused.contains("ask for `wink merge attempt`"), "{refused}");
    assert!(!refused.contains(client.place.path().to_str().unwrap()), "{refused}");
}

#[test]
fn a_name_that_another_fork_got_meanwhile_gets_a_number() {
    let mut client = Client::start_telling(prepared(), &[], Stdio::piped());
    client.request("initialize", initialize());
    client.done("write_file", json!({"path": "theirs.txt", "content": "a person's\n"}));
    client.done("fork", json!({"name": "idea"}));
    // The fork has no work yet, so it is not recorded.
    ok(&client, &["fork", "idea", "-q"]);
    client.done("write_file", json!({"path": "new.txt", "content": "tried\n", "fork": "idea"}));
    client.end();
    let told = std::io::read_to_string(client.child.stderr.take().unwrap()).unwrap();
    assert!(told.contains("`wink merge idea-2`"), "{told}");
    assert_eq!(ok(&client, &["fs", "cat", "new.txt", "--at", "idea-2"]), "tried\n");
    assert_eq!(ok(&client, &["fs", "cat", "theirs.txt", "--at", "idea"]), "a person's\n");
}

/// Once, an agent could name neither of the two, and a person found the second under another name.
#[test]
fn a_name_that_a_fork_or_a_snapshot_has_is_given_to_no_other_by_an_agent() {
    let mut client = again(left().0);
    client.request("initialize", initialize());
    client.done("snapshot", json!({"tag": "before"}));
    ok(&client, &["fork", "theirs", "-q"]);
    for (tool, arguments) in [
        ("fork", json!({"name": "idea"})),
        ("fork", json!({"name": "theirs"})),
        ("fork", json!({"name": "before"})),
        ("snapshot", json!({"tag": "idea"})),
        ("snapshot", json!({"tag": "theirs"})),
    ] {
        assert_eq!(client.refused(tool, arguments.clone()), "already_exists", "{arguments}");
    }
    for taken in ["tag=idea", "tag=theirs"] {
        let (said, code) = wink(&client, &["tool", "snapshot", taken]);
        assert_eq!(code, Some(1), "{said}");
    }
}

/// Leaves a fork that was merged, and changed again.
fn left_after_a_merge() -> Client {
    let mut client = Client::new(&[]);
    client.done("write_file", json!({"path": "a", "content": "1"}));
    client.done("fork", json!({"name": "idea"}));
    client.done(
        "edit_file",
        json!({"path": "a", "old_string": "1", "new_string": "2", "fork": "idea"}),
    );
    client.done("merge", json!({"name": "idea"}));
    client.done(
        "edit_file",
        json!({"path": "a", "old_string": "2", "new_string": "3", "fork": "idea"}),
    );
    client.end();
    client
}

/// Once, what the agent merged before was forgotten: both sides had changed the same lines.
#[test]
fn a_fork_that_was_kept_is_merged_from_where_its_agent_merged_it_last() {
    let client = left_after_a_merge();
    assert_eq!(std::fs::read_to_string(client.file("a")).unwrap(), "2");
    ok(&client, &["prune", "--keep", "1", "--yes"]);
    ok(&client, &["merge", "idea"]);
    assert_eq!(std::fs::read_to_string(client.file("a")).unwrap(), "3");
}

#[test]
fn a_merge_that_a_person_took_back_is_not_where_a_kept_fork_is_merged_from() {
    let client = left_after_a_merge();
    ok(&client, &["undo"]);
    assert_eq!(std::fs::read_to_string(client.file("a")).unwrap(), "1");
    ok(&client, &["merge", "idea"]);
    assert_eq!(std::fs::read_to_string(client.file("a")).unwrap(), "3");
}

/// Once, the directory of its settings was taken for that of its files.
#[test]
fn a_fork_that_was_kept_has_no_directory_anywhere() {
    let (client, _) = left();
    let histories = client.place.path().join("data/wink");
    let count = || std::fs::read_dir(&histories).unwrap().count();
    let before = count();
    ok(&client, &["fork", "list"]);
    ok(&client, &["merge", "idea", "--dry-run"]);
    assert_eq!(count(), before);
    let (said, code) = wink(&client, &["tag", "idea"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("`idea` is a fork that an agent made"), "{said}");
    assert!(!said.contains("branches/idea"), "{said}");
}

/// Once, no agent could name any state by a tag or an id any more.
#[test]
fn a_damaged_fork_does_not_prevent_naming_other_states() {
    let mut client = Client::new(&[]);
    client.done("write_file", json!({"path": "a", "content": "one"}));
    let taken = client.done("snapshot", json!({"tag": "before"}));
    client.done("write_file", json!({"path": "a", "content": "two"}));
    for name in ["other", "whole"] {
        ok(&client, &["fork", name, "-q"]);
    }
    let histories = std::fs::read_dir(client.place.path().join("data/wink")).unwrap();
    let damaged = histories.map(|it| it.unwrap().path().join("branches/other/workspace.json"));
    std::fs::write({ damaged }.find(|it| it.exists()).unwrap(), "{}").unwrap();
    for name in [json!("before"), taken["id"].clone(), json!("whole")] {
        let diff = client.done("diff", json!({"from": name}));
        assert_eq!(diff["change_count"] == 0, name == "whole", "{diff}");
    }
    client.done("restore", json!({"snapshot": "before"}));
    assert_eq!(std::fs::read_to_string(client.file("a")).unwrap(), "one");
    assert_eq!(client.refused("diff", json!({"from": "other"})), "unavailable");
    ok(&client, &["diff", "before", "whole"]);
}

/// Once, all that was done in it was lost with the directory.
#[test]
fn a_fork_is_kept_although_the_directory_is_deleted_and_something_else_has_its_place() {
    for comes_again in [false, true] {
        let mut client = Client::start_telling(prepared(), &[], Stdio::piped());
        client.request("initialize", initialize());
        client.done("write_file", json!({"path": "a", "content": "one"}));
        client.done("fork", json!({"name": "idea"}));
        client.done("write_file", json!({"path": "before", "content": "1", "fork": "idea"}));
        std::fs::remove_dir_all(client.file("")).unwrap();
        if comes_again {
            std::fs::create_dir(client.file("")).unwrap();
            std::fs::write(client.file("other"), "2").unwrap();
        }
        client.done("write_file", json!({"path": "after", "content": "3", "fork": "idea"}));
        assert_eq!(client.refused("merge", json!({"name": "idea"})), "unavailable");
        client.end();
        let told = std::io::read_to_string(client.child.stderr.take().unwrap()).unwrap();
        assert!(told.contains("bring it in with `wink merge idea`"), "{told}");
        std::fs::create_dir_all(client.file("")).unwrap();
        ok(&client, &["merge", "idea"]);
        for (name, content) in [("before", "1"), ("after", "3")] {
            assert_eq!(std::fs::read_to_string(client.file(name)).unwrap(), content);
        }
        assert_eq!(client.file("other").exists(), comes_again);
    }
}

#[test]
fn a_fork_of_a_fork_is_kept_as_a_snapshot_and_brought_in_as_is_said() {
    let mut outer = Client::new(&[]);
    outer.done("write_file", json!({"path": "a", "content": "one\ntwo\nthree\nfour\nfive\n"}));
    ok(&outer, &["fork", "attempt", "-q"]);
    let root = outer.place.path().join("work-attempt");
    let mut command = wink_in(outer.place.path());
    command.args(["mcp", "--root", "../work-attempt"]);
    let mut client = Client::of(command, tempfile::tempdir().unwrap(), Stdio::piped());
    client.request("initialize", initialize());
    client.done("fork", json!({"name": "idea"}));
    let edit = json!({"path": "a", "old_string": "one", "new_string": "ONE", "fork": "idea"});
    client.done("edit_file", edit);
    let edit = json!({"path": "a", "old_string": "five", "new_string": "FIVE"});
    client.done("edit_file", edit);
    client.end();
    let told = std::io::read_to_string(client.child.stderr.take().unwrap()).unwrap();
    let command = told.rsplit_once("bring it in with `wink ").expect("it is said").1;
    let command: Vec<_> = command.split_once('`').unwrap().0.split(' ').collect();
    let brought =
        wink_in(outer.place.path()).args(["-C", "../work-attempt"]).args(command).output();
    assert!(brought.unwrap().status.success(), "{told}");
    let text = std::fs::read_to_string(root.join("a")).unwrap();
    assert_eq!(text, "ONE\ntwo\nthree\nfour\nFIVE\n");
}

/// Once, it said that no tool has the parameter, because it asked whether `fork` itself has it.
#[test]
fn a_new_fork_is_not_said_to_be_out_of_reach_where_tools_take_it() {
    let mut client = Client::new(&[]);
    let made = client.done("fork", json!({"name": "idea"}));
    assert!(!made.to_string().contains("No tool has"), "{made}");
    client.done("write_file", json!({"path": "a", "content": "1", "fork": "idea"}));
    assert!(!client.file("a").exists());
}

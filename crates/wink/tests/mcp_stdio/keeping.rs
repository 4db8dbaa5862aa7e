//! What an agent did can be taken back, however much it did and however it ended.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::mcp_stdio::scene::{Client, initialize, wink_in};

/// Runs a command of the same person in the workspace.
fn wink(client: &Client, args: &[&str]) -> String {
    let output = wink_in(client.place.path()).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_an_agent_removed_comes_back_although_it_did_much_since() {
    let mut client = Client::new(&[]);
    std::fs::write(client.file("orig"), "ORIGINAL\n").unwrap();
    client.done("rm", json!({"path": "orig"}));
    for number in 0..210 {
        client.done("write_file", json!({"path": format!("log{number}"), "content": "x"}));
    }
    client.end();
    let log = wink(&client, &["log"]);
    assert_eq!(log.matches("after 100 more changes by agents").count(), 2, "{log}");
    assert!(log.contains("before the first change by an agent"), "{log}");
    let found = wink(&client, &["search", "ORIGINAL"]);
    assert!(found.contains("orig"), "{found}");
    wink(&client, &["restore", "@-3"]);
    assert_eq!(std::fs::read_to_string(client.file("orig")).unwrap(), "ORIGINAL\n");
}

/// R10: a user who looks later knows which agent it was, in either era, and what no call changed.
#[test]
fn operations_name_the_client_and_a_restore_names_what_others_changed() {
    let mut client = Client::new(&[]);
    std::fs::write(client.file("mine"), "before\n").unwrap();
    wink(&client, &["snapshot", "--tag", "before"]);
    client.done("write_file", json!({"path": "a", "content": "x"}));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "the present one", "version": "7"},
    });
    let write = json!({"path": "b", "content": "x"});
    client.request("tools/call", json!({"name": "write_file", "arguments": write, "_meta": meta}));
    std::fs::write(client.file("mine"), "by a person\n").unwrap();
    let log = wink(&client, &["op", "log"]);
    let process = format!("wink, process {}", client.child.id());
    let by: Vec<_> = log.lines().map(|line| line.split_once(" · ").unwrap().1).collect();
    assert_eq!(by, [format!("the present one 7, {process}"), format!("test 1, {process}")]);

    let told = wink(&client, &["--json", "restore", "before", "--dry-run"]);
    assert!(told.contains(r#""changed_outside":["mine"]"#), "{told}");
    let restored = wink_in(client.place.path()).args(["restore", "before"]).output().unwrap();
    let said = String::from_utf8(restored.stderr).unwrap();
    let note = "note: also replaced, although other programs changed them after the last \
                snapshot:\n  mine\nundo: wink undo\n";
    assert_eq!(said, note);
    wink(&client, &["undo"]);
    assert_eq!(std::fs::read_to_string(client.file("mine")).unwrap(), "by a person\n");
}

/// Once, every 100 refused calls made another snapshot of the same files, and those pushed out the one that
/// a person had taken.
#[test]
fn calls_that_are_refused_push_no_snapshot_out() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    std::fs::write(place.path().join("work/a"), "precious\n").unwrap();
    for args in
        [&["init"][..], &["config", "set", "retention.count", "3"], &["snapshot", "-m", "precious"]]
    {
        assert!(wink_in(place.path()).args(args).output().unwrap().status.success(), "{args:?}");
    }
    std::fs::write(place.path().join("work/a"), "changed by hand\n").unwrap();
    let mut client = Client::start_in(place, &[]);
    client.request("initialize", initialize());
    client.done("write_file", json!({"path": "b", "content": "one\n"}));
    let edit = json!({"path": "b", "old_string": "nowhere", "new_string": "x"});
    for _ in 0..150 {
        let refused = client.call("edit_file", edit.clone()).to_string();
        assert!(refused.contains("Nothing was changed in b"), "{refused}");
        client.refused("rm", json!({"path": "nope"}));
        client.refused("write_file", json!({"path": "a", "content": "unread"}));
    }
    client.end();
    let log = wink(&client, &["log"]);
    assert!(log.contains("precious"), "{log}");
    assert!(log.contains("when the server of an agent began"), "{log}");
    assert!(!log.contains("more changes by agents"), "{log}");
}

#[test]
fn what_the_last_snapshot_holds_is_not_kept_again() {
    let mut client = Client::new(&[]);
    for number in 0..210 {
        let content = if number % 2 == 0 { "one" } else { "two" };
        client.done("write_file", json!({"path": "a", "content": content}));
        if number == 99 || number == 199 {
            client.done("snapshot", json!({"message": format!("by the agent {number}")}));
        }
    }
    client.end();
    let log = wink(&client, &["log"]);
    assert_eq!(log.matches("by the agent").count(), 2, "{log}");
    assert!(!log.contains("more changes by agents"), "{log}");
}

/// Once, the state was not kept that a person had gone back to, because its old snapshot was still there; and
/// that went when the agent took others.
#[test]
fn an_old_state_that_was_restored_is_kept_before_an_agent_changes_it() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    let wink_here = |args: &[&str]| {
        let output = wink_in(place.path()).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
    };
    wink_here(&["init"]);
    wink_here(&["config", "set", "retention.count", "3"]);
    for content in ["ORIGINAL", "two", "three"] {
        std::fs::write(place.path().join("work/a"), content).unwrap();
        wink_here(&["snapshot"]);
    }
    wink_here(&["restore", "@-3"]);
    let mut client = Client::start_in(place, &[]);
    client.request("initialize", initialize());
    for content in ["four", "five"] {
        client.done("read_file", json!({"path": "a"}));
        client.done("write_file", json!({"path": "a", "content": content}));
        client.done("snapshot", json!({}));
    }
    client.end();
    let log = wink(&client, &["log"]);
    assert!(log.contains("when the server of an agent began"), "{log}");
    assert!(wink(&client, &["search", "ORIGINAL"]).contains('a'));
}

#[test]
fn a_repository_that_comes_while_the_server_runs_is_left_alone() {
    let mut client = Client::new(&[]);
    client.done("write_file", json!({"path": "a", "content": "one"}));
    client.done("snapshot", json!({"tag": "before"}));
    std::fs::create_dir(client.file(".git")).unwrap();
    std::fs::write(client.file(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    client.done("snapshot", json!({"tag": "after"}));
    client.done("restore", json!({"snapshot": "before"}));
    assert!(client.file(".git/HEAD").exists());
    client.end();
    assert!(!wink(&client, &["diff", "before", "after", "--name-status"]).contains(".git"));
}

/// Once, a secret came back with the next snapshot of a server that was not started again.
#[test]
fn what_a_person_takes_out_is_excluded_by_the_server_that_runs() {
    let mut client = Client::new(&[]);
    client.done("write_file", json!({"path": ".env", "content": "TOKEN=secret"}));
    client.done("write_file", json!({"path": "a", "content": "one"}));
    client.done("snapshot", json!({"tag": "before"}));
    client.done("fork", json!({"name": "idea"}));
    let write = json!({"path": "a", "content": "two", "fork": "idea"});
    client.done("read_file", json!({"path": "a", "fork": "idea"}));
    client.done("write_file", write);
    let said = wink(&client, &["prune", "--path", ".env", "--yes"]);
    assert!(said.contains("also in running servers"), "{said}");
    std::fs::write(client.file("a"), "three").unwrap();
    let diff = client.done("diff", json!({}));
    assert_eq!(diff["changes"], json!([{"change": "M", "path": "a"}]), "{diff}");
    client.done("snapshot", json!({"tag": "after"}));
    client.done("restore", json!({"snapshot": "before"}));
    client.done("undo", json!({}));
    assert_eq!(std::fs::read_to_string(client.file(".env")).unwrap(), "TOKEN=secret");
    assert_eq!(std::fs::read_to_string(client.file("a")).unwrap(), "three");
    client.end();
    assert!(wink(&client, &["log"]).contains("fork idea"), "the fork is kept");
    let found = wink_in(client.place.path()).args(["search", "TOKEN"]).output().unwrap();
    assert_eq!(found.status.code(), Some(1), "{found:?}");
}

#[test]
fn what_a_person_sets_is_heeded_by_the_server_that_runs() {
    let mut client = Client::new(&[]);
    client.done("write_file", json!({"path": "x.log", "content": "1"}));
    client.done("snapshot", json!({"tag": "with"}));
    wink(&client, &["config", "add", "exclude", "*.log"]);
    client.done("snapshot", json!({"tag": "without"}));
    wink(&client, &["config", "remove", "exclude", "*.log"]);
    client.done("snapshot", json!({"tag": "again"}));
    for (tag, holds) in [("with", true), ("without", false), ("again", true)] {
        let held = wink(&client, &["fs", "ls", "--at", tag]);
        assert_eq!(held.contains("x.log"), holds, "{tag}: {held}");
    }
}

#[test]
fn settings_that_cannot_be_read_keep_the_server_from_taking_snapshots_and_from_nothing_else() {
    let mut client = Client::new(&[]);
    let mut histories = std::fs::read_dir(client.place.path().join("data/wink")).unwrap();
    let settings = histories.next().unwrap().unwrap().path().join("workspace.json");
    std::fs::write(settings, "{}").unwrap();
    client.done("write_file", json!({"path": "a", "content": "1"}));
    assert_eq!(client.refused("snapshot", json!({"tag": "one"})), "unavailable");
    client.done("read_file", json!({"path": "a"}));
}

#[test]
fn what_was_done_in_a_fork_is_kept_when_its_server_ends() {
    let mut client = Client::new(&[]);
    client.done("fork", json!({"name": "idea"}));
    client.done("fork", json!({"name": "idle"}));
    let precious = json!({"path": "precious", "content": "hours of work\n", "fork": "idea"});
    client.done("write_file", precious);
    client.end();
    let log = wink(&client, &["log"]);
    assert!(log.contains("fork idea, as its server kept it"), "{log}");
    assert!(!log.contains("fork idle, as"), "{log}");
    assert!(wink(&client, &["search", "hours"]).contains("precious"));
}

/// Once, a fork that was merged completely was forgotten, and so was its work when the merge was undone.
#[test]
fn the_work_of_an_undone_merge_is_kept_when_its_server_is_killed() {
    let mut client = Client::new(&[]);
    client.done("fork", json!({"name": "idea"}));
    client.done("write_file", json!({"path": "new.txt", "content": "tried", "fork": "idea"}));
    client.done("merge", json!({"name": "idea"}));
    // This finds nothing that is not merged, and forgets what was kept.
    client.done("mkdir", json!({"path": "d", "fork": "idea"}));
    client.done("rm", json!({"path": "d", "fork": "idea"}));
    client.done("undo", json!({}));
    assert!(!client.file("new.txt").exists());
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    let merged = wink_in(client.place.path()).args(["merge", "idea"]).output().unwrap();
    assert!(merged.status.success(), "{}", String::from_utf8_lossy(&merged.stderr));
    assert_eq!(std::fs::read_to_string(client.file("new.txt")).unwrap(), "tried");
}

/// Once, only a server that ended in its own time kept its forks; Codex kills it 15 ms after it asked it to end.
#[test]
fn what_was_done_in_a_fork_is_kept_when_its_server_is_killed() {
    let mut client = Client::new(&[]);
    for name in ["idea", "idle", "removed", "merged"] {
        client.done("fork", json!({"name": name}));
    }
    for (fork, content) in [("idea", "one"), ("idea", "two"), ("removed", "x"), ("merged", "y")] {
        let write = json!({"path": format!("{fork}.txt"), "content": content, "fork": fork});
        client.done("write_file", write);
    }
    client.done("fork", json!({"name": "removed", "remove": true}));
    client.done("merge", json!({"name": "merged"}));
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    let forks = wink(&client, &["fork", "list"]);
    assert!(forks.contains("idea") && !forks.contains("idle"), "{forks}");
    assert!(!forks.contains("removed"), "{forks}");
    let log = wink(&client, &["log"]);
    assert_eq!(log.matches("fork idea, as its server kept it").count(), 1, "{log}");
    assert!(wink(&client, &["merge", "merged"]).contains("othing"), "it is merged already");
    wink(&client, &["merge", "idea"]);
    assert_eq!(std::fs::read_to_string(client.file("idea.txt")).unwrap(), "two");
}

#[test]
fn forks_are_kept_however_politely_the_server_is_ended() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut client = Client::new(&[]);
        client.done("fork", json!({"name": "idea"}));
        client.done("write_file", json!({"path": "a", "content": "1", "fork": "idea"}));
        kill_process(Pid::from_child(&client.child), signal).unwrap();
        assert_eq!(client.child.wait().unwrap().code(), Some(0), "{signal:?}");
        let log = wink(&client, &["log"]);
        assert!(log.contains("fork idea, as its server kept it"), "{signal:?}: {log}");
    }
}

#[test]
fn what_could_not_be_kept_is_said_to_a_person() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    let mut client = Client::start_telling(place, &["--quiet"], Stdio::piped());
    client.request("initialize", initialize());
    client.done("fork", json!({"name": "idea"}));
    client.done("write_file", json!({"path": "a", "content": "1", "fork": "idea"}));
    let mut histories = std::fs::read_dir(client.place.path().join("data/wink")).unwrap();
    let packs = histories.next().unwrap().unwrap().path().join("store/packs");
    std::fs::rename(&packs, client.place.path().join("away")).unwrap();
    std::fs::write(client.file("new"), "not kept yet").unwrap();
    for _ in 0..2 {
        client.call("write_file", json!({"path": "b", "content": "1"}));
    }
    client.end();
    let told = std::io::read_to_string(client.child.stderr.take().unwrap()).unwrap();
    assert_eq!(told.matches("warning: no automatic snapshot").count(), 1, "{told}");
    assert!(told.contains("warning: the fork idea could not be kept: "), "{told}");
}

#[test]
fn a_call_in_a_fork_is_undone_there_and_nothing_else() {
    let mut client = Client::new(&[]);
    client.done("write_file", json!({"path": "ours", "content": "1"}));
    client.done("fork", json!({"name": "idea"}));
    client.done("write_file", json!({"path": "theirs", "content": "1", "fork": "idea"}));
    let undone = client.done("undo", json!({"fork": "idea"}));
    assert!(undone.to_string().contains("theirs"), "{undone}");
    assert!(client.file("ours").exists());
    assert_eq!(client.refused("undo", json!({"fork": "idea"})), "not_found");
}

/// Makes a workspace with one file and a history.
fn workspace_with_file() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    std::fs::write(place.path().join("work/f"), "ORIGINAL\n").unwrap();
    assert!(wink_in(place.path()).args(["init", "-q"]).status().unwrap().success());
    place
}

/// Once, with all tools the first snapshot waited for the first change by a tool of wink.
#[test]
fn a_file_that_the_agents_own_shell_deletes_first_can_be_restored() {
    for tools in ["all", "history", "files"] {
        let mut client = Client::start_in(workspace_with_file(), &["--tools", tools]);
        client.request("initialize", initialize());
        std::fs::remove_file(client.file("f")).unwrap();
        let log = wink(&client, &["log"]);
        assert!(log.contains("when the server of an agent began"), "{tools}: {log}");
        wink(&client, &["restore", "@-"]);
        assert_eq!(std::fs::read_to_string(client.file("f")).unwrap(), "ORIGINAL\n");
    }
}

/// Once, a first snapshot that failed was given up after one line on standard error.
#[test]
fn a_first_snapshot_that_takes_long_or_fails_is_said_and_tried_again() {
    let place = workspace_with_file();
    let mut histories = std::fs::read_dir(place.path().join("data/wink")).unwrap();
    let store = histories.next().unwrap().unwrap().path().join("store");
    let lock = std::fs::File::create(store.join("publish.lock")).unwrap();
    lock.lock().unwrap();
    let mut client = Client::start_in(place, &[]);
    let began = Instant::now();
    client.request("initialize", initialize());
    assert!(began.elapsed() < Duration::from_secs(4), "it waits no longer than a second");
    let mut said = || client.call("ls", json!({}))["content"][0]["text"].to_string();
    assert!(said().contains("first snapshot is still being taken"), "{}", said());
    let mut wait_until = |is_reached: &dyn Fn(&str) -> bool| {
        while !is_reached(&said()) {
            assert!(began.elapsed() < Duration::from_secs(60), "{}", said());
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait_until(&|said| said.contains("no snapshot could be taken yet"));
    drop(lock);
    wait_until(&|said| !said.contains("snapshot"));
    assert!(wink(&client, &["log"]).contains("when the server of an agent began"));
}

/// Once, a server in a project that was moved began another history without a word of the one it had.
#[test]
fn a_server_that_begins_a_history_names_those_without_a_directory() {
    let place = tempfile::tempdir().unwrap();
    for name in ["work", "old"] {
        std::fs::create_dir(place.path().join(name)).unwrap();
    }
    assert!(wink_in(place.path()).args(["init", "../old", "-q"]).status().unwrap().success());
    std::fs::remove_dir(place.path().join("old")).unwrap();
    let mut client = Client::start_telling(place, &[], Stdio::piped());
    client.request("initialize", initialize());
    client.end();
    let told = std::io::read_to_string(client.child.stderr.take().unwrap()).unwrap();
    assert!(told.contains("`wink init --moved-from OLD`") && told.contains("/old`"), "{told}");
}

/// Once, an agent that took many snapshots pushed out all that the user had taken, and neither was told.
#[test]
fn an_agent_that_takes_many_snapshots_pushes_out_only_its_own_and_is_told() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    std::fs::write(place.path().join("work/a"), "precious\n").unwrap();
    for args in
        [&["init"][..], &["config", "set", "retention.count", "3"], &["snapshot", "-m", "precious"]]
    {
        assert!(wink_in(place.path()).args(args).output().unwrap().status.success(), "{args:?}");
    }
    std::fs::write(place.path().join("work/a"), "not kept by anybody\n").unwrap();
    let mut client = Client::start_in(place, &[]);
    client.request("initialize", initialize());
    let mut said = Vec::new();
    for number in 0..8 {
        client.done("write_file", json!({"path": format!("b{number}"), "content": "x"}));
        let kept = client.call("snapshot", json!({"message": format!("number {number}")}));
        said.push(kept.to_string());
    }
    client.end();
    assert!(said[..3].iter().all(|it| !it.contains("went")), "{said:?}");
    let went = "Pruned 1 old snapshot without a tag to free space; one with a tag stays.";
    assert!(said[3..].iter().all(|it| it.contains(went)), "{said:?}");
    let log = wink(&client, &["log"]);
    assert!(log.contains("precious") && log.contains("when the server"), "{log}");
    assert!(log.contains("number 7") && !log.contains("number 4"), "{log}");
}

/// Once, an agent's undo took back what a person had done last.
#[test]
fn an_undo_stays_within_the_session_unless_it_names_an_operation() {
    let mut client = Client::new(&[]);
    client.done("write_file", json!({"path": "ours", "content": "1"}));
    wink(&client, &["fs", "mkdir", "mine"]);
    client.done("undo", json!({}));
    assert!(!client.file("ours").exists() && client.file("mine").exists());
    let refused = client.call("undo", json!({}));
    let message = refused["structuredContent"]["message"].as_str().unwrap();
    assert!(message.contains("operation 2 (mkdir) by wink, process "), "{message}");
    assert!(client.file("mine").exists());
    client.done("undo", json!({"operation": 2}));
    assert!(!client.file("mine").exists());
    assert_eq!(client.refused("undo", json!({"operation": 2})), "not_found");
}

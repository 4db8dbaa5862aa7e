//! What a program changed is listed, and can be taken back.

use std::sync::Arc;

use serde_json::{Value, json};
use wink_agent::exec::{Executed, HostExecutor, ScriptedExecutor};
use wink_agent::file_index::Follower;
use wink_agent::session::{Session, VirtualFileSystem};
use wink_agent::{ToolContext, ToolError, Toolset};
use wink_fs::{ErrorKind, HostBackend, Store, TreePath, Workspace, WriteOptions, ops};

use crate::execution::scene::{Scene, changing, hash, on_each_backend, shell};

#[test]
fn what_changed_is_listed_and_undone() {
    let scene = Scene::new();
    for path in ["changed.txt", "gone.txt", "same.txt", "d/moved.txt"] {
        scene.files.write(path, "before\n").unwrap();
    }
    let before = hash(&scene.files);
    let command = "echo after > changed.txt; rm gone.txt; mv d/moved.txt .; rmdir d; mkdir -p new/deep; \
                   echo x > new/deep/x; ln -s x new/link; chmod +x same.txt; touch empty";
    let result = scene.run(command);
    let (_, changes) = result.message.split_once("7 paths changed, which undo reverses:").unwrap();
    let lines: Vec<&str> = changes.trim().lines().collect();
    assert_eq!(
        lines,
        ["M changed.txt", "D d", "A empty", "D gone.txt", "A moved.txt", "A new", "M same.txt"]
    );
    let undone = Toolset::ALL.call(&scene.context, "undo", json!({}));
    assert!(undone.message.starts_with("Undid shell_execute"), "{}", undone.message);
    assert_eq!(hash(&scene.files), before);
}

#[test]
fn commands_and_other_calls_are_undone_in_turn() {
    let scene = Scene::new();
    let mut states = vec![hash(&scene.files)];
    for round in 0..3 {
        scene.run(&format!("echo {round} >> log; mkdir d{round}"));
        states.push(hash(&scene.files));
        let write = json!({"path": "log", "content": "more\n", "mode": "append"});
        assert!(Toolset::ALL.call(&scene.context, "write_file", write).ok());
        states.push(hash(&scene.files));
        // What changes nothing is nothing to undo.
        scene.run("cat log");
    }
    while let Some(state) = states.pop() {
        assert_eq!(hash(&scene.files), state);
        if !states.is_empty() {
            assert!(Toolset::ALL.call(&scene.context, "undo", json!({})).ok());
        }
    }
}

#[test]
fn commands_that_change_nothing_leave_nothing_in_the_history() {
    let scene = Scene::new();
    (0..3).for_each(|_| drop(scene.run("true")));
    assert!(scene.files.snapshots().unwrap().is_empty());
    assert!(scene.files.operations().unwrap().is_empty());
}

#[test]
fn an_executor_that_fails_or_panics_changes_nothing() {
    let refuse = || Err(ToolError::new(ErrorKind::Unavailable, "The container is gone."));
    for (executor, code) in
        [(changing(refuse), "unavailable"), (changing(|| panic!("a bug")), "io")]
    {
        let executor = Arc::new(executor);
        on_each_backend(|files| {
            files.write("kept.txt", "kept").unwrap();
            let before = hash(files);
            let context = ToolContext::over(files).executor(executor.clone());
            let result = shell(&context, json!({"command": "make"}));
            assert_eq!(result.code(), Some(code), "{}", result.message);
            assert_eq!(hash(files), before);
            // What others may have saved while it ran can be found.
            let snapshots = files.snapshots().unwrap();
            assert!(snapshots.iter().all(|it| it.cause == wink_fs::SnapshotCause::Safety));
        });
    }
}

#[test]
fn a_script_changes_files_on_each_backend_and_is_undone() {
    on_each_backend(|files| {
        files.write("kept.txt", "kept").unwrap();
        let before = hash(files);
        let executor = Arc::new(changing(|| Ok(Executed::exit(1))));
        let context = ToolContext::over(files).executor(executor);
        let result = shell(&context, json!({"command": "make"}));
        assert!(result.message.ends_with(":\nM kept.txt\nA new"), "{}", result.message);
        assert!(Toolset::ALL.call(&context, "undo", json!({})).ok());
        assert_eq!(hash(files), before);
    });
}

/// The answer named a diff with the snapshot that was taken last, which is another one.
#[test]
fn of_many_changes_the_printed_calls_of_diff_show_every_path_once() {
    on_each_backend(|files| {
        files.write("old.txt", "old").unwrap();
        files.snapshot("start").unwrap();
        files.write("before.txt", "not by the program").unwrap();
        let executor = ScriptedExecutor::new(|_, place| {
            for number in 0..123 {
                let path = TreePath::parse(&format!("f{number:03}"))?;
                ops::write(place.files, &path, "new", &WriteOptions::default())?;
            }
            Ok(Executed::exit(0))
        });
        let context = ToolContext::over(files).executor(Arc::new(executor));
        let result = shell(&context, json!({"command": "make"}));
        let saved = files.find_snapshot(result.value["saved"].as_str().unwrap()).unwrap();
        assert_eq!(result.value["change_count"], 123);
        let mut next = next_diff(&result.message).unwrap();
        assert_eq!(next, json!({"from": saved.id.short(), "lines": false}));
        let mut seen = Vec::new();
        loop {
            let page = Toolset::ALL.call(&context, "diff", next);
            assert!(page.ok(), "{}", page.message);
            seen.extend(
                page.message.lines().filter_map(|line| line.strip_prefix("A ")).map(str::to_owned),
            );
            match next_diff(&page.message) {
                Some(more) => next = more,
                None => break,
            }
        }
        let all: Vec<_> = (0..123).map(|number| format!("f{number:03}")).collect();
        assert_eq!(seen, all);
        let past = Toolset::ALL.call(&context, "diff", json!({"from": "start", "offset": 500}));
        assert!(
            past.message.ends_with("offset 500 is past the end of 124 paths."),
            "{}",
            past.message
        );
    });
}

/// Returns the arguments of the next call that an answer prints.
fn next_diff(message: &str) -> Option<Value> {
    let (_, next) = message.split_once(" Next call: diff ")?;
    serde_json::from_str(next.lines().next()?).ok()
}

#[test]
fn commands_that_change_nothing_name_no_snapshot() {
    let result = Scene::new().run("true");
    assert_eq!((&result.value["saved"], &result.value["change_count"]), (&Value::Null, &json!(0)));
}

#[test]
fn the_listing_of_a_session_follows_commands() {
    let place = tempfile::tempdir().unwrap();
    let (root, store) = (place.path().join("root"), place.path().join("store"));
    std::fs::create_dir(&root).unwrap();
    let builder = Workspace::builder(HostBackend::open_ambient(&root).unwrap())
        .store(Store::create_ambient(&store).unwrap());
    let session = Session::new();
    let (files, follower) = Follower::begin(&session, builder).unwrap();
    let executor = Arc::new(HostExecutor::unsafe_on_this_machine().unwrap());
    let context = ToolContext::over(&files).session(&session).follower(Arc::new(follower));
    let context = context.executor(executor);
    assert!(shell(&context, json!({"command": "echo hi > a.txt"})).ok());
    let listing = session.query::<VirtualFileSystem>().unwrap().latest().unwrap();
    let paths: Vec<String> = listing.files().map(|file| file.path.to_string()).collect();
    assert_eq!(paths, ["a.txt"]);
}

#[test]
fn without_a_history_it_is_said_that_changes_are_not_known() {
    let place = tempfile::tempdir().unwrap();
    let files = Workspace::host(place.path()).unwrap();
    let executor = Arc::new(HostExecutor::unsafe_on_this_machine().unwrap());
    let context = ToolContext::over(&files).executor(executor);
    let result = shell(&context, json!({"command": "echo hi > a.txt"}));
    assert!(result.ok() && files.is_file("a.txt"));
    assert!(result.message.ends_with("because this workspace keeps no history."));
}

/// It was said that no file changed.
#[test]
fn of_what_is_excluded_it_is_said_that_no_change_is_seen_or_taken_back() {
    let scene = Scene::excluding(["target/"]);
    let built = scene.run("mkdir -p target; echo built > target/out");
    let excluded = "\nExcluded by setting, so changes there are neither seen nor undone: target/.";
    let expected = format!("\nNo captured file changed.{excluded}");
    assert!(built.message.ends_with(&expected), "{}", built.message);
    let both = scene.run("echo more > target/out; echo new > a.txt").message;
    assert!(both.contains("\nA a.txt") && both.ends_with(excluded), "{both}");
    assert!(scene.run("true").message.ends_with(&expected));
}

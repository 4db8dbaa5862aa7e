//! Nothing goes on when a command has ended, and it ends when it has to.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;
use wink_agent::exec::HostExecutor;
use wink_agent::{ToolContext, ToolResult, Toolset};
use wink_fs::Workspace;

use crate::execution::scene::{Scene, hash, shell};

/// A process that a command leaves, which says its number in a file outside of the workspace.
struct Left(TempDir);

impl Left {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("number")
    }

    /// The shell words that become the process, which would go on for longer than any test.
    fn process(&self, before: &str) -> String {
        let file = self.file();
        format!(
            "sh -c '{before} echo $$ > {0}.new; mv {0}.new {0}; exec sleep 600'",
            file.display()
        )
    }

    /// The shell words that wait for the process.
    fn wait(&self) -> String {
        format!("until [ -e {} ]; do sleep 0.05; done", self.file().display())
    }

    fn pid(&self) -> Pid {
        let text = std::fs::read_to_string(self.file()).unwrap();
        Pid::from_raw(text.trim().parse().unwrap()).unwrap()
    }

    /// Returns whether the process still runs; one that its parent has not waited for yet does not.
    fn is_alive(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid().as_raw_nonzero()));
        stat.is_ok_and(|stat| !stat.rsplit_once(") ").unwrap().1.starts_with(['Z', 'X']))
    }

    fn wait_until_ended(&self) {
        let began = Instant::now();
        while self.is_alive() {
            assert!(began.elapsed() < Duration::from_secs(60), "it goes on");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn when_time_is_over_the_command_is_ended_with_its_children() {
    let scene = Scene::new();
    let began = Instant::now();
    let (first, second) = (Left::new(), Left::new());
    let command = format!(
        "{} & {} & {}; {}; echo begun; sleep 600",
        first.process(""),
        second.process("trap \"\" TERM HUP;"),
        first.wait(),
        second.wait()
    );
    let result = scene.run_with(json!({"command": command, "timeout": 2}));
    assert!(began.elapsed() < Duration::from_secs(60));
    assert_eq!(result.value["timed_out"], true);
    let said = result.message.strip_prefix("Timed out after ").unwrap();
    let seconds = said.split_once(" s").unwrap().0.parse::<f64>().unwrap();
    assert!(seconds >= 2.0, "{}", result.message);
    assert!(result.message.contains("\nbegun\n"), "{}", result.message);
    first.wait_until_ended();
    second.wait_until_ended();
}

#[test]
fn what_a_command_leaves_in_the_background_is_ended_with_it() {
    let scene = Scene::new();
    let left = Left::new();
    let result = scene.run(&format!("{} & {}; echo done", left.process(""), left.wait()));
    assert_eq!(result.value["exit_code"], 0, "{}", result.message);
    left.wait_until_ended();
}

#[test]
fn a_program_that_escapes_with_the_output_is_not_waited_for() {
    let scene = Scene::new();
    let left = Left::new();
    let command = format!("setsid {} & {}; echo begun", left.process(""), left.wait());
    let result = scene.run(&command);
    assert!(result.message.contains("begun"), "{}", result.message);
    assert!(left.is_alive(), "it has escaped");
    kill_process(left.pid(), Signal::KILL).unwrap();
}

#[test]
fn an_endless_flood_ends_when_time_is_over() {
    let scene = Scene::new();
    let result = scene.run_with(json!({"command": "yes", "timeout": 1}));
    assert_eq!(result.value["timed_out"], true);
    assert!(result.message.len() < 40_000);
}

/// Runs a command and gives up when there is the file `made.txt`.
fn given_up(context: &ToolContext, root: &Path, command: &str) -> ToolResult {
    let (marker, flag) = (root.join("made.txt"), Arc::new(AtomicBool::new(false)));
    let context = context.clone().cancelled(flag.clone());
    let canceller = thread::spawn(move || {
        while !marker.exists() {
            thread::sleep(Duration::from_millis(5));
        }
        flag.store(true, Ordering::Relaxed);
    });
    let result = shell(&context, json!({ "command": command }));
    canceller.join().unwrap();
    assert_eq!(result.code(), Some("cancelled"), "{}", result.message);
    result
}

#[test]
fn a_cancelled_command_is_ended_and_taken_back() {
    let scene = Scene::new();
    scene.files.write("kept.txt", "kept").unwrap();
    let before = hash(&scene.files);
    let command = "echo gone > kept.txt; touch made.txt; sleep 60";
    let result = given_up(&scene.context, &scene.root, command);
    assert_eq!(result.message, "The call was cancelled, and nothing was changed.");
    assert_eq!(hash(&scene.files), before);
}

/// It was said that nothing was changed.
#[test]
fn a_cancelled_command_names_what_is_excluded_and_not_taken_back() {
    let scene = Scene::excluding(["target/"]);
    let command = "mkdir target; echo half > target/out; touch made.txt; sleep 60";
    let message = given_up(&scene.context, &scene.root, command).message;
    assert!(
        message.ends_with("were rolled back, except in what is excluded by setting: target/."),
        "{message}"
    );
    assert!(!scene.files.exists("made.txt") && scene.files.is_file("target/out"));
}

/// It was said that nothing was changed.
#[test]
fn without_a_history_a_cancelled_command_does_not_say_that_it_was_taken_back() {
    let place = tempfile::tempdir().unwrap();
    let files = Workspace::host(place.path()).unwrap();
    let executor = Arc::new(HostExecutor::unsafe_on_this_machine().unwrap());
    let context = ToolContext::over(&files).executor(executor);
    let message = given_up(&context, place.path(), "touch made.txt; sleep 60").message;
    assert!(!message.contains("othing was changed"), "{message}");
    assert!(message.ends_with("may not be rolled back; look at the files."), "{message}");
    let refused = shell(&context, json!({"command": "true", "cwd": "missing"}));
    assert!(!refused.ok() && !refused.message.contains("history"), "{}", refused.message);
}

#[test]
fn the_deadline_of_the_context_ends_it_too() {
    let scene = Scene::new();
    let began = Instant::now();
    let context = scene.context.clone().deadline(Instant::now() + Duration::from_secs(3));
    let result = shell(&context, json!({"command": "sleep 60"}));
    assert_eq!(result.value["timed_out"], true, "{}", result.message);
    assert!(began.elapsed() < Duration::from_secs(50));
}

/// Runs a command that waits, and does something meanwhile.
fn meanwhile(scene: &Scene, work: impl FnOnce()) {
    let (context, marker) = (scene.context.clone(), scene.root.join("begun"));
    let command = "touch begun; while [ ! -e go ]; do sleep 0.05; done";
    let running = thread::spawn(move || shell(&context, json!({ "command": command })));
    while !marker.exists() {
        thread::sleep(Duration::from_millis(5));
    }
    work();
    std::fs::write(scene.root.join("go"), "").unwrap();
    assert!(running.join().unwrap().ok());
}

#[test]
fn readers_go_on_and_writers_wait_meanwhile() {
    let scene = Scene::new();
    scene.files.write("a.txt", "a").unwrap();
    meanwhile(&scene, || {
        assert_eq!(scene.files.read("a.txt").unwrap().content, "a");
        let soon =
            ToolContext::over(&scene.files).deadline(Instant::now() + Duration::from_millis(80));
        let write = json!({"path": "b.txt", "content": "b"});
        assert_eq!(wink_agent::call(&soon, "write_file", write).code(), Some("deadline"));
    });
}

/// With a path it waited for the command to end.
#[test]
fn snapshots_are_compared_meanwhile() {
    let scene = Scene::new();
    for (tag, content) in [("before", "one"), ("after", "two")] {
        scene.files.write("a.txt", content).unwrap();
        scene.files.snapshot(tag).unwrap();
    }
    meanwhile(&scene, || {
        let soon =
            ToolContext::over(&scene.files).deadline(Instant::now() + Duration::from_secs(60));
        for path in [json!(null), json!("a.txt")] {
            let arguments = json!({"from": "before", "to": "after", "path": path});
            let diff = Toolset::ALL.call(&soon, "diff", arguments);
            assert!(diff.ok() && diff.message.contains("M a.txt"), "{}", diff.message);
        }
    });
}

//! What a model reads after a program was run.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use wink_agent::exec::{Ended, Executed, ScriptedExecutor};
use wink_agent::{ToolContext, Toolset};
use wink_fs::Workspace;

use crate::execution::scene::{Scene, changing};

fn transcript(context: &ToolContext, calls: &[(&str, Value)]) -> String {
    let mut text = String::new();
    for (name, arguments) in calls {
        let result = Toolset::ALL.call(context, name, arguments.clone());
        let _ = writeln!(text, "> {name} {arguments}\n{}\n= {}\n", result.message, result.value);
    }
    text
}

fn scripted(executed: Executed) -> ToolContext {
    let executor = ScriptedExecutor::new(move |_, _| Ok(executed.clone()));
    ToolContext::over(&Workspace::memory()).executor(Arc::new(executor))
}

#[test]
fn a_result_says_how_it_ended_what_was_printed_and_what_changed() {
    let took = Duration::from_millis(1_234);
    let files = Workspace::memory();
    files.write("kept.txt", "kept").unwrap();
    let built = changing(move || Ok(Executed::exit(0).stdout("built\n").duration(took)));
    let context = ToolContext::over(&files).executor(Arc::new(built));
    let make = ("shell_execute", json!({"command": "make"}));
    let mut text = transcript(&context, &[make.clone(), make.clone(), ("undo", json!({}))]);
    let saved = files.snapshots().unwrap().remove(0);
    text = text.replace(&saved.id.to_string(), "id-of-snapshot-1");
    for executed in [
        Executed::exit(2).stderr("make: *** No rule.\n").duration(took),
        Executed::ended(Ended::Signal(11)).duration(took),
        Executed::ended(Ended::Signal(9)).stdout("so far").duration(took).timed_out(true),
        Executed::exit(0).stdout(&b"\xff bytes"[..]).duration(took),
    ] {
        text += &transcript(&scripted(executed), std::slice::from_ref(&make));
    }
    text += &transcript(
        &scripted(Executed::exit(0).stdout("2\n")),
        &[("evaluate_python", json!({"code": "print(1 + 1)"}))],
    );
    insta::assert_snapshot!(text);
}

/// It was once said to be saved in a file that no tool reads.
#[test]
fn what_is_left_out_of_a_flood_is_read_in_the_way_that_the_answer_says() {
    let scene = Scene::new();
    let flooded = scene.run("seq 20000").message;
    assert!(!flooded.contains("\n10000\n"), "it is left out");
    assert!(flooded.contains("or write its output into a file of the workspace and read that"));
    assert!(!flooded.contains("stdout-"), "{flooded}");
    assert!(scene.run("seq 20000 | grep 0000").message.contains("\n10000\n"));
    scene.run("seq 20000 > numbers.txt");
    let page = json!({"path": "numbers.txt", "offset": 10_000, "limit": 1});
    let read = Toolset::ALL.call(&scene.context, "read_file", page);
    assert!(read.message.contains("10000\t10000"), "{}", read.message);
}

#[test]
fn of_a_flood_the_beginning_and_the_end_are_shown() {
    let flood: String = (0..100_000).map(|n| format!("line {n}\n")).collect();
    let context = scripted(Executed::exit(0).stdout(flood.as_str()));
    let result = Toolset::ALL.call(&context, "shell_execute", json!({"command": "seq"}));
    let message = &result.message;
    assert!(message.len() < 34_000, "{}", message.len());
    assert!(message.contains("\nline 0\n") && message.contains("\nline 99999\n"));
    assert!(message.contains(" bytes left out; to see them, run it again and "), "{message}");
    assert_eq!(result.value["stdout_bytes"], flood.len());
}

//! Programs that an agent runs through the server, in the sandbox.

use serde_json::json;

use super::scene::Client;

#[test]
fn programs_are_offered_only_where_that_is_allowed() {
    let has_shell = |args: &[&str]| {
        let mut client = Client::new(args);
        let listed = client.request("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        tools.iter().any(|tool| tool["name"] == "shell_execute")
    };
    assert!(!has_shell(&[]));
    assert!(has_shell(&["--allow-execution"]));
}

#[test]
fn a_program_changes_the_workspace_and_nothing_else_and_is_undone() {
    let mut client = Client::new(&["--allow-execution"]);
    let outside = client.place.path().join("outside.txt");
    let command = format!("echo 1 > made.txt; echo 1 > {}; echo ended", outside.display());
    let said = client.done("shell_execute", json!({ "command": command }));
    assert!(said.to_string().contains("ended"), "{said}");
    assert!(client.file("made.txt").exists() && !outside.exists());
    client.done("undo", json!({}));
    assert!(!client.file("made.txt").exists());
}

#[test]
fn what_is_left_out_of_an_output_is_read_by_the_next_command() {
    let mut client = Client::new(&["--allow-execution"]);
    let said = client.done("shell_execute", json!({"command": "seq 100000"})).to_string();
    let (_, rest) = said.split_once("all of it is in ").expect("a path");
    let path = rest.split(' ').next().unwrap();
    let next = client.done("shell_execute", json!({ "command": format!("sed -n 50000p {path}") }));
    assert!(next.to_string().contains("50000"), "{next}");
    assert!(next.to_string().contains("exit code 0"), "{next}");
}

//! The process is the session; the tools that are offered.

use serde_json::json;

use crate::mcp_stdio::scene::{Client, wink_in};

#[test]
fn what_was_read_may_be_overwritten() {
    let mut client = Client::new(&[]);
    std::fs::write(client.file("a.txt"), "one\n").unwrap();
    let overwrite = json!({"path": "a.txt", "content": "two\n"});
    assert_eq!(client.refused("write_file", overwrite.clone()), "conflict");
    client.done("read_file", json!({"path": "a.txt"}));
    client.done("write_file", overwrite);
    assert_eq!(std::fs::read_to_string(client.file("a.txt")).unwrap(), "two\n");
}

#[test]
fn the_stateless_revision_works_too() {
    let mut client = Client::start(&["--backend", "memory"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    let answer = client.request("server/discover", json!({"_meta": meta}));
    assert!(answer["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{answer}");
    let call = json!({"name": "ls", "arguments": {}, "_meta": meta});
    let answer = client.request("tools/call", call);
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
}

fn offered(client: &mut Client) -> Vec<String> {
    let answer = client.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().expect("tools").clone();
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn sets_of_tools_are_offered_by_name_and_none_that_runs_programs() {
    let all = offered(&mut Client::memory(&[]));
    assert_eq!(all.len(), 21, "{all:?}");
    assert!(!all.iter().any(|name| name == "shell_execute" || name == "evaluate_python"));
    let files = offered(&mut Client::memory(&["--tools", "files"]));
    let history = offered(&mut Client::memory(&["--tools", "history"]));
    assert_eq!([files, history].concat(), all);
}

#[test]
fn a_tool_that_is_not_offered_is_unknown() {
    let mut client = Client::memory(&["--tools", "files"]);
    for name in ["undo", "shell_execute", "nope"] {
        let answer = client.request("tools/call", json!({"name": name, "arguments": {}}));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[test]
fn read_only_offers_what_reads_and_refuses_what_writes() {
    let mut client = Client::new(&["--read-only"]);
    std::fs::write(client.file("a.txt"), "one\n").unwrap();
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    for tool in tools.as_array().expect("tools") {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
    }
    client.done("read_file", json!({"path": "a.txt"}));
    for (name, arguments) in [
        ("write_file", json!({"path": "b.txt", "content": "x"})),
        ("rm", json!({"path": "a.txt"})),
        ("snapshot", json!({})),
        ("delete_file", json!({"path": "a.txt"})),
    ] {
        assert_eq!(client.refused(name, arguments), "read_only", "{name}");
    }
    assert!(client.file("a.txt").exists() && !client.file("b.txt").exists());
    assert!(!client.place.path().join("data").exists(), "reading makes no history");
}

#[test]
fn tools_for_the_history_are_offered_only_where_there_is_one() {
    let place = tempfile::tempdir().unwrap();
    for name in ["work", "home"] {
        std::fs::create_dir(place.path().join(name)).unwrap();
    }
    let mut client = Client::start_in(place, &["--root", "../home", "--force", "--no-history"]);
    client.request("initialize", crate::mcp_stdio::scene::initialize());
    let files = offered(&mut Client::memory(&["--tools", "files"]));
    assert_eq!(offered(&mut client), files);
    for name in ["undo", "history", "merge"] {
        let refused = client.call(name, json!({}));
        assert_eq!(refused["structuredContent"]["error"], "unsupported", "{refused}");
        let message = refused["content"][0]["text"].as_str().expect("a message");
        assert!(message.contains("this workspace keeps none"), "{message}");
    }
    client.done("write_file", json!({"path": "a.txt", "content": "x"}));
}

#[test]
fn tools_for_files_work_in_a_fork_by_its_name() {
    let mut client = Client::new(&[]);
    std::fs::write(client.file("a.txt"), "one\n").unwrap();
    client.done("fork", json!({"name": "attempt"}));
    let edit =
        json!({"path": "a.txt", "old_string": "one", "new_string": "two", "fork": "attempt"});
    client.done("edit_file", edit);
    let lines = "long\n".repeat(9_000);
    client.done("write_file", json!({"path": "b.txt", "content": lines, "fork": "attempt"}));
    assert_eq!(std::fs::read_to_string(client.file("a.txt")).unwrap(), "one\n");
    assert_eq!(client.done("glob", json!({"pattern": "*"}))["paths"], json!(["a.txt"]));
    let in_fork = client.done("glob", json!({"pattern": "*", "fork": "attempt"}));
    assert_eq!(in_fork["paths"], json!(["a.txt", "b.txt"]));
    assert_eq!(client.refused("ls", json!({"fork": "nope"})), "not_found");
    assert_eq!(client.done("diff", json!({"fork": "attempt"}))["change_count"], 2);
    client.done("merge", json!({"name": "attempt"}));
    assert_eq!(std::fs::read_to_string(client.file("a.txt")).unwrap(), "two\n");
}

#[test]
fn without_tools_that_make_forks_no_tool_takes_one() {
    for args in [&["--tools", "files"][..], &["--read-only"]] {
        let mut client = Client::memory(args);
        let tools = client.request("tools/list", json!({}));
        let ls = &tools["result"]["tools"][0];
        assert_eq!(ls["name"], "ls");
        assert!(ls["inputSchema"]["properties"]["fork"].is_null(), "{ls}");
        assert_eq!(client.refused("ls", json!({"fork": "a"})), "invalid_argument");
    }
}

#[test]
fn an_unknown_tool_is_answered_with_those_that_are_offered_and_no_others() {
    let asked = |args: &[&str], name: &str| {
        let mut client = Client::memory(args);
        let offered = client.request("tools/list", json!({}))["result"]["tools"].clone();
        let offered = offered.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap());
        let offered = offered.collect::<Vec<_>>().join(", ");
        let call = json!({"name": name, "arguments": {}});
        let answer = client.request("tools/call", call)["error"]["message"].clone();
        (answer.as_str().unwrap().to_owned(), format!("the tools are {offered}."))
    };
    for args in [&[][..], &["--tools", "files"], &["--tools", "history"], &["--read-only"]] {
        let (answer, offered) = asked(args, "banana");
        assert_eq!(answer, format!("There is no tool `banana`; {offered}"), "{args:?}");
        let (answer, offered) = asked(args, "shell_execute");
        let not_offered = format!("The tool `shell_execute` is not offered here; {offered}");
        assert_eq!(answer, not_offered, "{args:?}");
    }
    let (answer, offered) = asked(&["--tools", "files"], "undo");
    assert_eq!(answer, format!("The tool `undo` is not offered here; {offered}"));
}

#[test]
fn an_unknown_parameter_is_answered_with_all_that_the_tool_takes() {
    let said = |client: &mut Client, tool: &str, name: &str| {
        let refused = client.call(tool, json!({ name: "a" }));
        refused["structuredContent"]["message"].as_str().unwrap().to_owned()
    };
    let mut client = Client::memory(&[]);
    let known = said(&mut client, "mv", "banana");
    assert!(known.ends_with(", fork."), "{known}");
    assert_eq!(
        said(&mut client, "ls", "forks"),
        "There is no parameter `forks`; did you mean `fork`?"
    );
    let known = said(&mut client, "merge", "banana");
    assert!(!known.contains("fork"), "{known}");
    let known = said(&mut Client::memory(&["--tools", "files"]), "mv", "banana");
    assert!(!known.contains("fork"), "{known}");
}

#[test]
fn a_model_is_told_of_the_tools_that_it_has_and_no_others() {
    let told = |arguments: &[&str]| {
        let mut client = Client::start(arguments);
        let info = json!({"name": "test", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        client.request("initialize", params)["result"]["instructions"].to_string()
    };
    let memory = ["--backend", "memory"];
    assert!(told(&memory).contains("write_file") && told(&memory).contains("fork creates"));
    let history = told(&["--backend", "memory", "--tools", "history"]);
    assert!(history.contains("undo") && !history.contains("read_file"), "{history}");
    assert!(!history.contains("file tools"), "{history}");
    let files = told(&["--backend", "memory", "--tools", "files"]);
    assert!(files.contains("read_file") && !files.contains("undo"), "{files}");
    let looking = told(&["--backend", "memory", "--read-only"]);
    assert!(!looking.contains("write_file") && !looking.contains("restore"), "{looking}");
}

/// An agent that was not told went on with what it had read before.
#[test]
fn the_next_answer_says_what_the_user_took_back() {
    let mut client = Client::new(&[]);
    client.done("write_file", json!({"path": "a.txt", "content": "1"}));
    let undo = |client: &Client| {
        let mut undo = wink_in(client.place.path());
        assert!(undo.args(["undo", "1", "-q"]).status().expect("runs").success());
    };
    undo(&client);
    let said = client.done("ls", json!({}))["message"].to_string();
    assert!(said.contains("the user took changes back: undid write_file (a.txt)"), "{said}");
    let again = client.done("ls", json!({}))["message"].to_string();
    assert!(!again.contains("took changes back"), "it is said once: {again}");
    // What the agent undoes itself is no news.
    client.done("write_file", json!({"path": "b.txt", "content": "1"}));
    let own = client.done("undo", json!({}))["message"].to_string();
    assert!(!own.contains("took changes back"), "{own}");
}

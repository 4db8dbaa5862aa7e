//! Prompts, and completion of what the user types.

use serde_json::{Value, json};

use crate::mcp_stdio::scene::Client;

fn names(client: &mut Client) -> Vec<String> {
    let list = client.request("prompts/list", json!({}))["result"]["prompts"].take();
    list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

fn said(client: &mut Client, name: &str, arguments: Value) -> String {
    let got = client.request("prompts/get", json!({"name": name, "arguments": arguments}));
    let message = &got["result"]["messages"][0];
    assert_eq!(
        (&message["role"], &message["content"]["type"]),
        (&json!("user"), &json!("text")),
        "{got}"
    );
    message["content"]["text"].as_str().unwrap().to_owned()
}

#[test]
fn prompts_are_the_commands_of_a_client() {
    let mut client = Client::new(&[]);
    assert_eq!(names(&mut client), ["undo", "what-changed", "checkpoint"]);
    assert!(said(&mut client, "undo", json!({"count": "3"})).contains("this many: 3"));
    assert!(
        said(&mut client, "what-changed", json!({"since": "first"})).contains(r#""from":"first""#)
    );
    assert!(said(&mut client, "what-changed", json!({"since": " "})).contains(r#"{"lines":true}"#));
    let checkpoint = said(&mut client, "checkpoint", json!({"tag": "a \"b\""}));
    assert!(checkpoint.contains(r#"{"tag":"a \"b\""}"#), "{checkpoint}");
    for wrong in [json!({"name": "nope"}), json!({"name": "undo", "arguments": {"count": 3}})] {
        let refused = client.request("prompts/get", wrong);
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    // What the model is told to call is there.
    client.done("write_file", json!({"path": "a.txt", "content": "one"}));
    client.done("snapshot", json!({"tag": "first"}));
    client.done("diff", json!({"from": "first", "lines": true}));
    client.done("diff", json!({"lines": true}));
    client.done("undo", json!({}));
    // Without the tools there are no prompts.
    assert_eq!(names(&mut Client::memory(&["--tools", "files"])), [""; 0]);
}

#[test]
fn references_and_paths_are_completed() {
    let mut client = Client::new(&[]);
    for path in ["src/main.rs", "src/mod/a.rs", "setup.py"] {
        client.done("write_file", json!({"path": path, "content": "one"}));
    }
    client.done("snapshot", json!({"tag": "before-it"}));
    client.done("rm", json!({"path": "setup.py"}));
    let mut completed = |reference: Value, name: &str, value: &str, context: Value| {
        let params = json!({"ref": reference, "argument": {"name": name, "value": value}, "context": context});
        let answer = client.request("completion/complete", params);
        answer["result"]["completion"]["values"].clone()
    };
    let prompt = || json!({"type": "ref/prompt", "name": "what-changed"});
    let live = || json!({"type": "ref/resource", "uri": "wink://workspace/{+path}"});
    let kept = || json!({"type": "ref/resource", "uri": "wink://snap/{id}/{+path}"});
    let none = || json!({});
    assert_eq!(completed(prompt(), "since", "before", none()), json!(["before-it"]));
    assert_eq!(completed(kept(), "id", "before", none()), json!(["before-it"]));
    assert_eq!(completed(live(), "path", "s", none()), json!(["src/"]));
    assert_eq!(completed(live(), "path", "src/m", none()), json!(["src/main.rs", "src/mod/"]));
    let context = json!({"arguments": {"id": "before-it"}});
    assert_eq!(completed(kept(), "path", "s", context), json!(["setup.py", "src/"]));
    for nothing in ["nowhere/", "../", "src/main.rs/"] {
        assert_eq!(completed(live(), "path", nothing, none()), json!([]), "{nothing}");
    }
    assert_eq!(completed(prompt(), "other", "", none()), json!([]));
}

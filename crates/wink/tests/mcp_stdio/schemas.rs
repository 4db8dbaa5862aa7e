//! Every answer is as its tool said it would be.

use std::collections::BTreeSet;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::mcp_stdio::scene::{Client, initialize, wink_in};

/// Says what in a value is not as a schema says; knows the words that our schemas use, and no others.
fn wrong(schema: &Value, value: &Value) -> Option<String> {
    for (word, rule) in schema.as_object().expect("a schema") {
        let fits = match word.as_str() {
            "type" => match rule {
                Value::Array(kinds) => kinds.iter().any(|it| is_of(it.as_str().unwrap(), value)),
                kind => is_of(kind.as_str().expect("a type"), value),
            },
            "enum" => rule.as_array().unwrap().contains(value),
            "minimum" => value.as_f64().is_none_or(|it| it >= rule.as_f64().unwrap()),
            "required" => {
                rule.as_array().unwrap().iter().all(|it| value.get(it.as_str().unwrap()).is_some())
            }
            "anyOf" => rule.as_array().unwrap().iter().any(|it| wrong(it, value).is_none()),
            "items" => match value.as_array().unwrap().iter().find_map(|it| wrong(rule, it)) {
                Some(wrong) => return Some(wrong),
                None => true,
            },
            "properties" => {
                let known = |(name, field)| rule.get(name).and_then(|rule| wrong(rule, field));
                match value.as_object().unwrap().iter().find_map(known) {
                    Some(wrong) => return Some(wrong),
                    None => true,
                }
            }
            "additionalProperties" => {
                assert_eq!(rule, false);
                let properties = &schema["properties"];
                value.as_object().unwrap().keys().all(|name| properties.get(name).is_some())
            }
            "description" => rule.as_str().is_some_and(|words| !words.is_empty()),
            other => panic!("`{other}` is not known here"),
        };
        if !fits {
            return Some(format!("{value} is not {word} {rule}"));
        }
    }
    None
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "null" => value.is_null(),
        other => panic!("`{other}` is not known here"),
    }
}

#[test]
fn the_check_finds_what_is_wrong() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer", "minimum": 0}},
                        "required": ["a"], "additionalProperties": false});
    assert_eq!(wrong(&schema, &json!({"a": 1})), None);
    for value in [json!({}), json!({"a": -1}), json!({"a": "1"}), json!({"a": 1, "b": 1}), json!(1)]
    {
        assert!(
            wrong(&schema["properties"]["a"], &value["a"]).is_some()
                || wrong(&schema, &value).is_some()
        );
    }
}

/// Calls that make every tool answer in every way it has.
fn calls() -> Vec<(&'static str, Value)> {
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-two\n+three\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n";
    vec![
        ("ls", json!({})),
        ("write_file", json!({"path": "a.txt", "content": "one\n"})),
        ("write_file", json!({"path": "a.txt", "content": "one\n", "mode": "create"})),
        ("write_file", json!({"path": "d/b.txt", "content": "b", "mode": "append"})),
        ("ls", json!({"depth": 3})),
        ("read_file", json!({"path": "a.txt"})),
        ("read_file", json!({"path": "a.txt", "encoding": "base64"})),
        ("read_file", json!({"path": "a.txt", "column": 1})),
        ("read_file", json!({"path": "missing"})),
        ("edit_file", json!({"path": "a.txt", "old_string": "one", "new_string": "two two"})),
        ("edit_file", json!({"path": "a.txt", "old_string": "two", "new_string": "x"})),
        (
            "multi_edit",
            json!({"path": "a.txt", "edits": [{"old_string": "two two", "new_string": "two"}]}),
        ),
        ("apply_patch", json!({"patch": patch, "dry_run": true})),
        ("apply_patch", json!({"patch": patch})),
        ("apply_patch", json!({"patch": patch})),
        ("mkdir", json!({"path": "empty"})),
        ("mv", json!({"from": "new.txt", "to": "moved.txt"})),
        ("glob", json!({"pattern": "**"})),
        ("grep", json!({"pattern": "three"})),
        ("grep", json!({"pattern": "three", "mode": "files"})),
        ("grep", json!({"pattern": "(", "mode": "count"})),
        ("grep", json!({"pattern": "three", "mode": "count", "offset": 9})),
        ("glob", json!({"pattern": "**", "offset": 1})),
        ("history", json!({})),
        ("snapshot", json!({"tag": "first", "message": "the first one"})),
        ("snapshot", json!({"tag": "first"})),
        ("write_file", json!({"path": "a.txt", "content": "four\n"})),
        ("snapshot", json!({})),
        ("history", json!({})),
        ("history", json!({"of": "operations", "limit": 2})),
        ("diff", json!({"from": "first"})),
        ("revert", json!({"from": "first", "to": "@", "dry_run": true})),
        ("restore", json!({"snapshot": "first", "dry_run": true})),
        ("restore", json!({"snapshot": "first"})),
        ("restore", json!({"snapshot": "nope"})),
        ("undo", json!({})),
        ("fork", json!({})),
        ("fork", json!({"name": "attempt"})),
        ("fork", json!({})),
        ("diff", json!({"fork": "attempt"})),
        ("merge", json!({"name": "attempt"})),
        ("merge", json!({"name": "nope"})),
        ("fork", json!({"name": "attempt", "remove": true})),
        ("export", json!({"path": "all.fs.zip"})),
        ("import", json!({"path": "all.fs.zip", "replace_everything": true})),
        ("rm", json!({"path": "d"})),
        ("rm", json!({"path": "d", "allow_missing": true})),
        ("rm", json!({"path": "d"})),
    ]
}

#[test]
fn every_answer_is_as_its_schema_says() {
    let mut client = Client::memory(&[]);
    let answer = client.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap().clone();
    let schema =
        |name: &str| tools.iter().find(|it| it["name"] == name).unwrap()["outputSchema"].clone();
    let (mut succeeded, mut failed) = (BTreeSet::new(), BTreeSet::new());
    for (name, arguments) in calls() {
        let result = client.call(name, arguments.clone());
        let value = &result["structuredContent"];
        assert_eq!(wrong(&schema(name), value), None, "{name} {arguments}");
        assert_eq!(value["message"], result["content"][0]["text"], "both are complete");
        if result["isError"] == true {
            failed.insert(name)
        } else {
            succeeded.insert(name)
        };
    }
    let all: BTreeSet<_> = tools.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(succeeded, all, "every tool answered");
    assert!(failed.len() > 8, "{failed:?}");
}

/// Once, every result was sent as text and again as structured data, and some clients showed both to their model.
#[test]
fn a_result_is_sent_once() {
    for (options, is_structured) in [(&[][..], false), (&["--results", "structured"], true)] {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("work")).unwrap();
        let mut command = wink_in(place.path());
        command.args(["mcp", "--backend", "memory"]).args(options);
        let mut client = Client::of(command, place, Stdio::inherit());
        client.request("initialize", initialize());
        let list = client.request("tools/list", json!({}));
        for tool in list["result"]["tools"].as_array().unwrap() {
            assert_eq!(tool["outputSchema"].is_object(), is_structured, "{tool}");
        }
        let content = "a line of text\n".repeat(100);
        let write = json!({"path": "a.txt", "content": content});
        client.request("tools/call", json!({"name": "write_file", "arguments": write}));
        let read = json!({"name": "read_file", "arguments": {"path": "a.txt"}});
        let result = client.request("tools/call", read)["result"].take();
        assert_eq!(result.to_string().matches("a line of text").count(), 100, "{options:?}");
        assert_eq!(result["structuredContent"].is_object(), is_structured, "{result}");
        let missing = json!({"name": "read_file", "arguments": {"path": "b.txt"}});
        let refused = client.request("tools/call", missing)["result"].take();
        assert_eq!(refused["isError"], true);
        assert_eq!(refused["structuredContent"].is_object(), is_structured, "{refused}");
        assert!(refused.to_string().contains("b.txt"), "{refused}");
    }
}

/// Every client sends the list to its model with each request, so it must stay short.
#[test]
fn the_list_of_tools_is_short_and_has_the_words_that_a_model_searches_for() {
    for (tools, most) in [("all", 18_000), ("history", 6_500)] {
        let mut client = Client::memory(&["--tools", tools, "--results", "text"]);
        let text = client.request("tools/list", json!({}))["result"].to_string();
        assert!(text.len() <= most, "{tools}: {} characters", text.len());
        for word in ["undo", "checkpoint", "snapshot", "restore", "history"] {
            assert!(text.contains(word), "{tools}: {word}");
        }
    }
}

#[test]
fn links_are_listed_as_the_schema_says() {
    let mut client = Client::new(&[]);
    for (name, target) in [("inside", "a.txt"), ("outside", "../b.txt"), ("absolute", "/c.txt")] {
        std::os::unix::fs::symlink(target, client.file(name)).unwrap();
    }
    let answer = client.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    let schema = &tools.iter().find(|it| it["name"] == "ls").unwrap()["outputSchema"];
    let listed = client.call("ls", json!({}))["structuredContent"].clone();
    assert_eq!(wrong(schema, &listed), None);
    let targets: Vec<_> =
        listed["entries"].as_array().unwrap().iter().map(|it| &it["target"]).collect();
    assert_eq!(targets, [&Value::Null, &json!("a.txt"), &Value::Null]);
}

#[test]
fn annotations_say_what_each_tool_may_do() {
    let answer = Client::memory(&[]).request("tools/list", json!({}));
    let mut lines = Vec::new();
    for tool in answer["result"]["tools"].as_array().unwrap() {
        let hints = &tool["annotations"];
        let hint = |name: &str| hints[name].as_bool().unwrap_or_else(|| panic!("{name} of {tool}"));
        assert!(
            hints["title"].is_null() && tool["title"].is_string(),
            "one title is enough: {tool}"
        );
        assert!(!hint("openWorldHint"), "{tool}");
        let words = [
            ("readOnlyHint", "reads"),
            ("destructiveHint", "takes away"),
            ("idempotentHint", "repeatable"),
        ];
        let words: Vec<_> =
            words.into_iter().filter(|(it, _)| hint(it)).map(|(_, word)| word).collect();
        lines.push(format!("{}: {}", tool["name"].as_str().unwrap(), words.join(", ")));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

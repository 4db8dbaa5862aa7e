//! What a model is shown of a result.

use serde_json::{Value, json};

use crate::mcp_stdio::scene::{Client, wink_in};

fn shown(client: &mut Client, name: &str, arguments: Value) -> Value {
    let answer = client.request("tools/call", json!({"name": name, "arguments": arguments}));
    answer["result"].clone()
}

fn text(client: &mut Client, name: &str, arguments: Value) -> String {
    shown(client, name, arguments)["content"][0]["text"].as_str().expect("text").to_owned()
}

/// A picture of one pixel.
const PIXEL: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\nIDAT\
x\x9cc\0\x01\0\0\x05\0\x01\r\n-\xb4\0\0\0\0IEND\xaeB`\x82";

/// Clients show a model the data and not the text: what is only in the text is lost, and what is in both comes twice.
#[test]
fn structured_results_are_complete_and_say_nothing_twice() {
    let mut client = Client::new(&["--results", "structured"]);
    client.done("write_file", json!({"path": "a.txt", "content": "one\nneedle\nthree\n"}));
    client.done("snapshot", json!({"tag": "first"}));
    std::os::unix::fs::symlink("a.txt", client.file("link.txt")).unwrap();

    let read = shown(&mut client, "read_file", json!({"path": "a.txt"}));
    let value = &read["structuredContent"];
    assert_eq!(value["content"], "one\nneedle\nthree\n");
    assert!(value["modified_at"].as_str().is_some_and(|at| at.ends_with('Z')), "{value}");
    assert_eq!(read.to_string().matches("needle").count(), 1, "{read}");

    let found = shown(&mut client, "grep", json!({"pattern": "needle", "context": 1}));
    let line = &found["structuredContent"]["matches"][0];
    assert_eq!((&line["line_content"], &line["line_number"]), (&json!("needle"), &json!(2)));
    assert_eq!((&line["before"], &line["after"]), (&json!(["one"]), &json!(["three"])));
    assert_eq!(found.to_string().matches("needle").count(), 1, "{found}");

    let listed = shown(&mut client, "glob", json!({"pattern": "*.txt"}));
    let value = &listed["structuredContent"];
    assert_eq!(value["paths"], json!(["a.txt", "link.txt"]));
    assert_eq!(value["kinds"], json!(["file", "symlink"]));
    assert_eq!(listed.to_string().matches("link.txt").count(), 1, "{listed}");

    client.done("edit_file", json!({"path": "a.txt", "old_string": "three", "new_string": "four"}));
    let changed =
        shown(&mut client, "diff", json!({"from": "first", "path": "a.txt", "lines": true}));
    let hunk = &changed["structuredContent"]["hunks"][0];
    assert_eq!(hunk["path"], "a.txt");
    assert_eq!(hunk["lines"], json!([" one\n", " needle\n", "-three\n", "+four\n"]));
    assert_eq!(changed.to_string().matches("four").count(), 1, "{changed}");

    // The command line gives programs the same.
    let mut tool = wink_in(client.place.path());
    let read = tool.args(["tool", "read_file", "--json", "path=a.txt"]).output().unwrap();
    let read: Value = serde_json::from_slice(&read.stdout).unwrap();
    assert_eq!(read["value"]["content"], "one\nneedle\nfour\n", "{read}");
}

/// A grep of 8.1 kB of text was 17.7 kB in front of the model of a client that shows the data.
#[test]
fn a_grep_is_about_as_long_as_its_lines() {
    let line = "a line of text with a needle in it, as long as lines of code often are today\n";
    for results in ["text", "structured"] {
        let mut client = Client::memory(&["--results", results]);
        shown(&mut client, "write_file", json!({"path": "a.txt", "content": line.repeat(90)}));
        let found = shown(&mut client, "grep", json!({"pattern": "needle"}));
        let size = if results == "text" {
            found["content"][0]["text"].as_str().unwrap().len()
        } else {
            found["structuredContent"].to_string().len()
        };
        assert_eq!(found.to_string().matches("needle").count(), 90);
        assert!(size < 90 * 185, "{results}: {size}");
        assert!(results != "text" || size <= 9_000, "{size}");
    }
}

#[test]
fn a_picture_is_shown_as_one_and_control_characters_are_escaped() {
    for results in ["text", "structured"] {
        let mut client = Client::new(&["--results", results]);
        std::fs::write(client.file("dot.png"), PIXEL).unwrap();
        std::fs::write(client.file("huge.png"), [PIXEL, &[0; 4 << 20]].concat()).unwrap();
        std::fs::write(client.file("nul.txt"), "a\0b\n").unwrap();
        std::fs::write(client.file("red.txt"), "\x1b[31mred\n").unwrap();
        let picture = shown(&mut client, "read_file", json!({"path": "dot.png"}));
        let image = picture["content"].as_array().unwrap().iter().find(|it| it["type"] == "image");
        assert_eq!(image.unwrap()["mimeType"], "image/png");
        assert!(image.unwrap()["data"].as_str().unwrap().starts_with("iVBORw0KGgo"));
        assert_eq!(picture["isError"], false);
        let huge = shown(&mut client, "read_file", json!({"path": "huge.png"}));
        assert_eq!(huge["isError"], true);
        assert!(huge.to_string().contains("PNG image") && huge.to_string().len() < 1_000, "{huge}");
        let nul = shown(&mut client, "read_file", json!({"path": "nul.txt"}));
        assert_eq!(nul["isError"], true);
        assert!(nul.to_string().contains("is binary"), "{nul}");
    }
    let mut client = Client::new(&["--results", "text"]);
    std::fs::write(client.file("red.txt"), "\x1b[31mred\n").unwrap();
    for (tool, arguments) in
        [("read_file", json!({"path": "red.txt"})), ("grep", json!({"pattern": "red"}))]
    {
        let text = text(&mut client, tool, arguments);
        assert!(text.contains(r"\x1b[31mred") && !text.contains('\x1b'), "{tool}: {text}");
        assert!(text.contains("shown escaped"), "{tool}: {text}");
    }
}

/// What other people's test suites and models expect of the tools.
#[test]
fn tools_take_what_models_send() {
    let mut client = Client::new(&["--results", "text"]);
    std::fs::create_dir_all(client.file("app")).unwrap();
    std::fs::create_dir_all(client.file(".git")).unwrap();
    let deep = "d/".repeat(20);
    std::fs::create_dir_all(client.file(&deep)).unwrap();
    for (path, content) in
        [("app/[id].tsx", "mail: agent@example.com\n"), (".git/config", "mail\n")]
    {
        std::fs::write(client.file(path), content).unwrap();
    }
    assert!(text(&mut client, "glob", json!({"pattern": "app/[id].tsx"})).contains("Found 1 file"));
    let refused = shown(&mut client, "glob", json!({"pattern": "../*.py"}));
    assert_eq!(refused["isError"], true);
    let found = text(&mut client, "grep", json!({"pattern": r"[\w.]{1,64}@[\w.]{1,63}|mail"}));
    assert!(found.contains("Found 1 line in 1 of 1 file"), "{found}");
    assert!(found.contains("Not searched: .git"), "{found}");
    let page = text(&mut client, "read_file", json!({"path": "app/[id].tsx", "offset": 1}));
    assert!(page.contains("1\tmail:"), "{page}");
    let path = format!("{deep}new.txt");
    let made = shown(&mut client, "write_file", json!({"path": path, "content": "deep"}));
    assert_eq!(made["isError"], false, "{made}");
    let patch = "```\napply_patch <<'EOF'\n*** Begin Patch\n*** Update File: app/[id].tsx\n@@\n+end\n*** End Patch\nEOF\n```";
    let patched = shown(&mut client, "apply_patch", json!({"patch": patch}));
    assert_eq!(patched["isError"], false, "{patched}");
    let content = std::fs::read_to_string(client.file("app/[id].tsx")).unwrap();
    assert_eq!(content, "mail: agent@example.com\nend\n");
}

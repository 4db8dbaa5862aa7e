//! `wink blame`: where each line of a file comes from.

use std::io::Write as _;
use std::process::Stdio;

use crate::cli::scene::Scene;

#[test]
fn each_line_names_the_snapshot_the_agent_and_the_call() {
    let scene = Scene::new();
    scene.write("a.txt", "one\ntwo\nthree\n");
    scene.ok(&["snapshot", "--tag", "first"]);
    scene.write("a.txt", "zero\none\nTWO\nthree\n");
    let payload = format!(
        r#"{{"hook_event_name": "Stop", "session_id": "b28f7565", "prompt_id": "1", "tool_name": "Edit", "cwd": "{}"}}"#,
        scene.path("project").display()
    );
    let mut hook = scene.wink_in(&scene.path("project"), &["hook"]);
    let mut child = hook.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    scene.write("a.txt", "zero\none\nTWO\nthree\nfour\n");
    let blamed = scene.json(&["blame", "a.txt"]);
    assert_eq!(blamed["schema"], "wink/blame@1");
    let lines = blamed["lines"].as_array().unwrap();
    let said: Vec<_> = lines
        .iter()
        .map(|line| {
            let by = line["event"]["client"].as_str().or(line["message"].as_str());
            (line["text"].as_str().unwrap(), by.unwrap_or("nothing"))
        })
        .collect();
    let agent = "claude-code";
    assert_eq!(
        said,
        [
            ("zero", agent),
            ("one", "first"),
            ("TWO", agent),
            ("three", "first"),
            ("four", "nothing")
        ]
    );
    let text = scene.ok(&["blame", "a.txt"]);
    assert!(
        text.contains("claude-code b28f7565 Edit") && text.contains("not in a snapshot yet"),
        "{text}"
    );
}

#[test]
fn what_is_no_file_is_refused() {
    let scene = Scene::new();
    scene.write("d/a.txt", "1");
    scene.ok(&["snapshot"]);
    for path in ["d", "none"] {
        assert_eq!(scene.fails(&["blame", path]).0, 1, "{path}");
    }
    // A file that was deleted and made again comes from its second making.
    std::fs::remove_file(scene.project("d/a.txt")).unwrap();
    scene.ok(&["snapshot"]);
    scene.write("d/a.txt", "1");
    scene.ok(&["snapshot", "--tag", "again"]);
    assert!(scene.ok(&["blame", "d/a.txt"]).contains("again"));
    scene.write("d/b.bin", b"\xff\xfe\n\x00");
    assert!(scene.ok(&["blame", "d/b.bin"]).contains("not in a snapshot yet"));
}

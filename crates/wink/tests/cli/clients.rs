//! `wink setup`: settings files of clients.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use crate::cli::scene::{Scene, mode_of, stderr, stdout};

const CLIENTS: [&str; 6] = ["claude-code", "codex", "cursor", "gemini", "vscode", "opencode"];

/// Returns all files of a project and its home, with their content.
fn files(scene: &Scene) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut left = vec![scene.path("project"), scene.path("home")];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            match path.is_dir() {
                true if path.ends_with("wink/setup") => {}
                true => left.push(path),
                false => found.push((path.clone(), std::fs::read_to_string(path).unwrap())),
            }
        }
    }
    found.sort();
    found
}

/// Runs with the binary on `PATH`, as for people who have installed it.
fn run(scene: &Scene, args: &[&str]) -> std::process::Output {
    let bin = scene.path("bin");
    if !bin.exists() {
        std::fs::create_dir(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_wink"), bin.join("wink")).unwrap();
    }
    scene.wink_in(&scene.path("project"), args).env("PATH", bin).output().unwrap()
}

fn ok(scene: &Scene, args: &[&str]) -> String {
    let output = run(scene, args);
    assert!(output.status.success(), "{args:?}: {output:?}");
    stdout(&output)
}

#[test]
fn each_client_is_set_up_where_it_reads_its_settings() {
    for client in CLIENTS {
        let scene = Scene::empty();
        let said = ok(&scene, &["setup", client, "--hooks"]);
        let made: String = files(&scene)
            .iter()
            .map(|(path, content)| {
                let path = path.strip_prefix(scene.path("")).unwrap().display();
                format!("=== {path}\n{content}")
            })
            .collect();
        insta::assert_snapshot!(format!("setup_{client}"), made);
        assert!(said.contains("@@ -0,0 +1"), "the change is shown: {said}");
        let once = files(&scene);
        assert_eq!(
            ok(&scene, &["setup", client, "--hooks"]),
            "",
            "{client}: twice changes nothing"
        );
        assert_eq!(ok(&scene, &["setup", client]), "");
        assert_eq!(files(&scene), once);
        ok(&scene, &["setup", client, "--undo"]);
        assert_eq!(files(&scene), [], "{client}");
    }
}

#[test]
fn what_is_in_the_settings_stays_and_comes_back_byte_for_byte() {
    let scene = Scene::empty();
    let settings = "{\n  // mine\n  \"permissions\": {\"allow\": [\"Bash\"]}, /* odd */\n\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\n    ],\n  },\n}\n";
    scene.write(".claude/settings.json", settings);
    scene.write(".mcp.json", "{\"mcpServers\":{\"other\":{\"command\":\"x\"}}}");
    let before = files(&scene);
    ok(&scene, &["setup", "claude-code"]);
    ok(&scene, &["setup", "claude-code", "--hooks"]);
    let after = scene.read(".claude/settings.json");
    for kept in ["// mine", "/* odd */", "say done", "{\"allow\": [\"Bash\"]}"] {
        assert!(after.contains(kept), "{after}");
    }
    assert!(
        scene.read(".mcp.json").contains("\"other\"")
            && scene.read(".mcp.json").contains("\"wink\"")
    );
    ok(&scene, &["setup", "claude-code", "--undo"]);
    assert_eq!(files(&scene), before);
    // A user who changed the file meanwhile keeps the change.
    ok(&scene, &["setup", "claude-code", "--hooks"]);
    let changed = scene.read(".claude/settings.json").replace("say done", "say ready");
    scene.write(".claude/settings.json", &changed);
    ok(&scene, &["setup", "claude-code", "--undo"]);
    let left = scene.read(".claude/settings.json");
    assert!(
        left.contains("say ready") && left.contains("// mine") && !left.contains("wink"),
        "{left}"
    );
}

#[test]
fn print_shows_the_change_and_writes_nothing() {
    let scene = Scene::empty();
    let said = ok(&scene, &["setup", "codex", "--hooks", "--print"]);
    assert!(said.contains("+[mcp_servers.wink]") && said.contains("wink hook codex"), "{said}");
    assert_eq!(files(&scene), []);
    let document = scene.json(&["setup", "codex", "--print"]);
    assert_eq!((&document["schema"], &document["dry_run"]), (&"wink/setup@1".into(), &true.into()));
}

#[test]
fn settings_that_cannot_be_understood_or_belong_to_another_are_left_alone() {
    for (file, content) in [
        (".gemini/settings.json", "{ \"mcpServers\": "),
        (".gemini/settings.json", "[]"),
        (".gemini/settings.json", "{\"mcpServers\": {\"wink\": {\"command\": \"mine\"}}}"),
        (".gemini/settings.json", "{\"hooks\": {\"BeforeAgent\": \"text\"}}"),
    ] {
        let scene = Scene::empty();
        scene.write(file, content);
        let (code, said) = scene.fails(&["setup", "gemini", "--hooks"]);
        assert!(matches!(code, 2 | 13) && said.contains("was not changed"), "{content}: {said}");
        assert_eq!(scene.read(file), content);
    }
    let scene = Scene::empty();
    // One file of two: nothing is written.
    scene.write(".claude/settings.json", "{");
    scene.fails(&["setup", "claude-code", "--hooks"]);
    assert!(!scene.project(".mcp.json").exists());
    let (code, said) = scene.fails(&["setup", "emacs"]);
    assert!(code == 2 && said.contains("claude-code"), "{said}");
}

#[test]
fn a_linked_file_stays_a_link_and_keeps_its_mode() {
    let scene = Scene::empty();
    let target = scene.path("home/dotfiles.json");
    std::fs::write(&target, "{}\n").unwrap();
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&target, scene.project(".mcp.json")).unwrap();
    ok(&scene, &["setup", "claude-code"]);
    assert!(scene.project(".mcp.json").is_symlink());
    assert!(std::fs::read_to_string(&target).unwrap().contains("wink"));
    assert_eq!(mode_of(&target), 0o640);
    ok(&scene, &["setup", "claude-code", "--undo"]);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "{}\n");
}

#[test]
fn a_directory_that_cannot_be_written_to_is_named() {
    let scene = Scene::empty();
    // Also for root: a file is in the way.
    scene.write(".claude", "a file");
    let (code, said) = scene.fails(&["setup", "claude-code", "--hooks"]);
    assert!(code == 1 && said.contains("settings.json"), "{said}");
    assert!(!scene.project(".mcp.json").exists(), "what was written first is taken back");
}

#[test]
fn a_doctor_names_hooks_that_have_never_fired() {
    let scene = Scene::new();
    let said = || {
        let doctor = scene.json(&["doctor"]);
        let checks = doctor["checks"].as_array().unwrap().iter();
        let found = checks
            .filter(|it| it["name"] == "codex")
            .map(|it| (it["health"].clone(), it["said"].clone()));
        found.collect::<Vec<_>>()
    };
    assert_eq!(said(), []);
    scene.ok(&["setup", "codex"]);
    assert!(said()[0].1.as_str().unwrap().contains("--hooks"));
    scene.ok(&["setup", "codex", "--hooks"]);
    assert!(
        said()[0].0 == "warning" && said()[0].1.as_str().unwrap().contains("none has ever fired"),
        "{:?}",
        said()
    );
    let mut hook = scene.wink_in(&scene.path("project"), &["hook", "codex"]);
    let mut child = hook.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let payload = br#"{"hook_event_name": "UserPromptSubmit", "turn_id": "1", "session_id": "s"}"#;
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), payload).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(said()[0].0, "ok");
}

/// The whole way: what `wink setup` wrote is what a client would run.
#[test]
fn the_hooks_that_were_written_protect_a_turn() {
    let scene = Scene::empty();
    scene.write("ignored.txt", "mine");
    // Without wink on PATH, the hooks name the program itself.
    scene.ok(&["setup", "claude-code", "--hooks"]);
    let settings: serde_json::Value =
        serde_json::from_str(&scene.read(".claude/settings.json")).unwrap();
    let fire = |event: &str| {
        let command = settings["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap();
        let payload = format!(
            r#"{{"hook_event_name": "{event}", "session_id": "s", "prompt_id": "{event}", "cwd": "{}"}}"#,
            scene.path("project").display()
        );
        let mut child = std::process::Command::new("sh");
        child
            .args(["-c", &format!("echo '{payload}' | {command}")])
            .current_dir(scene.path("project"))
            .env_clear();
        child
            .env("HOME", scene.path("home"))
            .env("XDG_DATA_HOME", scene.path("data"))
            .env("PATH", "/usr/bin:/bin");
        let output = child.output().unwrap();
        assert!(output.status.success() && stderr(&output).is_empty(), "{output:?}");
    };
    fire("UserPromptSubmit");
    std::fs::remove_file(scene.project("ignored.txt")).unwrap();
    fire("Stop");
    scene.ok(&["oops"]);
    assert_eq!(scene.read("ignored.txt"), "mine");
}

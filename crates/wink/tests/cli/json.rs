//! What programs read.

use serde_json::Value;

use crate::cli::scene::{Scene, stderr, stdout};

/// Makes the values that differ from run to run the same.
fn masked(scene: &Scene, value: &Value) -> String {
    let mut value = value.clone();
    mask(&mut value);
    // Another crate in the build may switch serde_json to insertion order.
    value.sort_all_objects();
    scene.masked(serde_json::to_string_pretty(&value).unwrap())
}

fn mask(value: &mut Value) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(mask),
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| match name.as_str() {
            "created_at" | "at" | "modified_at" => *value = "TIME".into(),
            "by" => *value = "WHO".into(),
            // The time in the manifest makes an archive a byte longer or shorter.
            "duration_ms" | "age_seconds" | "archive_bytes" | "bytes_freed" => *value = 0.into(),
            "store" => value["bytes"] = 0.into(),
            _ => mask(value),
        }),
        _ => {}
    }
}

#[test]
fn every_command_answers_with_one_document() {
    let scene = Scene::empty();
    scene.write("notes.txt", "one\n");
    let mut text = String::new();
    let mut answer = |args: &[&str], schema: &str| {
        let document = scene.json(args);
        assert_eq!(document["schema"], schema, "{args:?}");
        text += &format!("$ wink {} --json\n{}", args.join(" "), masked(&scene, &document));
    };
    answer(&["init"], "wink/init@1");
    answer(&["status"], "wink/status@1");
    answer(&["snapshot", "--tag", "one", "-m", "first"], "wink/snapshot.create@1");
    scene.write("notes.txt", "two\n");
    scene.write("new.txt", "");
    answer(&["status"], "wink/status@1");
    answer(&["log"], "wink/log@1");
    answer(&["diff"], "wink/diff@1");
    answer(&["restore", "one"], "wink/restore@1");
    answer(&["undo"], "wink/undo@1");
    answer(&["redo"], "wink/undo@1");
    answer(&["op", "log"], "wink/op.log@1");
    answer(&["op", "show"], "wink/op.show@1");
    answer(&["verify", "--data"], "wink/verify@1");
    insta::assert_snapshot!(text);
}

#[test]
fn every_command_on_forks_and_states_answers_with_one_document() {
    let scene = Scene::new();
    scene.write("notes.txt", "one\n");
    scene.ok(&["snapshot", "--tag", "one"]);
    scene.write("notes.txt", "two\n");
    scene.ok(&["snapshot", "--tag", "two"]);
    let mut text = String::new();
    let mut answer = |args: &[&str], schema: &str| {
        let document = scene.json(args);
        assert_eq!(document["schema"], schema, "{args:?}");
        text += &format!("$ wink {} --json\n{}", args.join(" "), masked(&scene, &document));
    };
    answer(&["show", "two"], "wink/show@1");
    answer(&["search", "one"], "wink/search@1");
    answer(&["fork", "attempt", "two"], "wink/fork@1");
    answer(&["fork", "list"], "wink/fork.list@1");
    std::fs::write(scene.path("project-attempt/new.txt"), "new\n").unwrap();
    answer(&["merge", "attempt"], "wink/merge@1");
    answer(&["revert", "one..two"], "wink/revert@1");
    answer(&["export", "../two.fs.zip", "--at", "two"], "wink/export@1");
    answer(&["import", "../two.fs.zip"], "wink/import@1");
    answer(&["fs", "ls"], "wink/fs.ls@1");
    answer(&["fs", "cat", "notes.txt", "--at", "one"], "wink/fs.cat@1");
    answer(&["fork", "rename", "attempt", "better"], "wink/fork.rename@1");
    answer(&["fork", "delete", "better", "--yes"], "wink/fork.delete@1");
    insta::assert_snapshot!(text);
}

#[test]
fn every_command_that_keeps_order_answers_with_one_document() {
    let scene = Scene::new();
    scene.write("secret", "1\n");
    scene.ok(&["snapshot"]);
    scene.write("secret", "2\n");
    scene.ok(&["snapshot"]);
    let mut text = String::new();
    let mut answer = |args: &[&str], schema: &str| {
        let document = scene.json(args);
        assert_eq!(document["schema"], schema, "{args:?}");
        text += &format!("$ wink {} --json\n{}", args.join(" "), masked(&scene, &document));
    };
    answer(&["tag", "two"], "wink/tag@1");
    answer(&["prune", "--keep", "1", "--dry-run"], "wink/prune@1");
    answer(&["prune", "--path", "secret", "--dry-run"], "wink/prune.path@1");
    answer(&["prune", "--path", "secret", "--yes"], "wink/prune.path@1");
    answer(&["repair"], "wink/repair@1");
    insta::assert_snapshot!(text);
}

/// A form that no test asks for is one that no reviewer has seen.
#[test]
fn every_form_is_asked_for_by_a_test() {
    let forms = include_str!("../../../../docs/json-schemas.json");
    let forms: Value = serde_json::from_str(forms).unwrap();
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli");
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let sources = files.filter(|path| path.extension().is_some_and(|it| it == "rs"));
    let text: String = sources.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    for name in forms.as_object().unwrap().keys() {
        assert!(text.contains(&format!("\"{name}\"")), "{name}");
    }
}

#[test]
fn every_command_on_files_answers_with_one_document() {
    let scene = Scene::new();
    scene.write("notes.txt", "one\n");
    let mut text = String::new();
    let mut answer = |args: &[&str], schema: &str| {
        let document = scene.json(args);
        assert_eq!(document["schema"], schema, "{args:?}");
        text += &format!("$ wink {} --json\n{}", args.join(" "), masked(&scene, &document));
    };
    answer(&["fs", "stat", "notes.txt"], "wink/fs.stat@1");
    answer(&["fs", "glob", "*"], "wink/fs.glob@1");
    answer(&["fs", "grep", "one"], "wink/fs.grep@1");
    answer(&["fs", "edit", "notes.txt", "one", "two"], "wink/fs.edit@1");
    answer(&["fs", "mkdir", "new"], "wink/fs.mkdir@1");
    answer(&["fs", "mv", "notes.txt", "new/notes.txt"], "wink/fs.mv@1");
    answer(&["fs", "rm", "-r", "new"], "wink/fs.rm@1");
    answer(&["fs", "write", "empty"], "wink/fs.write@1");
    answer(&["tool", "read_file", "path=empty"], "wink/tool@1");
    answer(&["tool", "undo", "--schema"], "wink/tool.schema@1");
    assert_eq!(scene.json(&["tool"])["schema"], "wink/tool.list@1");
    insta::assert_snapshot!(text);
}

#[test]
fn a_failure_is_one_line_on_stderr() {
    let scene = Scene::new();
    let (code, said) = scene.fails(&["restore", "nothing", "--json"]);
    let error: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, said.lines().count()), (12, 1));
    assert_eq!(error["type"], "error");
    assert_eq!((&error["code"], &error["exit"]), (&"ref_unknown".into(), &12.into()));
    assert!(error["message"].is_string() && error["hint"].is_string());
}

/// A command that takes long tells programs so, in lines before its answer; `-q` drops them.
#[test]
fn progress_goes_before_the_one_summary() {
    let scene = Scene::new();
    let args = ["tool", "shell_execute", "command=sleep 10.5", "--allow-execution", "--json"];
    let quiet = [&args[..], &["-q"]].concat();
    let (said, quiet) = std::thread::scope(|scope| {
        let quiet_scene = Scene::new();
        let quiet = scope.spawn(move || quiet_scene.ok(&quiet));
        (scene.ok(&args), quiet.join().unwrap())
    });
    let types = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|line| line["type"].as_str().unwrap().to_owned()).collect()
    };
    let first: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    assert_eq!(first["schema"], "wink/progress@1");
    assert!(first["elapsed_ms"].as_u64() >= Some(10_000), "{first}");
    let said = types(&said);
    assert_eq!(said.last().map(String::as_str), Some("summary"));
    let (last, before) = said.split_last().unwrap();
    assert!(!before.is_empty() && before.iter().all(|it| it == "progress") && last == "summary");
    assert_eq!(types(&quiet), ["summary"]);
}

/// Runs a command for a person and for a program; both end with the same code, and the program gets one answer
/// on stdout or one failure on stderr.
fn ends_alike(scene: &Scene, args: &[&str], code: i32, kind: &str) -> Value {
    let (person, program) = (scene.run(args), scene.run(&[args, &["--json"]].concat()));
    assert_eq!(person.status.code(), Some(code), "{args:?}: {}", stderr(&person));
    assert_eq!(program.status.code(), Some(code), "{args:?}: {}", stderr(&program));
    let (closing, other) = match kind {
        "summary" => (stdout(&program), stderr(&program)),
        _ => (stderr(&program), stdout(&program)),
    };
    assert_eq!((closing.lines().count(), &*other), (1, ""), "{args:?}: {closing}");
    let closing: Value = serde_json::from_str(&closing).unwrap();
    assert_eq!(closing["type"], kind, "{args:?}");
    closing
}

/// A workspace and a fork that changed the same lines.
fn forked() -> Scene {
    let scene = Scene::new();
    scene.write("a", "one\n");
    scene.ok(&["snapshot", "--tag", "one"]);
    scene.ok(&["fork", "attempt", "one", "-q"]);
    std::fs::write(scene.path("project-attempt/a"), "theirs\n").unwrap();
    scene.write("a", "two\n");
    scene.ok(&["snapshot", "--tag", "two"]);
    scene.write("a", "ours\n");
    scene
}

#[test]
fn what_is_answered_but_no_success_is_one_summary_with_the_code_that_people_get() {
    let scene = forked();
    for args in [["merge", "attempt"].as_slice(), &["merge", "attempt", "--dry-run"]] {
        let merged = ends_alike(&scene, args, 13, "summary");
        assert_eq!(merged["conflicts"][0]["path"], "a", "{merged}");
    }
    ends_alike(&scene, &["revert", "one..two"], 13, "summary");
    ends_alike(&scene, &["diff", "--exit-code"], 1, "summary");
    ends_alike(&scene, &["search", "nowhere"], 1, "summary");
    ends_alike(&scene, &["fs", "glob", "*.none"], 1, "summary");
    ends_alike(&scene, &["fs", "grep", "nowhere"], 1, "summary");
    std::fs::write(scene.project("broken.jsonl"), "{").unwrap();
    ends_alike(&scene, &["session", "list", "."], 3, "summary");
    for (args, code) in [(["show", "none"].as_slice(), 12), (&["fs", "cat", "none"], 1)] {
        ends_alike(&scene, args, code, "error");
    }
    ends_alike(&scene, &["merge", "attempt", "--nothing"], 2, "error");
}

/// Once, only people were told why it went no further.
#[test]
fn an_undo_that_went_fewer_steps_says_why_to_programs_too() {
    let scene = Scene::new();
    for name in ["a", "b"] {
        scene.write(name, "1");
        scene.ok(&["fs", "edit", name, "1", "2"]);
    }
    scene.write("a", "from outside");
    let undone = scene.run(&["undo", "2", "--json"]);
    assert_eq!((undone.status.code(), &*stderr(&undone)), (Some(3), ""));
    let undone: Value = serde_json::from_str(&stdout(&undone)).unwrap();
    assert!(undone["stopped"].as_str().unwrap().contains('a'), "{undone}");
    scene.ok(&["redo"]);
    assert_eq!(scene.json(&["undo"])["stopped"], Value::Null);
}

/// Once, programs were told in words for people, on stderr.
#[test]
fn what_may_be_left_of_a_secret_is_in_the_answer_for_programs() {
    let scene = Scene::new();
    scene.write("secret", "1\n");
    scene.ok(&["snapshot"]);
    std::fs::create_dir(scene.history().join("store/quarantine")).unwrap();
    let put_aside = scene.history().join("store/quarantine/pack");
    std::fs::write(put_aside, "damaged").unwrap();
    let pruned = ends_alike(&scene, &["prune", "--path", "secret", "--dry-run"], 3, "summary");
    let quarantine = scene.history().join("store/quarantine");
    assert_eq!(pruned["quarantine"], quarantine.to_str().unwrap());
}

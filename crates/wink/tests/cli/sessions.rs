//! Sessions of agents in files.

use std::path::{Path, PathBuf};

use serde_json::json;
use wink_agent::session::Session;
use wink_agent::{ToolContext, call, checkpoint};
use wink_fs::Workspace;

use crate::cli::mask;
use crate::cli::scene::{Scene, mode_of};

/// A session with two calls and one below it, dumped with its files.
fn dump(scene: &Scene) -> PathBuf {
    let id = "67e55044-10b1-426f-9247-bb680e5fe0c8".parse().unwrap();
    let below = "a1a2a3a4-b1b2-4c1c-8d1d-d2d3d4d5d6d7".parse().unwrap();
    let session = Session::builder().session_id(id).tag("task", "refactor").build();
    let child = Session::builder().session_id(below).parent(&session).build();
    let files = Workspace::memory();
    let written = json!({"path": "from-agent.txt", "content": "hello\n"});
    assert!(call(&ToolContext::over(&files).session(&session), "write_file", written).ok());
    let context = ToolContext::over(&files).session(&child);
    assert!(!call(&context, "read_file", json!({"path": "none"})).ok());
    let directory = scene.path("sessions");
    std::fs::create_dir(&directory).unwrap();
    checkpoint::dump_with_files(&session, &files, &directory).unwrap().session
}

#[test]
fn sessions_are_listed_shown_checked_and_loaded() {
    let scene = Scene::new();
    scene.write("mine.txt", "mine\n");
    let file = dump(&scene);
    let file = file.to_str().unwrap();
    let text = scene.transcript(&[
        &["session", "list", "../sessions"],
        &["session", "show", file],
        &["session", "check", file],
        &["session", "load", file],
        &["fs", "ls"],
        &["undo"],
        &["session", "list"],
        &["session", "--help"],
    ]);
    assert_eq!(scene.read("mine.txt"), "mine\n");
    insta::assert_snapshot!(text);
}

#[test]
fn a_dump_says_where_it_is_and_how_to_go_on() {
    let scene = Scene::new();
    scene.write("mine.txt", "mine\n");
    let text = scene.transcript(&[
        &["session", "dump", "../out"],
        &["session", "dump", "../out", "-q"],
        &["session", "dump", "inside"],
    ]);
    insta::assert_snapshot!(mask::word_after(&text, "/tmp/out/", "UUID"));
}

#[test]
fn a_workspace_is_dumped_as_a_session_and_loaded_again() {
    let scene = Scene::new();
    scene.write("mine.txt", "mine\n");
    std::fs::create_dir(scene.path("out")).unwrap();
    let dumped = scene.json(&["session", "dump", "../out"]);
    assert_eq!(dumped["schema"], "wink/session.dump@1");
    let file = dumped["session"].as_str().unwrap();
    scene.write("mine.txt", "changed\n");
    scene.ok(&["session", "check", file]);
    scene.ok(&["session", "load", file]);
    assert_eq!(scene.read("mine.txt"), "mine\n");
    let (code, said) = scene.fails(&["session", "dump", "inside"]);
    assert_eq!(code, 2);
    assert!(said.contains("is inside the workspace"), "{said}");
}

#[test]
fn what_is_damaged_or_missing_is_told() {
    let scene = Scene::new();
    let file = dump(&scene);
    let archive = file.with_extension("fs.zip");
    let name = file.to_str().unwrap().to_owned();
    let (session, bytes) = (std::fs::read(&file).unwrap(), std::fs::read(&archive).unwrap());

    std::fs::write(&archive, &bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(scene.fails(&["session", "check", &name]).0, 14);
    scene.write("mine.txt", "mine\n");
    assert_eq!(scene.fails(&["session", "load", &name]).0, 14);
    assert_eq!(scene.read("mine.txt"), "mine\n", "nothing was done");

    std::fs::remove_file(&archive).unwrap();
    scene.ok(&["session", "check", &name]);
    let (code, said) = scene.fails(&["session", "load", &name]);
    assert_eq!(code, 1);
    assert!(said.contains("does not exist") && said.contains("help:"), "{said}");

    std::fs::write(&file, &session[..session.len() / 2]).unwrap();
    for command in ["check", "show", "load"] {
        let (code, said) = scene.fails(&["session", command, &name]);
        assert_eq!(code, 14, "{said}");
        assert!(said.contains("line 1"), "{said}");
    }
    let (code, said) = scene.fails(&["session", "list", "../sessions"]);
    assert_eq!((code, said.as_str()), (3, ""));
    assert_eq!(scene.fails(&["session", "show", "../sessions/none.jsonl"]).0, 1);
}

#[test]
fn every_command_on_sessions_answers_with_one_document() {
    let scene = Scene::new();
    let file = dump(&scene);
    let file = file.to_str().unwrap();
    for (args, schema) in [
        (["list", "../sessions"], "wink/session.list@1"),
        (["show", file], "wink/session.show@1"),
        (["check", file], "wink/session.check@1"),
        (["load", file], "wink/session.load@1"),
    ] {
        let document = scene.json(&[&["session"], &args[..]].concat());
        assert_eq!(document["schema"], schema);
    }
    let shown = scene.json(&["session", "show", file]);
    let sessions = shown["sessions"].as_array().unwrap();
    assert_eq!((sessions.len(), &sessions[1]["depth"]), (2, &1.into()));
    assert_eq!(sessions[0]["tool_calls"][0]["tool"], "write_file");
    assert_eq!(sessions[0]["slices"][0]["name"], "tool_invoked");
}

#[test]
fn a_dump_makes_its_directory_and_no_link_leads_it_into_the_workspace() {
    let scene = Scene::new();
    let dumped = scene.json(&["session", "dump", "../not/there"]);
    assert!(std::fs::exists(dumped["session"].as_str().unwrap()).unwrap());
    assert_eq!(std::fs::read_dir(scene.path("not/there")).unwrap().count(), 2);
    std::os::unix::fs::symlink(scene.path("project"), scene.path("link")).unwrap();
    scene.fails(&["session", "dump", "../link/inside"]);
    assert_eq!(std::fs::read_dir(scene.path("project")).unwrap().count(), 0);
}

#[test]
fn a_directory_that_is_not_there_has_no_list_of_sessions() {
    let scene = Scene::new();
    let (exit, said) = scene.fails(&["session", "list", "nowhere"]);
    assert!(exit == 1 && said.contains("cannot find"), "{exit}: {said}");
    assert_eq!(scene.ok(&["session", "list", "."]), "");
}

/// Once, a dump named the directory on the host, and anyone could read the files beside a private session.
#[test]
fn a_dump_is_private_and_does_not_name_the_host_directory() {
    let scene = Scene::new();
    scene.write("a", "1");
    let dumped = scene.json(&["session", "dump", "../dumps"]);
    let [session, archive] = ["session", "archive"].map(|it| dumped[it].as_str().unwrap());
    assert_eq!([session, archive].map(|it| mode_of(Path::new(it))), [0o600, 0o600]);
    let text = std::fs::read_to_string(session).unwrap();
    assert!(text.contains(r#""workspace":"project""#), "{text}");
    assert!(!text.contains(scene.path("").to_str().unwrap()), "{text}");
}

//! Commands that tell programs of each thing when it happens.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use crate::cli::form::check_form;
use crate::cli::scene::Scene;
use crate::cli::signals::send;

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

#[test]
fn a_server_says_in_one_line_that_it_is_ready_and_in_one_that_it_was_stopped() {
    let scene = Scene::empty();
    let args = ["serve", "--port", "0", "--root", ".", "--json"];
    let mut command = scene.wink_in(&scene.path("project"), &args);
    command.env("XDG_RUNTIME_DIR", scene.path("run"));
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("wink starts");
    let (mut stdout, mut line) = (BufReader::new(child.stdout.take().unwrap()), String::new());
    stdout.read_line(&mut line).unwrap();
    let ready = parsed(&line);
    check_form(&ready, "item");
    assert_eq!(ready["schema"], "wink/serve.ready@1");
    let url = ready["url"].as_str().unwrap();
    let address = url.strip_prefix("http://").unwrap();
    std::net::TcpStream::connect(address).expect("it listens");
    assert_eq!(ready["mcp_url"], format!("{url}/mcp"));
    assert_eq!(ready["workspaces"][0]["what"], scene.path("project").to_str().unwrap());
    assert!(ready["workspaces"][0]["note"].as_str().unwrap().contains("history"));
    assert!(ready["token"].as_str().unwrap().len() > 20);

    send(&child, Signal::TERM);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(rest.lines().count(), 1, "{rest}");
    check_form(&parsed(&rest), "summary");
    assert_eq!(parsed(&rest)["schema"], "wink/serve@1");
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}

#[test]
fn a_server_that_cannot_start_says_so_in_one_line() {
    let scene = Scene::empty();
    let (code, said) = scene.fails(&["serve", "--host", "0.0.0.0", "--json"]);
    assert_eq!((code, said.lines().count()), (2, 1), "{said}");
    assert_eq!(parsed(&said)["type"], "error");
}

#[test]
fn a_demo_tells_of_each_call_and_of_all_at_the_end() {
    let scene = Scene::empty();
    let args = ["demo", "--pace", "0", "--output", "dump", "--json"];
    let mut command = scene.wink_in(&scene.path("home"), &args);
    let output = command.env("XDG_RUNTIME_DIR", scene.path("run")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<_> = text.lines().map(parsed).collect();
    let last = lines.pop().unwrap();
    check_form(&last, "summary");
    assert_eq!((&last["schema"], &last["calls"]), (&"wink/demo@1".into(), &lines.len().into()));
    for call in &lines {
        check_form(call, "item");
        assert_eq!(call["schema"], "wink/demo.call@1");
    }
    assert_eq!(lines.iter().filter(|call| call["ok"] == false).count(), 2);
    assert!(std::path::Path::new(last["session"].as_str().unwrap()).is_file());
}

#[test]
fn a_page_says_in_one_line_that_it_is_ready_and_in_one_that_it_was_stopped() {
    let scene = Scene::new();
    scene.write("notes.txt", "one\n");
    scene.ok(&["export", "notes.fs.zip"]);
    let args = ["debug", "notes.fs.zip", "--port", "0", "--json"];
    let mut command = scene.wink_in(&scene.path("project"), &args);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("wink starts");
    let (mut stdout, mut line) = (BufReader::new(child.stdout.take().unwrap()), String::new());
    stdout.read_line(&mut line).unwrap();
    let ready = parsed(&line);
    check_form(&ready, "item");
    assert_eq!(ready["schema"], "wink/debug.ready@1");
    assert_eq!(ready["shown"][0]["notes"], serde_json::json!([]));

    send(&child, Signal::TERM);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success());
    check_form(&parsed(&rest), "summary");
    assert_eq!(parsed(&rest)["schema"], "wink/debug@1");
}

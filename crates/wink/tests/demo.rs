//! `wink demo`, as a person runs it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{POST, Server, wink};
use serde_json::json;
use wink_agent::session::{ToolInvoked, load_session_tree};

/// Runs the demo as a person whose own files are in `place`.
fn demo(place: &Path, output: &Path) -> Output {
    in_place(&mut wink(), place, output)
}

fn in_place(command: &mut Command, place: &Path, output: &Path) -> Output {
    command.args(["demo", "--pace", "0", "--output"]).arg(output).current_dir(place);
    command.env("HOME", place.join("home")).env("XDG_DATA_HOME", place.join("data"));
    command.env("XDG_RUNTIME_DIR", place.join("run")).env("NO_COLOR", "1");
    command.output().expect("wink starts")
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// Returns what was called, without how long it took and what was answered.
fn calls(shown: &str) -> String {
    let without_time = |line: &str| line.chars().take(60).collect::<String>().trim_end().to_owned();
    let lines = shown.lines().filter(|line| !line.is_empty() && !line.starts_with("      "));
    let lines = lines.take_while(|line| !line.starts_with("Dumped")).map(without_time);
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_demo_by_itself_serves_shows_and_dumps_what_happens() {
    let place = tempfile::tempdir().expect("a directory");
    let output = place.path().join("dump");
    let shown = text(&demo(place.path(), &output));
    insta::assert_snapshot!(calls(&shown));
    assert!(shown.contains("Nothing changed from demo-any-case to now"), "{shown}");
    assert!(shown.contains("+    print(report(count(text)))"), "{shown}");

    let session = load_session_tree(output.join("demo.jsonl")).expect("a session");
    let records = session.query::<ToolInvoked>().expect("calls");
    let count = shown.lines().find_map(|line| line.split_once(" calls; ")).expect("a count").0;
    assert_eq!(records.len().to_string(), count);
    let failed: Vec<_> =
        records.filter(|call| !call.success).iter().map(|it| it.tool.clone()).collect();
    assert_eq!(failed, ["apply_patch", "ls"]);

    let files = wink_fs::Workspace::memory();
    files.import_archive(output.join("demo.fs.zip")).expect("an archive");
    assert!(files.read("demo/src/report.py").expect("a file").content.contains("def report"));
    let left = fs::read_dir(place.path().join("run/wink")).expect("a directory").count();
    assert_eq!(left, 0, "its server is gone");
}

/// Returns a line without how long a call took.
fn without_time(line: &str) -> String {
    let kept = line.strip_suffix(" ms").map(|it| it.trim_end_matches(|c: char| !c.is_whitespace()));
    kept.unwrap_or(line).trim_end().to_owned()
}

/// Once, no test would have noticed had it shown something else.
#[test]
fn the_readme_quotes_what_a_demo_shows() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = fs::read_to_string(readme).expect("a readme");
    let (_, quoted) = readme.split_once("```text\n").expect("a quotation");
    let (quoted, _) = quoted.split_once("```").expect("an end of it");
    let place = tempfile::tempdir().expect("a directory");
    let shown = text(&demo(place.path(), &place.path().join("dump")));
    let mut rest = shown.lines().map(without_time);
    for line in quoted.lines().filter(|line| *line != "…").map(without_time) {
        assert!(
            rest.any(|it| it == line),
            "{line:?} is not there, or not in this order, in {shown}"
        );
    }
}

#[test]
fn a_demo_has_colours_and_says_the_same_without() {
    let place = tempfile::tempdir().expect("a directory");
    let colored = |when: &str| {
        let output = place.path().join(when);
        let mut command = wink();
        command.args(["demo", "--pace", "0", "--color", when, "--output"]).arg(&output);
        command.env("HOME", place.path()).env("XDG_RUNTIME_DIR", place.path().join("run"));
        text(&command.output().expect("wink starts"))
    };
    let (painted, plain) = (colored("always"), colored("never"));
    for part in [
        "\u{1b}[1mUnderstand, then change\u{1b}[0m\n",
        "\u{1b}[1m\u{1b}[32m✓\u{1b}[0m \u{1b}[1mwrite_file  \u{1b}[0m README.md",
        "\u{1b}[1m\u{1b}[31m✕\u{1b}[0m",
        "\u{1b}[7m\u{1b}[32mlower().\u{1b}[0m",
        "\u{1b}[1mwink init\u{1b}[0m      protect",
    ] {
        assert!(painted.contains(part), "{part:?} in {painted:?}");
    }
    let stripped = anstream::adapter::strip_str(&painted).to_string();
    assert_eq!(calls(&stripped), calls(&plain));
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
}

#[test]
fn a_demo_works_in_the_server_that_runs_and_leaves_it_running() {
    let server = Server::start();
    let output = server.place.path().join("dump");
    for name in ["demo", "demo-2"] {
        let shown = text(&demo(server.place.path(), &output));
        assert!(shown.contains(&server.url()), "{shown}");
        assert!(shown.contains("the page that `wink serve` printed shows"), "{shown}");
        assert!(output.join(format!("{name}.fs.zip")).exists(), "{shown}");
    }
    let listed = server.call("ls", json!({"path": "demo-2/src"}));
    assert!(listed.to_string().contains("report.py"), "{listed}");
    let page = server.send(&POST.replace("POST /mcp", "GET /api/v1/runs/main"), "");
    assert!(page.text.contains("demo-2-with-report"), "{}", page.text);
}

#[test]
fn a_demo_whose_server_cannot_begin_says_at_once_why() {
    let place = tempfile::tempdir().expect("a directory");
    fs::write(place.path().join("run"), "no directory").expect("a file");
    let began = std::time::Instant::now();
    let output = demo(place.path(), &place.path().join("dump"));
    assert!(!output.status.success());
    assert!(began.elapsed() < std::time::Duration::from_secs(15), "{:?}", began.elapsed());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("cannot write the discovery file"), "{stderr}");
    assert!(stderr.contains("it ended at once"), "{stderr}");
}

#[test]
fn a_demo_does_not_depend_on_what_its_program_is_called() {
    let wink = Path::new(env!("CARGO_BIN_EXE_wink"));
    let place = tempfile::tempdir_in(wink.parent().expect("a directory")).expect("a directory");
    let renamed = place.path().join("another-name");
    fs::hard_link(wink, &renamed).expect("a link");
    let mut command = std::process::Command::new(renamed);
    let output = in_place(&mut command, place.path(), &place.path().join("dump"));
    assert!(text(&output).contains("served for this demo alone"), "{output:?}");
}

#[test]
fn a_demo_keeps_away_from_the_files_of_a_person() {
    let place = tempfile::tempdir().expect("a directory");
    fs::create_dir(place.path().join("mine")).expect("a directory");
    let root = place.path().join("mine").display().to_string();
    let server = Server::start_in(place, &["--port", "0", "--root", &root]);
    let shown = text(&demo(server.place.path(), &server.place.path().join("dump")));
    assert!(shown.contains("served for this demo alone"), "{shown}");
    assert_eq!(fs::read_dir(&root).expect("a directory").count(), 0);
}

#[test]
fn an_unnamed_session_has_no_record() {
    let server = Server::start();
    let get = POST.replace("POST /mcp", "GET /api/v1/sessions/unknown");
    assert_eq!(server.send(&get, "").status(), 404);
    let without_token = get.replace("{token}", "x");
    assert_eq!(server.send(&without_token, "").status(), 401);
}

#[test]
fn a_demo_does_not_work_where_it_may_only_look() {
    let server = Server::start_with(&["--port", "0", "--read-only"]);
    let shown = text(&demo(server.place.path(), &server.place.path().join("dump")));
    assert!(shown.contains("served for this demo alone"), "{shown}");
}

#[test]
fn a_token_is_not_sent_to_a_program_in_the_place_of_a_stopped_server() {
    let place = tempfile::tempdir().expect("a directory");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let left = place.path().join("run/wink");
    fs::create_dir_all(&left).expect("a directory");
    let signal = json!({
        "version": 1, "pid": std::process::id(), "url": url, "token": "secret", "for_demo": true,
    });
    fs::write(left.join("serve-1.json"), signal.to_string()).expect("a file");
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(left.join("serve-1.json"), private).expect("private");
    let shown = text(&demo(place.path(), &place.path().join("dump")));
    assert!(shown.contains("served for this demo alone"), "{shown}");
    listener.set_nonblocking(true).expect("a listener");
    assert!(listener.accept().is_err(), "no client came");
}

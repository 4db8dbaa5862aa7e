//! The window's routes, as a page and as other programs use them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Answer, POST, Server, wink};

fn get(server: &Server, path: &str) -> Answer {
    let head = POST.replace("POST /mcp", &format!("GET {path}"));
    server.send(&head, "")
}

fn json_of(answer: &Answer) -> Value {
    serde_json::from_str(answer.body()).unwrap_or_else(|_| panic!("JSON: {}", answer.text))
}

fn post(server: &Server, path: &str, body: &Value) -> Answer {
    server.send(&POST.replace("/mcp", path), &body.to_string())
}

fn write(server: &Server, path: &str, content: &str) {
    let written = server.call("write_file", json!({"path": path, "content": content}));
    assert_eq!(written["isError"], false, "{written}");
}

#[test]
fn the_routes_of_the_documents_answer_as_they_are_written() {
    let server = Server::start();
    write(&server, "src/main.py", "print('hello')\n");
    write(&server, "a.txt", "12345");
    let meta = json_of(&get(&server, "/api/filesystem/meta"));
    assert_eq!((&meta["version"], &meta["file_count"]), (&json!("1"), &json!(2)), "{meta}");
    assert_eq!(meta["total_bytes"], 20, "{meta}");
    let tree = json_of(&get(&server, "/api/filesystem/tree"));
    let expected =
        json!([{"path": "a.txt", "size_bytes": 5}, {"path": "src/main.py", "size_bytes": 15}]);
    assert_eq!(tree, expected);
    let file = get(&server, "/api/filesystem/file?path=src/main.py");
    assert_eq!((file.status(), file.body()), (200, "print('hello')\n"));
    assert_eq!(get(&server, "/api/filesystem/file?path=nowhere").status(), 404);
    let content = json!({"path": "b.bin", "content": "AAEC/w==", "encoding": "base64"});
    assert_eq!(server.call("write_file", content)["isError"], false);
    let binary = get(&server, "/api/filesystem/file?path=b.bin");
    assert_eq!(binary.status(), 415);
    assert!(binary.body().contains("is binary"), "{}", binary.text);
}

#[test]
fn a_call_is_listed_with_what_it_changed_and_can_be_undone() {
    let server = Server::start();
    write(&server, "a.txt", "one\ntwo\n");
    // It was not read before.
    let refused = server.call("write_file", json!({"path": "a.txt", "content": "one\n2\n"}));
    assert_eq!(refused["isError"], true);
    let refused = server.call("read_file", json!({"path": "nowhere"}));
    assert_eq!(refused["isError"], true);
    let calls = json_of(&get(&server, "/api/v1/runs/main/calls"));
    let listed: Vec<_> = calls["calls"].as_array().unwrap().iter().map(|it| &it["ok"]).collect();
    assert_eq!(listed, [true, false, false], "{calls}");
    let id = calls["calls"][0]["id"].as_str().unwrap();
    let call = json_of(&get(&server, &format!("/api/v1/runs/main/calls/{id}")));
    assert_eq!(call["operations"][0]["changes"][0]["path"], "a.txt", "{call}");
    let operation = &call["operations"][0];
    let (a, b) = (operation["a"].as_str().unwrap(), operation["b"].as_str().unwrap());
    let states = format!("a={}&b={b}", a.replace('^', "%5E"));
    let changes = json_of(&get(&server, &format!("/api/v1/runs/main/changes?{states}")));
    assert_eq!(
        (&changes["files"][0]["status"], &changes["files"][0]["added"]),
        (&json!("A"), &json!(2))
    );
    let diff = json_of(&get(&server, &format!("/api/v1/runs/main/diff?{states}&path=a.txt")));
    assert_eq!(diff["lines"]["hunks"][0]["rows"][1]["text"], "two", "{diff}");
    let undone =
        post(&server, "/api/v1/runs/main/undo", &json!({"operation": operation["sequence"]}));
    assert_eq!(json_of(&undone)["paths"], json!(["a.txt"]), "{}", undone.text);
    assert_eq!(get(&server, "/api/filesystem/file?path=a.txt").status(), 404);
    let again = post(&server, "/api/v1/runs/main/redo", &json!({}));
    assert_eq!(again.status(), 200, "{}", again.text);
    assert_eq!(get(&server, "/api/filesystem/file?path=a.txt").body(), "one\ntwo\n");
}

#[test]
fn a_restore_is_looked_at_first_and_a_fork_changes_nothing_here() {
    let server = Server::start();
    write(&server, "a.txt", "1");
    let taken = json_of(&post(&server, "/api/v1/runs/main/snapshot", &json!({"tag": "first"})));
    write(&server, "b.txt", "2");
    let restore = |dry_run: bool| {
        let body = json!({"to": "first", "dry_run": dry_run});
        json_of(&post(&server, "/api/v1/runs/main/restore", &body))
    };
    assert_eq!(restore(true)["removed"], 1);
    assert_eq!(get(&server, "/api/filesystem/file?path=b.txt").status(), 200);
    let body = json!({"name": "idea", "at": taken["id"]});
    assert_eq!(post(&server, "/api/v1/runs/main/fork", &body).status(), 200);
    assert_eq!(post(&server, "/api/v1/runs/main/fork", &body).status(), 409, "it is there");
    let changes = json_of(&get(&server, "/api/v1/runs/main/changes?a=fork:idea&b=@"));
    assert_eq!(changes["files"][0]["path"], "b.txt", "{changes}");
    assert_eq!(restore(false)["removed"], 1);
    assert_eq!(get(&server, "/api/filesystem/file?path=b.txt").status(), 404);
}

#[test]
fn a3_56_nothing_but_a_post_changes_anything() {
    let server = Server::start();
    write(&server, "a.txt", "1");
    for action in ["restore", "undo", "redo", "revert", "fork", "snapshot"] {
        let path = format!("/api/v1/runs/main/{action}");
        for method in ["GET", "HEAD", "PUT", "DELETE"] {
            let head = POST.replace("POST /mcp", &format!("{method} {path}?to=first&name=x"));
            assert_eq!(server.send(&head, "{}").status(), 405, "{method} {path}");
        }
        assert_eq!(post(&server, &path, &json!({"unknown": 1})).status(), 400, "{path}");
    }
    assert_eq!(get(&server, "/api/filesystem/file?path=a.txt").body(), "1");
}

#[test]
fn a3_57_a_form_of_another_page_does_nothing() {
    let server = Server::start();
    write(&server, "a.txt", "1");
    for action in ["undo", "restore", "fork"] {
        let head = format!(
            "POST /api/v1/runs/main/{action} HTTP/1.1\nHost: {{address}}\nAuthorization: Bearer {{token}}\n\
             Content-Type: multipart/form-data; boundary=x"
        );
        assert_eq!(server.send(&head, "--x--").status(), 415, "{action}");
    }
    assert_eq!(get(&server, "/api/filesystem/file?path=a.txt").status(), 200);
}

#[test]
fn a3_64_a_path_is_decoded_once_and_checked_like_every_other() {
    let server = Server::start();
    write(&server, "a b.txt", "blank");
    write(&server, "%2e%2e", "dots");
    for route in ["raw", "tree", "file", "lines"] {
        for (path, status) in [
            ("..%2fetc%2fpasswd", 403),
            ("%2e%2e/x", 403),
            ("a/..%2f..%2fx", 403),
            ("%00", 400),
            ("a%0ab", 400),
            ("..%c0%af", 404),
        ] {
            let answer = get(&server, &format!("/api/v1/runs/main/{route}?at=@&path={path}"));
            assert_eq!(answer.status(), status, "{route} {path}: {}", answer.text);
            assert!(!answer.body().contains("root:"), "{}", answer.text);
        }
    }
    assert_eq!(get(&server, "/api/v1/runs/main/raw?path=a+b.txt").body(), "blank");
    assert_eq!(get(&server, "/api/v1/runs/main/raw?path=%252e%252e").body(), "dots");
    assert_eq!(get(&server, "/api/filesystem/file?path=..%2fetc%2fpasswd").status(), 403);
}

#[test]
fn a3_66_no_other_page_can_frame_load_or_read_this_one() {
    let server = Server::start();
    for path in ["/", "/run/main", "/assets/app.js", "/api/v1/runs", "/api/v1/runs/main/rows"] {
        let answer = get(&server, path);
        assert_eq!(answer.status(), 200, "{path}");
        for header in [
            "frame-ancestors 'none'",
            "cross-origin-resource-policy: same-origin",
            "cross-origin-opener-policy: same-origin",
            "referrer-policy: no-referrer",
            "x-content-type-options: nosniff",
        ] {
            assert!(answer.text.contains(header), "{path}: {header} in {}", answer.text);
        }
        assert!(!answer.text.contains("access-control-"), "{path}");
    }
}

#[test]
fn what_never_changes_may_be_kept_and_nothing_else() {
    let server = Server::start();
    write(&server, "a.txt", "1");
    let taken = json_of(&post(&server, "/api/v1/runs/main/snapshot", &json!({"tag": "first"})));
    let id = taken["id"].as_str().unwrap();
    let caching = |path: &str| {
        let answer = get(&server, path);
        assert_eq!(answer.status(), 200, "{}", answer.text);
        let line = answer.text.lines().find(|line| line.starts_with("cache-control")).unwrap();
        line.trim_start_matches("cache-control: ").to_owned()
    };
    for route in ["tree?path=", "rows?filter=", "raw?path=a.txt"] {
        let fixed = caching(&format!("/api/v1/runs/main/{route}&at={id}"));
        assert!(fixed.contains("immutable") && fixed.contains("private"), "{fixed}");
        for moving in ["@", "first"] {
            assert_eq!(caching(&format!("/api/v1/runs/main/{route}&at={moving}")), "no-store");
        }
    }
    assert_eq!(caching("/api/v1/runs"), "no-store");
}

#[test]
fn a_range_of_a_file_is_sent_alone() {
    let server = Server::start();
    write(&server, "a.txt", "0123456789");
    let ranged = |range: &str| {
        let head = POST.replace("POST /mcp", "GET /api/v1/runs/main/raw?path=a.txt");
        server.send(&format!("{head}\nRange: {range}"), "")
    };
    let part = ranged("bytes=2-4");
    assert_eq!((part.status(), part.body()), (206, "234"));
    assert!(part.text.contains("content-range: bytes 2-4/10"), "{}", part.text);
    assert_eq!(ranged("bytes=10-").status(), 416);
}

/// Reads a stream until it has said something.
fn until(stream: &mut TcpStream, wanted: &str) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(9))).unwrap();
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while !text.contains(wanted) {
        let read = stream.read(&mut buffer).expect("the stream goes on");
        assert!(read > 0, "it ended after {text}");
        text += &String::from_utf8_lossy(&buffer[..read]);
    }
    text
}

#[test]
fn the_stream_tells_of_calls_and_resumes_where_it_was_left() {
    let server = Server::start();
    let head = POST.replace("POST /mcp", "GET /api/v1/stream");
    let mut stream = server.begin(&head, "").expect("a stream");
    until(&mut stream, "retry:");
    write(&server, "a.txt", "1");
    let told = until(&mut stream, "write_file");
    assert!(told.contains("event: batch") && told.contains(r#""run":"main""#), "{told}");
    let id = told.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().expect("an id");
    drop(stream);
    write(&server, "b.txt", "2");
    let mut stream = server.begin(&format!("{head}\nLast-Event-ID: {}", id.trim()), "").unwrap();
    let missed = until(&mut stream, "b.txt");
    assert!(!missed.contains("event: gap"), "{missed}");
    drop(stream);
    let mut stream = server.begin(&format!("{head}\nLast-Event-ID: other-5"), "").unwrap();
    until(&mut stream, "event: gap");
}

#[test]
fn a_server_with_an_open_page_ends_when_it_is_told_to() {
    let mut server = Server::start();
    let head = POST.replace("POST /mcp", "GET /api/v1/stream");
    let mut stream = server.begin(&head, "").expect("a stream");
    until(&mut stream, "retry:");
    server.end();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).expect("it was closed");
}

/// `wink debug` of some paths, that ends with the test.
struct Debug {
    child: Child,
    address: String,
    cookie: String,
}

impl Debug {
    fn start(paths: &[&std::path::Path]) -> Self {
        let mut command: Command = wink();
        command.arg("--json").arg("debug").args(paths).args(["--port", "0"]).stdout(Stdio::piped());
        let mut child = command.spawn().expect("wink starts");
        let mut line = String::new();
        let mut stdout = std::io::BufReader::new(child.stdout.take().expect("a piped stdout"));
        std::io::BufRead::read_line(&mut stdout, &mut line).expect("a line");
        let ready: Value = serde_json::from_str(&line).expect("JSON");
        let url = ready["page_url"].as_str().expect("an address");
        let (address, ticket) = url.trim_start_matches("http://").split_once('/').unwrap();
        let opened = ask(address, &format!("GET /{ticket} HTTP/1.1"), "");
        let cookie = opened.lines().find_map(|line| line.strip_prefix("set-cookie: "));
        let cookie = cookie.expect("a cookie").split(';').next().unwrap().to_owned();
        Self { child, address: address.to_owned(), cookie }
    }

    fn get(&self, path: &str) -> Answer {
        let cookie = format!("Cookie: {}\r\n", self.cookie);
        Answer { text: ask(&self.address, &format!("GET {path} HTTP/1.1"), &cookie) }
    }
}

fn ask(address: &str, line: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    let head = format!("{line}\r\nHost: {address}\r\n{headers}Connection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    text
}

impl Drop for Debug {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn debug_shows_a_dump_an_archive_and_a_history_at_once() {
    let place = tempfile::tempdir().unwrap();
    let files = wink_fs::Workspace::memory();
    files.write("src/a.txt", "one\n").unwrap();
    files.export_archive(place.path().join("alone.fs.zip")).unwrap();
    let session = wink_agent::session::Session::new();
    let dumped =
        wink_agent::checkpoint::dump_with_files(&session, &files, place.path()).expect("a dump");
    let store = place.path().join("store");
    let kept = wink_fs::Workspace::builder(wink_fs::MemoryBackend::new());
    let kept = kept.store(wink_fs::Store::create_ambient(&store).unwrap()).build();
    kept.write("b.txt", "kept\n").unwrap();
    kept.snapshot("first").unwrap();
    let debug = Debug::start(&[&dumped.session, &place.path().join("alone.fs.zip"), &store]);
    let runs = json_of(&debug.get("/api/v1/runs"));
    let kinds: Vec<_> = runs.as_array().unwrap().iter().map(|it| it["kind"].clone()).collect();
    assert_eq!(kinds, ["dump", "archive", "store"], "{runs}");
    assert!(runs.as_array().unwrap().iter().all(|it| it["can_change"] == false), "{runs}");
    assert_eq!(debug.get("/api/filesystem/file?path=src/a.txt").body(), "one\n");
    let text = debug.get("/api/v1/runs/store/raw?at=first&path=b.txt");
    assert_eq!(text.body(), "kept\n", "{}", text.text);
    let notes = json_of(&debug.get(&format!("/api/v1/runs/{}", session.id())))["notes"].to_string();
    assert!(notes.contains("No history lies beside the session"), "{notes}");
    let other = debug.get("/api/v1/runs/alone/changes?a=@&b=first&in=store");
    assert_eq!(json_of(&other)["total"], 2, "{}", other.text);
    assert_eq!(ask(&debug.address, "GET /api/v1/runs HTTP/1.1", "").split(' ').nth(1), Some("401"));
}

#[test]
fn debug_refuses_what_it_cannot_show() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    std::fs::write(path("bad.jsonl"), "no session\n").unwrap();
    std::fs::write(path("bad.fs.zip"), "no archive").unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        path("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    for (name, words) in [
        ("bad.jsonl", "is no session: Line 1"),
        ("bad.fs.zip", "bad.fs.zip"),
        ("nowhere", "does not exist"),
        ("fifo", "fifo"),
    ] {
        let mut command = wink();
        command.arg("debug").arg(path(name)).args(["--port", "0"]).env("HOME", place.path());
        let output = command.env("XDG_DATA_HOME", path("data")).output().expect("wink runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(words), "{name}: {said}");
    }
    let output = wink().args(["debug", "--host", "0.0.0.0"]).output().expect("wink runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

//! `wink serve` as a person at a terminal meets it.

use crate::common;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::common::threads::wait_until_idle;
use crate::common::{POST, ROUTES, Server, wink};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_printed_first_call_works() {
    let server = Server::start();
    let curl = server.announcement.lines().find(|line| line.contains("curl")).expect("a curl line");
    let output = Command::new("sh").args(["-c", curl]).output().expect("sh runs");
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(answer.contains("\"isError\":false"), "{answer}");
}

#[test]
fn a_busy_port_that_was_asked_for_is_an_error() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let output = wink().args(["serve", "--port", &port]).output().expect("wink runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains(&format!("port {port} is in use")), "{}", stderr(&output));
}

#[test]
fn without_a_port_the_next_free_one_is_taken() {
    let (first, second) = (Server::start_with(&[]), Server::start_with(&[]));
    let port = |server: &Server| server.port().parse::<u16>().expect("a number");
    assert!((8000..8100).contains(&port(&first)), "{}", first.address);
    assert!((8000..8100).contains(&port(&second)), "{}", second.address);
    assert_ne!(first.address, second.address);
}

#[test]
fn a3_58_other_computers_are_served_only_with_a_token_of_their_own() {
    let place = tempfile::tempdir().unwrap();
    for host in ["0.0.0.0", "::", "192.168.1.1"] {
        let output = wink().args(["serve", "--host", host]).output().expect("wink runs");
        assert_eq!(output.status.code(), Some(2), "{host}");
        assert!(stderr(&output).contains("--token-file"), "{}", stderr(&output));
    }
    let file = place.path().join("token");
    for (token, mode, words) in
        [("short", 0o600, "32 or more"), (&"x".repeat(40), 0o644, "other users can access it")]
    {
        std::fs::write(&file, token).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let args = ["serve", "--host", "0.0.0.0", "--token-file"];
        let output = wink().args(args).arg(&file).output().expect("wink runs");
        assert!(!output.status.success());
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let file = file.to_str().unwrap();
    let server = Server::start_with(&["--port", "0", "--host", "0.0.0.0", "--token-file", file]);
    assert_eq!(server.token, "x".repeat(40));
    let own = format!("127.0.0.1:{}", server.port());
    let head = "GET / HTTP/1.1\nHost: {own}\nAuthorization: Bearer {token}".replace("{own}", &own);
    assert_eq!(server.send(&head, "").status(), 200);
}

#[test]
fn both_polite_signals_end_it_cleanly() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut server = Server::start();
        kill_process(Pid::from_child(&server.child), signal).expect("signals");
        let status = server.child.wait().expect("ends");
        assert_eq!(status.code(), Some(0), "{signal:?}");
    }
}

#[test]
fn it_is_ready_in_less_than_a_second() {
    // On a busy machine a start takes longer, and not each of many does.
    let started = || {
        let began = Instant::now();
        let _server = Server::start();
        began.elapsed()
    };
    let starts: Vec<_> = (0..30).map(|_| started()).take_while(|took| took.as_secs() > 0).collect();
    assert!(starts.len() < 30, "{starts:?}");
}

#[test]
fn the_printed_configuration_names_address_and_token() {
    let server = Server::start();
    let line =
        server.announcement.lines().find(|line| line.contains("mcpServers")).expect("a line");
    let config: Value = serde_json::from_str(line).expect("JSON");
    let wink = &config["mcpServers"]["wink"];
    assert_eq!(wink["url"], server.url());
    assert_eq!(wink["headers"]["Authorization"], format!("Bearer {}", server.token));
}

#[test]
fn several_workspaces_are_served_each_under_its_name() {
    let place = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        std::fs::create_dir(place.path().join(name)).unwrap();
    }
    let args = ["--port", "0", "--workspace", "first=one", "--workspace", "second=two"];
    let server = Server::start_in(place, &args);
    let write = |route: &str, path: &str| {
        let arguments = json!({"path": path, "content": "x"});
        let params = json!({"name": "write_file", "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let head = POST.replace("/mcp", route);
        assert_eq!(server.send(&head, &call.to_string()).status(), 200, "{route}");
    };
    write("/mcp", "a.txt");
    write("/mcp/first", "b.txt");
    write("/mcp/second", "c.txt");
    let has = |path: &str| server.place.path().join(path).exists();
    assert!(has("one/a.txt") && has("one/b.txt") && has("two/c.txt"));
    assert_eq!(server.send(&POST.replace("/mcp", "/mcp/third"), "{}").status(), 404);
    let download = |path: &str| {
        let head = POST.replace("POST /mcp", &format!("GET /api/v1/{path}"));
        server.send_bytes(&head)
    };
    for (path, name) in [
        ("files.fs.zip", "files/a.txt"),
        ("workspaces/first/files.fs.zip", "files/b.txt"),
        ("workspaces/second/files.fs.zip", "files/c.txt"),
    ] {
        let archive = download(path);
        let has = |name: &str| archive.windows(name.len()).any(|part| part == name.as_bytes());
        assert!(has(name) && has("files/c.txt") == (name == "files/c.txt"), "{path}");
    }
    assert!(download("workspaces/third/files.fs.zip").starts_with(b"HTTP/1.1 404"));
}

#[test]
fn what_a_person_excludes_while_it_runs_is_in_no_download() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    std::fs::write(place.path().join("work/.env"), "TOKEN=secret").unwrap();
    let server = Server::start_in(place, &["--port", "0", "--root", "work"]);
    let is_in_download = || {
        let head = POST.replace("POST /mcp", "GET /api/v1/files.fs.zip");
        let archive = server.send_bytes(&head);
        assert!(archive.starts_with(b"HTTP/1.1 200"));
        archive.windows(10).any(|part| part == b"files/.env")
    };
    assert!(is_in_download());
    let excluded = wink()
        .args(["-C", "work", "config", "add", "exclude", ".env"])
        .current_dir(server.place.path())
        .env("HOME", server.place.path().join("home"))
        .env("XDG_DATA_HOME", server.place.path().join("data"))
        .output()
        .unwrap();
    assert!(excluded.status.success(), "{}", stderr(&excluded));
    assert!(!is_in_download());
}

#[test]
fn a_directory_is_served_read_only_and_with_some_tools() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    std::fs::write(place.path().join("work/a.txt"), "one\n").unwrap();
    let args = ["--port", "0", "--root", "work", "--read-only", "--tools", "files"];
    let server = Server::start_in(place, &args);
    assert_eq!(server.call("read_file", json!({"path": "a.txt"}))["isError"], false);
    let refused = server.call("write_file", json!({"path": "b.txt", "content": "x"}));
    assert_eq!(refused["structuredContent"]["error"], "read_only", "{refused}");
    assert!(server.call("history", json!({})).is_null(), "not offered");
}

#[test]
fn a_file_that_only_its_owner_can_read_says_where_the_server_is() {
    let mut server = Server::start();
    let path = server.place.path().join(format!("run/wink/serve-{}.json", server.address));
    let signal: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(signal["url"], format!("http://{}", server.address));
    assert_eq!(signal["token"], server.token);
    assert_eq!(signal["pid"], server.child.id());
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    kill_process(Pid::from_child(&server.child), Signal::TERM).expect("signals");
    server.child.wait().expect("ends");
    assert!(!path.exists());
}

#[test]
fn servers_of_one_port_on_two_addresses_are_both_found() {
    let first = Server::start();
    let place = tempfile::tempdir().unwrap();
    let run = first.place.path().join("run");
    std::os::unix::fs::symlink(&run, place.path().join("run")).unwrap();
    let args = ["--host", "127.0.0.2", "--port", first.port()];
    let mut second = Server::start_in(place, &args);
    let names = || {
        let entries = std::fs::read_dir(run.join("wink")).unwrap();
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(names().len(), 2, "{:?}", names());
    kill_process(Pid::from_child(&second.child), Signal::TERM).expect("signals");
    second.child.wait().expect("ends");
    assert_eq!(names(), [format!("serve-{}.json", first.address)]);
}

#[test]
fn a_server_takes_no_file_away_that_is_another_ones_by_now() {
    let mut server = Server::start();
    let path = server.place.path().join(format!("run/wink/serve-{}.json", server.address));
    let mut signal: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    signal["pid"] = json!(1);
    std::fs::write(&path, signal.to_string()).unwrap();
    kill_process(Pid::from_child(&server.child), Signal::TERM).expect("signals");
    server.child.wait().expect("ends");
    assert!(path.exists());
}

#[test]
fn a_server_without_a_discovery_file_says_so_unless_quiet() {
    for (quiet, said) in [(false, true), (true, false)] {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("run"), "no directory").unwrap();
        std::fs::create_dir(place.path().join("work")).unwrap();
        let args = ["--port", "0", "--root", "work", if quiet { "-q" } else { "--no-pager" }];
        let mut server = Server::start_in(place, &args);
        let stderr = server.end();
        assert_eq!(stderr.contains("`wink demo` cannot find this server"), said, "{stderr}");
        assert_eq!(stderr.contains("note: the history of"), said, "{stderr}");
    }
}

#[test]
fn a_server_whose_starter_is_gone_already_does_not_begin() {
    let place = tempfile::tempdir().unwrap();
    let mut serve = wink();
    serve.args(["serve", "--port", "0", "--end-with-parent=1"]).current_dir(place.path());
    let output = serve.env("XDG_RUNTIME_DIR", place.path()).output().expect("wink runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("started this server is gone"), "{}", stderr(&output));
}

#[test]
fn fault_33_a_signal_under_load_lets_calls_end_and_loses_nothing() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    let mut server = Server::start_in(place, &["--port", "0", "--root", "work"]);
    let pid = Pid::from_child(&server.child);
    let answered = AtomicUsize::new(0);
    let written: Vec<usize> = std::thread::scope(|scope| {
        let (server, answered) = (&server, &answered);
        let writers: Vec<_> =
            (0..8).map(|writer| scope.spawn(move || writes(server, writer, answered))).collect();
        wait_for_load(answered, 24);
        kill_process(pid, Signal::TERM).expect("signals");
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let began = Instant::now();
    assert_eq!(server.child.wait().expect("ends").code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert!(written.iter().sum::<usize>() > 0, "{written:?}");
    for (writer, count) in written.iter().enumerate() {
        for number in 0..*count {
            let path = server.place.path().join(format!("work/{writer}-{number}.txt"));
            assert_eq!(std::fs::read_to_string(path).unwrap().len(), 1_000, "answered means done");
        }
    }
    let place = std::mem::replace(&mut server.place, tempfile::tempdir().unwrap());
    let began = Instant::now();
    let again = Server::start_in(place, &["--port", "0", "--root", "work"]);
    // A lock that is held is waited for for five seconds.
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(again.call("ls", json!({}))["isError"], false);
}

/// Once, a call that was done while the server ended was answered with a failure of the server.
#[test]
fn a_signal_under_load_answers_every_call_that_was_done() {
    for round in 0..6 {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("work")).unwrap();
        let mut server = Server::start_in(place, &["--port", "0", "--root", "work"]);
        let pid = Pid::from_child(&server.child);
        let answered = AtomicUsize::new(0);
        let last: Vec<(String, String)> = std::thread::scope(|scope| {
            let (server, answered) = (&server, &answered);
            let writers: Vec<_> = (0..8)
                .map(|writer| scope.spawn(move || last_write(server, writer, answered)))
                .collect();
            wait_for_load(answered, 20 + 7 * round);
            kill_process(pid, Signal::TERM).expect("signals");
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        assert_eq!(server.child.wait().expect("ends").code(), Some(0));
        for (path, answer) in last {
            assert!(!answer.contains(" 500 "), "{round}: {path}: {answer}");
            let is_there = server.place.path().join("work").join(&path).exists();
            assert!(!is_there, "{round}: {path} was written, and answered by {answer:?}");
        }
    }
}

/// Writes files until one is not said to be written; returns its path, and what was said.
fn last_write(server: &Server, writer: usize, answered: &AtomicUsize) -> (String, String) {
    let mut number = 0;
    loop {
        number += 1;
        let path = format!("{writer}-{number}.txt");
        let params = json!({"name": "write_file", "arguments": {"path": path, "content": "x"}});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let answer = server.try_send(POST, &call.to_string()).map(|it| it.text);
        match answer {
            Some(text) if text.contains("\"isError\":false") => {
                answered.fetch_add(1, Ordering::Relaxed);
            }
            other => return (path, other.unwrap_or_default()),
        }
    }
}

/// A server over two workspaces, in each of which calls wait for another process that works there too.
struct Waiting {
    server: Server,
    _locks: Vec<std::fs::File>,
    _calls: Vec<std::net::TcpStream>,
}

fn waiting() -> Waiting {
    let place = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        std::fs::create_dir(place.path().join(name)).unwrap();
    }
    let args = ["--port", "0", "--workspace", "one=one", "--workspace", "two=two"];
    let server = Server::start_in(place, &args);
    let histories = std::fs::read_dir(server.place.path().join("data/wink")).unwrap();
    let locks = histories.map(|history| {
        let lock = history.unwrap().path().join("store/work.lock");
        let lock = std::fs::File::options().create(true).append(true).open(lock).unwrap();
        lock.lock().unwrap();
        lock
    });
    let (locks, mut calls) = (locks.collect(), Vec::new());
    // Each waits for five seconds, and they take turns.
    for route in ["/mcp/one", "/mcp/two"].repeat(3) {
        let params = json!({"name": "mkdir", "arguments": {"path": "a"}});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let (head, body) = (POST.replace("/mcp", route), call.to_string());
        calls.extend(server.begin(&head, &body));
    }
    wait_until_idle(Pid::from_child(&server.child));
    Waiting { server, _locks: locks, _calls: calls }
}

#[test]
fn the_end_of_several_workspaces_has_one_bound_whatever_calls_wait_for() {
    let mut waiting = waiting();
    let server = &mut waiting.server;
    let began = Instant::now();
    kill_process(Pid::from_child(&server.child), Signal::TERM).expect("signals");
    assert_eq!(server.child.wait().expect("ends").code(), Some(0));
    let took = began.elapsed();
    // The calls of one workspace have four seconds; one after the other, those of two would have eight.
    assert!((Duration::from_secs(3)..Duration::from_secs(8)).contains(&took), "{took:?}");
}

#[test]
fn told_twice_it_ends_at_once() {
    let mut waiting = waiting();
    let server = &mut waiting.server;
    let began = Instant::now();
    for _ in 0..2 {
        kill_process(Pid::from_child(&server.child), Signal::INT).expect("signals");
        wait_until_idle(Pid::from_child(&server.child));
    }
    assert_eq!(server.child.wait().expect("ends").code(), Some(0));
    // Told once, it gives calls four seconds.
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

/// Waits until so many calls were answered: a busy machine takes longer for it.
fn wait_for_load(answered: &AtomicUsize, count: usize) {
    let began = Instant::now();
    while answered.load(Ordering::Relaxed) < count {
        assert!(began.elapsed() < Duration::from_secs(60), "no load comes about");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Writes files until the server is gone; returns how many were answered.
fn writes(server: &Server, writer: usize, answered: &AtomicUsize) -> usize {
    for number in 0.. {
        let arguments =
            json!({"path": format!("{writer}-{number}.txt"), "content": "x".repeat(1_000)});
        let params = json!({"name": "write_file", "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        match server.try_send(POST, &call.to_string()) {
            Some(answer) if answer.text.contains("\"isError\":false") => {
                answered.fetch_add(1, Ordering::Relaxed);
            }
            _ => return number,
        }
    }
    0
}

/// Asks for the page with these headers.
fn page(server: &Server, headers: &str) -> common::Answer {
    server.send(&format!("GET / HTTP/1.1\nHost: {{address}}{headers}"), "")
}

#[test]
fn a3_58_only_the_right_token_opens() {
    let (server, other) = (Server::start(), Server::start());
    let prefix = &server.token[..63];
    for headers in [
        String::new(),
        format!("\nAuthorization: Bearer {prefix}"),
        format!("\nAuthorization: Bearer {}", other.token),
        format!("\nAuthorization: Basic {}", server.token),
        format!("\nAuthorization: Bearer {0}\nAuthorization: Bearer {0}", server.token),
        format!("\nCookie: wink-{}={}", server.port(), server.token),
    ] {
        assert_eq!(page(&server, &headers).status(), 401, "{headers}");
    }
    assert_eq!(page(&server, "\nAuthorization: bearer {token}").status(), 200);
}

#[test]
fn a3_58_without_the_token_nothing_opens_on_any_route() {
    // A client that fails more often within ten seconds is slowed down instead.
    for routes in ROUTES.chunks(20) {
        let server = Server::with_every_route();
        for route in routes {
            let head =
                format!("{route} HTTP/1.1\nHost: {{address}}\nContent-Type: application/json");
            assert_eq!(server.send(&head, "").status(), 401, "{route}");
        }
    }
}

#[test]
fn a3_58_only_a_client_that_guesses_is_slowed_down() {
    let server = Server::start();
    let guesses: Vec<u16> =
        (0..40).map(|_| page(&server, "\nAuthorization: Bearer guess").status()).collect();
    assert_eq!((guesses[0], guesses[39]), (401, 429), "{guesses:?}");
    assert_eq!(page(&server, "\nAuthorization: Bearer {token}").status(), 200);
}

#[test]
fn a3_59_a_browser_gets_a_cookie_once_and_the_token_never_is_in_an_address() {
    let server = Server::start();
    let line = server.announcement.lines().find(|line| line.starts_with("Page: ")).expect("a page");
    let path = line.split_whitespace().nth(1).unwrap().split_once(&server.address).unwrap().1;
    assert!(!path.contains(&server.token));
    let open = format!("GET {path} HTTP/1.1\nHost: {{address}}");
    let answer = server.send(&open, "");
    assert_eq!(answer.status(), 303, "{}", answer.text);
    let cookie =
        answer.text.lines().find_map(|it| it.strip_prefix("set-cookie: ")).expect("a cookie");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(&server.token), "the cookie is a secret of its own");
    assert!(answer.text.contains("referrer-policy: no-referrer"));
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(page(&server, &format!("\nCookie: a=b; {cookie}")).status(), 200);
    let again = server.send(&open, "");
    assert_eq!(again.status(), 401, "it works once");
    assert!(again.body().contains("was already used"), "{}", again.text);
}

#[test]
fn a3_59_looking_at_the_address_does_not_use_it_up() {
    let server = Server::start();
    let line = server.announcement.lines().find(|line| line.starts_with("Page: ")).expect("a page");
    let path = line.split_whitespace().nth(1).unwrap().split_once(&server.address).unwrap().1;
    let open = format!("GET {path} HTTP/1.1\nHost: {{address}}");
    assert_eq!(server.send(&open.replace("GET", "HEAD"), "").status(), 405);
    assert_eq!(server.send(&open, "").status(), 303);
}

#[test]
fn a3_59_no_answer_and_no_output_shows_the_token() {
    let mut server = Server::start_with(&["--port", "0", "-vv"]);
    for headers in ["\nAuthorization: Bearer {token}", "\nAuthorization: Bearer {token}x"] {
        assert!(!page(&server, headers).text.contains(&server.token));
    }
    let arguments = std::fs::read(format!("/proc/{}/cmdline", server.child.id())).unwrap();
    let arguments = String::from_utf8(arguments).unwrap();
    assert!(arguments.contains("serve") && !arguments.contains(&server.token), "{arguments}");
    server.call("ls", json!({"path": "nowhere"}));
    let stderr = server.end();
    assert!(!stderr.contains(&server.token), "{stderr}");
}

#[test]
fn a3_59_no_record_holds_the_token_the_ticket_or_the_cookie() {
    let mut server = Server::start_with(&["--port", "0", "--log", "all.log"]);
    let (_, rest) = server.announcement.split_once("/open/").expect("a page");
    let ticket = rest.split_whitespace().next().unwrap().to_owned();
    for path in [format!("{ticket}x"), format!("{ticket}/x"), format!("%{ticket}")] {
        let open = format!("GET /open/{path} HTTP/1.1\nHost: {{address}}");
        assert_ne!(server.send(&open, "").status(), 303, "{path}");
    }
    let opened = server.send(&format!("GET /open/{ticket} HTTP/1.1\nHost: {{address}}"), "");
    let cookie = opened.text.lines().find_map(|it| it.strip_prefix("set-cookie: ")).unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let secret = cookie.split_once('=').unwrap().1;
    for headers in [
        "\nAuthorization: Bearer {token}".to_owned(),
        "\nAuthorization: Bearer {token}x".to_owned(),
        format!("\nCookie: {cookie}"),
        format!("\nCookie: {cookie}x"),
        format!("\nAuthorization: Bearer {{token}}\nCookie: {cookie}\nMcp-Session-Id: x"),
    ] {
        page(&server, &headers);
        let head = POST.replace("\nAuthorization: Bearer {token}", &headers);
        for method in ["initialize", "tools/list", "nonsense"] {
            server.send(&head, &json!({"jsonrpc": "2.0", "id": 1, "method": method}).to_string());
        }
        server.send(&head, "no JSON");
    }
    server.call("write_file", json!({"path": "a", "content": "x", "session": "one"}));
    server.end();
    let record = std::fs::read_to_string(server.place.path().join("all.log")).unwrap();
    assert!(record.contains("TRACE") || record.contains("DEBUG"), "{record}");
    for hidden in [server.token.as_str(), &ticket, secret] {
        let line = record.lines().find(|line| line.contains(hidden));
        assert_eq!(line, None, "it is in the record");
    }
}

#[test]
fn a3_62_the_page_runs_nothing_but_its_own_files() {
    let server = Server::start();
    let evil = "<img src=x onerror=alert(1)>.html";
    server.call("write_file", json!({"path": evil, "content": "<script>alert(1)</script>"}));
    let page = page(&server, "\nAuthorization: Bearer {token}");
    assert!(page.text.contains("content-type: text/html"), "{}", page.text);
    assert!(!page.body().contains("onerror"), "no name is in the page itself: {}", page.body());
    for part in [
        "content-security-policy: default-src 'none'; script-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
    ] {
        assert!(page.text.contains(part), "{part} in {}", page.text);
    }
    assert!(!page.text.contains("unsafe-"), "{}", page.text);
    let svg = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
    server.call("write_file", json!({"path": "bad.svg", "content": svg}));
    let head = POST.replace("POST /mcp", "GET /api/v1/runs/main/raw?path=bad.svg");
    let raw = server.send(&head, "");
    for header in [
        "content-security-policy: sandbox; default-src 'none'",
        "content-disposition: attachment",
        "x-content-type-options: nosniff",
    ] {
        assert!(raw.text.contains(header), "{header} in {}", raw.text);
    }
}

#[test]
fn two_workspaces_of_one_name_are_refused_before_anything_begins() {
    let place = tempfile::tempdir().expect("a directory");
    let data = place.path().join("data");
    let here = place.path().display();
    let (one, two) = (format!("a={here}"), format!("a={here}/x"));
    let mut serve = common::wink();
    serve.args(["serve", "--port", "0", "--workspace", &one, "--workspace", &two]);
    let output = serve.env("XDG_DATA_HOME", &data).output().expect("wink starts");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("named `a`"), "{output:?}");
    assert!(!data.exists());
}

/// Asks for the page at an address that is not the printed one.
fn page_at(server: &Server, address: &str) -> std::io::Result<String> {
    let port: u16 = server.port().parse().unwrap();
    let mut stream = std::net::TcpStream::connect((address, port))?;
    let head = format!(
        "GET / HTTP/1.1\r\nHost: localhost:{port}\r\nAuthorization: Bearer {}\r\n\
         Connection: close\r\n\r\n",
        server.token
    );
    stream.write_all(head.as_bytes())?;
    std::io::read_to_string(stream)
}

/// Once, a browser for which `localhost` is ::1 found no server there, or another one.
#[test]
fn localhost_is_this_server_by_either_address() {
    let server = Server::start();
    assert!(page_at(&server, "127.0.0.1").unwrap().starts_with("HTTP/1.1 200"));
    let Ok(taken) = TcpListener::bind("[::1]:0") else { return };
    assert!(page_at(&server, "::1").unwrap().starts_with("HTTP/1.1 200"));
    let elsewhere = Server::start_with(&["--port", "0", "--host", "127.0.0.2"]);
    let met = page_at(&elsewhere, "::1");
    assert!(!met.is_ok_and(|it| it.starts_with("HTTP/1.1 200")), "that was not asked for");
    let port = taken.local_addr().unwrap().port().to_string();
    let output = wink().args(["serve", "--port", &port]).output().expect("wink runs");
    assert!(stderr(&output).contains(&format!("port {port} is in use")), "{}", stderr(&output));
}

#[test]
fn every_loopback_address_is_served_as_it_is_printed() {
    let server = Server::start_with(&["--host", "127.0.0.2", "--port", "0"]);
    assert!(server.address.starts_with("127.0.0.2:"), "{}", server.announcement);
    let mut stream = std::net::TcpStream::connect(&server.address).expect("a connection");
    let head = format!(
        "GET / HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
        server.address, server.token
    );
    std::io::Write::write_all(&mut stream, head.as_bytes()).expect("sent");
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// A server of a directory that cannot keep its fork yet, and was told to stop so often.
fn told_to_stop(times: usize) -> (Server, std::fs::File) {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    let server = Server::start_in(place, &["--port", "0", "--root", "work"]);
    server.call("fork", json!({"name": "idea"}));
    let write = json!({"path": "a", "content": "1", "fork": "idea"});
    assert_eq!(server.call("write_file", write)["isError"], false);
    let mut histories = std::fs::read_dir(server.place.path().join("data/wink")).unwrap();
    let lock = histories.next().unwrap().unwrap().path().join("store/work.lock");
    let held = std::fs::File::options().create(true).append(true).open(lock).unwrap();
    held.lock().unwrap();
    for _ in 0..times {
        // Two signals that come at once are one.
        kill_process(Pid::from_child(&server.child), Signal::TERM).unwrap();
        wait_until_idle(Pid::from_child(&server.child));
    }
    (server, held)
}

/// Once, it ended at the second signal, whatever it had to keep.
#[test]
fn a_second_signal_loses_no_fork() {
    let (mut server, held) = told_to_stop(2);
    assert!(server.child.try_wait().unwrap().is_none(), "it still has to keep the fork");
    drop(held);
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    let forks = wink()
        .args(["-C", "work", "fork", "list"])
        .current_dir(server.place.path())
        .env("HOME", server.place.path().join("home"))
        .env("XDG_DATA_HOME", server.place.path().join("data"))
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&forks.stdout).starts_with("idea "), "{forks:?}");
}

#[test]
fn a_third_signal_ends_it_at_once() {
    let (mut server, held) = told_to_stop(3);
    let began = Instant::now();
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    // Told less often, it tries to keep the fork for about four seconds.
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    drop(held);
}

//! A web page of another site gets nothing from the server, on any route.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use crate::common::threads::wait_until_idle;
use crate::common::{POST, ROUTES, Server};
use rustix::process::Pid;

/// The connections that a server has at the same time.
const PLACES: usize = 256;

/// So many connect at once at most.
const WAVE: usize = 64;

const WRITE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":
    {"name":"write_file","arguments":{"path":"planted.txt","content":"x"}}}"#;

fn head(route: &str, headers: &str) -> String {
    format!(
        "{route} HTTP/1.1\nAuthorization: Bearer {{token}}\nContent-Type: application/json\n\
         Accept: application/json, text/event-stream\n{headers}"
    )
}

fn listing(server: &Server) -> String {
    let ls = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ls"}}"#;
    server.send(POST, ls).text
}

#[test]
fn every_route_that_the_tests_know_is_there() {
    let server = Server::with_every_route();
    // The stream has no end; tests of the page read it.
    for route in ROUTES.iter().filter(|it| !it.contains("/stream")) {
        let head = head(route, "Host: {address}");
        let answer = server.send_bytes(&head);
        let status = std::str::from_utf8(&answer[9..12]).unwrap().parse().unwrap();
        let expected: &[u16] = match *route {
            "GET /nowhere" => &[404],
            "GET /open/x" => &[401],
            // There is something, which wants another method or a message.
            _ if route.contains("/mcp") || route.starts_with("POST /api") => &[400, 405],
            _ => &[200],
        };
        assert!(expected.contains(&status), "{route}: {status}");
    }
}

#[test]
fn a3_52_a_foreign_host_is_refused_on_every_route() {
    let server = Server::with_every_route();
    let port = server.port();
    for host in [
        format!("Host: evil.example:{port}"),
        format!("Host: 127.0.0.1.evil.example:{port}"),
        format!("Host: localhost.:{port}"),
        format!("Host: 0.0.0.0:{port}"),
        format!("Host: x@localhost:{port}"),
        "Host: localhost".to_owned(),
        "Host: localhost:1".to_owned(),
        "Host:".to_owned(),
        "X-Forwarded-Host: {address}".to_owned(),
        format!("Host: {{address}}\nHost: evil.example:{port}"),
        format!("Host: evil.example:{port}\nHost: {{address}}"),
    ] {
        for route in ROUTES {
            assert_eq!(server.send(&head(route, &host), WRITE).status(), 403, "{route} {host}");
        }
    }
    assert!(!listing(&server).contains("planted"));
}

#[test]
fn a3_52_a_foreign_host_in_the_request_target_is_refused() {
    let server = Server::start();
    let head = head("POST http://evil.example/mcp", "Host: {address}");
    assert_eq!(server.send(&head, WRITE).status(), 403);
    assert!(!listing(&server).contains("planted"));
}

#[test]
fn every_loopback_name_is_a_host_and_an_origin() {
    let server = Server::start();
    let port = server.port();
    for name in ["127.0.0.1", "localhost", "[::1]"] {
        let own = format!("Host: {name}:{port}\nOrigin: http://{name}:{port}");
        assert_eq!(server.send(&head("GET /", &own), "").status(), 200, "{name}");
    }
}

#[test]
fn a3_60_a_foreign_origin_is_refused_on_every_route_streams_too() {
    let server = Server::with_every_route();
    let port = server.port();
    for origin in [
        "Origin: http://evil.example".to_owned(),
        "Origin: null".to_owned(),
        "Origin:".to_owned(),
        "Origin: http://localhost".to_owned(),
        "Origin: http://localhost:1".to_owned(),
        format!("Origin: https://localhost:{port}"),
        format!("Origin: http://localhost:{port}.evil.example"),
        format!("Origin: http://localhost:{port}\nOrigin: http://evil.example"),
    ] {
        for route in ROUTES {
            let head = head(route, &format!("Host: {{address}}\n{origin}"));
            assert_eq!(server.send(&head, WRITE).status(), 403, "{route} {origin}");
        }
    }
    assert!(!listing(&server).contains("planted"));
}

#[test]
fn a3_54_a_post_that_needs_no_preflight_is_refused() {
    let server = Server::start();
    for content_type in [
        "Content-Type: text/plain",
        "Content-Type: text/plain; application/json",
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Type: multipart/form-data; boundary=x",
        "X-No-Content-Type: application/json",
    ] {
        let head = format!(
            "POST /mcp HTTP/1.1\nHost: {{address}}\nAuthorization: Bearer {{token}}\n\
             Accept: application/json, text/event-stream\n{content_type}"
        );
        assert_eq!(server.send(&head, WRITE).status(), 415, "{content_type}");
    }
    assert!(!listing(&server).contains("planted"));
}

#[test]
fn a3_56_a_get_changes_nothing() {
    let server = Server::start();
    for (route, status) in [
        ("GET /mcp", 405),
        ("HEAD /mcp", 405),
        ("GET /mcp?method=tools/call&name=write_file", 405),
        ("GET /api/restore?id=1", 404),
        ("GET /", 200),
        ("PUT /", 405),
    ] {
        let head = head(route, "Host: {address}\nPurpose: prefetch");
        assert_eq!(server.send(&head, WRITE).status(), status, "{route}");
    }
    assert!(!listing(&server).contains("planted"));
}

#[test]
fn a3_66_every_answer_is_marked_as_data_and_offers_no_cors() {
    let server = Server::start();
    for (head, status) in [
        (head("GET /", "Host: {address}"), 200),
        (head("GET /nowhere", "Host: {address}"), 404),
        (head("GET /", "Host: evil.example"), 403),
        (head("OPTIONS /mcp", "Host: {address}"), 405),
        (POST.to_owned(), 200),
    ] {
        let answer = server.send(&head, WRITE);
        assert_eq!(answer.status(), status, "{}", answer.text);
        assert!(answer.text.contains("x-content-type-options: nosniff"), "{}", answer.text);
        assert!(answer.text.contains("frame-ancestors 'none'"), "{}", answer.text);
        for header in [
            "content-security-policy: default-src 'none'",
            "cross-origin-resource-policy: same-origin",
            "cross-origin-opener-policy: same-origin",
            "referrer-policy: no-referrer",
        ] {
            assert!(answer.text.contains(header), "{header} in {}", answer.text);
        }
        assert!(!answer.text.contains("access-control-"), "{}", answer.text);
    }
}

#[test]
fn a3_65_oversized_requests_are_refused() {
    let server = Server::start();
    let long = format!("Host: {{address}}\nX-Long: {}", "x".repeat(20_000));
    assert_eq!(server.send(&head("GET /", &long), "").status(), 431);
}

/// Once, 256 such clients held every slot of the server for as long as they liked.
#[test]
fn a3_65_a_body_that_does_not_arrive_is_given_up() {
    let server = Server::start();
    let mut stream = TcpStream::connect(("127.0.0.1", server.port().parse().unwrap())).unwrap();
    let head = POST.replace("{address}", &server.address).replace("{token}", &server.token);
    let head = head.replace('\n', "\r\n");
    write!(stream, "{head}\r\nContent-Length: 1000\r\n\r\n{{").unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

#[test]
fn a_body_that_breaks_off_is_not_said_to_be_too_large() {
    let server = Server::start();
    let mut stream = TcpStream::connect(("127.0.0.1", server.port().parse().unwrap())).unwrap();
    let head = POST.replace("{address}", &server.address).replace("{token}", &server.token);
    let head = head.replace('\n', "\r\n");
    write!(stream, "{head}\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
}

#[test]
fn a3_65_headers_that_do_not_arrive_are_given_up_and_others_are_served() {
    let server = Server::start();
    let slow: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = TcpStream::connect(&server.address).unwrap();
            write!(stream, "GET / HTTP/1.1\r\nHost: ").unwrap();
            stream
        })
        .collect();
    assert_eq!(server.send(POST, WRITE).status(), 200, "others are served meanwhile");
    let mut first = slow.into_iter().next().unwrap();
    first.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let (mut answer, began) = (Vec::new(), Instant::now());
    // It is closed, with or without a word, and not only after the minute that an idle client has.
    let _ = first.read_to_end(&mut answer);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert!(!String::from_utf8_lossy(&answer).starts_with("HTTP/1.1 200"));
}

/// Once, calls with the token got no answer for a minute while others connected and never finished a request.
///
/// The load is counted: before each call twice as many others connect as there are places, and during it
/// half as many, so that the call itself is never the oldest. Those who hold a place are given up after five
/// seconds; a server that waited for that would take more than a minute.
#[test]
fn a3_65_clients_without_the_token_do_not_keep_others_out() {
    let server = Server::start();
    let began = Instant::now();
    let connected = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (turns, taken) = std::sync::mpsc::channel();
        scope.spawn(|| connect_again_and_again(&server, taken, &connected));
        let mut given = 0;
        let mut give = |count| {
            (0..count).for_each(|_| turns.send(()).unwrap());
            given += count;
            given
        };
        for _ in 0..10 {
            let given = give(2 * PLACES);
            while connected.load(Ordering::Relaxed) < given {
                assert!(began.elapsed() < Duration::from_secs(60), "no new client gets a place");
                std::thread::sleep(Duration::from_millis(1));
            }
            give(PLACES / 2);
            let status = server.try_send(POST, WRITE).map(|answer| answer.status());
            assert_eq!(status, Some(200));
        }
    });
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

/// Holds more connections than there are places, each with a request that never ends. At each turn the one
/// that the server cut first connects again.
fn connect_again_and_again(server: &Server, turns: Receiver<()>, connected: &AtomicUsize) {
    let mut held = VecDeque::from(idle_connections(server, PLACES + PLACES / 4));
    for () in turns {
        // It is cut off with or without an answer.
        let _ = held.pop_front().unwrap().read_to_end(&mut Vec::new());
        let mut stream = TcpStream::connect(&server.address).unwrap();
        let _ = stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: ");
        held.push_back(stream);
        connected.fetch_add(1, Ordering::Relaxed);
    }
}

/// Connects so often. The system holds some connections that the server has not taken yet, and lets one more
/// wait for a second; so the server has the time that it needs.
fn idle_connections(server: &Server, count: usize) -> Vec<TcpStream> {
    let connect = |number| {
        if number % WAVE == 0 {
            wait_until_idle(Pid::from_child(&server.child));
        }
        TcpStream::connect(&server.address).unwrap()
    };
    (0..count).map(connect).collect()
}

#[test]
fn a3_65_more_idle_connections_than_slots_delay_no_client() {
    let server = Server::start();
    let began = Instant::now();
    // An idle connection is given up after five seconds; to wait for that each time takes more than a minute.
    for _ in 0..15 {
        let idle = idle_connections(&server, 300);
        assert_eq!(server.send(POST, WRITE).status(), 200);
        drop(idle);
    }
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn a3_65_who_has_shown_the_token_makes_no_room_for_others() {
    let server = Server::start();
    let (mut known, request) = connected(&server);
    known.write_all(request.as_bytes()).unwrap();
    assert!(answer(&mut known).starts_with("HTTP/1.1 404 "));
    let _idle = idle_connections(&server, 600);
    known.write_all(request.as_bytes()).unwrap();
    assert!(answer(&mut known).starts_with("HTTP/1.1 404 "));
}

#[test]
fn a3_65_a_body_that_is_said_to_be_too_large_is_refused_at_once() {
    let server = Server::start();
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let head = POST.replace("{address}", &server.address).replace("{token}", &server.token);
    let head = head.replace('\n', "\r\n");
    let began = Instant::now();
    write!(stream, "{head}\r\nContent-Length: 1000000000\r\n\r\n{{").unwrap();
    let answer = answer(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    // A body that is waited for has ten seconds.
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    let _ = stream.read_to_end(&mut Vec::new());
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

/// Once, the whole body was taken in before the ticket was looked at: 256 connections were 8 GiB of anybody's.
#[test]
fn a3_65_who_shows_neither_token_nor_ticket_has_no_body_taken_in() {
    let server = Server::start();
    let (_, rest) = server.announcement.split_once("/open/").expect("a page");
    let ticket = rest.split_whitespace().next().unwrap();
    for path in ["/open/x", &format!("/open/{ticket}"), "/mcp", "/nowhere"] {
        for length in ["Content-Length: 33554432", "Transfer-Encoding: chunked"] {
            let mut stream = TcpStream::connect(&server.address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            let (address, began) = (&server.address, Instant::now());
            write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n{length}\r\n\r\n").unwrap();
            let status = if path.starts_with("/open/") { "413" } else { "401" };
            let answer = answer(&mut stream);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answer}");
            assert!(answer.contains("connection: close"), "{path}: {answer}");
            // A body that is waited for has ten seconds.
            assert!(began.elapsed() < Duration::from_secs(8), "{path}: {:?}", began.elapsed());
        }
    }
    let open = format!("GET /open/{ticket} HTTP/1.1\nHost: {{address}}");
    assert_eq!(server.send(&open, "").status(), 303, "the ticket was not used up");
}

/// Sends requests over one connection, which stays open.
fn connected(server: &Server) -> (TcpStream, String) {
    let stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let (address, token) = (&server.address, &server.token);
    let head = format!(
        "GET /nowhere HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    (stream, head)
}

/// Reads one answer, which has no body.
fn answer(stream: &mut TcpStream) -> String {
    let (mut answer, mut byte) = (Vec::new(), [0]);
    while !answer.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() > 0 {
        answer.push(byte[0]);
    }
    String::from_utf8(answer).unwrap()
}

#[test]
fn a_client_that_pauses_between_two_requests_keeps_its_connection() {
    let server = Server::start();
    let (mut stream, request) = connected(&server);
    // Longer than a request has that has begun, and in the long run longer than a body has too.
    let pause = if std::env::var_os("WINK_LONG_TESTS").is_some() { 12 } else { 6 };
    for pause in [0, pause] {
        std::thread::sleep(Duration::from_secs(pause));
        stream.write_all(request.as_bytes()).unwrap();
        let answer = answer(&mut stream);
        assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    }
}

#[test]
fn a3_65_a_second_request_that_has_begun_has_no_such_time() {
    let server = Server::start();
    let (mut stream, request) = connected(&server);
    stream.write_all(request.as_bytes()).unwrap();
    assert!(answer(&mut stream).starts_with("HTTP/1.1 404 "));
    stream.write_all(&request.as_bytes()[..20]).unwrap();
    let began = Instant::now();
    assert!(!answer(&mut stream).starts_with("HTTP/1.1 404 "));
    let took = began.elapsed();
    assert!((Duration::from_secs(4)..Duration::from_secs(30)).contains(&took), "{took:?}");
}

#[test]
fn a3_65_a_client_that_says_nothing_or_is_refused_holds_no_connection_for_long() {
    let server = Server::start();
    let (mut silent, request) = connected(&server);
    let (mut refused, began) = (connected(&server).0, Instant::now());
    refused.write_all(request.replace(&server.token, "guess").as_bytes()).unwrap();
    let mut answer = String::new();
    refused.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 401 ") && began.elapsed() < Duration::from_secs(30));
    let mut nothing = Vec::new();
    silent.read_to_end(&mut nothing).unwrap();
    let took = began.elapsed();
    assert!((Duration::from_secs(4)..Duration::from_secs(30)).contains(&took), "{took:?}");
}

#[test]
fn a3_65_two_lengths_of_one_body_are_refused() {
    let server = Server::start();
    let both = "Host: {address}\nTransfer-Encoding: chunked\nContent-Length: 3";
    let answer = server.send(&head("POST /mcp", both), "0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n");
    assert_eq!(answer.text.matches("HTTP/1.1 ").count(), 1, "one answer: {}", answer.text);
    assert_ne!(answer.status(), 200, "{}", answer.text);
}

#[test]
fn a3_65_more_connections_than_slots_wait_and_then_get_through() {
    let server = Server::start();
    let ask = |(stream, request): &mut (TcpStream, String)| {
        stream.write_all(request.as_bytes()).unwrap();
    };
    // Who has shown the token makes no room for others.
    let mut known: Vec<_> = (0..256).map(|_| connected(&server)).collect();
    for one in &mut known {
        ask(one);
        assert!(answer(&mut one.0).starts_with("HTTP/1.1 404 "));
    }
    let mut next = connected(&server);
    ask(&mut next);
    next.0.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let waits = next.0.read(&mut [0]).unwrap_err();
    assert_eq!(waits.kind(), ErrorKind::WouldBlock, "there is no place for it");
    drop(known.pop());
    next.0.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    assert!(answer(&mut next.0).starts_with("HTTP/1.1 404 "));
}

/// A form of a page that brings a message, and a file, along.
#[test]
fn a3_57_a_form_of_another_site_is_refused() {
    let server = Server::start();
    let part =
        "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"planted.txt\"\r\n\r\n";
    let form = format!("{part}{WRITE}\r\n--x--\r\n");
    for path in ["/mcp", "/import", "/api/v1/import", "/api/v1/files.fs.zip"] {
        for body in [form.as_str(), WRITE] {
            let head = format!(
                "POST {path} HTTP/1.1\nContent-Type: multipart/form-data; boundary=x\n\
                 Accept: application/json, text/event-stream\nHost: {{address}}"
            );
            let foreign = format!("{head}\nOrigin: http://evil.example");
            assert_eq!(server.send(&foreign, body).status(), 403, "{path}");
            assert_eq!(server.send(&head, body).status(), 401, "{path}");
            let with_token = format!("{head}\nAuthorization: Bearer {{token}}");
            assert_eq!(server.send(&with_token, body).status(), 415, "{path}");
        }
    }
    assert!(!listing(&server).contains("planted"));
    assert_eq!(server.send(POST, WRITE).status(), 200);
    assert!(listing(&server).contains("planted"), "that is what it would have done");
}

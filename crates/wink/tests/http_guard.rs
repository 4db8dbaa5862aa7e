//! A web page of another site gets nothing from the server, on any route.

mod common;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use common::{POST, Server};

const WRITE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":
    {"name":"write_file","arguments":{"path":"planted.txt","content":"x"}}}"#;

const ROUTES: [&str; 3] = ["GET /", "GET /nowhere", "POST /mcp"];

fn head(route: &str, headers: &str) -> String {
    format!(
        "{route} HTTP/1.1\nContent-Type: application/json\n\
         Accept: application/json, text/event-stream\n{headers}"
    )
}

fn listing(server: &Server) -> String {
    let ls = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ls"}}"#;
    server.send(POST, ls).text
}

#[test]
fn a_foreign_host_is_refused_on_every_route() {
    let server = Server::start();
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
fn a_foreign_host_in_the_request_target_is_refused() {
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
fn a_foreign_origin_is_refused_on_every_route() {
    let server = Server::start();
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
fn a_post_that_needs_no_preflight_is_refused() {
    let server = Server::start();
    for content_type in [
        "Content-Type: text/plain",
        "Content-Type: text/plain; application/json",
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Type: multipart/form-data; boundary=x",
        "X-No-Content-Type: application/json",
    ] {
        let head = format!(
            "POST /mcp HTTP/1.1\nHost: {{address}}\n\
             Accept: application/json, text/event-stream\n{content_type}"
        );
        assert_eq!(server.send(&head, WRITE).status(), 415, "{content_type}");
    }
    assert!(!listing(&server).contains("planted"));
}

#[test]
fn a_get_changes_nothing() {
    let server = Server::start();
    let head = head("GET /mcp", "Host: {address}");
    assert_eq!(server.send(&head, WRITE).status(), 405);
    assert!(!listing(&server).contains("planted"));
}

#[test]
fn every_answer_is_marked_as_data_and_offers_no_cors() {
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
        assert!(answer.text.contains("content-security-policy: default-src 'none'"));
        assert!(!answer.text.contains("access-control-"), "{}", answer.text);
    }
}

#[test]
fn oversized_requests_are_refused() {
    let server = Server::start();
    let long = format!("Host: {{address}}\nX-Long: {}", "x".repeat(20_000));
    assert_eq!(server.send(&head("GET /", &long), "").status(), 431);
}

/// Once, 256 such clients held every slot of the server for as long as they liked.
#[test]
fn a_body_that_does_not_arrive_is_given_up() {
    let server = Server::start();
    let mut stream = TcpStream::connect(("127.0.0.1", server.port().parse().unwrap())).unwrap();
    let head = POST.replace("{address}", &format!("127.0.0.1:{}", server.port()));
    let head = head.replace('\n', "\r\n");
    write!(stream, "{head}\r\nContent-Length: 1000\r\n\r\n{{").unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

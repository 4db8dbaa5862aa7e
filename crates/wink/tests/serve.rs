//! `wink serve` as a person at a terminal meets it.

mod common;

use std::net::TcpListener;
use std::process::{Command, Output};

use common::{Server, wink};
use rustix::process::{Pid, Signal, kill_process};

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
fn the_page_names_the_endpoint() {
    let server = Server::start();
    let page = server.send("GET / HTTP/1.1\nHost: {address}", "");
    assert_eq!(page.status(), 200);
    assert!(page.body().contains(&server.url()), "{}", page.text);
    assert!(page.text.contains("content-type: text/plain"), "{}", page.text);
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
fn only_loopback_is_served() {
    for host in ["0.0.0.0", "::", "192.168.1.1", "example.com", ""] {
        let output = wink().args(["serve", "--host", host]).output().expect("wink runs");
        assert_eq!(output.status.code(), Some(2), "{host}");
        assert!(stderr(&output).contains("this computer only"), "{}", stderr(&output));
    }
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

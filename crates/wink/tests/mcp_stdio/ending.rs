//! How the server ends, whatever it is doing.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::scene::Client;

fn write(number: usize) -> Value {
    json!({"name": "write_file", "arguments": {
        "path": format!("{number}.txt"), "content": number.to_string().repeat(8_000),
    }})
}

/// Every file that is there is whole, and there is nothing beside them.
fn check_whole(client: &Client) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(client.file("")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let content = std::fs::read_to_string(&path).unwrap();
        assert_eq!(content, name.repeat(8_000), "{}", path.display());
        count += 1;
    }
    count
}

#[test]
fn fault_32_input_that_ends_within_a_write_leaves_whole_files() {
    let mut client = Client::new(&[]);
    for number in 1..=40 {
        client.ask("tools/call", write(number));
    }
    assert_eq!(client.end().code(), Some(0));
    assert_eq!(check_whole(&client), 40, "what was asked for is finished");
}

#[test]
fn fault_32_a_client_that_does_not_read_loses_nothing_and_ends_the_server() {
    let mut client = Client::new(&[]);
    client.done("write_file", json!({"path": "1.txt", "content": "1".repeat(8_000)}));
    for _ in 0..50 {
        client.ask("tools/call", json!({"name": "read_file", "arguments": {"path": "1.txt"}}));
    }
    client.ask("tools/call", write(2));
    assert_eq!(client.end().code(), Some(0));
    assert_eq!(check_whole(&client), 2);
}

#[test]
fn fault_33_a_signal_under_load_leaves_whole_files() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut client = Client::new(&[]);
        for number in 1..=40 {
            client.ask("tools/call", write(number));
        }
        std::thread::sleep(Duration::from_millis(20));
        kill_process(Pid::from_child(&client.child), signal).expect("signals");
        assert_eq!(client.child.wait().expect("ends").code(), Some(0), "{signal:?}");
        check_whole(&client);
        let again = Client::start_in(
            std::mem::replace(&mut client.place, tempfile::tempdir().unwrap()),
            &[],
        );
        let mut again = again;
        again.request("initialize", crate::scene::initialize());
        again.done("ls", json!({}));
        check_whole(&again);
    }
}

#[test]
fn fault_33_a_kill_under_load_leaves_whole_files_and_the_next_one_serves() {
    let mut client = Client::new(&[]);
    for number in 1..=40 {
        client.ask("tools/call", write(number));
    }
    std::thread::sleep(Duration::from_millis(30));
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    let place = std::mem::replace(&mut client.place, tempfile::tempdir().unwrap());
    let mut again = Client::start_in(place, &[]);
    let began = std::time::Instant::now();
    again.request("initialize", crate::scene::initialize());
    again.done("write_file", json!({"path": "99.txt", "content": "99".repeat(8_000)}));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    check_whole(&again);
}

//! How the server ends, whatever it is doing.

use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::common::threads::wait_until_idle;
use crate::mcp_stdio::scene::{Client, initialize, wink_in};

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
    for number in 1..=10 {
        client.ask("tools/call", write(number));
    }
    assert_eq!(client.end().code(), Some(0));
    assert_eq!(check_whole(&client), 10, "what was asked for is finished");
}

#[test]
fn fault_32_a_client_that_does_not_wait_for_answers_loses_nothing() {
    let mut client = Client::new(&[]);
    client.done("write_file", json!({"path": "1.txt", "content": "1".repeat(8_000)}));
    for _ in 0..50 {
        client.ask("tools/call", json!({"name": "read_file", "arguments": {"path": "1.txt"}}));
    }
    client.ask("tools/call", write(2));
    assert_eq!(client.end().code(), Some(0));
    assert_eq!(check_whole(&client), 2);
}

/// Once, the server waited for ever to be rid of its last answers.
#[test]
fn fault_32_unread_answers_do_not_keep_the_server_from_ending() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    std::fs::write(place.path().join("work/a.txt"), "some words\n".repeat(10_000)).unwrap();
    let mut command = wink_in(place.path());
    command.args(["mcp", "--quiet"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let request = |id: u64, method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    };
    writeln!(input, "{}", request(1, "initialize", initialize())).unwrap();
    for id in 2..30 {
        let call = json!({"name": "read_file", "arguments": {"path": "a.txt"}});
        writeln!(input, "{}", request(id, "tools/call", call)).unwrap();
    }
    drop(input);
    let began = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
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
        again.request("initialize", initialize());
        again.done("ls", json!({}));
        check_whole(&again);
    }
}

/// Once, calls that waited for another process kept the server running for as long as that took.
#[test]
fn fault_33_a_signal_ends_it_in_bounded_time_whatever_calls_wait_for() {
    let mut client = Client::new(&[]);
    let _held = held_history(&client);
    // Each waits for five seconds, and they take turns.
    for number in 1..=4 {
        client.ask("tools/call", write(number));
    }
    wait_until_idle(Pid::from_child(&client.child));
    let began = Instant::now();
    kill_process(Pid::from_child(&client.child), Signal::TERM).expect("signals");
    assert_eq!(client.child.wait().expect("ends").code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!(check_whole(&client), 0);
}

/// Keeps everybody out of the history for as long as it is there.
fn held_history(client: &Client) -> std::fs::File {
    let histories = std::fs::read_dir(client.place.path().join("data/wink")).unwrap();
    let history = histories.map(|it| it.unwrap().path()).next().unwrap();
    let mut lock = std::fs::File::options();
    let lock = lock.create(true).append(true).open(history.join("store/work.lock")).unwrap();
    lock.lock().unwrap();
    lock
}

/// A server that cannot keep its fork yet, and was told to stop so often.
fn told_to_stop(times: usize) -> (Client, std::fs::File) {
    let mut client = Client::new(&[]);
    client.done("fork", json!({"name": "idea"}));
    client.done("write_file", json!({"path": "a", "content": "1", "fork": "idea"}));
    let held = held_history(&client);
    for _ in 0..times {
        // Two signals that come at once are one.
        kill_process(Pid::from_child(&client.child), Signal::TERM).expect("signals");
        wait_until_idle(Pid::from_child(&client.child));
    }
    (client, held)
}

#[test]
fn fault_33_a_second_signal_loses_no_fork() {
    let (mut client, held) = told_to_stop(2);
    assert!(client.child.try_wait().unwrap().is_none(), "it still has to keep the fork");
    drop(held);
    assert_eq!(client.child.wait().expect("ends").code(), Some(0));
    let forks = wink_in(client.place.path()).args(["fork", "list"]).output().unwrap();
    assert!(String::from_utf8_lossy(&forks.stdout).starts_with("idea "), "{forks:?}");
}

#[test]
fn fault_33_a_third_signal_ends_it_at_once() {
    let (mut client, held) = told_to_stop(3);
    let began = Instant::now();
    assert_eq!(client.child.wait().expect("ends").code(), Some(0));
    // Told less often, it tries to keep the fork for about four seconds.
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    drop(held);
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
    let began = Instant::now();
    let mut again = Client::start_in(place, &[]);
    again.request("initialize", initialize());
    again.done("ls", json!({}));
    // A lock that is held is waited for for five seconds.
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    again.done("write_file", json!({"path": "99.txt", "content": "99".repeat(8_000)}));
    check_whole(&again);
}

/// Once, a model was told that another process works there.
#[test]
fn a_server_whose_directory_is_deleted_says_so() {
    let mut client = Client::new(&[]);
    client.done("write_file", json!({"path": "1.txt", "content": "one"}));
    std::fs::remove_dir_all(client.file("")).unwrap();
    let answer = client.call("write_file", json!({"path": "2.txt", "content": "two"}));
    let said = answer["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("was deleted") && !said.contains("another process"), "{said}");
    assert_eq!(client.end().code(), Some(0));
}

//! `wink serve` is killed while many clients write: what was answered is there, and nothing is half done.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{POST, Server, wink};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const WRITERS: usize = 8;
/// How many pairs are changed, by all writers together, before the server is ended.
const LOAD: usize = 3 * WRITERS;
/// Bounds the wait for the load.
const PATIENCE: Duration = Duration::from_secs(60);
/// A server that waits for the lock of a dead one waits for this long.
const LOCK_WAIT: Duration = Duration::from_secs(5);
const ARGS: [&str; 4] = ["--port", "0", "--root", "work"];

/// What a writer was told is done: so many files of its own, and its pair changed so often.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    files: usize,
    generation: usize,
}

fn is_done(server: &Server, tool: &str, arguments: &Value) -> bool {
    let params = json!({"name": tool, "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let answer = server.try_send(POST, &call.to_string());
    answer.is_some_and(|it| it.text.contains("\"isError\":false"))
}

fn content(writer: usize, number: usize) -> String {
    format!("{writer} {number}\n").repeat(500)
}

fn half(writer: usize, half: &str) -> String {
    format!("pair-{writer}-{half}.txt")
}

/// Writes a file, then changes both files of a pair by one call, and so on until the server is gone; counts
/// the changed pairs of all writers.
fn works(server: &Server, writer: usize, changed: &AtomicUsize) -> Told {
    let mut told = Told::default();
    loop {
        let path = format!("{writer}-{}.txt", told.files);
        let file = json!({"path": path, "content": content(writer, told.files)});
        if !is_done(server, "write_file", &file) {
            return told;
        }
        told.files += 1;
        if !is_done(server, "apply_patch", &patch(writer, told.generation)) {
            return told;
        }
        told.generation += 1;
        changed.fetch_add(1, Ordering::Relaxed);
    }
}

fn patch(writer: usize, generation: usize) -> Value {
    let next = generation + 1;
    let change = |name: &str| {
        let path = half(writer, name);
        format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{generation}\n+{next}\n")
    };
    json!({"patch": change("a") + &change("b")})
}

/// Starts a server of a directory with a history, in which every writer has its pair.
fn started() -> Server {
    let place = tempfile::tempdir().unwrap();
    let work = place.path().join("work");
    std::fs::create_dir(&work).unwrap();
    for writer in 0..WRITERS {
        for name in ["a", "b"] {
            std::fs::write(work.join(half(writer, name)), "0\n").unwrap();
        }
    }
    Server::start_in(place, &ARGS)
}

/// Lets all writers work until the server was ended in some way; returns what each was told.
fn under_load(server: &mut Server, end: impl FnOnce(Pid)) -> Vec<Told> {
    let pid = Pid::from_child(&server.child);
    let changed = AtomicUsize::new(0);
    let told: Vec<Told> = thread::scope(|scope| {
        let shared = &*server;
        let changed = &changed;
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || works(shared, writer, changed)))
            .collect();
        // The load is counted, not timed: a busy machine takes longer until it is there.
        let began = Instant::now();
        while changed.load(Ordering::Relaxed) < LOAD && began.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(5));
        }
        end(pid);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    server.child.wait().unwrap();
    let all = told.iter().fold((0, 0), |all, it| (all.0 + it.files, all.1 + it.generation));
    assert!(all.0 >= LOAD && all.1 >= LOAD, "there was a load: {told:?}");
    told
}

/// Starts the server again: it waits for no lock, and everything is whole.
fn check_after(server: &mut Server, told: &[Told]) {
    let place = std::mem::replace(&mut server.place, tempfile::tempdir().unwrap());
    let began = Instant::now();
    let again = Server::start_in(place, &ARGS);
    assert_eq!(again.call("ls", json!({}))["isError"], false);
    assert!(began.elapsed() < LOCK_WAIT, "{:?}", began.elapsed());
    let work = again.place.path().join("work");
    check_files(&work, told);
    check_pairs(&work, told);
    assert_eq!(again.call("write_file", json!({"path": "new", "content": "1"}))["isError"], false);
    let verified = wink()
        .args(["-C", "work", "verify", "--data"])
        .current_dir(again.place.path())
        .env("HOME", again.place.path().join("home"))
        .env("XDG_DATA_HOME", again.place.path().join("data"))
        .output()
        .unwrap();
    assert!(verified.status.success(), "{verified:?}");
}

/// Of each writer those files are there that it was told of, and at most the one it then asked for.
fn check_files(work: &Path, told: &[Told]) {
    let mut expected = 2 * WRITERS;
    for (writer, told) in told.iter().enumerate() {
        let read = |number| std::fs::read_to_string(work.join(format!("{writer}-{number}.txt")));
        for number in 0..told.files {
            assert_eq!(read(number).unwrap(), content(writer, number), "{writer} {number}");
        }
        if let Ok(last) = read(told.files) {
            assert_eq!(last, content(writer, told.files), "{writer}");
            expected += 1;
        }
        expected += told.files;
    }
    let there: Vec<_> = std::fs::read_dir(work).unwrap().map(|it| it.unwrap().path()).collect();
    assert_eq!(there.len(), expected, "nothing else is there: {there:?}");
}

/// Both files of a pair are of the generation that the writer was told of, or both of the next one.
fn check_pairs(work: &Path, told: &[Told]) {
    for (writer, told) in told.iter().enumerate() {
        let read = |name| std::fs::read_to_string(work.join(half(writer, name))).unwrap();
        let (first, second) = (read("a"), read("b"));
        assert_eq!(first, second, "half of a call of writer {writer}");
        let generation: usize = first.trim().parse().unwrap();
        assert!((told.generation..=told.generation + 1).contains(&generation), "{writer}: {first}");
    }
}

#[test]
fn fault_33_a_kill_under_load_loses_nothing_that_was_answered() {
    for _ in 0..3 {
        let mut server = started();
        let told = under_load(&mut server, |pid| kill_process(pid, Signal::KILL).unwrap());
        check_after(&mut server, &told);
    }
}

#[test]
fn fault_33_a_kill_while_it_ends_loses_nothing_that_was_answered() {
    for after in [0, 5, 40] {
        let mut server = started();
        let told = under_load(&mut server, |pid| {
            kill_process(pid, Signal::TERM).unwrap();
            thread::sleep(Duration::from_millis(after));
            // It is not waited for yet, so the number is still its own.
            kill_process(pid, Signal::KILL).unwrap();
        });
        check_after(&mut server, &told);
    }
}

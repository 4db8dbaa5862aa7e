//! A process that dies while it has the turn.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use wink_fs::{ErrorKind, OperationCause};

use crate::crash::scene::{copy, lines, list_calls, open, template, traced};

/// A process that stops in the middle of its work, with all its locks.
struct Stuck {
    strace: Child,
    pid: String,
}

impl Stuck {
    fn new(what: &str, place: &Path, last: usize) -> Self {
        let signature = place.join("store/work.lock");
        let before = fs::read_to_string(&signature).unwrap();
        let call = ("renameat2".to_owned(), last);
        let mut strace = traced(what, place, &call, "delay_enter=60s");
        let strace = strace.stderr(Stdio::null()).spawn().expect("strace is needed");
        let signed = || fs::read_to_string(&signature).unwrap();
        wait_for(|| signed() != before);
        // Until it comes to the call that takes so long.
        std::thread::sleep(Duration::from_millis(500));
        let pid = signed().split_whitespace().next().unwrap().to_owned();
        Self { strace, pid }
    }

    fn kill(mut self) {
        let pid = rustix::process::Pid::from_raw(self.pid.parse().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        // It holds the call of the dead up until then.
        self.strace.kill().unwrap();
        self.strace.wait().unwrap();
    }
}

fn wait_for(done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(30), "nothing happened for 30 s");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
#[ignore = "needs strace"]
fn fault_25_the_turn_of_a_process_that_died_is_taken_over_once() {
    let before = template(&|_| ());
    let counted = copy(before.path());
    let calls = list_calls("rename", counted.path());
    let last = calls.iter().filter(|(name, _)| name == "renameat2").count();
    let place = copy(before.path());
    let expected = lines(before.path());
    let waiting = [open(place.path()), open(place.path()), open(place.path())];
    let stuck = Stuck::new("rename", place.path(), last);

    let error = waiting[0].write("late", "").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
    assert!(error.to_string().contains(&format!("process {}", stuck.pid)), "{error}");

    stuck.kill();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for (number, files) in waiting.iter().enumerate() {
            scope.spawn(move || files.write(&format!("after/{number}"), "x").unwrap());
        }
    });
    assert!(start.elapsed() < Duration::from_secs(4), "no process waits for the dead");
    let operations = waiting[0].operations().unwrap();
    let recovered = operations.iter().filter(|it| it.cause == OperationCause::Recovery).count();
    assert_eq!(recovered, 1, "what it had begun is taken back, by one of them");
    waiting[0].delete_all("after").unwrap();
    assert_eq!(lines(place.path()), expected);
}

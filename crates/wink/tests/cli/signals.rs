//! Commands that are told to end.

use std::io::Write as _;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::cli::scene::{Scene, stderr, stdout};

/// Starts a command that waits for its input.
fn waiting(scene: &Scene, args: &[&str]) -> Child {
    let mut command = scene.wink_in(&scene.path("project"), args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

pub(crate) fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), signal).unwrap();
}

/// Waits for the end of a command whose input stays open, so that it cannot go on.
fn ended(mut child: Child) -> Output {
    let input = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(input);
    output
}

/// Waits until a process listens to a signal.
fn wait_until_heard(child: &Child, signal: Signal) {
    let began = Instant::now();
    let is_heard = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << (signal.as_raw() - 1)) != 0
    };
    while !is_heard() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never listens");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a process has taken some input, and so waits for more.
fn wait_until_it_reads(child: &mut Child) {
    let began = Instant::now();
    let input = child.stdin.as_mut().unwrap();
    input.write_all(b"some").unwrap();
    while ioctl_fionread(&*input).unwrap() > 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "it never reads");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn programs_are_told_of_an_interruption_in_the_one_line_that_ends_the_answer() {
    let scene = Scene::new();
    for signal in [Signal::INT, Signal::TERM] {
        let child = waiting(&scene, &["fs", "write", "a", "--json"]);
        wait_until_heard(&child, signal);
        send(&child, signal);
        let output = ended(child);
        assert_eq!(output.status.code(), Some(130));
        assert_eq!((stdout(&output).as_str(), stderr(&output).lines().count()), ("", 1));
        let error: Value = serde_json::from_str(&stderr(&output)).unwrap();
        assert_eq!((&error["type"], &error["code"]), (&"error".into(), &"interrupted".into()));
        assert_eq!(error["exit"], 130);
    }
    assert!(!scene.project("a").exists());
    scene.ok(&["snapshot"]);
}

/// A shell tells from it that the command was stopped, and stops the script.
#[test]
fn a_person_who_interrupts_ends_the_command_by_the_signal_itself() {
    use std::os::unix::process::ExitStatusExt as _;
    let scene = Scene::new();
    let mut child = waiting(&scene, &["fs", "write", "a"]);
    wait_until_it_reads(&mut child);
    send(&child, Signal::INT);
    let output = ended(child);
    assert_eq!(output.status.signal(), Some(Signal::INT.as_raw()));
    assert_eq!(stderr(&output), "");
    assert!(!scene.project("a").exists());
}

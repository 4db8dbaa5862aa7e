//! Containers are started, reused, taken over and removed, whatever dies.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use wink_agent::exec::Executor as _;
use wink_podman::PodmanOptions;

use crate::common::{BUSYBOX, Scene, podman, script, stdout};

/// Says where the files are if a test plays the part of a process that dies.
const CHILD: &str = "WINK_TEST_PODMAN_CHILD";

/// Waits until something is true, which it must be soon.
fn soon(what: &str, is_true: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_true() {
        assert!(began.elapsed() < Duration::from_secs(8), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn is_there(program: &Path, name: &str) -> bool {
    let filter = format!("name={name}");
    !podman(program, &["ps", "--all", "--quiet", "--filter", &filter]).trim().is_empty()
}

fn kill(pid: u32) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL).unwrap();
}

#[test]
#[ignore = "needs Podman"]
fn nothing_is_left_when_the_executor_is_gone() {
    let scene = Scene::new();
    let other = Scene::in_place(&scene.place.join("other"), BUSYBOX, |options| options);
    other.run("true");
    let name = other.executor.container_name().unwrap();
    assert!(is_there(&scene.podman, &name));
    drop(other);
    soon("the container is removed", || !is_there(&scene.podman, &name));
}

#[test]
#[ignore = "needs Podman"]
fn a_container_that_was_stopped_is_started_again() {
    let scene = Scene::new();
    scene.run("true");
    let first = scene.executor.container_name().unwrap();
    scene.executor.stop();
    assert_eq!(scene.executor.container_name(), None);
    scene.run("true");
    assert_ne!(scene.executor.container_name(), Some(first));
}

#[test]
#[ignore = "needs Podman"]
fn a_container_that_ended_between_two_calls_is_started_again_and_the_call_says_so() {
    let scene = Scene::new();
    scene.run("true");
    let name = scene.executor.container_name().unwrap();
    podman(&scene.podman, &["kill", &name]);
    soon("it is gone", || !is_there(&scene.podman, &name));
    let result = scene.run("echo again");
    assert_eq!(stdout(&result), "again");
    assert!(result.message.contains("was started again"), "{}", result.message);
    assert!(!scene.run("true").message.contains("was started again"));
}

#[test]
#[ignore = "needs Podman"]
fn a_container_that_ends_under_a_command_is_an_error_and_the_changes_are_rolled_back() {
    let scene = Scene::new();
    scene.run("true");
    let name = scene.executor.container_name().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            soon("it runs", || scene.files.exists("begun"));
            podman(&scene.podman, &["kill", &name]);
        });
        let result = scene.call("shell_execute", json!({"command": "touch begun; sleep 1000"}));
        assert_eq!(result.code(), Some("unavailable"), "{}", result.message);
        assert!(result.message.contains("container ended"), "{}", result.message);
    });
    assert!(!scene.files.exists("begun"));
    assert_eq!(stdout(&scene.run("echo works")), "works");
}

#[test]
#[ignore = "needs Podman"]
fn commands_do_not_need_the_process_that_watches_the_container() {
    let scene = Scene::new();
    scene.run("true");
    let name = scene.executor.container_name().unwrap();
    let conmon = podman(&scene.podman, &["inspect", "--format={{.State.ConmonPid}}", &name]);
    kill(conmon.trim().parse().unwrap());
    assert_eq!(stdout(&scene.run("echo works")), "works");
    scene.executor.stop();
    soon("it is removed", || !is_there(&scene.podman, &name));
}

/// A process that runs one command in a container and then waits to be killed.
struct Doomed {
    process: Child,
    container: String,
}

impl Doomed {
    fn start(scene: &Scene, test: &str) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--include-ignored", "--test-threads=1"])
            .env(CHILD, &scene.place)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut named =
            lines.filter_map(|line| Some(line.split_once("container=")?.1.trim().to_owned()));
        let container = named.next().expect("it says the name");
        Self { process, container }
    }

    fn kill(mut self) -> String {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.container
    }
}

/// Plays that part, if it is to.
fn doomed() -> bool {
    let Some(place) = std::env::var_os(CHILD) else { return false };
    let scene = Scene::in_place(Path::new(&place), BUSYBOX, |options| options);
    scene.run("echo kept > /tmp/note; (sleep 1000 &)");
    println!("container={}", scene.executor.container_name().unwrap());
    thread::sleep(Duration::from_secs(60));
    true
}

#[test]
#[ignore = "needs Podman"]
fn the_container_of_a_process_that_died_is_taken_over_by_the_next() {
    if doomed() {
        return;
    }
    let scene = Scene::new();
    let test = "life_cycle::the_container_of_a_process_that_died_is_taken_over_by_the_next";
    let container = Doomed::start(&scene, test).kill();
    assert_eq!(stdout(&scene.run("cat /tmp/note")), "kept");
    assert_eq!(scene.executor.container_name(), Some(container));
}

#[test]
#[ignore = "needs Podman"]
fn the_container_of_a_process_that_lives_is_left_alone() {
    if doomed() {
        return;
    }
    let scene = Scene::new();
    let test = "life_cycle::the_container_of_a_process_that_lives_is_left_alone";
    let other = Doomed::start(&scene, test);
    scene.run("true");
    assert_ne!(scene.executor.container_name().as_ref(), Some(&other.container));
    assert!(is_there(&scene.podman, &other.container));
    let left = other.kill();
    let another = Scene::new();
    another.run("true");
    soon("another workspace removes it", || !is_there(&scene.podman, &left));
}

#[test]
#[ignore = "needs Podman"]
fn podman_killed_while_it_starts_a_container_leaves_nothing_behind() {
    ["0.02", "0.1", "0.2"].iter().for_each(|delay| killed_in("run", delay));
}

#[test]
#[ignore = "needs Podman"]
fn podman_killed_while_it_removes_a_container_leaves_nothing_behind() {
    ["0.02", "0.1"].iter().for_each(|delay| killed_in("rm", delay));
}

/// Returns whether a process has these words in its command line.
fn has_process_with(words: &str) -> bool {
    let lines =
        fs::read_dir("/proc").unwrap().flatten().map(|it| fs::read(it.path().join("cmdline")));
    lines.flatten().any(|line| String::from_utf8_lossy(&line).contains(words))
}

/// Kills Podman some time after each beginning of a step.
fn killed_in(step: &str, delay: &str) {
    let scene = Scene::new();
    let text = format!(
        "for a; do case $a in --name=*) echo \"${{a#--name=}}\" >> {names};; esac; done; [ \"$1\" = {step} ] || exec {real} \"$@\"\n{real} \"$@\" & p=$!; (sleep {delay}; kill -9 $p 2>/dev/null) & wait $p",
        real = scene.podman.display(),
        names = scene.place.join("names").display()
    );
    let program = script(&scene.place, "killed-podman", &text);
    let told = |options: PodmanOptions| options.program(program);
    let own = Scene::in_place(&scene.place.join("own"), BUSYBOX, told);
    let result = own.call("shell_execute", json!({"command": "echo works > out"}));
    if result.ok() {
        assert_eq!(own.files.read("out").unwrap().content, "works\n");
    } else {
        assert_eq!(result.code(), Some("unavailable"), "{}", result.message);
        assert!(own.files.write("by-wink", "files still work").is_ok());
    }
    let place = own.place.clone();
    drop(own);
    let names = fs::read_to_string(scene.place.join("names")).unwrap();
    let names: Vec<_> = names.lines().collect();
    assert!(!names.is_empty());
    let left = || {
        let filter = "--filter=label=dev.wink.container";
        let listed = podman(&scene.podman, &["ps", "--all", filter, "--format={{.Mounts}}"]);
        let is_watched = names.iter().any(|name| has_process_with(name));
        listed.contains(&*place.to_string_lossy()) || is_watched
    };
    // What is left is removed by the next that uses Podman, or removes itself.
    scene.run("true");
    soon("nothing is left", || !left());
}

//! A Podman that does not do what it should is a clear error in time, and the files stay usable.

use std::time::{Duration, Instant};

use serde_json::json;
use wink_podman::{PodmanExecutor, PodmanOptions, Problem};

use crate::common::{BUSYBOX, Scene, script, stdout};

/// Runs a command by a Podman that is only a shell script, and returns the error.
fn with_podman(text: &str) -> String {
    let place = tempfile::tempdir().unwrap();
    let program = script(place.path(), "podman", text);
    let scene = Scene::in_place(place.path(), BUSYBOX, |options| options.program(program));
    scene.files.write("a.txt", "before").unwrap();
    let began = Instant::now();
    let result = scene.call("shell_execute", json!({"command": "true", "timeout": 2}));
    assert_eq!(result.code(), Some("unavailable"), "{}", result.message);
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
    assert_eq!(scene.files.read("a.txt").unwrap().content, "before");
    assert!(!result.message.contains(&*place.path().to_string_lossy()), "{}", result.message);
    result.message
}

#[test]
#[ignore = "needs Podman"]
fn a_podman_that_is_not_there_is_unavailable() {
    let place = tempfile::tempdir().unwrap();
    let scene = Scene::in_place(place.path(), BUSYBOX, |it| it.program("/nowhere/podman"));
    let result = scene.call("shell_execute", json!({"command": "true"}));
    assert_eq!(result.code(), Some("unavailable"));
    assert!(result.message.contains("not installed"), "{}", result.message);
    let problem = scene.executor.start(&scene.root).unwrap_err();
    assert_eq!(problem, Problem::Missing);
}

#[test]
#[ignore = "needs Podman"]
fn a_podman_that_hangs_is_unavailable_when_time_is_over() {
    let message = with_podman("sleep 1000");
    assert!(message.contains("did not answer"), "{message}");
}

#[test]
#[ignore = "needs Podman"]
fn a_podman_that_leaves_a_child_with_its_output_is_not_waited_for() {
    let message = with_podman("setsid sleep 20 & echo; exit 0");
    assert!(message.contains("cannot be understood"), "{message}");
}

#[test]
#[ignore = "needs Podman"]
fn a_podman_that_fails_is_quoted_without_paths() {
    let message = with_podman("echo 'Error: statfs /root/secret: permission denied' >&2; exit 125");
    assert!(message.contains("exit code 125: Error: statfs … permission denied"), "{message}");
}

#[test]
#[ignore = "needs Podman"]
fn a_podman_that_prints_garbage_is_not_believed() {
    for text in ["head -c 20000000 /dev/urandom", "echo", "printf '{\"Id\": }'"] {
        let message = with_podman(text);
        assert!(message.contains("cannot be understood"), "{message}");
    }
}

#[test]
#[ignore = "needs Podman"]
fn a_podman_that_is_too_old_is_called_so() {
    let message = with_podman("echo 'Error: unknown flag: --image-volume' >&2; exit 125");
    assert!(message.contains("too old: Error: unknown flag"), "{message}");
}

#[test]
#[ignore = "needs Podman"]
fn a_podman_that_is_killed_is_unavailable() {
    let message = with_podman("kill -9 $$");
    assert!(message.contains("was killed"), "{message}");
}

#[test]
#[ignore = "needs Podman"]
fn an_image_that_is_not_there_is_named_with_what_to_do() {
    let scene = Scene::new();
    let image = "localhost/wink-test-no-such-image:1";
    let options = PodmanOptions::default().program(&scene.podman);
    let options = options.allow_image(image).unwrap().image(image).unwrap();
    let problem = PodmanExecutor::new(options).unwrap().start(&scene.root).unwrap_err();
    assert!(
        problem.to_string().contains("`podman pull localhost/wink-test-no-such-image:1`"),
        "{problem}"
    );
}

#[test]
#[ignore = "needs Podman"]
fn without_a_supervisor_each_command_has_a_container_of_its_own() {
    let scene = Scene::with(BUSYBOX, |options| options.supervisor(false));
    scene.files.mkdir("sub dir").unwrap();
    let result = scene.call(
        "shell_execute",
        json!({"command": "pwd; echo $WHO; cat; echo x > made; exit 7", "cwd": "sub dir", "stdin": "typed",
               "env": [{"name": "WHO", "value": "a b"}]}),
    );
    assert!(result.message.contains("exit code 7"), "{}", result.message);
    assert_eq!(stdout(&result), "/workspace/sub dir\na b\ntyped");
    assert_eq!(scene.files.read("sub dir/made").unwrap().content, "x\n");
    assert_eq!(scene.executor.container_name(), None);
    let late = "(setsid sh -c 'sleep 4; touch late' &); sleep 1000";
    let result = scene.call("shell_execute", json!({"command": late, "timeout": 3}));
    assert!(result.message.starts_with("Timed out"), "{}", result.message);
    std::thread::sleep(Duration::from_secs(3));
    assert!(!scene.files.exists("late"));
    let result = scene.call("evaluate_python", json!({"code": "1"}));
    assert_eq!(result.code(), Some("unsupported"), "{}", result.message);
}

#[test]
#[ignore = "needs Podman"]
fn a_deadline_during_the_start_does_not_switch_the_supervisor_off() {
    let place = tempfile::tempdir().unwrap();
    // It says that it started a container, which never connects.
    let text =
        "[ -e works ] && exec ./real-podman \"$@\"; [ \"$1\" = run ] && printf '%064d\\n' 0; true";
    let text = format!("cd {}; {text}", place.path().display());
    let program = script(place.path(), "podman", &text);
    let scene = Scene::in_place(place.path(), BUSYBOX, |options| options.program(program));
    let result = scene.call("shell_execute", json!({"command": "true", "timeout": 1}));
    assert_eq!(result.code(), Some("unavailable"), "{}", result.message);
    std::fs::write(place.path().join("works"), "").unwrap();
    scene.run("echo kept > /tmp/note");
    assert_eq!(stdout(&scene.run("cat /tmp/note")), "kept", "in the same container");
}

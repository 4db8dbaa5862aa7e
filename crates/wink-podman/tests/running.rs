//! Commands in a container, and what of them is kept.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::{PYTHON, Scene, stdout};

#[test]
#[ignore = "needs Podman"]
fn a_command_sees_the_files_and_what_it_changes_can_be_undone() {
    let scene = Scene::new();
    scene.files.write("a.txt", "hello").unwrap();
    let result = scene.run("pwd; cat a.txt; echo b > b.txt; mkdir d; echo no >&2; exit 3");
    assert_eq!(stdout(&result), "/workspace\nhello");
    assert!(result.message.contains("exit code 3"), "{}", result.message);
    assert!(result.message.contains("A b.txt"), "{}", result.message);
    assert_eq!(scene.files.read("b.txt").unwrap().content, "b\n");
    scene.files.write("b.txt", "by wink").unwrap();
    assert_eq!(stdout(&scene.run("cat b.txt; echo again > b.txt")), "by wink");
    scene.files.undo().unwrap();
    assert_eq!(scene.files.read("b.txt").unwrap().content, "by wink");
}

#[test]
#[ignore = "needs Podman"]
fn a_second_command_uses_the_same_container() {
    let scene = Scene::new();
    scene.run("echo kept > /tmp/note");
    let name = scene.executor.container_name().unwrap();
    assert_eq!(stdout(&scene.run("cat /tmp/note")), "kept");
    assert_eq!(scene.executor.container_name(), Some(name));
}

#[test]
#[ignore = "needs Podman"]
fn a_command_gets_its_directory_variables_and_input() {
    let scene = Scene::new();
    scene.files.mkdir("sub dir").unwrap();
    let result = scene.call(
        "shell_execute",
        json!({"command": "pwd; echo $WHO; cat", "cwd": "sub dir", "stdin": "typed",
               "env": [{"name": "WHO", "value": "a b"}]}),
    );
    assert_eq!(stdout(&result), "/workspace/sub dir\na b\ntyped");
    let result = scene.call("shell_execute", json!({"command": "true", "cwd": "nowhere"}));
    assert_eq!(result.code(), Some("not_found"));
}

#[test]
#[ignore = "needs Podman"]
fn a_python_program_runs_where_the_image_has_python() {
    let scene = Scene::with(PYTHON, |options| options);
    let code = "import json, os\nprint(json.dumps(os.getcwd()))\nopen('made', 'w').write('x')";
    let result = scene.call("evaluate_python", json!({ "code": code }));
    assert!(result.ok(), "{}", result.message);
    assert_eq!(stdout(&result).lines().next(), Some("\"/workspace\""));
    assert!(result.message.contains("A made"), "{}", result.message);
    let scene = Scene::new();
    let result = scene.call("evaluate_python", json!({"code": "print(1)"}));
    assert_eq!(result.code(), Some("unsupported"), "{}", result.message);
}

#[test]
#[ignore = "needs Podman"]
fn a_deadline_ends_every_process_of_a_command() {
    let scene = Scene::new();
    scene.run("true");
    let began = Instant::now();
    let command =
        "trap '' TERM INT HUP; (setsid sh -c 'sleep 1000 & sleep 1000' &) ; echo begun; sleep 1000";
    let result = scene.call("shell_execute", json!({"command": command, "timeout": 1}));
    assert!(result.message.starts_with("Timed out after"), "{}", result.message);
    assert!(result.message.contains("begun"), "{}", result.message);
    assert!(began.elapsed() < Duration::from_secs(8));
    assert_eq!(scene.processes().len(), 1, "only the supervisor");
}

#[test]
#[ignore = "needs Podman"]
fn what_a_command_leaves_running_ends_with_it() {
    let scene = Scene::new();
    let result =
        scene.run("(setsid sh -c 'sleep 2; echo late > late.txt' >/dev/null 2>&1 &); echo done");
    assert_eq!(stdout(&result), "done");
    assert_eq!(scene.processes().len(), 1, "only the supervisor");
    assert!(!scene.files.exists("late.txt"));
}

//! What a process gets and gives.

use serde_json::json;
use wink_agent::Toolset;

use crate::execution::scene::Scene;

#[test]
fn a_failing_command_is_a_result() {
    let scene = Scene::new();
    let result = scene.run("echo out; echo err >&2; exit 3");
    assert_eq!(result.value["exit_code"], 3);
    assert!(result.message.contains("stdout, 4 bytes:\nout\n"), "{}", result.message);
    assert!(result.message.contains("stderr, 4 bytes:\nerr\n"), "{}", result.message);
    assert_eq!(scene.run("kill -11 $$").value["signal"], 11);
    assert_eq!(scene.run("no-such-program").value["exit_code"], 127);
}

#[test]
fn a_command_reads_its_input_or_leaves_it() {
    let scene = Scene::new();
    let result = scene.run_with(json!({"command": "cat", "stdin": "grüße\n"}));
    assert!(result.message.contains("\ngrüße\n"), "{}", result.message);
    let long = "x".repeat(40_000);
    let counted = scene.run_with(json!({"command": "wc -c", "stdin": long}));
    assert!(counted.message.contains("40000"), "{}", counted.message);
    assert_eq!(scene.run_with(json!({"command": "true", "stdin": long})).value["exit_code"], 0);
    assert!(scene.run("cat").message.contains("stdout: empty"));
}

#[test]
fn a_command_is_run_in_its_directory_with_a_clean_environment() {
    let scene = Scene::new();
    scene.files.write("src/deep/a.txt", "a").unwrap();
    let listed = scene.run_with(json!({"command": "ls", "cwd": "src/deep"}));
    assert!(listed.message.contains("\na.txt\n"), "{}", listed.message);
    let env = json!([{"name": "GREETING", "value": "hello $HOME"}]);
    let shown = scene.run_with(json!({"command": "env", "env": env})).message;
    let mut names: Vec<&str> =
        shown.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.retain(|name| !["_", "SHLVL", "OLDPWD"].contains(name));
    names.sort_unstable();
    assert_eq!(
        names,
        ["GREETING", "HOME", "LANG", "PATH", "PWD", "PYTHONDONTWRITEBYTECODE", "TMPDIR"]
    );
    assert!(shown.contains("GREETING=hello $HOME"));
    let object = json!({"command": "echo $A$B", "env": {"A": "one", "B": "two"}});
    assert!(scene.run_with(object).message.contains("\nonetwo\n"));
}

#[test]
fn a_flood_is_cut_and_saved_outside() {
    let scene = Scene::new();
    let result = scene.run("yes | head -c 50000000; echo the end");
    assert_eq!(result.value["stdout_bytes"], 50_000_008);
    assert!(result.message.len() < 40_000 && result.message.contains("\nthe end"));
    let saved = scene.executor.outputs().read(result.value["stdout_file"].as_str().unwrap());
    assert_eq!(saved.unwrap().len(), 16 * 1024 * 1024);
    assert!(result.message.contains("No file changed."));
}

#[test]
fn python_is_run_where_there_is_one() {
    let scene = Scene::new();
    scene.files.write("kept.txt", "kept").unwrap();
    let code = "print(open('kept.txt').read() * 2)\nopen('made.txt', 'w').write('made')";
    let result = Toolset::ALL.call(&scene.context, "evaluate_python", json!({ "code": code }));
    if scene.run("command -v python3").value["exit_code"] == 0 {
        assert!(result.message.contains("\nkeptkept\n"), "{}", result.message);
        assert!(result.message.ends_with("\nA made.txt"), "{}", result.message);
    } else {
        assert_eq!(result.code(), Some("unsupported"), "{}", result.message)
    }
}

#[test]
fn an_executor_says_how_unsafe_it_is() {
    assert!(format!("{:?}", Scene::new().context).contains("UNSAFE"));
}

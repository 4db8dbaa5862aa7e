//! What is refused before anything is run.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use wink_agent::exec::HostExecutor;
use wink_agent::{Effect, Family, PathRules, ToolContext, ToolResult, Toolset};
use wink_fs::{HostBackend, Workspace};

use crate::execution::scene::{Scene, hash, shell};
use crate::host_paths;

fn programs(context: &ToolContext) -> [ToolResult; 2] {
    [
        shell(context, json!({"command": "touch made"})),
        Toolset::ALL.call(context, "evaluate_python", json!({"code": "open('made', 'w')"})),
    ]
}

#[test]
fn without_an_executor_nothing_is_offered_and_nothing_run() {
    let context = ToolContext::over(&Workspace::memory());
    for result in programs(&context) {
        assert_eq!(result.code(), Some("unsupported"));
        assert_eq!(
            result.message,
            "No program can be run here, because there is no executor; use the file tools."
        );
    }
    assert!(Toolset::ALL.offered(&context).all(|tool| tool.family != Family::Execution));
    let scene = Scene::new();
    let offered = Toolset::ALL.offered(&scene.context).filter(|it| it.effect == Effect::Executes);
    let names: Vec<_> = offered.map(|tool| tool.name).collect();
    assert_eq!(names, ["shell_execute", "evaluate_python"]);
}

#[test]
fn rules_that_deny_something_deny_programs() {
    let scene = Scene::new();
    let context = scene.context.clone().rules(PathRules::new().deny(["*.env"]).unwrap());
    for result in programs(&context) {
        assert_eq!(result.code(), Some("permission_denied"), "{}", result.message);
    }
    assert!(!scene.files.exists("made"));
}

#[test]
fn no_program_is_run_in_memory_or_where_nothing_may_change() {
    let executor = Arc::new(HostExecutor::unsafe_on_this_machine().unwrap());
    let memory = ToolContext::over(&Workspace::memory()).executor(executor.clone());
    for result in programs(&memory) {
        assert_eq!(result.code(), Some("unsupported"), "{}", result.message);
    }
    let place = tempfile::tempdir().unwrap();
    let backend = HostBackend::open_ambient(place.path()).unwrap();
    let files = Workspace::builder(backend).read_only(true).build();
    for result in programs(&ToolContext::over(&files).executor(executor.clone())) {
        assert_eq!(result.code(), Some("read_only"), "{}", result.message);
    }
    assert!(!files.exists("made"));
}

#[test]
fn a_directory_outside_is_refused() {
    let scene = Scene::new();
    scene.files.write("file", "").unwrap();
    scene.files.symlink("link", b"/etc").unwrap();
    scene.files.symlink("up", b"..").unwrap();
    for (cwd, code) in [
        ("..", "permission_denied"),
        ("../..", "permission_denied"),
        ("/etc", "not_found"),
        ("link", "not_a_directory"),
        ("link/ssl", "permission_denied"),
        ("up/store", "permission_denied"),
        ("missing", "not_found"),
        ("file", "not_a_directory"),
    ] {
        let result = shell(&scene.context, json!({"command": "touch made", "cwd": cwd}));
        assert_eq!(result.code(), Some(code), "{cwd}: {}", result.message);
        host_paths::assert_none(&scene.files, &result);
    }
    assert!(!scene.files.exists("made"));
}

#[test]
fn a_timeout_over_the_limit_is_refused_unless_the_executor_allows_it() {
    let scene = Scene::new();
    let long = json!({"command": "true", "timeout": 121});
    let refused = shell(&scene.context, long.clone());
    assert_eq!(
        refused.message,
        "`timeout` must be at most 120 seconds; do the work in shorter steps."
    );
    let executor = HostExecutor::unsafe_on_this_machine().unwrap();
    let executor = Arc::new(executor.max_timeout(Duration::from_secs(600)));
    assert!(shell(&ToolContext::over(&scene.files).executor(executor), long).ok());
}

/// Arguments that no program can be run by.
fn nonsense() -> Vec<Value> {
    let huge = "x".repeat(100_000);
    let env = |name: &str, value: &str| json!({"command": "touch made", "code": "1", "env": [{"name": name, "value": value}]});
    vec![
        json!(null),
        json!([]),
        json!("touch made"),
        json!({"command": 7, "code": 7}),
        json!({"command": ""}),
        json!({"code": " \n"}),
        json!({"command": "touch made\u{0}"}),
        json!({"code": "\u{0}"}),
        json!({"command": huge}),
        json!({"code": huge}),
        json!({"command": "touch made", "stdin": huge}),
        json!({"command": "touch made", "timeout": -1}),
        json!({"command": "touch made", "timeout": 0}),
        json!({"command": "touch made", "timeout": "soon"}),
        json!({"command": "touch made", "timeout": 1e300}),
        json!({"command": "touch made", "shell": "bash"}),
        json!({"command": "touch made", "env": {"A": 1}}),
        json!({"command": "touch made", "env": {"A-B": "1"}}),
        json!({"command": "touch made", "env": ["A=1"]}),
        json!({"command": "touch made", "env": [{"name": "A"}]}),
        env("", "1"),
        env("1A", "1"),
        env("A=B", "1"),
        env("A\n", "1"),
        env("É", "1"),
        env("A", "\u{0}"),
        env(&huge, "1"),
    ]
}

#[test]
fn nonsense_runs_nothing_and_shows_no_path_of_the_host() {
    let scene = Scene::new();
    let before = hash(&scene.files);
    for tool in Toolset::ALL.tools().filter(|tool| tool.family == Family::Execution) {
        for arguments in nonsense() {
            let result = tool.call(&scene.context, arguments.clone());
            let shown: String = arguments.to_string().chars().take(80).collect();
            assert!(!result.ok(), "{} took {shown}", tool.name);
            host_paths::assert_none(&scene.files, &result);
            assert!(result.message.len() < 600, "{} {shown}: {}", tool.name, result.message);
        }
    }
    assert_eq!(hash(&scene.files), before);
    assert!(scene.files.snapshots().unwrap().is_empty());
}

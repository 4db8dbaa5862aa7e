//! The codes that commands end with: each is documented, and each happens.

use std::process::Stdio;

use crate::cli::scene::Scene;

fn code(scene: &Scene, args: &[&str]) -> i32 {
    let mut command = scene.wink_in(&scene.path("project"), args);
    command.stdin(Stdio::null()).output().unwrap().status.code().unwrap()
}

fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("a", "one\n");
    scene.ok(&["snapshot", "--tag", "one"]);
    scene
}

#[test]
fn every_code_is_documented() {
    let document = include_str!("../../../../docs/exit-codes.md");
    let help = Scene::empty().ok(&["--help"]);
    // A unit test keeps this table equal to the code.
    let errors = include_str!("../../../../docs/errors.md");
    let rows = errors.lines().filter(|line| line.starts_with("| ")).skip(1);
    let codes: Vec<u8> =
        rows.map(|row| row.split(" | ").nth(2).unwrap().parse().unwrap()).collect();
    assert_eq!(codes.len(), wink_fs::ErrorKind::ALL.len());
    for code in codes.into_iter().chain([0, 1, 2, 3, 10, 12]) {
        assert!(document.contains(&format!("| {code} |")), "{code}");
        assert!(help.contains(&format!(" {code} ")), "{code}");
    }
    for kind in wink_fs::ErrorKind::ALL {
        assert!(document.contains(&format!("`{}`", kind.code())), "{kind}");
    }
}

#[test]
fn code_0_is_done_and_1_is_failed_or_a_difference() {
    let scene = scene();
    assert_eq!(code(&scene, &["status"]), 0);
    assert_eq!(code(&scene, &["fs", "cat", "none"]), 1);
    scene.write("a", "two\n");
    assert_eq!(code(&scene, &["diff"]), 0);
    assert_eq!(code(&scene, &["diff", "--exit-code"]), 1);
}

#[test]
fn code_2_is_arguments_that_cannot_be_meant() {
    let scene = scene();
    assert_eq!(code(&scene, &["nothing"]), 2);
    assert_eq!(code(&scene, &["restore", "@"]), 2);
}

#[test]
fn code_3_is_done_in_part() {
    let scene = scene();
    scene.write("a", "two\n");
    scene.ok(&["restore", "one"]);
    assert_eq!(code(&scene, &["undo", "5"]), 3);
}

#[test]
fn code_3_is_an_undo_or_redo_of_some_of_the_paths_and_13_of_none() {
    let scene = scene();
    scene.write("b", "one\n");
    scene.ok(&["snapshot", "--tag", "both"]);
    for name in ["a", "b"] {
        scene.write(name, "two\n");
    }
    scene.ok(&["restore", "both"]);
    scene.write("a", "three\n");
    assert_eq!(code(&scene, &["undo"]), 3);
    assert_eq!((scene.read("a"), scene.read("b")), ("three\n".into(), "two\n".into()));
    assert_eq!(code(&scene, &["redo"]), 3, "what was left alone is named again");
    scene.write("b", "three\n");
    assert_eq!(code(&scene, &["undo"]), 13);
}

#[test]
fn code_10_is_no_workspace_and_12_is_no_such_state() {
    assert_eq!(code(&Scene::empty(), &["status"]), 10);
    assert_eq!(code(&scene(), &["show", "none"]), 12);
}

#[test]
fn code_11_is_that_another_process_works_here() {
    let scene = scene();
    let lock = std::fs::File::open(scene.history().join("store/work.lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    assert_eq!(code(&scene, &["snapshot"]), 11);
    drop(lock);
    assert_eq!(code(&scene, &["snapshot"]), 0);
}

#[test]
fn code_13_is_a_conflict() {
    let scene = scene();
    scene.write("a", "two\n");
    scene.ok(&["restore", "one"]);
    scene.write("a", "three\n");
    assert_eq!(code(&scene, &["undo"]), 13);
}

#[test]
fn code_14_is_damage() {
    let scene = scene();
    for pack in std::fs::read_dir(scene.history().join("store/packs")).unwrap() {
        let path = pack.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[20] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }
    assert_eq!(code(&scene, &["verify", "--data"]), 14);
}

#[test]
fn code_15_is_that_the_files_are_gone_and_then_their_history_is_not() {
    let scene = scene();
    let (history, project) = (scene.history(), scene.path("project"));
    std::fs::remove_dir_all(&project).unwrap();
    let args = ["--store", history.to_str().unwrap(), "status"];
    let output = scene.wink_in(&scene.path("home"), &args).output().unwrap();
    let said = crate::cli::scene::stderr(&output);
    assert_eq!(output.status.code(), Some(15), "{said}");
    assert!(said.contains("is missing") && said.contains("wink restore @-"), "{said}");
    std::fs::create_dir(&project).unwrap();
    scene.ok(&["restore", "@-"]);
    assert_eq!(scene.read("a"), "one\n");
}

/// Once, it was 1, and nothing was said of the history.
#[test]
fn code_15_is_also_that_a_workspace_is_named_or_stood_in_which_is_gone() {
    let scene = scene();
    let project = scene.path("project");
    let in_project = "cd project/ && rm -rf ../project && exec \"$0\" \"$@\"";
    let mut started_there = std::process::Command::new("sh");
    started_there.current_dir(scene.path("")).args(["-c", in_project]);
    started_there.args([env!("CARGO_BIN_EXE_wink"), "status"]).env_clear();
    started_there.env("HOME", scene.path("home")).env("XDG_DATA_HOME", scene.path("data"));
    let below = project.join("src");
    let named = |path: &std::path::Path| {
        scene.wink_in(&scene.path("home"), &["-C", path.to_str().unwrap(), "log"])
    };
    for mut command in [started_there, named(&project), named(&below)] {
        let output = command.output().unwrap();
        let said = crate::cli::scene::stderr(&output);
        assert_eq!(output.status.code(), Some(15), "{said}");
        let next = format!("mkdir -p {0} && cd {0} && wink restore @-", project.display());
        assert!(said.contains("is missing; its history is kept") && said.contains(&next), "{said}");
    }
    let server = scene.wink_in(&scene.path("home"), &["mcp", "--root", "../project"]).output();
    assert_eq!(server.unwrap().status.code(), Some(15));
}

#[test]
fn a_directory_that_is_not_there_and_was_no_workspace_is_not_found() {
    let scene = scene();
    let (code, said) = scene.fails(&["-C", "none", "status"]);
    assert_eq!(code, 1, "{said}");
    let none = scene.project("none");
    assert!(said.starts_with(&format!("error: cannot find `{}`", none.display())), "{said}");
}

#[test]
fn a_directory_that_another_one_took_the_place_of_is_to_be_entered_again() {
    let scene = scene();
    let again = "cd project && rm -rf ../project && mkdir ../project && exec \"$0\" \"$@\"";
    let mut command = std::process::Command::new("sh");
    command.current_dir(scene.path("")).args(["-c", again, env!("CARGO_BIN_EXE_wink"), "status"]);
    command.env_clear().env("HOME", scene.path("home")).env("XDG_DATA_HOME", scene.path("data"));
    let output = command.output().unwrap();
    let said = crate::cli::scene::stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let next = format!("enter it again: cd {}", scene.path("project").display());
    assert!(said.contains(&next), "{said}");
}

#[test]
fn code_16_is_a_limit() {
    let scene = scene();
    let long = format!("content={}", "x".repeat(100_000));
    assert_eq!(code(&scene, &["tool", "write_file", "path=b", &long]), 16);
}

#[test]
fn code_130_is_an_interrupt() {
    let scene = scene();
    let started = scene.project("started");
    let command = "command=touch started; sleep 100";
    let args = ["tool", "shell_execute", command, "--allow-execution", "-q"];
    let mut child = scene.wink_in(&scene.path("project"), &args).spawn().unwrap();
    let began = std::time::Instant::now();
    while !started.exists() {
        assert!(began.elapsed().as_secs() < 60, "it never begins");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!started.exists(), "what it did so far is taken back");
}

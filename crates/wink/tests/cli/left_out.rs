//! What cannot be read keeps nothing else from being saved and restored, and is named.

use std::fs::{self, File};
use std::io::Write;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::Value;

use crate::cli::repair::{as_unprivileged, chmod};
use crate::cli::scene::{Scene, stderr, stdout};

fn json(output: &Output) -> Value {
    let text = stdout(output);
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

fn missing(document: &Value) -> Vec<String> {
    let entries = document["missing"].as_array().unwrap();
    entries.iter().map(|it| it["path"].as_str().unwrap().to_owned()).collect()
}

/// Once, each blocked every snapshot and restore.
#[test]
fn an_unreadable_file_or_directory_keeps_nothing_else_from_being_saved_and_restored() {
    let scene = Scene::new();
    scene.write("a", "1");
    scene.write("shut/in", "2");
    scene.write("key *", "3");
    scene.ok(&["snapshot", "--tag", "readable"]);
    scene.write("a", "changed");
    scene.write("shut/new", "4");
    scene.write("key *", "other");
    chmod(&scene.project("shut"), 0);
    chmod(&scene.project("key *"), 0);

    let taken = as_unprivileged(&scene, &["snapshot", "--tag", "partial"]);
    assert_eq!(taken.status.code(), Some(3), "{}{}", stdout(&taken), stderr(&taken));
    let said = stdout(&taken);
    assert!(said.contains("  key *  permission denied\n"), "{said}");
    assert!(said.contains("  shut  permission denied\n"), "{said}");
    let shown = json(&as_unprivileged(&scene, &["show", "partial", "--json"]));
    assert_eq!(missing(&shown["snapshot"]), ["key *", "shut"]);

    let restored = as_unprivileged(&scene, &["restore", "readable", "--json"]);
    assert_eq!(restored.status.code(), Some(3), "{}{}", stdout(&restored), stderr(&restored));
    assert_eq!(missing(&json(&restored)), ["key *", "shut"]);
    assert_eq!(scene.read("a"), "1");
    let undone = as_unprivileged(&scene, &["undo"]);
    assert!(undone.status.success(), "{}{}", stdout(&undone), stderr(&undone));
    assert_eq!(scene.read("a"), "changed");

    chmod(&scene.project("shut"), 0o755);
    chmod(&scene.project("key *"), 0o644);
    assert_eq!((scene.read("shut/in"), scene.read("shut/new")), ("2".into(), "4".into()));
    assert_eq!(scene.read("key *"), "other");
    // A snapshot that never held them cannot restore them, and does not delete them.
    let restored = as_unprivileged(&scene, &["restore", "partial", "--json"]);
    assert_eq!((restored.status.code(), missing(&json(&restored)).len()), (Some(3), 2));
    assert_eq!(scene.read("key *"), "other");
    let whole = as_unprivileged(&scene, &["snapshot"]);
    assert!(whole.status.success(), "{}{}", stdout(&whole), stderr(&whole));
}

/// A directory's names can be readable where what they name is not.
#[test]
fn a_directory_whose_entries_cannot_be_looked_at_is_left_alone() {
    let scene = Scene::new();
    scene.write("a", "1");
    scene.ok(&["snapshot", "--tag", "before"]);
    scene.write("half/in", "2");
    chmod(&scene.project("half"), 0o444);
    let taken = as_unprivileged(&scene, &["snapshot", "--json"]);
    assert_eq!(taken.status.code(), Some(3), "{}{}", stdout(&taken), stderr(&taken));
    assert_eq!(missing(&json(&taken)["snapshot"]), ["half/in"]);
    let restored = as_unprivileged(&scene, &["restore", "before"]);
    assert_eq!(restored.status.code(), Some(3), "{}{}", stdout(&restored), stderr(&restored));
    chmod(&scene.project("half"), 0o755);
    assert_eq!(scene.read("half/in"), "2");
}

#[test]
fn status_names_what_the_next_snapshot_cannot_hold_with_the_command_that_excludes_it() {
    let scene = Scene::new();
    scene.write("a", "1\n");
    scene.write("it's shut/in", "2\n");
    scene.ok(&["snapshot"]);
    for (path, pattern) in [("it's shut", r"'/it'\''s shut'"), ("a", "/a")] {
        chmod(&scene.project(path), 0);
        let command = format!("`wink config add exclude {pattern}`");
        let status = stdout(&as_unprivileged(&scene, &["status"]));
        let said = format!("is not protected: `{path}` cannot be read");
        assert!(status.contains(&said) && status.contains(&command), "{status}");
        let excluded = format!("/{path}");
        let excluded = as_unprivileged(&scene, &["config", "add", "exclude", &excluded]);
        assert!(excluded.status.success(), "{}", stderr(&excluded));
        let taken = as_unprivileged(&scene, &["snapshot"]);
        assert!(taken.status.success(), "{}", stderr(&taken));
    }
    assert!(stdout(&as_unprivileged(&scene, &["status"])).contains("is protected"));
}

/// A program that appends to a file without a pause.
struct Logger {
    is_over: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Logger {
    fn start(mut log: File) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let told = is_over.clone();
        let thread = thread::spawn(move || {
            while !told.load(Ordering::Relaxed) {
                log.write_all(b"a line\n").unwrap();
            }
        });
        Self { is_over, thread: Some(thread) }
    }
}

impl Drop for Logger {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        drop(self.thread.take().map(thread::JoinHandle::join));
    }
}

/// Once, every snapshot and restore failed with exit 13, and the log was not named.
#[test]
fn a_log_that_is_written_all_the_time_keeps_nothing_else_from_being_saved_and_restored() {
    let scene = Scene::new();
    scene.write("a", "1");
    scene.write("log/busy.log", "");
    scene.ok(&["snapshot", "--tag", "quiet"]);
    scene.write("a", "2");
    let logger = Logger::start(File::create(scene.project("log/busy.log")).unwrap());

    // A machine under load may run the logger so rarely that a snapshot holds the log.
    let run = |args: &[&str]| {
        let runs = (0..20).map(|_| scene.run(args));
        let mut runs = runs.inspect(|it| {
            // A change between the capture and the replacement is an error, with nothing replaced.
            let allowed = if args[0] == "restore" { &[0, 3, 13][..] } else { &[0, 3] };
            let code = it.status.code().unwrap();
            assert!(allowed.contains(&code), "{code} {}{}", stdout(it), stderr(it));
        });
        runs.find(|it| it.status.code() == Some(3)).expect("the log is busy")
    };
    let taken = json(&run(&["snapshot", "--json"]));
    assert_eq!(missing(&taken["snapshot"]), ["log/busy.log"]);
    assert_eq!(taken["snapshot"]["missing"][0]["why"], "it keeps changing");
    let restored = json(&run(&["restore", "quiet", "--json"]));
    assert_eq!(missing(&restored), ["log/busy.log"]);
    assert_eq!(scene.read("a"), "1");
    drop(logger);
    assert!(fs::metadata(scene.project("log/busy.log")).unwrap().len() > 0);
    scene.ok(&["snapshot"]);
}

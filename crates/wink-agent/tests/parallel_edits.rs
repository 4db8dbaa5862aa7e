//! Many edits of one file at the same time: each is there, or was refused.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use wink_agent::{ToolContext, ToolResult, call};
use wink_fs::{
    Call, ErrorKind, HostBackend, Layer, Layered, Result, Tree, TreeHash, Workspace, tree_hash,
};

const EDITS: usize = 1000;
const THREADS: usize = 16;

/// A file with a line for each edit, half of which end in `\r\n`.
fn numbered_lines() -> String {
    (0..EDITS).map(|n| format!("<{n}> todo{}", if n % 2 == 0 { "\n" } else { "\r\n" })).collect()
}

fn edit(n: usize, word: &str) -> Value {
    let (old, new) = (format!("<{n}> todo\n"), format!("<{n}> {word}\n"));
    json!({"path": "list", "old_string": old, "new_string": new})
}

fn text(files: &Workspace) -> String {
    String::from_utf8(files.open("list").unwrap().read_all().unwrap().to_vec()).unwrap()
}

fn edit_from_all_threads(files: &Workspace) {
    files.write("list", &numbered_lines()).unwrap();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            if n >= EDITS {
                return;
            }
            let done = call(&ToolContext::over(files), "edit_file", edit(n, "done"));
            assert!(done.ok(), "{}", done.message);
        }
    };
    std::thread::scope(|scope| (0..THREADS).for_each(|_| drop(scope.spawn(work))));
    assert_eq!(text(files), numbered_lines().replace("todo", "done"));
}

#[test]
fn of_a_thousand_edits_in_memory_none_is_lost() {
    edit_from_all_threads(&Workspace::memory());
}

#[test]
fn of_a_thousand_edits_on_the_host_none_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    edit_from_all_threads(&open(directory.path()));
}

/// The directory in which the test below plays the part of another process.
const CHILD: &str = "WINK_TEST_EDITS_IN";

/// Each process edits its own lines; what it was told is what must be in the file.
#[test]
fn two_processes_lose_nothing() {
    if let Some(directory) = std::env::var_os(CHILD) {
        edit_every_second_line(&open(Path::new(&directory)), 1);
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let files = open(directory.path());
    files.write("list", &numbered_lines()).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "parallel_edits::two_processes_lose_nothing"])
        .env(CHILD, directory.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    edit_every_second_line(&files, 0);
    assert!(child.wait().unwrap().success());
    let done = files.list("done").unwrap().into_iter().map(|note| note.name);
    let numbers: Vec<usize> = done.map(|name| name.parse().unwrap()).collect();
    assert!(numbers.iter().any(|n| n % 2 == 0) && numbers.iter().any(|n| n % 2 == 1));
    let expected = |n: usize, line: &str| {
        if numbers.contains(&n) { line.replace("todo", "done") } else { line.to_owned() }
    };
    let lines = numbered_lines();
    let expected: String =
        lines.split_inclusive('\n').enumerate().map(|(n, l)| expected(n, l)).collect();
    assert_eq!(text(&files), expected);
}

/// Edits lines and leaves a note of each edit that was made; any other was a conflict.
fn edit_every_second_line(files: &Workspace, first: usize) {
    for n in (first..EDITS).step_by(2) {
        let result = call(&ToolContext::over(files), "edit_file", edit(n, "done"));
        match result.code() {
            None => drop(files.write(&format!("done/{n}"), "").unwrap()),
            Some(code) => assert_eq!(code, "conflict", "{}", result.message),
        }
    }
}

fn open(directory: &Path) -> Workspace {
    Workspace::host(directory).unwrap()
}

/// Another writer, which changes a file each time before it is put.
struct Meddler {
    directory: std::path::PathBuf,
    puts: AtomicUsize,
    most: usize,
}

impl Layer for Meddler {
    fn before(&self, _: &dyn Tree, call: &Call<'_>) -> Result<()> {
        if let Call::Put { .. } = call {
            let n = self.puts.fetch_add(1, Ordering::Relaxed);
            if n < self.most {
                let other = open(&self.directory);
                other.write("list", &format!("todo {n}\n")).unwrap();
            }
        }
        Ok(())
    }
}

fn meddled(directory: &Path, most: usize) -> Workspace {
    let meddler = Meddler { directory: directory.to_owned(), puts: AtomicUsize::new(0), most };
    Workspace::builder(Layered::new(HostBackend::open_ambient(directory).unwrap(), meddler)).build()
}

fn edited_beside(most: usize, arguments: Value) -> (ToolResult, String, String) {
    let directory = tempfile::tempdir().unwrap();
    open(directory.path()).write("list", "todo\n").unwrap();
    let files = meddled(directory.path(), most);
    let result = call(&ToolContext::over(&files), "edit_file", arguments);
    let hash = files.content_hash("list").unwrap().to_string();
    (result, text(&files), hash)
}

#[test]
fn an_edit_applies_to_what_another_writer_left() {
    let arguments = json!({"path": "list", "old_string": "todo", "new_string": "done"});
    let (result, text, hash) = edited_beside(3, arguments);
    assert!(result.ok(), "{}", result.message);
    assert_eq!((text.as_str(), &result.value["content_hash"]), ("done 2\n", &json!(hash)));
}

#[test]
fn a_lost_race_is_a_conflict_with_the_current_hash() {
    let mut arguments = json!({"path": "list", "old_string": "todo", "new_string": "done"});
    let (result, text, hash) = edited_beside(100, arguments.clone());
    assert_eq!(result.code(), Some("conflict"), "{}", result.message);
    assert_eq!((text.as_str(), &result.value["current_hash"]), ("todo 7\n", &json!(hash)));

    arguments["expected_hash"] = json!(wink_fs::ContentHash::of(b"todo\n").to_string());
    let (result, text, hash) = edited_beside(1, arguments);
    assert_eq!(result.code(), Some("conflict"), "{}", result.message);
    assert_eq!((text.as_str(), &result.value["current_hash"]), ("todo 0\n", &json!(hash)));
}

/// A layer that makes the n-th change fail.
struct Broken {
    changes: AtomicUsize,
    fails: usize,
}

impl Layer for Broken {
    fn before(&self, _: &dyn Tree, call: &Call<'_>) -> Result<()> {
        if call.is_change() && self.changes.fetch_add(1, Ordering::Relaxed) == self.fails {
            return Err(call.refused(ErrorKind::NoSpace));
        }
        Ok(())
    }
}

const PATCH: &str = "*** Begin Patch
*** Update File: a
-a
+A
*** Delete File: b
*** Update File: c
*** Move to: deep/er/d
-c
+C
*** Add File: new/e
+e
*** Update File: f
-f
+F
*** End Patch
";

fn hash(files: &Workspace) -> TreeHash {
    tree_hash(&*files.tree()).unwrap()
}

/// A workspace without a history does not take back by itself what failed.
#[test]
fn a_patch_that_fails_half_way_changes_nothing() {
    let mut failures = 0;
    for fails in 0.. {
        let directory = tempfile::tempdir().unwrap();
        let plain = open(directory.path());
        for name in ["a", "b", "c", "f"] {
            plain.write(name, &format!("{name}\n")).unwrap();
        }
        let before = hash(&plain);
        let broken = Broken { changes: AtomicUsize::new(0), fails };
        let backend = Layered::new(HostBackend::open_ambient(directory.path()).unwrap(), broken);
        let files = Workspace::builder(backend).build();
        let result = call(&ToolContext::over(&files), "apply_patch", json!({ "patch": PATCH }));
        if result.ok() {
            assert_ne!(hash(&plain), before);
            break;
        }
        assert_eq!(result.code(), Some("no_space"), "{}", result.message);
        assert_eq!(hash(&plain), before, "after failure {fails}");
        failures += 1;
    }
    assert!(failures >= 7, "{failures}");
}

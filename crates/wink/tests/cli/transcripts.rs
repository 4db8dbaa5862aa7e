//! What a person reads.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal};

use crate::cli::mask;
use crate::cli::scene::Scene;

/// A project with a bit of everything, of which a snapshot `one` was taken.
fn project() -> Scene {
    let scene = Scene::new();
    scene.write("notes.txt", "one\ntwo\nthree\n");
    scene.write("src/main.rs", "fn main() {}\n");
    scene.write("src/old.rs", "// old\n");
    symlink("notes.txt", scene.project("link")).unwrap();
    scene.ok(&["snapshot", "--tag", "one"]);
    scene
}

fn change(scene: &Scene) {
    scene.write("notes.txt", "one\n2\nthree\n");
    scene.write("src/new.rs", "// new\n");
    scene.write("image.bin", b"\x89PNG\0");
    std::fs::remove_file(scene.project("src/old.rs")).unwrap();
    std::fs::remove_file(scene.project("link")).unwrap();
    symlink("src", scene.project("link")).unwrap();
    std::fs::create_dir(scene.project("empty")).unwrap();
    let script = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(scene.project("src/main.rs"), script).unwrap();
}

/// The commands are those of the manual, which has a page for each there is.
#[test]
fn help() {
    let scene = Scene::empty();
    scene.ok(&["man", "../man"]);
    let pages = std::fs::read_dir(scene.path("man")).unwrap();
    let pages = pages.map(|page| page.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<_> = pages.collect();
    pages.sort();
    assert!(pages.len() > 50, "{pages:?}");
    // `wink-fs-cat.1` is that of `wink fs cat`.
    let words = pages.iter().map(|page| page.trim_end_matches(".1").split('-').skip(1));
    let all: Vec<Vec<_>> = words.map(|words| words.chain(["--help"]).collect()).collect();
    let all: Vec<&[&str]> = all.iter().map(Vec::as_slice).collect();
    insta::assert_snapshot!(scene.transcript(&all));
}

#[test]
fn init() {
    let scene = Scene::empty();
    insta::assert_snapshot!(scene.transcript(&[
        &["init", "--exclude", "target/"],
        &["status"],
        &["init"],
    ]));
}

#[test]
fn init_in_a_git_repository() {
    let scene = Scene::empty();
    let (a, b) = ("a".repeat(40), "b".repeat(40));
    scene.write(".git/HEAD", "ref: refs/heads/main\n");
    scene.write(".git/packed-refs", format!("# pack-refs with: peeled\n{a} refs/heads/main\n"));
    scene.write("notes.txt", "one\n");
    let before = scene.transcript(&[&["init"], &["snapshot", "--tag", "one"], &["status"]]);
    scene.write(".git/refs/heads/main", format!("{b}\n"));
    scene.write("notes.txt", "two\n");
    insta::assert_snapshot!(before + &scene.transcript(&[&["status"], &["restore", "one"]]));
}

#[test]
fn status() {
    let scene = project();
    let before = scene.transcript(&[&["status"]]);
    change(&scene);
    let fifo = Command::new("mkfifo").arg(scene.project("fifo")).status().unwrap();
    assert!(fifo.success());
    insta::assert_snapshot!(before + &scene.transcript(&[&["st"], &["snap", "-q"], &["st"]]));
}

#[test]
fn snapshot() {
    let scene = Scene::new();
    scene.write("notes.txt", "one\n");
    let mut text = scene.transcript(&[&["snapshot", "--tag", "before-refactor"], &["snapshot"]]);
    scene.write("notes.txt", "two\n");
    scene.write("big", vec![7; 1_500_000]);
    text +=
        &scene.transcript(&[&["snap", "-m", "all of it"], &["snap", "--tag", "before-refactor"]]);
    insta::assert_snapshot!(text);
}

#[test]
fn log() {
    let scene = project();
    scene.ok(&["snapshot", "-m", "second\nwith more"]);
    change(&scene);
    scene.ok(&["restore", "one"]);
    scene.write("notes.txt", "changed\n");
    let commands: &[&[&str]] = &[&["log"], &["log", "-n", "1"], &["log", "-n", "0"]];
    insta::assert_snapshot!(scene.transcript(commands));
}

#[test]
fn log_of_a_path_and_as_a_graph() {
    let scene = project();
    scene.write("src/new.rs", "1\n");
    scene.ok(&["snapshot", "-m", "second"]);
    scene.ok(&["fork", "attempt", "one", "-q"]);
    let attempt = scene.path("project-attempt");
    std::fs::write(attempt.join("notes.txt"), "changed\n").unwrap();
    let taken = scene.wink_in(&attempt, &["snapshot", "-m", "in the fork"]).output().unwrap();
    assert!(taken.status.success());
    scene.write("notes.txt", "2\n");
    scene.ok(&["snapshot", "-m", "third"]);
    scene.ok(&["restore", "one", "-q"]);
    scene.write("notes.txt", "3\n");
    scene.ok(&["snapshot", "-m", "another way"]);
    insta::assert_snapshot!(scene.transcript(&[
        &["log", "--graph"],
        &["log", "--graph", "-n", "2"],
        &["log", "notes.txt"],
        &["log", "src"],
        &["log", "src", "-n", "1"],
        &["log", "nowhere"],
        &["log", "../outside"],
        &["log", "--graph", "notes.txt"],
    ]));
}

#[test]
fn diff() {
    let scene = project();
    change(&scene);
    insta::assert_snapshot!(scene.transcript(&[
        &["diff"],
        &["diff", "--stat"],
        &["diff", "--name-status"],
        &["diff", "one", "@", "--name-status", "--", "src"],
        &["diff", "@", "one", "--name-status", "--exit-code"],
        &["diff", "one", "@-", "--exit-code"],
    ]));
}

#[test]
fn diff_side_by_side() {
    let scene = Scene::new();
    scene.write(
        "count.py",
        "import sys\n\ndef words(text):\n    return text.split()\n\nmain()\nold\n",
    );
    scene.write("gone.txt", "no end");
    scene.write("picture.png", b"\x89PNG\0");
    scene.ok(&["snapshot"]);
    let long = "    return [word.strip('.,') for word in text.lower().split() if word]";
    let new = format!("import sys\n\ndef words(text):\n{long}\n\nmain()\nnew\n\tmore\n日本語\n");
    scene.write("count.py", new);
    std::fs::remove_file(scene.project("gone.txt")).unwrap();
    scene.write("picture.png", b"\x89PNG\0\0");
    insta::assert_snapshot!(scene.transcript(&[
        &["diff", "--side-by-side"],
        &["diff", "-y", "--stat"],
        &["diff", "-y", "@", "@"],
    ]));
}

#[test]
fn diff_of_a_file_that_became_a_link() {
    let scene = project();
    std::fs::remove_file(scene.project("notes.txt")).unwrap();
    symlink("src/main.rs", scene.project("notes.txt")).unwrap();
    insta::assert_snapshot!(scene.transcript(&[&["diff"]]));
}

#[test]
fn restore() {
    let scene = project();
    change(&scene);
    insta::assert_snapshot!(scene.transcript(&[
        &["restore", "one", "--dry-run"],
        &["restore", "@-", "--", "src"],
        &["restore", "one"],
        &["restore", "one"],
    ]));
}

#[test]
fn undo_and_redo() {
    let scene = project();
    change(&scene);
    insta::assert_snapshot!(scene.transcript(&[
        &["undo"],
        &["restore", "one", "-q"],
        &["undo"],
        &["undo"],
        &["redo"],
        &["redo"],
    ]));
}

#[test]
fn op_show_and_undo_of_one() {
    let scene = Scene::new();
    let nothing = scene.transcript(&[&["op", "show"]]);
    scene.write("notes.txt", "one\ntwo\n");
    scene.ok(&["fs", "edit", "notes.txt", "two", "three"]);
    scene.ok(&["tool", "write_file", "path=other.txt", "content=new"]);
    scene.ok(&["tool", "mv", "from=other.txt", "to=moved.txt"]);
    scene.ok(&["fs", "edit", "notes.txt", "one", "1"]);
    let shown = scene.transcript(&[
        &["op", "show", "1"],
        &["op", "show", "op:3"],
        &["op", "show"],
        &["op", "show", "99"],
        &["op", "show", "x"],
        &["undo", "op:2"],
        &["undo", "op:3"],
        &["undo", "op:3"],
        &["redo"],
        &["undo", "op:0"],
    ]);
    scene.write("notes.txt", "by hand\n");
    let unknown = scene.transcript(&[&["op", "show", "4"], &["undo", "op:4"]]);
    let text = format!("{nothing}{shown}{unknown}");
    insta::assert_snapshot!(mask::number_after(&text, "process ", "N"));
}

#[test]
fn op_log() {
    let scene = project();
    let nothing = scene.transcript(&[&["op", "log"]]);
    change(&scene);
    scene.ok(&["restore", "one"]);
    scene.ok(&["undo"]);
    scene.ok(&["snapshot", "-q"]);
    scene.ok(&["snapshot", "-q"]);
    let before = scene.ids();
    scene.ok(&["prune", "--keep", "1", "--yes"]);
    let mut text =
        scene.transcript(&[&["op", "log"], &["op", "log", "-n", "1"], &["op", "log", "-n", "0"]]);
    for (_, short) in before {
        text = text.replace(&short, "GONE");
    }
    insta::assert_snapshot!(nothing + &mask::number_after(&text, "process ", "N"));
}

#[test]
fn undo_of_several() {
    let scene = project();
    for text in ["2", "3", "4"] {
        scene.write("notes.txt", text);
        scene.ok(&["snapshot", "--tag", text]);
    }
    scene.ok(&["restore", "3"]);
    scene.ok(&["restore", "2"]);
    let text = scene.transcript(&[&["undo", "2"], &["redo"], &["undo", "3"], &["undo", "0"]]);
    assert_eq!(scene.read("notes.txt"), "4");
    insta::assert_snapshot!(text);
}

#[test]
fn undo_leaves_external_changes() {
    let scene = project();
    change(&scene);
    scene.ok(&["restore", "one"]);
    scene.write("notes.txt", "mine\n");
    insta::assert_snapshot!(scene.transcript(&[&["undo"]]));
    assert_eq!(scene.read("notes.txt"), "mine\n");
}

#[test]
fn undo_of_nothing_but_conflicts() {
    let scene = project();
    scene.write("notes.txt", "changed\n");
    scene.ok(&["restore", "one"]);
    scene.write("notes.txt", "mine\n");
    insta::assert_snapshot!(scene.transcript(&[&["undo"]]));
}

#[test]
fn verify() {
    let scene = project();
    insta::assert_snapshot!(scene.transcript(&[
        &["verify"],
        &["verify", "--data"],
        &["verify", "--data", "--subset", "3/2"],
    ]));
}

#[test]
fn show() {
    let scene = project();
    let first = scene.transcript(&[&["show"]]);
    change(&scene);
    scene.ok(&["snapshot", "-m", "after the change"]);
    insta::assert_snapshot!(first + &scene.transcript(&[&["show", "@-"], &["show", "@"]]));
}

#[test]
fn revert() {
    let scene = project();
    scene.write("notes.txt", "one\n2\nthree\n");
    scene.write("wrong.rs", "// wrong\n");
    scene.ok(&["snapshot", "--tag", "two"]);
    scene.write("notes.txt", "one\n2\nthree\nfour\n");
    scene.write("later.rs", "// later\n");
    let text = scene.transcript(&[
        &["revert", "two", "--dry-run"],
        &["revert", "one..two"],
        &["status"],
        &["revert", "one..two"],
        &["undo"],
        &["revert", "one"],
    ]);
    assert_eq!(scene.read("notes.txt"), "one\n2\nthree\nfour\n");
    insta::assert_snapshot!(text);
}

#[test]
fn revert_of_what_was_built_upon() {
    let scene = project();
    scene.write("notes.txt", "one\n2\nthree\n");
    scene.ok(&["snapshot", "--tag", "two"]);
    scene.write("notes.txt", "one\nzwei\nthree\n");
    let text = scene.transcript(&[
        &["revert", "one..two"],
        &["revert", "one..two", "--markers"],
        &["fs", "cat", "notes.txt"],
        &["undo"],
        &["revert", "one..two", "--theirs", "-q"],
    ]);
    assert_eq!(scene.read("notes.txt"), "one\ntwo\nthree\n");
    insta::assert_snapshot!(text);
}

#[test]
fn export_and_import() {
    let scene = project();
    change(&scene);
    insta::assert_snapshot!(scene.transcript(&[
        &["export", "../one.fs.zip", "--at", "one"],
        &["export", "../one.fs.zip"],
        &["export", "../now.fs.zip"],
        &["import", "../one.fs.zip"],
        &["diff", "one", "@", "--name-status"],
        &["undo"],
        &["import", "../none.fs.zip"],
    ]));
}

#[test]
fn fs() {
    let scene = project();
    change(&scene);
    insta::assert_snapshot!(scene.transcript(&[
        &["fs", "ls"],
        &["fs", "ls", "src", "--at", "one"],
        &["fs", "cat", "notes.txt", "--at", "one"],
        &["fs", "cat", "link", "--at", "one"],
        &["fs", "cat", "image.bin", "--json"],
        &["fs", "cat", "src"],
        &["fs", "cat", "gone", "--at", "one"],
        &["fs", "ls", "..", "--at", "one"],
    ]));
}

#[test]
fn search() {
    let scene = project();
    change(&scene);
    scene.ok(&["snapshot", "--tag", "two"]);
    scene.write("notes.txt", "zero\none\n");
    scene.ok(&["snapshot", "-q"]);
    insta::assert_snapshot!(scene.transcript(&[
        &["search", "one|two"],
        &["search", "o", "--since", "two", "-n", "1"],
        &["search", "OLD", "-i", "--", "src"],
        &["search", "nowhere"],
        &["search", "("],
        &["search", "x", "--since", "none"],
    ]));
}

#[test]
fn fork_and_merge() {
    let scene = project();
    let mut text =
        scene.transcript(&[&["fork", "list"], &["fork", "attempt", "one"], &["fork", "list"]]);
    let attempt = scene.path("project-attempt");
    std::fs::write(attempt.join("notes.txt"), "one\ntwo\nthree\nfour\n").unwrap();
    std::fs::write(attempt.join("src/new.rs"), "// new\n").unwrap();
    std::fs::remove_file(attempt.join("src/old.rs")).unwrap();
    scene.write("notes.txt", "zero\none\ntwo\nthree\n");
    let status = scene.wink_in(&attempt, &["status"]).output().unwrap();
    scene.show(&mut text, &["-C", "../project-attempt", "status"], &status);
    text += &scene.transcript(&[
        &["merge", "attempt", "--dry-run"],
        &["merge", "attempt"],
        &["fs", "cat", "notes.txt"],
        &["merge", "attempt"],
        &["undo"],
        &["fork", "attempt"],
        &["fork", "-evil"],
        &["fork", "delete", "attempt", "--yes"],
        &["merge", "attempt"],
    ]);
    assert!(attempt.join("src/new.rs").exists(), "the directory stays");
    insta::assert_snapshot!(scene.masked(text));
}

#[test]
fn fork_rename() {
    let scene = project();
    scene.ok(&["fork", "attempt", "one", "-q"]);
    scene.ok(&["fork", "other", "one", "-q"]);
    let attempt = scene.path("project-attempt");
    std::fs::write(attempt.join("notes.txt"), "changed\n").unwrap();
    assert!(scene.wink_in(&attempt, &["snapshot"]).output().unwrap().status.success());
    let text = scene.transcript(&[
        &["fork", "rename", "attempt", "other"],
        &["fork", "rename", "attempt", "-x"],
        &["fork", "rename", "none", "x"],
        &["fork", "rename", "attempt", "better"],
        &["fork", "list"],
        &["show", "attempt"],
        &["fs", "cat", "notes.txt", "--at", "better"],
    ]);
    let last = scene.wink_in(&attempt, &["show", "@-"]).output().unwrap();
    assert!(crate::cli::scene::stdout(&last).contains("M notes.txt"), "it knows where it was");
    scene.ok(&["prune", "--keep", "1", "--yes"]);
    scene.ok(&["merge", "better"]);
    assert_eq!(scene.read("notes.txt"), "changed\n");
    insta::assert_snapshot!(text);
}

#[test]
fn merge_with_conflicts() {
    let scene = project();
    scene.ok(&["fork", "attempt", "one", "-q"]);
    scene.ok(&["snapshot", "-q"]);
    let mut fork = scene.wink_in(&scene.path("project-attempt"), &["show", "@-", "--json"]);
    assert!(String::from_utf8(fork.output().unwrap().stdout).unwrap().contains(r#""tag":"one""#));
    std::fs::write(scene.path("project-attempt/notes.txt"), "one\ntheirs\nthree\n").unwrap();
    scene.write("notes.txt", "one\nours\nthree\n");
    let text = scene.transcript(&[&["merge", "attempt"], &["merge", "attempt", "--theirs"]]);
    assert_eq!(scene.read("notes.txt"), "one\ntheirs\nthree\n");
    insta::assert_snapshot!(text);
}

#[test]
fn tag() {
    let scene = project();
    scene.ok(&["snapshot"]);
    insta::assert_snapshot!(scene.transcript(&[
        &["tag", "two"],
        &["tag", "one"],
        &["tag", "first", "one"],
        &["tag", "--delete", "two"],
        &["tag", "@-"],
        &["log"],
    ]));
}

#[test]
fn prune() {
    let scene = project();
    for round in 0..4 {
        scene.write("notes.txt", format!("round {round}\n"));
        scene.ok(&["snapshot", "-m", &format!("round {round}")]);
    }
    scene.write(".env", "TOKEN=secret\n");
    scene.ok(&["snapshot", "-q"]);
    let text = scene.transcript(&[
        &["prune", "--keep", "2", "--dry-run"],
        &["prune"],
        &["prune", "--keep", "2"],
        &["prune", "--path", ".env", "--dry-run"],
        &["prune", "--path", ".env"],
        &["prune", "--path", ".env", "--yes"],
        &["prune", "--path", ".env", "--yes"],
    ]);
    scene.ok(&["prune", "--keep", "2", "--yes"]);
    assert_eq!(scene.ids().len(), 3);
    scene.ok(&["verify", "--data"]);
    assert_eq!(scene.read(".env"), "TOKEN=secret\n");
    insta::assert_snapshot!(text);
}

#[test]
fn a_path_that_no_snapshot_holds_leaves_no_trace_in_the_op_log() {
    let scene = project();
    scene.ok(&["prune", "--path", "nowhere", "--yes"]);
    assert_eq!(scene.json(&["op", "log"])["pruned"], serde_json::json!([]));
    scene.ok(&["prune", "--path", "notes.txt", "--yes"]);
    assert_eq!(scene.json(&["op", "log"])["pruned"][0]["paths"], serde_json::json!(["notes.txt"]));
}

#[test]
fn repair() {
    let scene = project();
    let sound = scene.transcript(&[&["repair"]]);
    let packs = std::fs::read_dir(scene.history().join("store/packs")).unwrap();
    for pack in packs {
        let path = pack.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[20] ^= 1;
        std::fs::write(path, bytes).unwrap();
    }
    let (exit, _) = scene.fails(&["verify", "--data"]);
    assert_ne!(exit, 0);
    let repaired = scene.transcript(&[&["repair"], &["status"], &["repair"]]);
    scene.ok(&["snapshot"]);
    scene.ok(&["verify", "--data"]);
    insta::assert_snapshot!(sound + &mask::word_after(&repaired, "from them\n  ", "PACK"));
}

#[test]
fn doctor() {
    let scene = Scene::new();
    scene.ok(&["snapshot"]);
    let history = scene.history();
    std::fs::set_permissions(&history, std::fs::Permissions::from_mode(0o755)).unwrap();
    let text = scene.transcript(&[&["doctor"], &["doctor", "--fix"]]);
    // These are of the computer that it runs on.
    let its_own = ["wink", "kernel", "mount ids", "file systems", "disk", "store disk", "reflinks"];
    let line = |line: &str| {
        let check = line.split_once(' ').map_or("", |(_, check)| check);
        let is_of = |name: &&str| check.starts_with(&format!("{name}  "));
        match its_own.into_iter().find(is_of) {
            Some(name) => format!("? {name}\n"),
            None => format!("{line}\n"),
        }
    };
    insta::assert_snapshot!(text.lines().map(line).collect::<String>());
}

#[test]
fn completions() {
    let scene = Scene::empty();
    insta::assert_snapshot!(scene.transcript(&[
        &["completions", "bash"],
        &["completions", "fish"],
        &["completions", "csh"],
    ]));
}

#[test]
fn man() {
    let scene = Scene::empty();
    let text = scene.transcript(&[&["man"], &["man", "../man"], &["man", "../man/wink.1"]]);
    insta::assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

/// The client sends nothing, and the server ends.
#[test]
fn mcp() {
    let scene = Scene::empty();
    insta::assert_snapshot!(scene.transcript(&[
        &["mcp"],
        &["mcp"],
        &["mcp", "-q"],
        &["mcp", "--root", "none"],
        &["mcp", "--tools", "none"],
    ]));
}

/// What it says when it is ready.
#[test]
fn serve() {
    let scene = Scene::new();
    let args = ["serve", "--port", "0", "--root", "."];
    let mut command = scene.wink_in(&scene.path("project"), &args);
    command.env("XDG_RUNTIME_DIR", scene.path("run")).stdout(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let lines = BufReader::new(server.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut said = format!("$ wink {}\n", args.join(" "));
    for line in lines {
        said += &format!("{line}\n");
        if line.contains("curl") {
            break;
        }
    }
    rustix::process::kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
    assert!(server.wait().unwrap().success());
    let said = mask::number_after(&scene.masked(said), "127.0.0.1:", "PORT");
    let said = mask::word_after(&said, "/open/", "TICKET");
    insta::assert_snapshot!(mask::word_after(&said, "Bearer ", "TOKEN"));
}

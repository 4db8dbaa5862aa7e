//! What is different where a person looks at a terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::cli::scene::{Scene, stdout};

/// Runs a command on a terminal; returns what that shows.
pub(crate) fn on_terminal(scene: &Scene, env: &[(&str, &str)], args: &[&str]) -> String {
    typing(scene, env, args, "")
}

/// Runs a command on a terminal at which something is typed.
pub(crate) fn typing(scene: &Scene, env: &[(&str, &str)], args: &[&str], typed: &str) -> String {
    shown_by(scene.wink_in(&scene.path("project"), args), env, typed)
}

/// Runs a program on a terminal at which something is typed.
fn shown_by(command: Command, env: &[(&str, &str)], typed: &str) -> String {
    shown_until(command, env, typed, "\0", |_| ())
}

/// Runs a program on a terminal, and does something as soon as that shows a text.
fn shown_until(
    mut command: Command,
    env: &[(&str, &str)],
    typed: &str,
    text: &str,
    then: impl FnOnce(&Child),
) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let terminal =
        || -> OwnedFd { File::options().read(true).write(true).open(&name).unwrap().into() };
    command.env("TERM", "xterm").env("PATH", "/usr/bin:/bin").envs(env.iter().copied());
    command.stdin(terminal()).stdout(terminal()).stderr(terminal());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut master = File::from(master);
    master.write_all(typed.as_bytes()).unwrap();
    let mut shown = Vec::new();
    let mut then = Some(then);
    let mut part = [0; 4096];
    // The end of a terminal is a failure to read.
    while let Ok(length @ 1..) = master.read(&mut part) {
        shown.extend_from_slice(&part[..length]);
        if String::from_utf8_lossy(&shown).contains(text)
            && let Some(then) = then.take()
        {
            then(&child);
        }
    }
    child.wait().unwrap();
    String::from_utf8(shown).unwrap().replace("\r\n", "\n")
}

fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("notes.txt", "one\n");
    scene.ok(&["snapshot", "--tag", "one"]);
    scene.write("notes.txt", "two\n");
    scene
}

const RED: &str = "\u{1b}[31m";

#[test]
fn colours_are_for_terminals() {
    let scene = scene();
    assert!(on_terminal(&scene, &[], &["diff"]).contains(&format!("{RED}-one")));
    assert!(!scene.ok(&["diff"]).contains('\u{1b}'));
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let shown = on_terminal(&scene, &[(name, value)], &["diff"]);
        assert!(shown.contains("-one") && !shown.contains('\u{1b}'), "{name}: {shown}");
    }
    assert!(!on_terminal(&scene, &[], &["diff", "--color", "never"]).contains('\u{1b}'));
    assert!(scene.ok(&["diff", "--color", "always"]).contains(RED));
    let mut forced = scene.wink_in(&scene.path("project"), &["diff"]);
    let forced = forced.env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(stdout(&forced).contains(RED));
    assert!(!scene.ok(&["diff", "--json", "--color", "always"]).contains('\u{1b}'));
}

#[test]
fn words_that_differ_are_marked_where_there_are_colours() {
    let scene = scene();
    scene.write("notes.txt", "let a = 1;\n");
    scene.ok(&["snapshot", "--tag", "before"]);
    scene.write("notes.txt", "let a = 2;\n");
    let shown = on_terminal(&scene, &[], &["diff"]);
    let marked = format!("{RED}-let a = \u{1b}[0m\u{1b}[7m{RED}1\u{1b}[0m{RED};");
    assert!(shown.contains(&marked), "{shown:?}");
    let patch = scene.ok(&["diff"]);
    assert!(patch.ends_with("@@ -1,1 +1,1 @@\n-let a = 1;\n+let a = 2;\n"), "{patch:?}");
    let tool = scene.ok(&["tool", "diff", "from=before", "--color", "always"]);
    assert!(tool.contains(&marked), "{tool:?}");
    let painted = scene.ok(&["diff", "--color", "always"]);
    assert_eq!(anstream::adapter::strip_str(&painted).to_string(), patch);
}

#[test]
fn two_columns_have_colours_too_and_as_much_room_as_there_is() {
    let scene = scene();
    scene.write("notes.txt", "one and more\n");
    scene.ok(&["snapshot"]);
    scene.write("notes.txt", "two and more\n");
    let plain = scene.ok(&["diff", "-y"]);
    let line = |width: usize| format!("1 {:<width$} | 1 two and more\n", "one and more");
    assert!(plain.ends_with(&line(36)), "{plain:?}");
    let painted = scene.ok(&["diff", "-y", "--color", "always"]);
    assert!(painted.contains(&format!("\u{1b}[7m{RED}one\u{1b}[0m{RED} and more")), "{painted:?}");
    assert_eq!(anstream::adapter::strip_str(&painted).to_string(), plain);
    let env = [("COLUMNS", "40"), ("NO_COLOR", "1")];
    let shown = on_terminal(&scene, &env, &["diff", "-y"]);
    assert!(shown.ends_with(&line(16)), "{shown:?}");
}

#[test]
fn a_failure_has_its_first_word_marked() {
    let scene = scene();
    let shown = on_terminal(&scene, &[], &["show", "none"]);
    assert!(shown.contains("\u{1b}[1m\u{1b}[31merror:"), "{shown:?}");
}

#[test]
fn the_part_of_an_id_that_is_enough_is_bold() {
    let scene = scene();
    let short = scene.ids()[0].1.clone();
    let shown = on_terminal(&scene, &[], &["log"]);
    let bold = format!("\u{1b}[1m{}\u{1b}[0m{}", &short[..4], &short[4..]);
    assert!(shown.contains(&bold), "{shown:?}");
}

#[test]
fn a_terminal_obeys_no_file() {
    let scene = scene();
    scene.write("notes.txt", "\u{1b}]0;evil\u{7}\n");
    let shown = on_terminal(&scene, &[], &["diff", "--color", "never"]);
    assert!(shown.contains("+␛]0;evil␇"), "{shown:?}");
    assert!(scene.ok(&["diff"]).contains("+\u{1b}]0;evil\u{7}"), "a patch is what it is");
}

/// Once, a file could set the title of the terminal, or type for the person, when it was printed.
#[test]
fn a1_31_a_terminal_obeys_no_file_that_is_printed_and_a_pipe_gets_its_bytes() {
    let scene = scene();
    let content = b"\x1b]0;evil\x07 caf\xe9 \xe2\x80\xae\n";
    scene.write("notes.txt", content);
    let shown = on_terminal(&scene, &[], &["fs", "cat", "notes.txt"]);
    assert_eq!(shown, "␛]0;evil␇ caf\u{fffd} \u{fffd}\n");
    assert_eq!(scene.run(&["fs", "cat", "notes.txt"]).stdout, content);
    scene.write("notes.txt", "\u{9b}31m \u{202e}\n");
    let shown = on_terminal(&scene, &[], &["fs", "cat", "notes.txt", "--json"]);
    assert!(shown.contains(r#""\u009b31m \u202e\n""#), "{shown:?}");
    assert_eq!(scene.json(&["fs", "cat", "notes.txt"])["text"], "\u{9b}31m \u{202e}\n");
}

/// Once, what was refused was shown with lines of the file as they are.
#[test]
fn a1_31_a_terminal_obeys_no_file_that_is_part_of_what_is_said() {
    let scene = scene();
    scene.write("notes.txt", "a line \u{1b}]0;evil\u{7}\n");
    let edit = ["tool", "edit_file", "path=notes.txt", "old_string=a lime", "new_string=x"];
    let said = crate::cli::scene::stderr(&scene.run(&edit));
    assert!(said.contains(r"\x1b]0;evil") && !said.contains('\u{1b}'), "{said:?}");
    let shown = on_terminal(&scene, &[], &edit);
    assert!(shown.contains(r"\x1b]0;evil") && !shown.contains("\u{1b}]0;"), "{shown:?}");
}

/// Once, a difference could be shown as another one than it is.
#[test]
fn a1_31_a_terminal_shows_differences_in_the_order_they_have() {
    let scene = scene();
    scene.write("notes.txt", "if is_admin {\u{202e} } \u{2066}\n");
    for args in [&["diff"][..], &["diff", "-y"]] {
        let shown = on_terminal(&scene, &[], args);
        assert!(shown.contains("is_admin {\u{fffd} } \u{fffd}"), "{shown:?}");
    }
    assert!(scene.ok(&["diff"]).contains('\u{202e}'), "a patch is what it is");
}

#[test]
fn a_pager_shows_what_is_long_and_only_on_a_terminal() {
    let scene = scene();
    let env = [("WINK_PAGER", "sed s/^/paged:/"), ("PAGER", "sed s/^/other:/"), ("NO_COLOR", "1")];
    assert!(on_terminal(&scene, &env, &["diff"]).contains("paged:+two"));
    assert!(on_terminal(&scene, &env[1..], &["diff"]).contains("other:+two"));
    assert!(!on_terminal(&scene, &env, &["diff", "--no-pager"]).contains("paged:"));
    assert!(!on_terminal(&scene, &env, &["status"]).contains("paged:"));
    let none = [("WINK_PAGER", "cat"), ("NO_COLOR", "1")];
    assert!(on_terminal(&scene, &none, &["diff"]).contains("+two"));
    let mut piped = scene.wink_in(&scene.path("project"), &["diff"]);
    let piped = piped.env("WINK_PAGER", "sed s/^/paged:/").env("PATH", "/usr/bin:/bin").output();
    assert!(!stdout(&piped.unwrap()).contains("paged:"));
}

#[test]
fn a_pager_that_cannot_be_started_loses_no_answer() {
    let scene = scene();
    for pager in ["no-such-pager -R", "/etc/passwd"] {
        let shown = on_terminal(&scene, &[("WINK_PAGER", pager), ("NO_COLOR", "1")], &["diff"]);
        assert!(shown.contains("+two"), "{pager}: {shown}");
    }
}

#[test]
fn a_person_is_asked_before_what_cannot_be_undone() {
    let scene = scene();
    for _ in 0..3 {
        scene.ok(&["snapshot"]);
    }
    scene.ok(&["fork", "attempt", "-q"]);
    let prune = ["prune", "--keep", "1"];
    let shown = typing(&scene, &[], &prune, "n\n");
    assert!(shown.contains("permanently? [y/N]") && shown.contains("nothing was done"), "{shown}");
    assert_eq!(scene.ids().len(), 5);
    let shown = typing(&scene, &[], &["fork", "delete", "attempt"], "\n");
    assert!(shown.contains("Delete the fork attempt?"), "{shown}");
    assert!(scene.ok(&["fork", "list"]).contains("attempt"));
    typing(&scene, &[], &prune, "y\n");
    assert!(scene.ids().len() < 5);
    let shown = typing(&scene, &[], &["fork", "delete", "attempt", "--yes"], "");
    assert!(!shown.contains("[y/N]") && shown.contains("Deleted"), "{shown}");
    assert!(!typing(&scene, &[], &prune, "").contains("[y/N]"), "nothing would go");
    let home = scene.path("home");
    let shown = typing(&scene, &[], &["init", home.to_str().unwrap(), "--force"], "no\n");
    assert!(shown.contains("Keep a history of everything") && shown.contains("nothing was done"));
}

#[test]
fn what_takes_long_is_said_with_how_far_it_is() {
    let scene = scene();
    for number in 0..3 {
        scene.write(&format!("new-{number}.txt"), format!("content {number}\n"));
    }
    // Everything is read then, and it waits for its place in the order.
    let turn = File::create(scene.history().join("store/publish.lock")).unwrap();
    turn.lock().unwrap();
    // Three that are new, and one that is another since the last snapshot.
    let said = "taking a snapshot · 100% 4/4 files 34 B ";
    let snapshot = scene.wink_in(&scene.path("project"), &["snapshot"]);
    let shown = shown_until(snapshot, &[], "", said, |_| drop(turn));
    assert!(shown.contains(said), "{shown:?}");
    assert!(shown.contains("Snapshot "), "{shown:?}");
}

#[test]
fn a_person_is_asked_whether_a_history_goes_on() {
    let scene = Scene::empty();
    scene.write("one/a", "by which it is known");
    scene.ok(&["init", "one", "-q"]);
    scene.ok(&["-C", "one", "snapshot", "-q"]);
    std::fs::rename(scene.project("one"), scene.project("two")).unwrap();
    let shown = typing(&scene, &[], &["init", "two"], "y\n");
    assert!(shown.contains("Continue the history of"), "{shown}");
    assert!(shown.contains("It continues the history of"), "{shown}");
    scene.ok(&["-C", "two", "status"]);
}

#[test]
fn no_question_whether_a_directory_continues_the_history_of_its_parent() {
    let scene = Scene::empty();
    scene.write("old/work/a", "");
    scene.ok(&["init", "old/work", "-q"]);
    std::fs::rename(scene.project("old"), scene.project("new")).unwrap();
    std::fs::create_dir(scene.project("new/work/below")).unwrap();
    let shown = typing(&scene, &[], &["init", "new/work/below"], "y\n");
    assert!(!shown.contains("Continue the history of"), "{shown}");
    assert!(shown.contains("below is now a workspace"), "{shown}");
    let shown = typing(&scene, &[], &["init", "new/work"], "y\n");
    assert!(shown.contains("It continues the history of"), "{shown}");
}

#[test]
fn what_takes_long_is_said_on_a_terminal_and_gone_when_it_is_done() {
    let scene = scene();
    let until = "command=until [ -e go ]; do sleep 0.05; done";
    let args = ["tool", "shell_execute", until, "--allow-execution"];
    let command = scene.wink_in(&scene.path("project"), &args);
    let shown = shown_until(command, &[], "", " written", |_| scene.write("go", ""));
    assert!(shown.contains("[0:00] Run command · ") && shown.contains(" written"), "{shown:?}");
    let args = ["tool", "shell_execute", "command=sleep 1", "--allow-execution"];
    assert!(!on_terminal(&scene, &[], &[&args[..], &["-q"]].concat()).contains("[0:0"));
}

/// Runs a command on a terminal, and lets it look at directories and read and write slowly, until a text is shown.
fn slowly_until(scene: &Scene, args: &[&str], text: &str) -> String {
    let wink = scene.wink_in(&scene.path("project"), args);
    let (calls, delay) = ("getdents64,pread64,fsync,fdatasync", "delay_enter=100000");
    let [trace, inject] = [format!("trace={calls}"), format!("inject={calls}:{delay}")];
    let mut command = Command::new("strace");
    // With `-I 1` it can be killed, and the command with it.
    command.args(["-I", "1", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject]);
    command.arg(wink.get_program()).args(args).env_clear().current_dir(scene.path("project"));
    command.envs(wink.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shown_until(command, &[], "", text, |strace| {
        let _ = kill_process(Pid::from_child(strace), Signal::TERM);
    })
}

/// A workspace with two snapshots and an operation.
fn scene_with_past() -> Scene {
    let scene = scene();
    scene.ok(&["snapshot", "--tag", "two"]);
    scene.ok(&["fs", "mkdir", "made"]);
    scene
}

/// Runs a command slowly; it says what it does.
fn check_said(scene: &Scene, args: &[&str], doing: &str) {
    let text = format!("[0:00] {doing}");
    let shown = slowly_until(scene, args, &text);
    assert!(shown.contains(&text), "{args:?}: {shown:?}");
}

/// Dumps a session; returns its file.
fn dumped(scene: &Scene) -> String {
    let dumped = scene.json(&["session", "dump", "../dump"]);
    dumped["session"].as_str().unwrap().to_owned()
}

/// Once, nothing was said while they worked.
#[test]
#[ignore = "needs strace"]
fn whatever_takes_long_to_look_is_said() {
    let scene = scene_with_past();
    let file = dumped(&scene);
    let commands: [(&[&str], &str); 8] = [
        (&["status"], "comparing the files"),
        (&["diff", "one"], "comparing"),
        (&["show", "two"], "comparing"),
        (&["op", "show"], "comparing"),
        (&["log", "notes.txt"], "searching the snapshots"),
        (&["session", "check", &file], "checking a session"),
        (&["session", "dump", "../dump-2"], "dumping a session"),
        (&["doctor", "--fix"], "examining the history"),
    ];
    std::thread::scope(|scope| {
        for (args, doing) in commands {
            scope.spawn(|| check_said(&scene, args, doing));
        }
    });
}

/// Once, nothing was said while they worked.
#[test]
#[ignore = "needs strace"]
fn whatever_takes_long_to_change_is_said() {
    let commands: [(&[&str], &str); 5] = [
        (&["undo"], "undoing"),
        (&["redo"], "redoing"),
        (&["undo", "op:1"], "undoing"),
        (&["revert", "one..two"], "reverting"),
        (&["prune", "--path", "notes.txt", "--yes"], "deleting it from all snapshots"),
    ];
    let check = |args: &[&str], doing: &str| {
        let scene = scene_with_past();
        if args == ["redo"] {
            scene.ok(&["undo"]);
        }
        check_said(&scene, args, doing);
    };
    std::thread::scope(|scope| {
        for (args, doing) in commands {
            scope.spawn(move || check(args, doing));
        }
    });
}

/// Once, nothing was said while it worked.
#[test]
#[ignore = "needs strace"]
fn a_merge_that_takes_long_is_said() {
    let scene = scene_with_past();
    scene.ok(&["fork", "attempt", "one", "-q"]);
    std::fs::write(scene.path("project-attempt/other.txt"), "new\n").unwrap();
    check_said(&scene, &["merge", "attempt"], "merging");
}

/// Once, nothing was said while it worked.
#[test]
#[ignore = "needs strace"]
fn a_session_whose_load_takes_long_is_said() {
    let scene = scene_with_past();
    let file = dumped(&scene);
    check_said(&scene, &["session", "load", &file], "loading a session");
}

//! What is different where a person looks at a terminal.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::scene::{Scene, stdout};

/// Runs a command whose output is a terminal; returns what that shows.
fn on_terminal(scene: &Scene, env: &[(&str, &str)], args: &[&str]) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let terminal =
        || -> OwnedFd { File::options().read(true).write(true).open(&name).unwrap().into() };
    let mut command = scene.wink_in(&scene.path("project"), args);
    command.env("TERM", "xterm").env("PATH", "/usr/bin:/bin").envs(env.iter().copied());
    command.stdin(Stdio::null()).stdout(terminal()).stderr(terminal());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut shown = Vec::new();
    // The end of a terminal is a failure to read.
    let _ = File::from(master).read_to_end(&mut shown);
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
    let bold = format!("\u{1b}[1m{}\u{1b}[0m{}", &short[..1], &short[1..]);
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

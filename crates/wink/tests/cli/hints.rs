//! Every hint of an error leads somewhere.

use std::process::Output;

use crate::cli::repair::{damage, noise};
use crate::cli::scene::{Scene, stderr, stdout};

/// Returns the commands that the hint of an error names in backquotes, as words.
fn commands(said: &str) -> Vec<Vec<&str>> {
    let hints = said.lines().filter_map(|line| line.strip_prefix("help: "));
    let quoted = hints.flat_map(|hint| hint.split('`').skip(1).step_by(2));
    let commands = quoted.filter_map(|it| it.strip_prefix("wink "));
    commands.map(|it| it.split(' ').collect()).collect()
}

/// Checks that there are the commands and options which the hint of an error names; every test whose command fails
/// asks for this.
pub(crate) fn check(scene: &Scene, said: &str) {
    for words in commands(said) {
        let is_name = |it: &&&str| it.bytes().all(|byte| byte.is_ascii_lowercase());
        let names: Vec<&str> = words.iter().take_while(is_name).copied().collect();
        // The second name may be an argument, such as a tag.
        let [first, ..] = names[..] else { continue };
        let help = |names: &[&str]| scene.run(&[names, &["--help"]].concat());
        let own = help(&[first]);
        assert!(own.status.success(), "no command {first}: {said}");
        let mut options = stdout(&own);
        options += &names.get(1).map_or(String::new(), |second| stdout(&help(&[first, second])));
        for option in words.iter().filter(|it| it.starts_with("--") && it.len() > 2) {
            assert!(options.contains(option), "no option {option}: {said}");
        }
    }
}

/// Runs a command that fails, then what its hint says; returns the output of each.
fn follow(scene: &Scene, args: &[&str]) -> Vec<(String, Output)> {
    let (_, said) = scene.fails(args);
    let hints = commands(&said);
    assert!(!hints.is_empty(), "{args:?}: {said}");
    let run = |words: Vec<&str>| {
        let mut words: Vec<_> =
            words.into_iter().map(|it| if it == "DIR" { "../elsewhere" } else { it }).collect();
        words.push("--yes");
        (words.join(" "), scene.run(&words))
    };
    hints.into_iter().map(run).collect()
}

#[track_caller]
fn leads_on(scene: &Scene, args: &[&str]) {
    for (hint, output) in follow(scene, args) {
        assert!(output.status.success(), "{args:?}: {hint}: {}", stderr(&output));
    }
}

#[test]
fn what_a_hint_says_can_be_done() {
    let scene = Scene::empty();
    leads_on(&scene, &["status"]);
    leads_on(&scene, &["restore"]);
    scene.write("a", "1");
    scene.ok(&["snapshot"]);
    scene.write("a", "2");
    for args in [
        &["undo"][..],
        &["show", "nosuch"],
        &["restore", "@-20"],
        &["restore", "@-", "nowhere"],
        &["diff", "--", "nowhere"],
        &["undo", "op:70"],
        &["merge", "nosuch"],
        &["tool", "nosuch"],
        &["workspaces", "forget", "../home"],
    ] {
        leads_on(&scene, args);
    }
}

/// Once, `wink init --store` said that it is a workspace already.
#[test]
fn where_the_store_is_gone_the_hint_leads_to_a_new_history() {
    let scene = Scene::new();
    scene.write("a", "1");
    scene.ok(&["snapshot"]);
    std::fs::remove_dir_all(scene.history().join("store")).unwrap();
    leads_on(&scene, &["status"]);
    scene.ok(&["snapshot"]);
    assert_eq!(scene.json(&["status"])["protected"], true);
    let again = scene.fails(&["init", "--store", "../third"]).1;
    assert!(again.contains("is already a workspace"), "{again}");
}

/// Once, `wink verify` said that there are no problems.
#[test]
fn where_content_is_damaged_the_hint_leads_to_the_damage() {
    let scene = Scene::new();
    (1..=5).for_each(|number| scene.write(&format!("noise{number}"), noise(number)));
    scene.ok(&["snapshot", "--tag", "v1"]);
    damage(&scene);
    (1..=5).for_each(|number| scene.write(&format!("noise{number}"), "other"));
    let followed = follow(&scene, &["restore", "v1"]);
    let verified = followed.iter().find(|(hint, _)| hint.starts_with("verify"));
    let (hint, output) = verified.expect("a hint to verify");
    assert_eq!(output.status.code(), Some(14), "{hint}: {}", stdout(output));
    let repaired = followed.iter().find(|(hint, _)| hint.starts_with("repair"));
    assert!(repaired.is_some_and(|(_, output)| output.status.code() != Some(2)));
}

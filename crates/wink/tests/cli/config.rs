//! What a person set, and where.

use crate::cli::scene::{Scene, stderr, stdout};

fn with(scene: &Scene, env: &[(&str, &str)], args: &[&str]) -> String {
    let mut command = scene.wink_in(&scene.path("project"), args);
    let output = command.envs(env.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

#[test]
fn values_are_set_listed_and_taken_away() {
    let scene = Scene::new();
    insta::assert_snapshot!(scene.transcript(&[
        &["config", "list", "--origin"],
        &["config", "set", "retention.count", "20"],
        &["config", "set", "retention.bytes", "1 GiB", "--user"],
        &["config", "set", "exclude", "target/", "/node_modules"],
        &["config", "add", "exclude", "*.log", "target/"],
        &["config", "remove", "exclude", "/node_modules"],
        &["config", "set", "color", "never"],
        &["config", "set", "pager", "less -R"],
        &["config", "list", "--origin"],
        &["status"],
        &["config", "get", "retention.count"],
        &["config", "set", "retention.count"],
        &["config", "set", "pager"],
        &["config", "list"],
        &["config", "set", "retention.count", "none"],
        &["config", "set", "color", "red"],
        &["config", "set", "exclude", "x", "--user"],
        &["config", "set", "exclude", "a[b"],
        &["config", "add", "exclude", "a[b"],
        &["config", "add", "color", "always"],
        &["config", "remove", "exclude", "none"],
        &["config", "remove", "exclude", "*.log", "target/"],
        &["config", "get", "colour"],
        &["config", "--help"],
    ]));
}

/// Once, it was accepted and listed, as if something were excluded.
#[test]
fn a_pattern_that_means_no_path_is_refused() {
    let scene = Scene::new();
    let elsewhere = scene.path("other");
    std::fs::create_dir(&elsewhere).unwrap();
    for pattern in ["", "/", "//"] {
        for verb in ["add", "set"] {
            let (code, said) = scene.fails(&["config", verb, "exclude", pattern]);
            assert_eq!(code, 2, "{said}");
            assert!(said.contains("use one line, such as `target/`"), "{said}");
        }
        let begun = scene.wink_in(&elsewhere, &["init", "--exclude", pattern]).output().unwrap();
        assert!(stderr(&begun).contains("use one line, such as"), "{}", stderr(&begun));
    }
    assert!(!scene.ok(&["status"]).contains("excluded"));
}

#[test]
fn a_variable_is_stronger_than_the_workspace_which_is_stronger_than_the_person() {
    let scene = Scene::new();
    let count = |env: &[(&str, &str)]| with(&scene, env, &["config", "get", "retention.count"]);
    assert_eq!(count(&[]), "500\n");
    scene.ok(&["config", "set", "retention.count", "30", "--user"]);
    assert_eq!(count(&[]), "30\n");
    scene.ok(&["config", "set", "retention.count", "20"]);
    assert_eq!(count(&[]), "20\n");
    assert_eq!(count(&[("WINK_RETENTION_COUNT", "10")]), "10\n");
}

#[test]
fn what_is_set_has_effect() {
    let scene = Scene::new();
    scene.ok(&["config", "set", "retention.count", "2"]);
    for round in 0..5 {
        scene.write("a", format!("{round}"));
        scene.ok(&["snapshot"]);
    }
    assert_eq!(scene.ids().len(), 2);
    scene.ok(&["config", "set", "exclude", "b"]);
    scene.write("b", "");
    assert_eq!(scene.json(&["status"])["changes"]["added"], 0);
    assert!(with(&scene, &[("WINK_COLOR", "always")], &["diff", "@-2"]).contains('\u{1b}'));
    assert!(
        !with(&scene, &[("WINK_COLOR", "always")], &["diff", "@-2", "--color", "never"])
            .contains('\u{1b}')
    );
}

/// An agent can write every file of a workspace; none of them changes what wink does.
#[test]
fn no_file_of_the_workspace_is_configuration() {
    let scene = Scene::new();
    let before = scene.ok(&["config", "list"]);
    for name in ["wink.toml", ".wink/config.toml", ".config/wink/config.toml", "config.toml"] {
        scene.write(name, "color = \"always\"\n[retention]\ncount = 1\n");
    }
    assert_eq!(scene.ok(&["config", "list"]), before);
}

#[test]
fn comments_in_the_persons_file_stay() {
    let scene = Scene::new();
    let file = scene.path("home/.config/wink/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "# mine\npager = \"less\" # good\n").unwrap();
    scene.ok(&["config", "set", "color", "never"]);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("# mine") && text.contains("# good") && text.contains("never"), "{text}");
}

#[test]
fn a_file_that_does_not_parse_is_named() {
    let scene = Scene::new();
    let file = scene.path("home/.config/wink/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "color = ").unwrap();
    for args in [&["config", "list"][..], &["snapshot"]] {
        let (code, said) = scene.fails(args);
        assert_eq!(code, 2);
        assert!(said.contains("config.toml") && said.contains("help:"), "{said}");
    }
    std::fs::write(&file, "color = \"red\"\n").unwrap();
    assert_eq!(scene.fails(&["config", "list"]).0, 2);
}

#[test]
fn every_command_on_settings_answers_with_one_document() {
    let scene = Scene::new();
    let schema = |args: &[&str]| scene.json(args)["schema"].as_str().unwrap().to_owned();
    assert_eq!(schema(&["config", "set", "color", "never"]), "wink/config.set@1");
    assert_eq!(schema(&["config", "add", "exclude", "x"]), "wink/config.set@1");
    assert_eq!(scene.json(&["config", "remove", "exclude", "x"])["values"], serde_json::json!([]));
    assert_eq!(schema(&["config", "get", "color"]), "wink/config.get@1");
    assert_eq!(schema(&["config", "list"]), "wink/config.list@1");
    assert_eq!(scene.json(&["config", "get", "color"])["value"], "never");
}

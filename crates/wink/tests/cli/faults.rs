//! The system is in the way: a limit, a wrong clock.

use std::path::Path;
use std::process::Output;

use crate::cli::scene::{Scene, stderr};

/// Runs a command of wink by another program, such as `prlimit`, that changes its surroundings.
pub(crate) fn run_by(scene: &Scene, program: &[&str], args: &[&str]) -> Output {
    let wink = scene.wink_in(&scene.path("project"), args);
    let mut command = std::process::Command::new(program[0]);
    command.args(&program[1..]).arg(wink.get_program()).args(args).env_clear();
    command.envs(wink.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", "/usr/bin:/bin").current_dir(scene.path("project"));
    command.output().unwrap_or_else(|_| panic!("{} is needed", program[0]))
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// A process that passes the limit of size is killed, unless it asks not to be.
#[test]
fn fault_11_a_limit_of_size_is_no_space_and_no_death() {
    let scene = Scene::new();
    scene.write("small", "small");
    scene.ok(&["snapshot", "--tag", "one"]);
    let noise: Vec<u8> = (0..400_000_u32)
        .flat_map(|it| blake3::hash(&it.to_le_bytes()).as_bytes()[..1].to_vec())
        .collect();
    scene.write("large", noise);
    let packs = scene.history().join("store/packs");
    let before = names(&packs);
    let output = run_by(&scene, &["prlimit", "--fsize=100000"], &["snapshot", "--tag", "two"]);
    assert_eq!(output.status.code(), Some(16), "{}", stderr(&output));
    assert!(stderr(&output).contains("space"), "{}", stderr(&output));
    assert_eq!(names(&packs), before, "its space is free");
    scene.ok(&["verify", "--data"]);

    scene.ok(&["snapshot", "--tag", "two"]);
    scene.ok(&["restore", "one"]);
    let output = run_by(&scene, &["prlimit", "--fsize=100000"], &["restore", "two"]);
    assert_eq!(output.status.code(), Some(16), "{}", stderr(&output));
    assert!(!scene.project("large").exists());
    scene.ok(&["restore", "two"]);
}

/// The clock goes ahead by years and back again, from one command to the next.
#[test]
#[ignore = "needs faketime"]
fn fault_29_the_order_is_that_of_the_commands_whatever_the_clock_says() {
    let scene = Scene::new();
    let clocks = ["+10y", "+0", "-1d", "-1d", "-20y", "+0"];
    for (round, clock) in clocks.iter().enumerate() {
        scene.write("a", round.to_string());
        let tag = format!("round-{round}");
        let args = ["snapshot", "--tag", &tag];
        let output = run_by(&scene, &["faketime", "-f", clock], &args);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let log = scene.json(&["log"]);
    let snapshots = log["snapshots"].as_array().unwrap();
    let tags: Vec<_> = snapshots.iter().map(|it| it["tag"].as_str().unwrap()).collect();
    assert_eq!(tags, ["round-5", "round-4", "round-3", "round-2", "round-1", "round-0"]);
    let times: Vec<_> = snapshots.iter().map(|it| it["created_at"].as_str().unwrap()).collect();
    assert!(!times.is_sorted_by(|a, b| a >= b), "the clock jumped: {times:?}");
    let output = run_by(&scene, &["faketime", "-f", "-30y"], &["restore", "round-1"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(scene.read("a"), "1");
    scene.ok(&["undo"]);
    assert_eq!(scene.read("a"), "5");
    scene.ok(&["verify", "--data"]);
}

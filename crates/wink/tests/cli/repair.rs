//! A history is mended with what the files still have, as far as they can be read.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::cli::scene::{Scene, stderr, stdout};

/// Returns bytes that no two files share.
pub(crate) fn noise(mut seed: u64) -> Vec<u8> {
    let next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 56) as u8
    };
    std::iter::repeat_with(next).take(300_000).collect()
}

pub(crate) fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Gives everything to an unprivileged user, who is bound by modes as root is not, and runs a command as that user.
pub(crate) fn as_unprivileged(scene: &Scene, args: &[&str]) -> Output {
    let mut usual = scene.wink_in(&scene.path("project"), args);
    if !rustix::process::geteuid().is_root() {
        return usual.output().unwrap();
    }
    // By another process: a program that this one has open to write is in the way of those of other tests.
    let copied = Command::new("cp").arg(usual.get_program()).arg(scene.path("wink")).status();
    assert!(copied.unwrap().success());
    let owner = Command::new("chown").args(["-R", "65534:65534"]).arg(scene.path("")).status();
    assert!(owner.unwrap().success());
    run_unprivileged(scene, args)
}

/// Runs a command as the same user once more; needs root.
pub(crate) fn run_unprivileged(scene: &Scene, args: &[&str]) -> Output {
    let usual = scene.wink_in(&scene.path("project"), args);
    let mut unprivileged = Command::new("setpriv");
    unprivileged.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(scene.path("wink"));
    unprivileged.args(usual.get_args()).current_dir(usual.get_current_dir().unwrap());
    unprivileged.envs(usual.get_envs().filter_map(|(name, value)| Some((name, value?))));
    unprivileged.output().unwrap()
}

/// Damages what the largest pack of a history has of one of its files.
pub(crate) fn damage(scene: &Scene) {
    let packs = std::fs::read_dir(scene.history().join("store/packs")).unwrap();
    let packs = packs.map(|it| it.unwrap().path());
    let largest = packs.max_by_key(|it| it.metadata().unwrap().len()).unwrap();
    let mut bytes = std::fs::read(&largest).unwrap();
    bytes[800_000..800_008].fill(b'X');
    std::fs::write(&largest, bytes).unwrap();
}

/// Once, it stopped half way: damage was put aside, and nothing else was done.
#[test]
fn files_that_cannot_be_read_keep_no_others_from_being_stored_again() {
    let scene = Scene::new();
    (1..=5).for_each(|number| scene.write(&format!("noise{number}"), noise(number)));
    scene.ok(&["snapshot", "--tag", "v1"]);
    scene.write("locked *[1]", "not readable");
    std::fs::create_dir(scene.project("shut")).unwrap();
    scene.write("shut/in", "not visible");
    damage(&scene);
    chmod(&scene.project("locked *[1]"), 0);
    chmod(&scene.project("shut"), 0);

    let repaired = as_unprivileged(&scene, &["repair"]);
    let said = stdout(&repaired);
    assert_eq!(repaired.status.code(), Some(3), "{said}{}", stderr(&repaired));
    assert!(said.contains("could not be read") && said.contains("  locked *[1]\n"), "{said}");
    assert!(said.contains("  shut\n") && said.contains("has the others"), "{said}");
    assert!(!said.contains("no longer be restored"), "what was missing could be read: {said}");
    let again = as_unprivileged(&scene, &["repair"]);
    assert_eq!((again.status.code(), stdout(&again).as_str()), (Some(0), "No damage found.\n"));

    chmod(&scene.project("locked *[1]"), 0o644);
    chmod(&scene.project("shut"), 0o755);
    std::fs::remove_file(scene.project("noise3")).unwrap();
    let restored = as_unprivileged(&scene, &["restore", "@-"]);
    assert_eq!(restored.status.code(), Some(3), "{}", stderr(&restored));
    assert!(std::fs::read(scene.project("noise3")).unwrap() == noise(3));
    assert_eq!(scene.read("locked *[1]"), "not readable");
    assert_eq!(scene.read("shut/in"), "not visible");
}

/// Once, the advice was to use another path, where only one is meant.
#[test]
fn a_restore_into_what_cannot_be_written_to_says_how_it_can_be() {
    let scene = Scene::new();
    scene.write("read only/f", "1\n");
    scene.ok(&["snapshot"]);
    scene.write("read only/f", "2\n");
    chmod(&scene.project("read only"), 0o500);
    let refused = as_unprivileged(&scene, &["restore", "@-"]);
    let said = stderr(&refused);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("`chmod u+w 'read only'`"), "{said}");
    chmod(&scene.project("read only"), 0o700);
    let restored = as_unprivileged(&scene, &["restore", "@-"]);
    assert!(restored.status.success(), "{}", stderr(&restored));
}

/// Once, a history that was whole was locked away by the loss of a file of a few lines.
#[test]
fn the_small_files_of_a_history_are_written_again_from_the_rest() {
    type Damage = fn(&Path);
    let (cut, gone): (Damage, Damage) =
        (|path| std::fs::write(path, "{\n").unwrap(), |path| std::fs::remove_file(path).unwrap());
    for (name, damage) in [
        ("workspace.json", cut),
        ("workspace.json", gone),
        ("store/format", cut),
        ("store/format", gone),
    ] {
        let scene = Scene::new();
        scene.write("a", "precious\n");
        scene.write("x.log", "noise\n");
        scene.ok(&["config", "add", "exclude", "*.log"]);
        scene.ok(&["snapshot", "--tag", "one"]);
        damage(&scene.history().join(name));
        let (_, said) = scene.fails(&["log"]);
        assert!(said.contains("`wink repair` rebuilds"), "{name}: {said}");
        if name == "workspace.json" {
            let (_, said) = scene.fails(&["init"]);
            assert!(said.contains("`wink repair` rebuilds"), "{name}: {said}");
        }
        std::fs::create_dir(scene.project("below")).unwrap();
        let repaired = scene.wink_in(&scene.project("below"), &["repair"]).output().unwrap();
        let said = stdout(&repaired);
        assert!(said.contains(&format!("Rebuilt {name}")), "{said}{}", stderr(&repaired));
        assert_eq!(scene.ok(&["fs", "cat", "a", "--at", "one"]), "precious\n");
        assert!(
            scene.ok(&["status"]).contains("*.log"),
            "what is excluded is known by the snapshot"
        );
        assert_eq!(scene.ok(&["repair"]), "No damage found.\n");
        scene.ok(&["verify", "--data"]);
    }
}

/// Once, a field that only a later version knows made them damaged, and all that was set was lost.
#[test]
fn settings_of_a_later_version_are_not_written_again() {
    let scene = Scene::new();
    scene.ok(&["snapshot"]);
    let file = scene.history().join("workspace.json");
    let ours = std::fs::read_to_string(&file).unwrap();
    let later = ours.replace("\"version\": 1", "\"version\": 2");
    let newer = ours.replace("\"exclude\"", "\"exclude_more\": [],\n  \"exclude\"");
    for text in [later, newer] {
        assert_ne!(text, ours);
        std::fs::write(&file, &text).unwrap();
        let store = scene.history();
        let named = ["repair", "--store", store.to_str().unwrap()];
        for args in [&["repair"][..], &named, &["doctor", "--fix"], &["status"]] {
            let output = scene.run(args);
            assert_ne!(output.status.code(), Some(0), "{args:?}: {}", stdout(&output));
            let said = stdout(&output) + &stderr(&output);
            assert!(said.contains("written by another version of wink"), "{args:?}: {said}");
        }
        assert_eq!(scene.fails(&["repair"]).0, 14);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn a_history_in_a_place_of_its_own_gets_settings_only_where_its_files_are() {
    let scene = Scene::empty();
    scene.write("a", "precious\n");
    let store = scene.path("kept");
    let store = store.to_str().unwrap();
    scene.ok(&["init", "--store", store]);
    scene.ok(&["snapshot"]);
    std::fs::remove_file(scene.path("kept/workspace.json")).unwrap();
    let elsewhere = scene.wink_in(&scene.path("home"), &["repair", "--store", store]);
    assert!(!{ elsewhere }.output().unwrap().status.success());
    assert!(!scene.path("kept/workspace.json").exists());
    for args in [&["repair", "--store", store][..], &["repair"]] {
        let said = scene.ok(args);
        assert!(said.contains("Rebuilt workspace.json"), "{said}");
        assert_eq!(scene.ok(&["fs", "cat", "a", "--at", "@-"]), "precious\n");
        std::fs::remove_file(scene.path("kept/workspace.json")).unwrap();
    }
}

/// Once, no command noticed that another program had removed the record of a tagged snapshot.
#[test]
fn a_record_that_is_missing_is_noticed_and_written_again_where_it_is_known() {
    for victim in [1, 2] {
        let scene = Scene::new();
        for number in 0..3 {
            scene.write("a", format!("{number}\n"));
            scene.ok(&["snapshot", "--tag", &format!("v{number}")]);
        }
        let (id, _) = scene.ids()[victim].clone();
        std::fs::remove_file(scene.history().join("store/snapshots").join(&id)).unwrap();
        let found = scene.run(&["verify"]);
        let missing = format!("the record of the snapshot {id} (v{victim}) is missing");
        assert_eq!(found.status.code(), Some(14), "{}", stdout(&found));
        assert!(stdout(&found).contains(&missing), "{}", stdout(&found));
        let said = scene.ok(&["repair"]);
        assert!(said.contains("Rebuilt the records of these snapshots"), "{said}");
        scene.ok(&["verify", "--data"]);
        let tag = format!("v{victim}");
        assert_eq!(scene.ok(&["fs", "cat", "a", "--at", &tag]), format!("{victim}\n"));
    }
}

#[test]
fn a_record_that_is_missing_and_not_known_is_noticed_once_and_one_that_was_pruned_never() {
    let scene = Scene::new();
    for number in 0..5 {
        scene.write("a", format!("{number}\n"));
        scene.ok(&["snapshot"]);
    }
    scene.ok(&["prune", "--keep", "4", "--yes"]);
    scene.ok(&["verify"]);
    let store = scene.history().join("store");
    std::fs::remove_file(store.join("snapshots").join(&scene.ids()[1].0)).unwrap();
    std::fs::remove_dir_all(store.join("cache")).unwrap();
    let found = scene.run(&["verify"]);
    assert_eq!(found.status.code(), Some(14), "{}", stdout(&found));
    let some = "the records of some snapshots are missing: 1";
    assert!(stdout(&found).contains(some), "{}", stdout(&found));
    scene.ok(&["repair"]);
    scene.ok(&["verify", "--data"]);
    scene.write("a", "more\n");
    scene.ok(&["snapshot"]);
    scene.ok(&["verify"]);
}

/// Once, the bytes were stored again, and the snapshot stayed incomplete.
#[test]
fn a_damaged_snapshot_is_complete_again_once_the_same_bytes_are_captured() {
    let scene = Scene::new();
    (1..=5).for_each(|number| scene.write(&format!("d/noise{number}"), noise(number)));
    scene.ok(&["snapshot", "--tag", "tb"]);
    std::fs::remove_dir_all(scene.project("d")).unwrap();
    scene.ok(&["snapshot"]);
    damage(&scene);
    assert_eq!(scene.run(&["repair"]).status.code(), Some(3));
    assert!(scene.ok(&["show", "tb"]).contains("incomplete: 1 path missing"));
    (1..=5).for_each(|number| scene.write(&format!("elsewhere{number}"), noise(number)));
    scene.ok(&["snapshot"]);
    let shown = scene.ok(&["show", "tb"]);
    assert!(!shown.contains("incomplete") && !shown.contains("excluded"), "{shown}");
    scene.ok(&["verify", "--data"]);
    scene.ok(&["restore", "tb"]);
    for number in 1..=5 {
        let restored = std::fs::read(scene.project(&format!("d/noise{number}"))).unwrap();
        assert!(restored == noise(number), "{number}");
    }
}

/// Once, one damaged file took all others of its snapshot with it; then, a snapshot without it was called complete.
#[test]
fn what_is_whole_of_a_damaged_snapshot_can_be_read_and_restored_after_a_repair() {
    let scene = Scene::new();
    (1..=5).for_each(|number| scene.write(&format!("d/noise{number}"), noise(number)));
    scene.ok(&["snapshot", "--tag", "tb"]);
    std::fs::remove_dir_all(scene.project("d")).unwrap();
    scene.ok(&["snapshot"]);
    damage(&scene);
    let repaired = scene.run(&["repair"]);
    let said = stdout(&repaired);
    assert_eq!(repaired.status.code(), Some(3), "{said}{}", stderr(&repaired));
    assert!(said.contains("can no longer be restored completely"), "{said}");
    assert!(said.contains("can still be read and restored"), "{said}");
    let listed = scene.ok(&["fs", "ls", "d", "--at", "tb"]);
    let whole: Vec<u64> = (1..=5).filter(|it| listed.contains(&format!("noise{it}"))).collect();
    assert_eq!(whole.len(), 4, "{listed}");
    let damaged = (1..=5).find(|it| !whole.contains(it)).unwrap();
    let shown = scene.ok(&["show", "tb"]);
    assert!(shown.contains(&format!("d/noise{damaged}")), "{shown}");
    assert!(!shown.contains("excluded") && shown.contains("incomplete: 1 path missing"), "{shown}");
    assert!(scene.ok(&["log"]).contains("incomplete: 1 path missing"));
    let verified = scene.run(&["verify", "--data"]);
    assert_eq!(verified.status.code(), Some(3), "{}", stdout(&verified));
    assert!(stdout(&verified).contains("1 incomplete snapshot"), "{}", stdout(&verified));
    assert!(stdout(&scene.run(&["doctor"])).contains("of which 1 is incomplete"));
    let lost = format!("d/noise{damaged}");
    let archive = scene.path("tb.fs.zip").display().to_string();
    let commands: [&[&str]; 3] =
        [&["fork", "ff", "tb"], &["export", "--at", "tb", &archive], &["diff", "tb"]];
    for command in commands {
        let done = scene.run(command);
        let said = stdout(&done) + &stderr(&done);
        assert_eq!(done.status.code(), Some(3), "{command:?}: {said}");
        assert!(said.contains(&lost), "{command:?}: {said}");
    }
    let compared = stdout(&scene.run(&["diff", "tb..@-", "--json"]));
    let compared: serde_json::Value = serde_json::from_str(&compared).unwrap();
    let entries = compared["entries"].as_array().unwrap();
    assert!(entries.iter().all(|it| it["path"] != lost.as_str()), "{compared}");
    scene.ok(&["fork", "delete", "ff", "--yes"]);
    let tool = scene.ok(&["tool", "history"]);
    assert!(tool.contains("incomplete: 1 path missing"), "{tool}");
    scene.write(&lost, "mine");
    let path = format!("d/noise{}", whole[0]);
    scene.ok(&["restore", "tb", "--", &path]);
    assert!(std::fs::read(scene.project(&path)).unwrap() == noise(whole[0]));
    let restored = scene.run(&["restore", "tb"]);
    assert_eq!(restored.status.code(), Some(3), "{}", stdout(&restored));
    assert!(stdout(&restored).contains(&format!("d/noise{damaged}  it is damaged")));
    assert!(scene.ok(&["status"]).contains("is not protected: the last snapshot is incomplete"));
    for number in whole {
        assert!(
            std::fs::read(scene.project(&format!("d/noise{number}"))).unwrap() == noise(number)
        );
    }
    assert_eq!(scene.read(&format!("d/noise{damaged}")), "mine", "it says nothing of what it lost");
    scene.ok(&["snapshot"]);
    assert!(scene.ok(&["status"]).contains("is protected"));
    scene.run(&["revert", "tb..@-"]);
    assert_eq!(
        scene.read(&format!("d/noise{damaged}")),
        "mine",
        "no step to it deletes that either"
    );
    assert_eq!(scene.ok(&["repair"]), "No damage found.\n");
}

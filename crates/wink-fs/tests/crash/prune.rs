//! Death, errors and others at work while snapshots are pruned.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use rayon::prelude::*;
use wink_fs::{SnapshotOptions, SnapshotStore as _, Store, VerifyOptions, Workspace};

use crate::crash::kills::check;
use crate::crash::scene::{
    CHILD, check_tags, check_whole, choose, copy, directory, lines, list_calls, template, trace,
};

/// Makes snapshots of which some go, with packs that go, packs of which a part stays, and a large one.
fn take_many(files: &Workspace) {
    for number in 0..8 {
        let content = format!("{number}").repeat(30_000 + number);
        files.write(&format!("many/{}", number % 3), &content).unwrap();
        files.write(&format!("other/{number}"), &content.to_uppercase()).unwrap();
        let options = SnapshotOptions::default();
        let tagged = options.clone().tag(format!("tag {number}"));
        files.snapshot_with(if number % 4 == 1 { &tagged } else { &options }).unwrap();
    }
}

/// Takes as many snapshots as there may be small packs; with one more they are merged.
fn take_as_many_as_may_be(files: &Workspace) {
    while files.usage().unwrap().packs < 64 {
        let number = files.usage().unwrap().packs;
        files.write("many/1", &format!("small {number}")).unwrap();
        files.snapshot(&format!("small {number}")).unwrap();
    }
}

/// Lets them be merged, so that records name packs that are gone, and takes some that are to go.
fn merge_and_take_more(files: &Workspace) {
    take_as_many_as_may_be(files);
    for number in 0..4 {
        files.write("many/1", &format!("later {number} ").repeat(3_000)).unwrap();
        files.snapshot_with(&SnapshotOptions::default()).unwrap();
    }
    assert!(files.usage().unwrap().packs < 10);
}

#[test]
#[ignore = "needs strace"]
fn fault_05_a_prune_that_is_killed_keeps_every_snapshot_that_stays() {
    check("prune", &take_many);
    check("prune", &merge_and_take_more);
}

#[test]
#[ignore = "needs strace"]
fn fault_05_a_snapshot_that_is_killed_while_it_merges_keeps_every_snapshot() {
    check("snapshot", &|files| {
        take_as_many_as_may_be(files);
        files.write("one", "more").unwrap();
    });
}

#[test]
#[ignore = "needs strace"]
fn fault_05_taking_a_path_out_that_is_killed_keeps_every_snapshot_whole() {
    check("prune-path", &|files| {
        files.write("kept", "something else").unwrap();
        files.snapshot("other").unwrap();
    });
}

/// Some take snapshots, some prune, all in processes of their own.
#[test]
fn fault_28_processes_that_save_and_prune_at_once_lose_no_snapshot() {
    let place = directory();
    drop(Store::create_ambient(place.path().join("store")).unwrap());
    let whats = ["save-for-a-while", "save-for-a-while", "prune-for-a-while", "prune-for-a-while"];
    let start = |what: &&str| {
        let mut child = Command::new(CHILD);
        child.arg(what).arg(place.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        child.spawn().unwrap()
    };
    let children: Vec<_> = whats.iter().map(start).collect();
    let (mut saved, mut forgotten) = (BTreeSet::new(), BTreeSet::new());
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let (what, id) = line.split_once(' ').unwrap();
            if what == "saved" { &mut saved } else { &mut forgotten }.insert(id.to_owned());
        }
    }
    assert!(saved.len() > 20 && forgotten.len() > 10, "{} {}", saved.len(), forgotten.len());
    let store = Store::open_ambient(place.path().join("store")).unwrap();
    let found = store.verify(&VerifyOptions::default().data(true)).unwrap();
    assert_eq!(found.problems, []);
    let listed: BTreeSet<_> = store.list().unwrap().iter().map(|it| it.id.to_string()).collect();
    assert_eq!(listed, saved.difference(&forgotten).cloned().collect());
    println!("{} snapshots were taken and {} pruned at once", saved.len(), forgotten.len());
}

fn check_errors_of(what: &str, last: &dyn Fn(&Workspace), names: &[&str], error: &str) {
    let before = template(last);
    let after = copy(before.path());
    let all = list_calls(what, after.path());
    let states = [lines(before.path()), lines(after.path())];
    let calls = all.iter().filter(|(name, _)| names.contains(&&**name)).cloned();
    let calls = choose(&calls.collect::<Vec<_>>());
    calls.par_iter().for_each(|call| {
        let place = copy(before.path());
        trace(what, place.path(), call, &format!("error={error}"));
        check_tags(what, call, before.path(), place.path());
        check_whole(&format!("{what} with {error}"), call, place.path(), &states);
    });
    println!("{what}: {error} at {} calls", calls.len());
}

#[test]
#[ignore = "needs strace"]
fn fault_08_a_prune_on_a_disk_that_is_full_or_fails_keeps_every_snapshot_that_stays() {
    let names = ["write", "rename", "renameat", "unlink", "unlinkat", "fsync", "fdatasync"];
    for (names, error) in [(&names[..1], "ENOSPC"), (&names[..], "EIO")] {
        check_errors_of("prune", &merge_and_take_more, names, error);
    }
}

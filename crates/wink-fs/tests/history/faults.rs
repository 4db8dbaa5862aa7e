//! What is left when the system refuses, or a file of the history is damaged.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::common::again;
use wink_fs::{
    ContentHash, Error, ErrorKind, MoveOptions, OperationCause, Recursion, Result, TreePath,
    Workspace,
};

use crate::history::scene::{Scene, lines, rewrite};

fn chattr(flag: &str, path: &Path) {
    let done = Command::new("chattr").arg(flag).arg(path).status();
    assert!(done.expect("chattr is needed").success(), "chattr needs root and ext4");
}

/// An immutable file is noticed before the first rename is final.
#[test]
#[ignore = "needs root"]
fn a1_30_a_restore_that_cannot_replace_a_file_changes_nothing() {
    let scene = Scene::host();
    let files = &scene.files;
    for path in ["a", "b/immutable", "c"] {
        files.write(path, "old").unwrap();
    }
    let snapshot = files.snapshot("before").unwrap();
    for path in ["a", "b/immutable", "c"] {
        files.write(path, "new").unwrap();
    }
    let before = lines(files);
    chattr("+i", &scene.path("root/b/immutable"));
    let error = files.restore(&snapshot);
    chattr("-i", &scene.path("root/b/immutable"));
    let error = error.unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::PermissionDenied, Some("b/immutable")));
    assert_eq!(lines(files), before);
    files.restore(&snapshot).unwrap();
    assert_eq!(files.read("b/immutable").unwrap().content, "old");
}

/// Only root may look into a directory without permissions, so an unprivileged user restores.
#[test]
#[ignore = "needs root"]
fn a1_30_a_restore_that_cannot_enter_a_directory_changes_nothing() {
    let scene = Scene::host();
    for path in ["a", "locked/b", "z"] {
        scene.files.write(path, "old").unwrap();
    }
    scene.files.snapshot("base").unwrap();
    for path in ["a", "locked/b", "z"] {
        scene.files.write(path, "new").unwrap();
    }
    let before = lines(&scene.files);
    fs::copy(env!("CARGO_BIN_EXE_crash_child"), scene.path("child")).unwrap();
    let all = scene.path("");
    run("chown", &["-R", "65534:65534", all.to_str().unwrap()]);
    let chmod = |mode: &str| run("chmod", &[mode, scene.path("root/locked").to_str().unwrap()]);
    chmod("000");
    let (done, said) = restore_unprivileged(&all);
    assert!(!done && said.starts_with("permission_denied: "), "{said}");
    assert!(said.contains("locked"), "{said}");
    chmod("755");
    assert_eq!(lines(&scene.files), before);
    assert_eq!(restore_unprivileged(&all), (true, String::new()));
    assert_eq!(scene.files.read("locked/b").unwrap().content, "old");
}

fn run(program: &str, arguments: &[&str]) {
    assert!(Command::new(program).args(arguments).status().unwrap().success(), "{program}");
}

fn restore_unprivileged(place: &Path) -> (bool, String) {
    let mut unprivileged = Command::new("setpriv");
    unprivileged.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    let output = unprivileged.arg(place.join("child")).arg("restore").arg(place).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Undo compares what it brings back with what was there; once such calls were done and could not be undone.
#[test]
fn what_may_not_be_read_is_neither_replaced_nor_removed() {
    if !is_alone() {
        return again_within_permissions("what_may_not_be_read_is_neither_replaced_nor_removed");
    }
    let scene = Scene::host();
    let files = &scene.files;
    for path in ["secret", "d/secret", "d/plain", "plain"] {
        files.write(path, "mine").unwrap();
    }
    for path in ["root/secret", "root/d/secret"] {
        run("chmod", &["000", scene.path(path).to_str().unwrap()]);
    }
    let operations = files.operations().unwrap().len();
    let over = MoveOptions::default().replace(true);
    let refused = [
        files.delete("secret").map(drop),
        files.write("secret", "new").map(drop),
        files.rename_with("plain", "secret", &over).map(drop),
        files.delete_all("d").map(drop),
    ];
    for refusal in refused {
        let error = refusal.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
        assert!(error.to_string().contains("secret"), "{error}");
    }
    assert_eq!(files.operations().unwrap().len(), operations);
    for path in ["root/secret", "root/d/secret"] {
        run("chmod", &["600", scene.path(path).to_str().unwrap()]);
        assert_eq!(fs::read_to_string(scene.path(path)).unwrap(), "mine");
    }
    files.delete_all("d").unwrap();
    files.undo().unwrap();
    assert_eq!(files.read("d/secret").unwrap().content, "mine");
}

/// What is staged has a short name of its own, so that no name gets too long on its way back.
#[test]
fn a1_30_the_longest_names_come_back() {
    let scene = Scene::host();
    let longest =
        ["n".repeat(255), "é".repeat(127), format!("{}/{}", "d".repeat(255), "f".repeat(255))];
    for path in &longest {
        scene.files.write(path, path).unwrap();
    }
    let before = lines(&scene.files);
    let snapshot = scene.files.snapshot("before").unwrap();
    scene.files.list("").unwrap().iter().for_each(|it| {
        scene.files.delete_all(&it.path.to_string()).unwrap();
    });
    scene.files.restore(&snapshot).unwrap();
    assert_eq!(lines(&scene.files), before);
    scene.files.undo().unwrap();
    assert_eq!(lines(&scene.files), [""; 0]);
}

// --- open files ----------------------------------------------------------------------------------

/// Runs a test of this program again, in a process of its own, which a limit of size does not kill.
fn again(test: &str) {
    let mut program = Command::new("sh");
    program.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]);
    program.args(again::only(module_path!(), test));
    let output = program.env("WINK_ALONE", "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Runs the test again in a process without root's capabilities to override permissions.
fn again_within_permissions(test: &str) {
    let mut program = Command::new("env");
    if rustix::process::geteuid().is_root() {
        program.args(["setpriv", "--bounding-set=-dac_override,-dac_read_search"]);
        program.arg("--inh-caps=-all");
    }
    program.args(again::only(module_path!(), test));
    let output = program.env("WINK_ALONE", "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

fn is_alone() -> bool {
    std::env::var_os("WINK_ALONE").is_some()
}

fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn fault_16_ten_thousand_calls_leave_no_file_open() {
    if !is_alone() {
        return again("fault_16_ten_thousand_calls_leave_no_file_open");
    }
    let scene = Scene::host_in("/dev/shm");
    let files = &scene.files;
    let call_ten = |round: usize| {
        let path = format!("d/{}", round % 7);
        files.write(&path, &round.to_string()).unwrap();
        for _ in 0..4 {
            assert_eq!(files.read(&path).unwrap().content, round.to_string());
            files.list("d").unwrap();
        }
        match round % 50 {
            0 => drop(files.snapshot(&format!("round-{round}")).unwrap()),
            1 => drop(files.restore(&*format!("round-{}", round - 1)).unwrap()),
            2 => drop(files.undo().unwrap()),
            _ => drop(files.delete("missing").unwrap_err()),
        }
    };
    (0..50).for_each(call_ten);
    let before = open_files();
    (50..1_050).for_each(call_ten);
    assert_eq!(open_files(), before);
}

/// A run that changed nothing has no number; once, what the next call kept stayed open with its number.
#[test]
fn fault_16_programs_that_change_nothing_leave_no_file_open() {
    if !is_alone() {
        return again("fault_16_programs_that_change_nothing_leave_no_file_open");
    }
    let scene = Scene::host_in("/dev/shm");
    let look_and_write = |round: usize| {
        scene.files.as_executor("look", |_| Ok::<_, wink_fs::Error>(())).unwrap();
        scene.files.write("d/a", &round.to_string()).unwrap();
    };
    (0..10).for_each(look_and_write);
    let before = open_files();
    (10..150).for_each(look_and_write);
    assert_eq!(open_files(), before);
}

/// Once, what the next operation kept was opened again for each path.
#[test]
fn fault_16_an_operation_of_many_paths_is_shown_with_few_files_open() {
    if !is_alone() {
        return again("fault_16_an_operation_of_many_paths_is_shown_with_few_files_open");
    }
    let scene = Scene::host();
    let paths: Vec<_> = (0..50).map(|number| number.to_string()).collect();
    let write = |text: &str| {
        let all = |fs: &mut dyn wink_fs::Filesystem| {
            paths.iter().try_for_each(|path| rewrite(fs, path, text))
        };
        scene.files.as_agent("write", all).unwrap();
    };
    ["1", "2"].into_iter().for_each(write);
    let before = open_files();
    let trees = scene.files.operation_trees(1).unwrap();
    assert_eq!((trees.paths.len(), trees.unknown.len()), (50, 0));
    assert!(open_files() < before + 10);
}

#[test]
fn fault_16_calls_fail_without_files_to_open_and_work_again_with_them() {
    if !is_alone() {
        return again("fault_16_calls_fail_without_files_to_open_and_work_again_with_them");
    }
    let scene = Scene::host();
    let files = &scene.files;
    files.write("a", "one").unwrap();
    files.snapshot("one").unwrap();
    files.write("a", "two").unwrap();
    let before = lines(files);
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current = Some(200);
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).unwrap();
    for left in 0..5 {
        let mut taken: Vec<_> = std::iter::from_fn(|| fs::File::open("/dev/null").ok()).collect();
        taken.truncate(taken.len() - left);
        let calls: [&dyn Fn() -> Result<()>; 4] = [
            &|| files.write("a", "three").map(drop),
            &|| files.snapshot("two").map(drop),
            &|| files.restore("one").map(drop),
            &|| files.undo().map(drop),
        ];
        for call in calls {
            let failed = call().map_err(|error| error.kind());
            assert_eq!(failed, Err(ErrorKind::Io), "{left} files may be opened");
        }
        drop(taken);
        assert_eq!(lines(files), before);
    }
    files.restore("one").unwrap();
    files.undo().unwrap();
    assert_eq!(lines(files), before);
}

// --- a limit of size -----------------------------------------------------------------------------

/// Sets how large a file may become.
fn limit_size(bytes: Option<u64>) {
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Fsize);
    limit.current = bytes;
    rustix::process::setrlimit(rustix::process::Resource::Fsize, limit).unwrap();
}

/// Once, its record was written into the incomplete line, and the user could not undo it.
#[test]
fn fault_11_a_call_that_goes_on_after_a_path_could_not_be_listed_can_be_undone() {
    if !is_alone() {
        return again(
            "fault_11_a_call_that_goes_on_after_a_path_could_not_be_listed_can_be_undone",
        );
    }
    let scene = Scene::host();
    let long = "é".repeat(60);
    for path in ["a", &long] {
        scene.files.write(path, "old").unwrap();
    }
    // In the middle of a letter, and between two.
    for size in [40, 41] {
        let changed = scene.files.as_owner("change", |fs| {
            rewrite(fs, "a", "new")?;
            limit_size(Some(size));
            let refused = rewrite(fs, &long, "new");
            limit_size(None);
            Ok(refused.unwrap_err().kind())
        });
        assert_eq!(changed.unwrap(), ErrorKind::NoSpace, "{size}");
        assert_eq!(scene.files.read(&long).unwrap().content, "old");
        let undone = scene.open_again().undo().unwrap();
        assert_eq!((undone.operation.name.as_str(), undone.paths.len()), ("change", 1), "{size}");
        assert_eq!(scene.files.read("a").unwrap().content, "old");
    }
}

/// Whatever of an operation is not written as a whole: what it keeps, its list, or its record.
#[test]
fn fault_11_a_workspace_goes_on_after_each_call_that_met_a_limit_of_size() {
    if !is_alone() {
        return again("fault_11_a_workspace_goes_on_after_each_call_that_met_a_limit_of_size");
    }
    let scene = Scene::host();
    let files = &scene.files;
    files.write("d/a", "old").unwrap();
    let snapshot = files.snapshot("old").unwrap();
    files.write("d/a", "new").unwrap();
    let calls: [&dyn Fn() -> Result<()>; 5] = [
        &|| files.write("d/a", "newer").map(drop),
        &|| files.rename("d", "e/f").map(drop),
        &|| files.delete_all("d").map(drop),
        &|| files.restore(&snapshot).map(drop),
        &|| files.as_executor("sh", |place| rewrite(place.files, "b", "made")).map(drop),
    ];
    let before = lines(files);
    let mut refused = 0;
    for (number, call) in calls.iter().enumerate() {
        for size in (0..1000).step_by(37) {
            limit_size(Some(size));
            let done = call();
            limit_size(None);
            match done {
                Ok(()) => drop(files.undo().unwrap()),
                Err(_) => refused += 1,
            }
            // What could not be taken back within so few bytes is now.
            files.as_owner("nothing", |_| Ok(())).unwrap();
            assert_eq!(lines(files), before, "call {number} within {size} bytes");
        }
    }
    assert!((40..calls.len() * 27).contains(&refused), "{refused}");
    files.undo().unwrap();
    assert_eq!(files.read("d/a").unwrap().content, "old");
}

// --- damage --------------------------------------------------------------------------------------

/// Damages each byte of a file in turn, and looks at the workspace as the next process that opens it.
fn damage_each_byte(scene: &Scene, name: &str, look: impl Fn(&Workspace, usize)) {
    let whole = fs::read(scene.path(name)).unwrap();
    assert!(!whole.is_empty());
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        if at % 5 == 0 {
            damaged.truncate(at);
        }
        fs::write(scene.path(name), damaged).unwrap();
        look(&scene.open_again(), at);
    }
    fs::write(scene.path(name), whole).unwrap();
}

#[test]
fn fault_19_what_a_lock_says_is_for_people_only() {
    let scene = Scene::host();
    scene.files.write("a", "").unwrap();
    scene.files.snapshot("first").unwrap();
    for name in ["store/lock", "store/work.lock", "store/publish.lock"] {
        for damage in [&b""[..], b"\xff\0\xff", b"99999999999999999999999999"] {
            fs::write(scene.path(name), damage).unwrap();
            let files = scene.open_again();
            files.write("a", name).unwrap();
            files.snapshot_with(&Default::default()).unwrap();
        }
    }
    let other = scene.open_again();
    let refused = scene.files.as_owner("slow", |_| {
        fs::write(scene.path("store/work.lock"), b"\xff\xff").unwrap();
        Ok::<Error, Error>(other.write("a", "").unwrap_err())
    });
    let refused = refused.unwrap();
    assert_eq!(refused.kind(), ErrorKind::Locked);
    assert!(refused.to_string().contains("another process"), "{refused}");
}

#[test]
fn fault_19_a_damaged_head_names_no_snapshot() {
    let scene = Scene::host();
    let first = scene.files.snapshot("first").unwrap();
    damage_each_byte(&scene, "store/head", |files, at| {
        let head = files.current_snapshot_id().unwrap();
        assert!(head.is_none_or(|head| head == first.id), "byte {at}: {head:?}");
    });
    assert_eq!(scene.files.current_snapshot_id().unwrap(), Some(first.id));
}

#[test]
fn fault_19_a_damaged_operation_is_not_listed_and_the_others_are() {
    let scene = Scene::host();
    ["1", "2", "3"].iter().for_each(|it| drop(scene.files.write(it, it).unwrap()));
    damage_each_byte(&scene, "store/operations/2.op", |files, at| {
        let listed: Vec<_> = files.operations().unwrap().iter().map(|it| it.sequence).collect();
        assert_eq!(listed, [1, 3], "byte {at}");
    });
    assert_eq!(scene.files.operations().unwrap().len(), 3);
}

/// Changes `a` as a process that dies in the middle of it; returns the list that it leaves.
fn changed_and_died(scene: &Scene) -> Vec<u8> {
    let mut list = Vec::new();
    let changed = scene.files.as_owner("change a", |fs| {
        rewrite(fs, "a", "new")?;
        list = fs::read(scene.path("store/operations/3.begun")).unwrap();
        Ok(())
    });
    changed.unwrap();
    let hash = ContentHash::of(b"new");
    assert_eq!(String::from_utf8_lossy(&list), format!("1977a4ed put\ta\t{hash}\n"));
    list
}

/// Leaves what such a process would, with a list of ours, and opens the workspace.
fn opened_after_it(scene: &Scene, list: &[u8]) -> Workspace {
    let kept = scene.path("store/operations/3");
    fs::remove_file(kept.with_extension("op")).unwrap_or_default();
    fs::write(kept.with_extension("0"), "old").unwrap();
    fs::write(kept.with_extension("begun"), list).unwrap();
    scene.open_again()
}

fn recoveries(files: &Workspace) -> usize {
    let operations = files.operations().unwrap();
    operations.iter().filter(|it| it.cause == OperationCause::Recovery).count()
}

/// A path that a damaged list names was never touched, and does not become what was kept of another.
#[test]
fn fault_19_a_damaged_list_of_what_a_dead_process_changed_harms_nothing_else() {
    let scene = Scene::host();
    // One bit makes the one name of the other.
    scene.files.write("a", "old").unwrap();
    scene.files.write("c", "untouched").unwrap();
    let whole = changed_and_died(&scene);
    for at in 0..whole.len() * 8 {
        let mut damaged = whole.clone();
        damaged[at / 8] ^= 1 << (at % 8);
        let files = opened_after_it(&scene, &damaged);
        let read = |path: &str| files.read(path).unwrap().content;
        assert_eq!((read("a").as_str(), read("c").as_str()), ("new", "untouched"), "bit {at}");
        assert_eq!(recoveries(&files), 0, "bit {at}");
        files.write("later", &at.to_string()).unwrap();
    }
    let files = opened_after_it(&scene, &whole);
    assert_eq!(files.read("a").unwrap().content, "old");
    assert_eq!(recoveries(&files), 1);
}

/// What is kept of an operation is found by the list before its record, so the list is covered as well.
#[test]
fn fault_19_an_operation_whose_list_is_damaged_is_not_undone() {
    let scene = Scene::host();
    scene.files.write("a", "old").unwrap();
    scene.files.write("a", "new").unwrap();
    damage_each_byte(&scene, "store/operations/2.op", |files, at| {
        let listed: Vec<_> = files.operations().unwrap().iter().map(|it| it.sequence).collect();
        assert_eq!(listed, [1], "byte {at}");
    });
    scene.files.undo().unwrap();
    assert_eq!(scene.files.read("a").unwrap().content, "old");
}

/// Restores a file as a process that dies before it can say that it was done; returns where that would be.
fn restored_and_died(scene: &Scene) -> std::path::PathBuf {
    scene.files.write("a", "old").unwrap();
    let snapshot = scene.files.snapshot("before").unwrap();
    scene.files.write("a", "new").unwrap();
    scene.files.restore(&snapshot).unwrap();
    let done = scene.path("store/operations/3.op");
    fs::rename(&done, done.with_extension("begun")).unwrap();
    done
}

/// Once, the user could not undo what the next process had finished.
#[test]
fn a_restore_that_was_finished_for_a_dead_process_is_an_operation() {
    let scene = Scene::host();
    let done = restored_and_died(&scene);
    let files = scene.open_again();
    files.undo().unwrap();
    assert_eq!(files.read("a").unwrap().content, "new");
    assert!(done.exists());
}

#[test]
fn a_restore_that_a_dead_process_had_not_begun_is_none() {
    let scene = Scene::host();
    let done = restored_and_died(&scene);
    fs::write(scene.path("root/a"), "new").unwrap();
    let files = scene.open_again();
    files.write("b", "b").unwrap();
    let names: Vec<_> = files.operations().unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["write", "write", "write"]);
    assert!(!done.with_extension("begun").exists());
}

/// Once, it made every undo fail, with no way on.
#[test]
fn a_pipe_in_a_directory_that_an_operation_removed_is_left_alone() {
    let scene = Scene::host();
    scene.files.write("a", "old").unwrap();
    let snapshot = scene.files.snapshot("before").unwrap();
    scene.files.write("a", "new").unwrap();
    scene.files.write("p/f", "precious").unwrap();
    run("mkfifo", &[scene.path("root/p/pipe").to_str().unwrap()]);
    scene.files.restore(&snapshot).unwrap();
    let undone = scene.files.undo().unwrap();
    assert_eq!(scene.files.read("a").unwrap().content, "new");
    assert_eq!(scene.files.read("p/f").unwrap().content, "precious");
    assert!(undone.conflicts.is_empty() && scene.path("root/p/pipe").exists());
}

/// Once, the pipe was lost without a word.
#[test]
fn a_directory_with_a_pipe_in_it_is_not_deleted_until_the_pipe_is() {
    let scene = Scene::host();
    let files = &scene.files;
    files.write("p/d/f", "precious").unwrap();
    run("mkfifo", &[scene.path("root/p/d/pipe").to_str().unwrap()]);
    let undoable = || {
        let mut operations = files.operations().unwrap();
        operations.retain(|it| it.cause != OperationCause::Recovery);
        operations
    };
    let (before, operations) = (lines(files), undoable());
    let in_one_call = || {
        files.as_owner("change and delete", |fs| {
            rewrite(fs, "p/d/f", "changed")?;
            fs.remove(&TreePath::parse("p/d")?, Recursion::Recursive)
        })
    };
    for refused in [files.delete_all("p").map(drop), in_one_call().map(drop)] {
        let error = refused.unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::SpecialFile, Some("p/d/pipe")));
        assert!(error.to_string().contains("delete it by itself first"), "{error}");
        assert_eq!((lines(files), undoable()), (before.clone(), operations.clone()));
    }
    files.delete("p/d/pipe").unwrap();
    let without = lines(files);
    files.delete_all("p").unwrap();
    files.undo().unwrap();
    assert_eq!(lines(files), without);
}

/// Nothing of it is lost, so it may go wherever it is to be.
#[test]
fn a_directory_with_a_pipe_in_it_is_moved() {
    let scene = Scene::host();
    scene.files.write("p/f", "precious").unwrap();
    run("mkfifo", &[scene.path("root/p/pipe").to_str().unwrap()]);
    scene.files.rename("p", "q").unwrap();
    assert_eq!(lines(&scene.files), ["q/", "q/f \"precious\"", "q/pipe (special)"]);
    let undone = scene.files.undo();
    let kept = lines(&scene.files);
    assert!(kept.iter().any(|it| it.ends_with("/pipe (special)")), "{undone:?}: {kept:?}");
    assert!(kept.iter().any(|it| it.ends_with("/f \"precious\"")), "{undone:?}: {kept:?}");
}

/// The number is given again, and what was kept under it must not be taken for another's.
#[test]
fn what_a_call_that_fails_had_kept_is_gone_whether_it_was_listed_or_not() {
    let scene = Scene::host();
    scene.files.write("a", "old").unwrap();
    let unlisted = scene.path("store/operations/2.2");
    let failed = scene.files.as_owner("fail", |fs| {
        rewrite(fs, "a", "changed")?;
        fs::hard_link(scene.path("root/a"), &unlisted).unwrap();
        fs.remove(&TreePath::parse("missing").unwrap(), Recursion::OnlyEmpty)
    });
    assert!(failed.is_err());
    assert_eq!(scene.files.read("a").unwrap().content, "old");
    let names = fs::read_dir(scene.path("store/operations")).unwrap();
    let names = names.map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["1.op", "3.0", "3.op"], "and what took it back keeps what it displaced");
    scene.files.write("new", "new").unwrap();
    scene.files.undo().unwrap();
    assert!(!scene.files.exists("new"));
}

/// A process that forgot an operation died when the record was gone and what the operation had kept was not.
#[test]
fn what_is_left_of_a_forgotten_operation_is_taken_away() {
    let scene = Scene::host();
    scene.files.write("a", "old").unwrap();
    scene.files.write("a", "new").unwrap();
    fs::remove_file(scene.path("store/operations/2.op")).unwrap();
    assert!(scene.path("store/operations/2.0").exists());
    let files = scene.open_again();
    files.write("b", "later").unwrap();
    assert_eq!(files.read("a").unwrap().content, "new");
    let listed: Vec<_> = files.operations().unwrap().iter().map(|it| it.name.clone()).collect();
    assert_eq!(listed, ["write", "write"]);
    assert!(!scene.path("store/operations/2.0").exists());
}

// --- another version -----------------------------------------------------------------------------

/// Returns the text of an operation's file as it would be in another version.
fn of_version(text: &str, version: u32) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let body = lines[..lines.len() - 1].join("\n");
    let body = body.replace("\"version\":4", &format!("\"version\":{version}"));
    format!("{body}\nblake3 {}\n", blake3::hash(body.as_bytes()).to_hex())
}

#[test]
fn fault_34_an_operation_of_a_later_version_is_passed_over_and_left_as_it_is() {
    let scene = Scene::host();
    ["1", "2"].iter().for_each(|it| drop(scene.files.write(it, it).unwrap()));
    let record = scene.path("store/operations/2.op");
    let text = fs::read_to_string(&record).unwrap();
    let newer = of_version(&text, 5);
    assert_ne!(newer, text);
    fs::write(&record, &newer).unwrap();
    let files = scene.open_again();
    files.write("3", "3").unwrap();
    let listed: Vec<_> = files.operations().unwrap().iter().map(|it| it.sequence).collect();
    assert_eq!(listed, [1, 3]);
    assert_eq!(fs::read_to_string(&record).unwrap(), newer);
}

#[test]
fn fault_34_an_operation_of_the_first_version_is_undone() {
    let scene = Scene::host();
    scene.files.write("d/a", "old").unwrap();
    scene.files.write("d/a", "new").unwrap();
    let record = scene.path("store/operations/2.op");
    let text = fs::read_to_string(&record).unwrap();
    // There was no list in it.
    let older = of_version(text.split_once('\n').unwrap().1, 1);
    assert_ne!(older, text);
    fs::write(&record, older).unwrap();
    let kept = scene.path("store/operations/2");
    fs::create_dir_all(kept.join("before/d")).unwrap();
    fs::rename(scene.path("store/operations/2.0"), kept.join("before/d/a")).unwrap();
    fs::write(kept.join("touched"), format!("{:08x} d/a\n", crc32fast::hash(b"d/a"))).unwrap();
    let files = scene.open_again();
    files.undo().unwrap();
    assert_eq!(files.read("d/a").unwrap().content, "old");
}

/// Once, it was said that another process works there, and a snapshot of nothing was taken.
#[test]
fn a_workspace_whose_directory_is_deleted_under_it_says_so_and_keeps_its_history() {
    let scene = Scene::host();
    let files = &scene.files;
    files.write("a", "old").unwrap();
    let snapshot = files.snapshot("before").unwrap();
    fs::remove_dir_all(scene.path("root")).unwrap();
    let calls: [(&str, &dyn Fn() -> Result<()>); 8] = [
        ("write", &|| files.write("a", "new").map(drop)),
        ("mkdir", &|| files.mkdir("d").map(drop)),
        ("delete", &|| files.delete("a").map(drop)),
        ("read", &|| files.read("a").map(drop)),
        ("list", &|| files.tree().list(&wink_fs::TreePath::root()).map(drop)),
        ("snapshot", &|| files.snapshot("after").map(drop)),
        ("restore", &|| files.restore(&snapshot).map(drop)),
        ("undo", &|| files.undo().map(drop)),
    ];
    for (name, call) in calls {
        let error = call().expect_err(name);
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{name}: {error}");
        assert!(error.to_string().contains("was deleted"), "{name}: {error}");
    }
    fs::create_dir(scene.path("root")).unwrap();
    let again = scene.open_again();
    assert_eq!(again.snapshots().unwrap().len(), 1, "nothing was kept of no files");
    again.restore(&snapshot).unwrap();
    assert_eq!(again.read("a").unwrap().content, "old");
}

/// Once, nothing could be written until the user had changed the permissions.
#[test]
fn calls_go_on_where_a_program_left_an_unreadable_directory() {
    if !is_alone() {
        return again_within_permissions(
            "calls_go_on_where_a_program_left_an_unreadable_directory",
        );
    }
    let scene = Scene::host();
    let files = &scene.files;
    files.write("a", "1").unwrap();
    let locked = scene.path("root/locked");
    let allow = |mode| fs::set_permissions(&locked, fs::Permissions::from_mode(mode)).unwrap();
    let made = files.as_executor("make", |_| {
        fs::create_dir(&locked).unwrap();
        allow(0o000);
        Ok::<_, wink_fs::Error>(())
    });
    assert_eq!(made.unwrap_err().kind(), ErrorKind::PermissionDenied);
    files.write("a", "2").unwrap();
    files.undo().unwrap();
    let again = scene.open_again();
    again.write("b", "1").unwrap();

    allow(0o755);
    again.write("c", "1").unwrap();
    let operations = again.operations().unwrap();
    assert_eq!(operations[1].name, "make");
    let paths: Vec<_> = operations[1].changes.iter().map(|it| it.path.to_string()).collect();
    assert_eq!(paths, ["locked"], "the rest is of later operations");
    again.undo_operation(operations[1].sequence).unwrap();
    assert_eq!(lines(&again), [r#"a "1""#, r#"b "1""#, r#"c "1""#]);
}

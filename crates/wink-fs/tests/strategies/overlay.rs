//! Workspaces that are mounted over a base, and snapshots of what is different from it.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use wink_fs::{
    Backend, ErrorKind, Filesystem, HostBackend, OverlayMount, Replacement, Scope, Snapshot,
    Strategy, StrategyOptions, VerifyOptions, tree_hash,
};

use crate::common::disk::Disk;
use crate::common::trees::{noise, path, plant, put};
use crate::strategies::scene::{Scene, all_files, new, read_everything};

/// A workspace over one of everything, in `root`.
fn over_planted() -> Scene {
    Scene::over(|base| plant(&mut HostBackend::open_ambient(base).unwrap()))
}

/// Does something in the workspace, takes a snapshot, undoes all of it and restores the snapshot.
fn round_trip(scene: &mut Scene, change: impl FnOnce(&mut Scene)) -> Snapshot {
    let base = tree_hash(&HostBackend::open_ambient(scene.home().join("base")).unwrap()).unwrap();
    change(scene);
    let (hash, contents) = (tree_hash(&scene.files).unwrap(), read_everything(&scene.files));
    let saved = scene.save();
    let loaded = scene.reopened().load(&saved.id).unwrap();
    assert_eq!((saved.tree_hash, tree_hash(&*loaded).unwrap()), (Some(hash), hash));
    assert_eq!(read_everything(&*loaded).unwrap(), contents.unwrap());

    let unchanged = HostBackend::open_ambient(scene.home().join("base")).unwrap();
    scene.files.replace(&unchanged, &Scope::everything()).unwrap();
    assert_eq!(tree_hash(&scene.files).unwrap(), base);
    scene.files.replace(&*loaded, &Scope::everything()).unwrap();
    assert_eq!(tree_hash(&scene.files).unwrap(), hash);
    assert_eq!(tree_hash(&unchanged).unwrap(), base, "the base is as it was");
    assert_eq!(scene.verify().problems, []);
    saved
}

/// The bytes of the contents that a snapshot does not take from the base.
fn copied_bytes(scene: &Scene, snapshot: &Snapshot) -> u64 {
    let files = all_files(&scene.snapshots().join(&snapshot.reference));
    files.iter().map(|file| file.metadata().unwrap().len()).sum()
}

#[test]
#[ignore = "needs root"]
fn what_is_as_in_the_base_takes_no_space() {
    let mut scene = over_planted();
    let saved = round_trip(&mut scene, |_| {});
    assert_eq!(copied_bytes(&scene, &saved), 0);
    let saved = round_trip(&mut scene, |scene| put(&mut scene.files, b"src/main.rs", "changed"));
    assert_eq!(copied_bytes(&scene, &saved), 7);
}

#[test]
#[ignore = "needs root"]
fn files_of_the_base_that_were_deleted_stay_deleted() {
    let mut scene = over_planted();
    let saved = round_trip(&mut scene, |scene| {
        fs::remove_file(scene.root().join("src/main.rs")).unwrap();
        fs::remove_file(scene.root().join("link")).unwrap();
        fs::remove_dir_all(scene.root().join("sub")).unwrap();
        fs::remove_dir(scene.root().join("hollow")).unwrap();
    });
    assert_eq!(copied_bytes(&scene, &saved), 0);
    // The kernel's marks for it are in the upper layer, and in no snapshot.
    let mark = scene.home().join("place/upper/src/main.rs");
    let found = mark.symlink_metadata().unwrap();
    assert!(found.file_type().is_char_device() && found.rdev() == 0);
}

#[test]
#[ignore = "needs root"]
fn a_directory_in_the_place_of_one_of_the_base_shows_nothing_of_that() {
    let mut scene = over_planted();
    round_trip(&mut scene, |scene| {
        fs::remove_dir_all(scene.root().join("secret")).unwrap();
        fs::create_dir(scene.root().join("secret")).unwrap();
        fs::write(scene.root().join("secret/other"), "other").unwrap();
        fs::remove_dir_all(scene.root().join("a")).unwrap();
        fs::write(scene.root().join("a"), "a file now").unwrap();
        fs::remove_file(scene.root().join("README.md")).unwrap();
        fs::create_dir(scene.root().join("README.md")).unwrap();
    });
}

#[test]
#[ignore = "needs root"]
fn renamed_directories_and_files_of_the_base_take_no_space() {
    let mut scene = over_planted();
    let saved = round_trip(&mut scene, |scene| {
        fs::rename(scene.root().join("src"), scene.root().join("moved")).unwrap();
        let (from, to) = (path(b"sub"), path(b"moved/sub"));
        scene.files.rename(&from, &to, Replacement::Refuse).unwrap();
        fs::rename(scene.root().join("big.bin"), scene.root().join("moved/big")).unwrap();
    });
    assert_eq!(copied_bytes(&scene, &saved), 0);
}

#[test]
#[ignore = "needs root"]
fn hard_links_of_the_base_are_replaced_one_by_one() {
    let mut scene = Scene::over(|base| {
        fs::write(base.join("one"), "content").unwrap();
        fs::hard_link(base.join("one"), base.join("two")).unwrap();
        fs::hard_link(base.join("one"), base.join("three")).unwrap();
    });
    round_trip(&mut scene, |scene| {
        put(&mut scene.files, b"one", "changed");
        fs::rename(scene.root().join("two"), scene.root().join("moved")).unwrap();
        fs::remove_file(scene.root().join("three")).unwrap();
    });
    assert_eq!(fs::read(scene.root().join("moved")).unwrap(), b"content");
}

#[test]
#[ignore = "needs root"]
fn links_modes_and_empty_directories_are_kept_where_they_differ() {
    let mut scene = over_planted();
    let saved = round_trip(&mut scene, |scene| {
        let root = scene.root();
        let mode = |name: &str, mode| {
            fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).unwrap();
        };
        mode("bin/run", 0o644);
        mode("README.md", 0o755);
        mode("secret/key", 0o644);
        mode("a-b", 0o600);
        fs::remove_file(root.join("link")).unwrap();
        symlink("elsewhere", root.join("link")).unwrap();
        fs::remove_file(root.join("empty")).unwrap();
        symlink("a file before", root.join("empty")).unwrap();
        fs::create_dir_all(root.join("new/hollow")).unwrap();
        fs::remove_file(root.join("a/b")).unwrap();
    });
    assert_eq!(copied_bytes(&scene, &saved), 0);
}

/// Mounts once no process has the place mounted any more.
///
/// A program that another test runs in a mount namespace of its own has a copy of every mount until it ends.
fn mount_when_free(base: &Path, place: &Path) -> OverlayMount {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match OverlayMount::mount_ambient(base, place) {
            Err(error) if error.kind() == ErrorKind::Locked && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(10));
            }
            mounted => return mounted.unwrap(),
        }
    }
}

#[test]
#[ignore = "needs root"]
fn changes_are_there_again_when_the_workspace_is_mounted_again() {
    let mut scene = over_planted();
    put(&mut scene.files, b"src/main.rs", "changed");
    fs::remove_dir_all(scene.root().join("sub")).unwrap();
    let hash = tree_hash(&scene.files).unwrap();
    let saved = scene.save();
    // The kernel does not let a place be mounted twice, which a handle from before amounts to.
    let (base, place) = (scene.home().join("base"), scene.home().join("place"));
    scene.mount = None;
    let error = OverlayMount::mount_ambient(&base, &place).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
    scene.files = HostBackend::temporary().unwrap();
    assert!(!scene.root().join("README.md").exists(), "it is unmounted");
    let loaded = scene.reopened().load(&saved.id).unwrap();
    assert_eq!(tree_hash(&*loaded).unwrap(), hash, "a snapshot needs no mount");
    read_everything(&*loaded).unwrap();
    let again = mount_when_free(&base, &place);
    assert_eq!(tree_hash(&HostBackend::open_ambient(again.root()).unwrap()).unwrap(), hash);
    let error = OverlayMount::mount_ambient(&base, &place).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
    drop(again);
    fs::rename(&base, scene.home().join("away")).unwrap();
    fs::create_dir(&base).unwrap();
    let error = OverlayMount::mount_ambient(&base, &place).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists, "another directory of its name: {error}");
}

#[test]
#[ignore = "needs root"]
fn the_mount_of_a_process_that_died_is_taken_over() {
    let scene = over_planted();
    let (base, place) = (scene.home().join("base"), scene.home().join("other"));
    let mount = OverlayMount::mount_ambient(&base, &place).unwrap();
    fs::write(mount.root().join("new"), "content").unwrap();
    // As after a kill: the mount stays, and its owner's lock is gone.
    let owner = place.join("owner.lock");
    fs::remove_file(&owner).unwrap();
    let again = mount_when_free(&base, &place);
    assert_eq!(fs::read(again.root().join("new")).unwrap(), b"content");
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let at = again.root().to_string_lossy().into_owned();
    assert_eq!(mounts.lines().filter(|line| line.contains(&*at)).count(), 1);
}

#[test]
#[ignore = "needs root"]
fn a_base_on_another_file_system_is_seen_as_one_with_the_changes() {
    let disk = Disk::new("mkfs.xfs -q");
    let directory = tempfile::tempdir().unwrap();
    plant(&mut HostBackend::open_ambient(disk.path("mounted")).unwrap());
    let place = directory.path().join("place");
    let mount = OverlayMount::mount_ambient(disk.path("mounted"), place).unwrap();
    for walk in [false, true] {
        let options = wink_fs::HostOptions::default().component_walk(walk);
        let mut files = HostBackend::open_ambient_with(mount.root(), &options).unwrap();
        put(&mut files, b"src/new", "beside files of the base");
        read_everything(&files).unwrap();
        let place = directory.path().join(format!("snapshots-{walk}"));
        let options = StrategyOptions::new(place).strategy(Strategy::Overlay);
        let store = options.create_ambient(mount.root()).unwrap();
        let capture = files.capture(&Default::default()).unwrap();
        let saved = store.save(&*capture.tree, &new()).unwrap();
        let loaded = store.load(&saved.id).unwrap();
        assert_eq!(tree_hash(&*loaded).unwrap(), tree_hash(&files).unwrap());
    }
}

#[test]
#[ignore = "needs root"]
fn a_directory_that_was_not_mounted_here_is_unsupported_with_the_reason() {
    let plain = tempfile::tempdir().unwrap();
    let scene = over_planted();
    let below = scene.root().join("src");
    for root in [plain.path(), &below] {
        let place = plain.path().join("snapshots");
        let options = StrategyOptions::new(&place).strategy(Strategy::Overlay);
        let error = options.create_ambient(root).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("`OverlayMount`"), "{error}");
        assert!(error.to_string().contains("use `store`"), "{error}");
        assert!(!place.exists(), "nothing was made");
    }
}

#[test]
#[ignore = "needs root"]
fn a_mount_that_cannot_be_made_is_refused_with_the_reason() {
    let scene = over_planted();
    let (base, home) = (scene.home().join("base"), scene.home());
    let refused = |base: &Path, place: &Path| {
        let error = OverlayMount::mount_ambient(base, place).unwrap_err();
        (error.kind(), error.to_string())
    };
    // A mounted workspace cannot hold the changes of another.
    let (kind, text) = refused(&base, &scene.root().join("place"));
    assert_eq!(kind, ErrorKind::Unsupported);
    assert!(text.contains("OverlayFS, which cannot hold"), "{text}");
    assert_eq!(refused(&home.join("nothing"), &home.join("p")).0, ErrorKind::NotFound);
    assert_eq!(refused(&base, &home).0, ErrorKind::AlreadyExists);
    fs::create_dir(home.join("base 2")).unwrap();
    assert_eq!(refused(&home.join("base 2"), &home.join("place")).0, ErrorKind::AlreadyExists);
    let (other, root) = (home.join("other"), home.join("other/root"));
    drop(OverlayMount::mount_ambient(&base, &other).unwrap());
    crate::common::disk::run("mount", ["-t", "tmpfs", "tmpfs", root.to_str().unwrap()]);
    assert_eq!(refused(&base, &other).0, ErrorKind::AlreadyExists, "a mount of the user");
    crate::common::disk::run("umount", [&root]);
    drop(mount_when_free(&base, &other));
    for place in ["base 2", "base 2/p"] {
        assert_eq!(refused(&home.join("base 2"), &home.join(place)).0, ErrorKind::InvalidArgument);
    }
    assert!(fs::read_dir(home.join("base 2")).unwrap().next().is_none(), "nothing was made");
}

#[test]
#[ignore = "needs root"]
fn a_user_who_may_not_mount_gets_the_reason() {
    let scene = over_planted();
    for way in [&["--user", "--map-root-user", "--mount"][..], &["--mount"]] {
        let mut command = Command::new("unshare");
        command.args(way);
        if way.len() == 1 {
            command.args(["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"]);
        }
        command.args([env!("CARGO_BIN_EXE_crash_child"), "mount-overlay"]).arg(scene.home());
        let done = command.output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(said.contains("unsupported") && said.contains("administrator"), "{way:?}: {said}");
    }
}

#[test]
#[ignore = "needs root"]
fn a_base_that_changed_is_corrupt_and_no_wrong_byte_is_loaded() {
    let mut scene = over_planted();
    put(&mut scene.files, b"own", noise(1000, 7));
    let saved = scene.save();
    let base = scene.home().join("base");
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 3] = [
        ("changed", |file| fs::write(file, "other").unwrap()),
        ("replaced by a directory", |file| {
            fs::remove_file(file).unwrap();
            fs::create_dir(file).unwrap();
        }),
        ("gone", |file| fs::remove_dir(file).unwrap()),
    ];
    for (what, damage) in damages {
        damage(&base.join("README.md"));
        let store = scene.reopened();
        let loaded = store.load(&saved.id).unwrap();
        assert_eq!(loaded.open(&path(b"README.md")).unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(loaded.open(&path(b"own")).unwrap().read_all().unwrap(), noise(1000, 7));
        let found = store.verify(&VerifyOptions::default().data(true)).unwrap();
        assert_eq!(found.problems.len(), 1, "{what}");
        for store in [&scene.store, &store] {
            let error = store.save(&scene.files, &new()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}");
            assert!(error.to_string().contains("base under the workspace"), "{error}");
        }
        assert_eq!(store.list().unwrap().len(), 1);
    }
    fs::write(base.join("README.md"), "# One of everything\n").unwrap();
    assert_eq!(scene.verify().problems, [], "the base is as it was");
    scene.store.save(&scene.files, &new()).unwrap();
    fs::rename(&base, scene.home().join("away")).unwrap();
    let error = scene.reopened().load(&saved.id).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
}

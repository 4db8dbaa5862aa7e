//! A process that swaps a directory for a link to the outside, against every operation.
//!
//! "Resolve, check the prefix, open" loses this race hundreds of times in the number of tries made
//! here; by handle it must not be lost once.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::common::again;
use rustix::fs::{CWD, RenameFlags};
use tempfile::TempDir;
use wink_fs::{
    Content, FileMode, HostBackend, HostOptions, PutOptions, ReadOptions, Result, Workspace,
    WriteMode, WriteOptions,
};

const SECRET: &str = "the content of a file outside, which no call may see or change";

/// Names the directory in which this program, started again, swaps.
const SWAP_IN: &str = "WINK_SWAP_IN";

fn tries() -> usize {
    if std::env::var_os("WINK_LONG_TESTS").is_some() { 1_000_000 } else { 18_000 }
}

#[test]
fn no_operation_escapes_through_the_kernels_resolution() {
    if let Some(directory) = std::env::var_os(SWAP_IN) {
        return swap_until_killed(Path::new(&directory));
    }
    let options = HostOptions::default();
    race(&options, "no_operation_escapes_through_the_kernels_resolution");
}

#[test]
fn no_operation_escapes_through_the_component_walk() {
    if let Some(directory) = std::env::var_os(SWAP_IN) {
        return swap_until_killed(Path::new(&directory));
    }
    let options = HostOptions::default().component_walk(true);
    race(&options, "no_operation_escapes_through_the_component_walk");
}

fn race(options: &HostOptions, test: &str) {
    let scene = Scene::new();
    let backend = HostBackend::open_ambient_with(scene.path("root"), options).unwrap();
    let files = Workspace::builder(backend).build();
    let before = picture(&scene.path("outside"));
    let swapper = Swapper::start(&scene, test);
    let mut tally = Tally::new();
    attack(&files, tries(), &mut tally);
    // On a busy machine the two processes seldom run at the same time.
    let began = Instant::now();
    let is_raced = |tally: &Tally| tally.values().all(|(done, refused)| *done > 0 && *refused > 0);
    while !is_raced(&tally) && began.elapsed() < Duration::from_secs(60) {
        attack(&files, tries() / 10, &mut tally);
    }
    drop(swapper);
    assert_eq!(picture(&scene.path("outside")), before, "something outside changed");
    for (operation, (done, refused)) in tally {
        assert!(done > 0 && refused > 0, "{operation}: no race; {done} done, {refused} refused");
    }
}

/// `root/swap` is a directory that changes places with a link to `outside`.
struct Scene(TempDir);

impl Scene {
    fn new() -> Self {
        let scene = Self(tempfile::tempdir().unwrap());
        for directory in ["root/swap/sub", "outside/sub"] {
            std::fs::create_dir_all(scene.path(directory)).unwrap();
        }
        for (file, content) in [
            ("root/swap/file", "inside"),
            ("root/swap/sub/file", "inside"),
            ("outside/file", SECRET),
            ("outside/sub/file", SECRET),
            ("outside/only-outside", SECRET),
        ] {
            std::fs::write(scene.path(file), content).unwrap();
        }
        std::os::unix::fs::symlink(scene.path("outside"), scene.path("link")).unwrap();
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// The racing process, ended with this value.
struct Swapper(Child);

impl Swapper {
    fn start(scene: &Scene, test: &str) -> Self {
        let [program, arguments @ ..] = again::only(module_path!(), test);
        let child = Command::new(program)
            .args(arguments)
            .env(SWAP_IN, scene.0.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn swap_until_killed(scene: &Path) {
    let (swap, link) = (scene.join("root/swap"), scene.join("link"));
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(3600) {
        rustix::fs::renameat_with(CWD, &swap, CWD, &link, RenameFlags::EXCHANGE).unwrap();
        // Without a pause the looks that find the directory are rare, and so are the races.
        pause(u64::from(started.elapsed().subsec_nanos()) % 20_000);
    }
}

fn pause(nanoseconds: u64) {
    let started = Instant::now();
    while started.elapsed() < Duration::from_nanos(nanoseconds) {
        std::hint::spin_loop();
    }
}

/// How often each operation was done and refused.
type Tally = BTreeMap<&'static str, (usize, usize)>;

type Attack = fn(&Workspace, &str) -> Result<()>;

const ATTACKS: [(&str, Attack); 18] = [
    ("read", |files, _| check_text(&files.read("swap/file")?.content)),
    ("read below", |files, _| check_text(&files.read("swap/sub/file")?.content)),
    ("read_bytes", |files, _| {
        let page = files.read_bytes_with("swap/file", &ReadOptions::default().hash(true))?;
        check_text(std::str::from_utf8(&page.content).unwrap())
    }),
    ("open", |files, _| check_content(&files.open("swap/file")?)),
    ("stat", |files, _| {
        assert_ne!(files.stat("swap/file")?.size_bytes, SECRET.len() as u64);
        Ok(())
    }),
    ("content_hash", |files, _| {
        let secret = wink_fs::ContentHash::of(SECRET.as_bytes());
        assert_ne!(files.content_hash("swap/file")?, secret);
        Ok(())
    }),
    ("list", |files, _| {
        assert!(files.list("swap")?.iter().all(|entry| entry.name != "only-outside"));
        Ok(())
    }),
    ("write", |files, _| files.write("swap/file", "inside").map(drop)),
    ("write with parents", |files, new| files.write(&format!("swap/{new}/a/b"), "").map(drop)),
    ("append", |files, _| {
        let append = WriteOptions::default().mode(WriteMode::Append);
        files.write_with("swap/log", "x", &append)?;
        files.delete("swap/log").map(drop)
    }),
    ("write expecting", |files, _| {
        let expected = files.content_hash("swap/sub/file")?;
        let options = WriteOptions::default().expected(expected);
        files.write_with("swap/sub/file", "inside", &options).map(drop)
    }),
    ("stage and put", |files, new| {
        let mut staged = files.stage()?.finish().unwrap();
        files.put(&format!("swap/{new}"), &mut staged, &PutOptions::default()).map(drop)
    }),
    ("delete", |files, _| {
        files.write("swap/gone", "")?;
        files.delete("swap/gone").map(drop)
    }),
    ("delete_all", |files, new| {
        files.write(&format!("swap/{new}/a/b"), "")?;
        files.delete_all(&format!("swap/{new}")).map(drop)
    }),
    ("mkdir", |files, new| files.mkdir(&format!("swap/{new}")).map(drop)),
    ("symlink and set_mode", |files, new| {
        files.symlink(&format!("swap/{new}"), b"target")?;
        files.set_mode("swap/file", FileMode::default().executable(true))
    }),
    ("rename", |files, new| {
        files.write(new, "inside")?;
        files.rename(new, &format!("swap/{new}"))?;
        files.rename(&format!("swap/{new}"), new)
    }),
    ("copy", |files, new| {
        files.copy("swap/sub", new)?;
        let copied = files.read(&format!("{new}/file"))?.content;
        files.copy(new, &format!("swap/{new}"))?;
        check_text(&copied)
    }),
];

fn check_text(text: &str) -> Result<()> {
    assert!(!text.contains(SECRET), "the secret was read");
    Ok(())
}

fn check_content(content: &Content) -> Result<()> {
    check_text(std::str::from_utf8(&content.read_all().unwrap()).unwrap())
}

fn attack(files: &Workspace, tries: usize, tally: &mut Tally) {
    for number in 0..tries {
        let (name, attack) = ATTACKS[number % ATTACKS.len()];
        // Few names, so that the directories stay small whatever the number of tries.
        let new = format!("new-{}", number % 97);
        let counts = tally.entry(name).or_default();
        match attack(files, &new) {
            Ok(()) => counts.0 += 1,
            Err(_) => counts.1 += 1,
        }
        let _ = files.delete_all(&new);
        let _ = files.delete_all(&format!("swap/{new}"));
    }
}

/// Everything of a directory that an escape could change.
fn picture(directory: &Path) -> BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        let metadata = std::fs::symlink_metadata(&entry).unwrap();
        let content = if metadata.is_file() { std::fs::read(&entry).unwrap() } else { Vec::new() };
        if metadata.is_dir() {
            found.extend(picture(&entry));
        }
        let facts = (metadata.mode(), metadata.mtime(), metadata.mtime_nsec(), content);
        found.insert(entry, facts);
    }
    found
}

//! Two clients of one workspace, and a process outside that changes files between their calls.
//!
//! Every answer is true: what undo and redo say is back is back, what they say they left alone is as it was, and
//! all that is not back is named. And no content is lost that anyone was told is written, unless the process
//! outside replaced it itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestError};
use tempfile::TempDir;
use wink_fs::{
    Error, ErrorKind, Filesystem, Kind, MoveOptions, Operation, OperationRecord, Recursion, Result,
    Retention, SnapshotId, SnapshotOptions, SnapshotStore as _, Store, Tree, TreePath, Undone,
    Workspace, WriteOptions, ops,
};

/// Steps of one sequence on average.
const SEQUENCE: usize = 14;

const PATHS: [&str; 7] = ["a", "b", "d", "d/a", "d/b", "d/e/a", "m"];

type Nth = usize;

/// What a client does; contents are made when it is done, so that there is only one of each.
#[derive(Clone, Debug)]
enum Act {
    Write(Nth),
    WriteSeveral(Vec<Nth>),
    /// Writes several files, and fails.
    Fail(Vec<Nth>),
    Delete(Nth),
    Rename(Nth, Nth),
    Copy(Nth, Nth),
    Mkdir(Nth),
    Link(Nth),
}

/// What the process outside does.
#[derive(Clone, Debug)]
enum OutsideChange {
    SaveInPlace(Nth),
    SaveByRename(Nth),
    Delete(Nth),
    Mkdir(Nth),
    Link(Nth),
}

#[derive(Clone, Debug)]
enum Step {
    /// One of the two clients does something.
    Act(bool, Act),
    Undo(bool),
    Redo(bool),
    Snapshot(bool),
    Restore(bool, Nth),
    Outside(OutsideChange),
}

fn any_step() -> impl Strategy<Value = Step> {
    let nth = || 0..PATHS.len();
    let act = prop_oneof![
        4 => nth().prop_map(Act::Write),
        4 => vec(nth(), 2..4).prop_map(Act::WriteSeveral),
        1 => vec(nth(), 2..4).prop_map(Act::Fail),
        2 => nth().prop_map(Act::Delete),
        3 => (nth(), nth()).prop_map(|(from, to)| Act::Rename(from, to)),
        1 => (nth(), nth()).prop_map(|(from, to)| Act::Copy(from, to)),
        1 => nth().prop_map(Act::Mkdir),
        1 => nth().prop_map(Act::Link),
    ];
    let outside = prop_oneof![
        4 => nth().prop_map(OutsideChange::SaveInPlace),
        3 => nth().prop_map(OutsideChange::SaveByRename),
        2 => nth().prop_map(OutsideChange::Delete),
        1 => nth().prop_map(OutsideChange::Mkdir),
        1 => nth().prop_map(OutsideChange::Link),
    ];
    prop_oneof![
        10 => (any::<bool>(), act).prop_map(|(client, act)| Step::Act(client, act)),
        6 => any::<bool>().prop_map(Step::Undo),
        4 => any::<bool>().prop_map(Step::Redo),
        1 => any::<bool>().prop_map(Step::Snapshot),
        1 => (any::<bool>(), 0..4_usize).prop_map(|(client, nth)| Step::Restore(client, nth)),
        6 => outside.prop_map(Step::Outside),
    ]
}

// --- what is there -------------------------------------------------------------------------------

#[derive(Clone, PartialEq, Eq, Debug)]
enum Node {
    Directory,
    File(String),
    Link(String),
}

/// All entries below the root.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Picture(BTreeMap<PathBuf, Node>);

impl Picture {
    fn of(root: &Path) -> Self {
        let mut picture = Self::default();
        picture.collect(root, Path::new(""));
        picture
    }

    fn collect(&mut self, root: &Path, directory: &Path) {
        for entry in fs::read_dir(root.join(directory)).unwrap().map(|entry| entry.unwrap()) {
            let path = directory.join(entry.file_name());
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                self.collect(root, &path);
                self.0.insert(path, Node::Directory);
            } else if kind.is_symlink() {
                let target = fs::read_link(entry.path()).unwrap();
                self.0.insert(path, Node::Link(target.to_str().unwrap().to_owned()));
            } else {
                let content = fs::read_to_string(entry.path()).unwrap();
                self.0.insert(path, Node::File(content));
            }
        }
    }

    /// Returns the paths at which two pictures differ.
    fn differences(&self, other: &Self) -> BTreeSet<PathBuf> {
        let paths = self.0.keys().chain(other.0.keys());
        paths.filter(|path| self.0.get(*path) != other.0.get(*path)).cloned().collect()
    }

    /// Returns the contents of the files and links at a path and below it.
    fn contents(&self, at: &Path) -> impl Iterator<Item = String> {
        let inside = self.0.iter().filter(move |(path, _)| path.starts_with(at));
        inside.filter_map(|(_, node)| match node {
            Node::File(content) | Node::Link(content) => Some(content.clone()),
            Node::Directory => None,
        })
    }
}

/// Returns whether a path is named by an answer: itself, what it is in, or something in it.
fn is_named(path: &Path, answer: &[PathBuf]) -> bool {
    answer.iter().any(|named| path.starts_with(named) || named.starts_with(path))
}

fn is_in(path: &Path, answer: &[PathBuf]) -> bool {
    answer.iter().any(|named| path.starts_with(named))
}

fn as_paths(paths: &[TreePath]) -> Vec<PathBuf> {
    paths.iter().map(|path| PathBuf::from(path.to_string())).collect()
}

// --- what is done --------------------------------------------------------------------------------

/// What went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Wrong {
    /// An answer was not true.
    Undo(String),
    Redo(String),
    /// A call changed what it had no business with, or failed for no reason of its own.
    Call(String),
    Lost(String),
}

/// An operation, and what was there before and after it.
struct Done {
    before: Picture,
    after: Picture,
}

struct Scene {
    place: TempDir,
    clients: [Workspace; 2],
    operations: BTreeMap<u64, Done>,
    snapshots: Vec<(SnapshotId, Picture)>,
    contents: usize,
    written: BTreeSet<String>,
    /// What the process outside replaced or deleted.
    superseded: BTreeSet<String>,
    wrong: Vec<Wrong>,
}

impl Scene {
    fn new() -> Self {
        // In memory, because every restore syncs.
        let place = tempfile::tempdir_in("/dev/shm").unwrap();
        fs::create_dir(place.path().join("root")).unwrap();
        drop(Store::create_ambient(place.path().join("store")).unwrap());
        let clients = [open(place.path()), open(place.path())];
        Self {
            place,
            clients,
            operations: BTreeMap::new(),
            snapshots: Vec::new(),
            contents: 0,
            written: BTreeSet::new(),
            superseded: BTreeSet::new(),
            wrong: Vec::new(),
        }
    }

    fn root(&self) -> PathBuf {
        self.place.path().join("root")
    }

    fn picture(&self) -> Picture {
        Picture::of(&self.root())
    }

    fn client(&self, second: bool) -> Workspace {
        self.clients[usize::from(second)].clone()
    }

    fn new_content(&mut self) -> String {
        self.contents += 1;
        format!("<content {:04}>", self.contents)
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Act(client, act) => self.act(&self.client(*client), act),
            Step::Undo(client) => self.undo(&self.client(*client)),
            Step::Redo(client) => self.redo(&self.client(*client)),
            Step::Snapshot(client) => {
                let taken = self.client(*client).snapshot_with(&SnapshotOptions::default());
                match taken {
                    Ok(taken) => self.snapshots.push((taken.id, self.picture())),
                    Err(error) => self.wrong.push(Wrong::Call(format!("snapshot: {error}"))),
                }
            }
            Step::Restore(client, nth) => self.restore(&self.client(*client), *nth),
            Step::Outside(change) => self.change_outside(change),
        }
    }

    /// Remembers an operation that a call made.
    fn remember(&mut self, before: Picture, after: Picture) {
        let operations = self.clients[0].operations().unwrap();
        if let Some(last) = operations.last().filter(|_| before != after) {
            self.operations.insert(last.sequence, Done { before, after });
        }
    }

    fn act(&mut self, client: &Workspace, act: &Act) {
        let before = self.picture();
        let contents: Vec<String> = (0..4).map(|_| self.new_content()).collect();
        let done = client.as_owner("act", |fs| run(fs, act, &contents));
        let after = self.picture();
        match done {
            Ok(written) => {
                let is_there =
                    |content: &&String| after.contents(Path::new("")).any(|it| it == **content);
                if let Some(missing) = written.iter().find(|it| !is_there(it)) {
                    self.wrong.push(Wrong::Call(format!("{act:?} did not write {missing}")));
                }
                self.written.extend(written);
                self.remember(before, after);
            }
            Err(error) if before != after => {
                let changed = before.differences(&after);
                self.wrong.push(Wrong::Call(format!(
                    "{act:?} failed ({error}), and changed {changed:?}"
                )));
            }
            Err(_) => {}
        }
    }

    fn undo(&mut self, client: &Workspace) {
        let before = self.picture();
        let undone = client.undo();
        let after = self.picture();
        let said = self.check_step(&undone, &before, &after, |done| (&done.after, &done.before));
        self.wrong.extend(said.into_iter().map(|it| Wrong::Undo(format!("undo {it}"))));
        if undone.is_err_and(|error| error.kind() == ErrorKind::Conflict) {
            let _ = client.pass_over();
        }
    }

    fn redo(&mut self, client: &Workspace) {
        let before = self.picture();
        let redone = client.redo();
        let after = self.picture();
        let said = self.check_step(&redone, &before, &after, |done| (&done.before, &done.after));
        self.wrong.extend(said.into_iter().map(|it| Wrong::Redo(format!("redo {it}"))));
    }

    /// Compares what an undo or a redo says with what it did.
    fn check_step(
        &self,
        said: &Result<Undone>,
        was: &Picture,
        is: &Picture,
        way: fn(&Done) -> (&Picture, &Picture),
    ) -> Option<String> {
        let undone = match said {
            Ok(undone) => undone,
            Err(error) if !matches!(error.kind(), ErrorKind::Conflict | ErrorKind::NotFound) => {
                return Some(format!("failed: {error}"));
            }
            Err(error) => {
                let changed = was.differences(is);
                return (!changed.is_empty())
                    .then(|| format!("failed ({error}), and changed {changed:?}"));
            }
        };
        let done = self.operations.get(&undone.operation.sequence)?;
        let (from, to) = way(done);
        let back = as_paths(&undone.paths);
        let left_alone = as_paths(&undone.conflicts);
        let answer = format!("(back: {back:?}, left alone: {left_alone:?})");
        for path in was.differences(is) {
            if !is_named(&path, &back) {
                return Some(format!("changed {path:?}, which it does not name {answer}"));
            }
            if is_in(&path, &left_alone) {
                return Some(format!("changed {path:?}, which it says it left alone {answer}"));
            }
        }
        let not_there = is.differences(to).into_iter().filter(|path| {
            let is_of_operation = from.0.get(path) != to.0.get(path);
            (is_of_operation || is_in(path, &back)) && !is_named(path, &left_alone)
        });
        let not_there: Vec<PathBuf> = not_there.collect();
        let first = not_there.first()?;
        let (found, expected) = (is.0.get(first), to.0.get(first));
        Some(format!("did not say that {first:?} is {found:?}, not {expected:?} {answer}"))
    }

    fn restore(&mut self, client: &Workspace, nth: Nth) {
        let Some((id, picture)) = self.snapshots.get(nth).cloned() else { return };
        let before = self.picture();
        let restored = client.restore(id);
        let after = self.picture();
        match restored {
            Ok(_) if after == picture => self.remember(before, after),
            Ok(_) => {
                let differences = after.differences(&picture);
                self.wrong.push(Wrong::Call(format!("restore left {differences:?}")));
            }
            Err(error) => self.wrong.push(Wrong::Call(format!("restore: {error}"))),
        }
    }

    fn change_outside(&mut self, change: &OutsideChange) {
        let content = self.new_content();
        let picture = self.picture();
        let root = self.root();
        let (OutsideChange::SaveInPlace(nth)
        | OutsideChange::SaveByRename(nth)
        | OutsideChange::Delete(nth)
        | OutsideChange::Mkdir(nth)
        | OutsideChange::Link(nth)) = change;
        let name = Path::new(PATHS[*nth]);
        let path = root.join(name);
        // What is no directory is not written into.
        let parents = name.ancestors().skip(1);
        let is_in_the_way =
            |it: &Path| picture.0.get(it).is_some_and(|node| *node != Node::Directory);
        if parents.into_iter().any(is_in_the_way) {
            return;
        }
        let old: Vec<String> = picture.contents(name).collect();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match change {
            OutsideChange::SaveInPlace(_) => {
                if !matches!(picture.0.get(name), None | Some(Node::File(_))) {
                    return;
                }
                fs::write(&path, &content).unwrap();
                self.written.insert(content);
            }
            OutsideChange::SaveByRename(_) => {
                remove(&path);
                let temporary = self.place.path().join("temporary");
                fs::write(&temporary, &content).unwrap();
                fs::rename(temporary, &path).unwrap();
                self.written.insert(content);
            }
            OutsideChange::Delete(_) => remove(&path),
            OutsideChange::Mkdir(_) => {
                if picture.0.contains_key(name) {
                    return;
                }
                fs::create_dir(&path).unwrap();
            }
            OutsideChange::Link(_) => {
                remove(&path);
                symlink(&content, &path).unwrap();
                self.written.insert(content);
            }
        }
        self.superseded.extend(old);
    }

    /// Checks that all contents can be found that were written and not superseded.
    fn check_kept(&mut self) {
        let mut wanted: BTreeSet<String> =
            self.written.difference(&self.superseded).cloned().collect();
        let mut found = Vec::new();
        collect_raw(&self.root(), &mut found);
        collect_raw(&self.place.path().join("store/operations"), &mut found);
        let store = Store::open_ambient(self.place.path().join("store")).unwrap();
        for snapshot in store.list().unwrap() {
            collect_tree(&*store.load(&snapshot.id).unwrap(), &TreePath::root(), &mut found);
        }
        wanted.retain(|content| !found.contains(content));
        self.wrong.extend(wanted.into_iter().map(Wrong::Lost));
    }
}

fn open(place: &Path) -> Workspace {
    let store = Store::open_ambient(place.join("store")).unwrap();
    let files = Workspace::host_builder(place.join("root"), store).unwrap();
    let retention = Retention::everything().max_safety(OperationRecord::MOST_KEPT);
    files.retention(retention).build()
}

/// Does what a client does; returns the contents that it wrote.
fn run(fs: &mut dyn Filesystem, act: &Act, contents: &[String]) -> Result<Vec<String>> {
    let at = |nth: &Nth| TreePath::parse(PATHS[*nth]);
    let options = WriteOptions::default();
    let replace = MoveOptions::default().replace(true);
    match act {
        Act::Write(nth) => {
            ops::write(fs, &at(nth)?, &contents[0], &options)?;
            return Ok(vec![contents[0].clone()]);
        }
        Act::WriteSeveral(several) | Act::Fail(several) => {
            let several: BTreeSet<&Nth> = several.iter().collect();
            let mut written = Vec::new();
            for (nth, content) in several.into_iter().zip(contents) {
                ops::write(fs, &at(nth)?, content, &options)?;
                written.push(content.clone());
            }
            if matches!(act, Act::Fail(_)) {
                return Err(Error::new(Operation::Write, ErrorKind::TooLarge));
            }
            return Ok(written);
        }
        Act::Delete(nth) => drop(fs.remove(&at(nth)?, Recursion::Recursive)?),
        Act::Rename(from, to) => ops::rename(fs, &at(from)?, &at(to)?, &replace)?,
        Act::Copy(from, to) => drop(ops::copy(fs, &at(from)?, &at(to)?, &replace)?),
        Act::Mkdir(nth) => drop(ops::mkdir(fs, &at(nth)?, &Default::default())?),
        Act::Link(nth) => {
            fs.symlink(&at(nth)?, contents[0].as_bytes())?;
            return Ok(vec![contents[0].clone()]);
        }
    }
    Ok(Vec::new())
}

fn remove(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

/// Collects the contents of files and the targets of links below a directory.
fn collect_raw(directory: &Path, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let kind = entry.file_type().unwrap();
        let content = if kind.is_dir() {
            collect_raw(&entry.path(), found);
            continue;
        } else if kind.is_symlink() {
            fs::read_link(entry.path()).unwrap().into_os_string().into_encoded_bytes()
        } else {
            fs::read(entry.path()).unwrap()
        };
        found.extend(String::from_utf8(content));
    }
}

fn collect_tree(tree: &dyn Tree, directory: &TreePath, found: &mut Vec<String>) {
    for entry in tree.list(directory).unwrap() {
        let path = directory.join(&entry.name).unwrap();
        let content = match entry.kind {
            Kind::Directory => {
                collect_tree(tree, &path, found);
                continue;
            }
            Kind::Symlink => tree.read_link(&path).unwrap(),
            _ => tree.open(&path).unwrap().read_all().unwrap().to_vec(),
        };
        found.extend(String::from_utf8(content));
    }
}

// --- the check -----------------------------------------------------------------------------------

/// Takes all steps; returns the first thing of a kind that went wrong.
fn take_all(steps: &[Step], is_of_kind: fn(&Wrong) -> bool) -> Option<String> {
    let mut scene = Scene::new();
    for (nth, step) in steps.iter().enumerate() {
        scene.take(step);
        if let Some(wrong) = scene.wrong.iter().find(|it| is_of_kind(it)) {
            return Some(format!("at step {nth}: {wrong:?}"));
        }
    }
    scene.check_kept();
    scene.wrong.iter().find(|it| is_of_kind(it)).map(|wrong| format!("at the end: {wrong:?}"))
}

fn check(is_of_kind: fn(&Wrong) -> bool) {
    let cases = if crate::model::is_long() { 2000 } else { 200 };
    let config = Config { cases, max_shrink_time: 3000, ..Config::default() };
    let steps = vec(any_step(), 0..2 * SEQUENCE);
    let checked = crate::model::runner_with(config).run(&steps, |steps| {
        take_all(&steps, is_of_kind).map_or(Ok(()), |why| Err(TestCaseError::fail(why)))
    });
    match checked {
        Err(TestError::Fail(why, steps)) => panic!("{why}\nby:\n{steps:#?}"),
        Err(error) => panic!("{error}"),
        Ok(()) => {}
    }
}

#[test]
fn what_an_undo_says_is_true_whatever_was_changed_outside() {
    check(|wrong| matches!(wrong, Wrong::Undo(_)));
}

#[test]
fn what_a_redo_says_is_true_whatever_was_changed_outside() {
    check(|wrong| matches!(wrong, Wrong::Redo(_)));
}

#[test]
fn a_call_changes_what_it_says_whatever_was_changed_outside() {
    check(|wrong| matches!(wrong, Wrong::Call(_)));
}

#[test]
fn no_content_is_lost_whatever_was_changed_outside() {
    check(|wrong| matches!(wrong, Wrong::Lost(_)));
}

/// What was left alone once is left alone, and named, each time.
#[test]
fn an_operation_that_was_partly_undone_names_what_was_left_alone_each_time() {
    let mut scene = Scene::new();
    let root = scene.root();
    scene.take(&Step::Act(false, Act::WriteSeveral(vec![0, 1])));
    fs::write(root.join("b"), "by another process").unwrap();
    let files = scene.client(true);
    let conflicts = |undone: Undone| as_paths(&undone.conflicts);
    let b = [PathBuf::from("b")];
    for _ in 0..3 {
        assert_eq!(conflicts(files.undo().unwrap()), b, "an undo leaves `b` alone, and says so");
        assert!(!root.join("a").exists());
        assert_eq!(conflicts(files.redo().unwrap()), b, "a redo leaves `b` alone, and says so");
        assert!(root.join("a").exists());
        assert_eq!(fs::read_to_string(root.join("b")).unwrap(), "by another process");
    }
}

//! Replacing all files.

use std::sync::Arc;

use super::support::*;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::replace_plan::ReplacePlan;
use crate::filesystem::{Backend, Filesystem, Replaced};
use crate::hash::ContentHash;
use crate::memory::MemoryBackend;
use crate::path::TreePath;
use crate::testkit::dump;
use crate::tree::content::{Content, ReadAt};
use crate::tree::hash::{TreeHash, tree_hash};
use crate::tree::scope::{Exclusions, Scope};
use crate::tree::{Entry, FileMode, Kind, Stat, Tree};

/// A tree with something of every kind.
fn varied() -> MemoryBackend {
    let mut target = MemoryBackend::new();
    make(&mut target, "file", "new content");
    make(&mut target, "same", "same");
    make(&mut target, "d/e/deep", "x".repeat(300_000));
    make(&mut target, "was-directory", "a file now");
    make(&mut target, "was-file/inside", "a directory now");
    make_dir(&mut target, "empty/empty");
    make_link(&mut target, "link", "anywhere");
    make_at(&mut target, &disk(b"caf\xe9\n"), "odd");
    let mode = FileMode::default().executable(true).private(true);
    target.set_mode(&at("file"), mode).unwrap();
    target
}

fn occupied(fs: &mut dyn Backend) {
    make(fs, "file", "old content");
    make(fs, "same", "same");
    make(fs, "d/e/gone", "");
    make(fs, "was-directory/a/b", "");
    make(fs, "was-file", "");
    make_link(fs, "link", "elsewhere");
    make_link(fs, "gone", "elsewhere");
}

pub(super) fn an_empty_backend_becomes_any_tree(fs: &mut dyn Backend) {
    let target = varied();
    let replaced = fs.replace(&target, &Scope::everything()).unwrap();
    assert_eq!(dump(fs).unwrap(), dump(&target).unwrap());
    assert_eq!((replaced.written, replaced.removed, replaced.unchanged), (7, 0, 0));
}

pub(super) fn what_is_there_gives_way_to_the_other_tree(fs: &mut dyn Backend) {
    occupied(fs);
    let target = varied();
    let live = fs.live();
    let replaced = fs.replace(&target, &Scope::everything()).unwrap();
    assert_eq!(dump(fs).unwrap(), dump(&target).unwrap());
    assert_eq!(dump(&*live).unwrap(), dump(&target).unwrap());
    assert_eq!((replaced.written, replaced.removed, replaced.unchanged), (6, 2, 1));
}

pub(super) fn a_replacement_by_the_same_tree_changes_nothing(fs: &mut dyn Backend) {
    fs.replace(&varied(), &Scope::everything()).unwrap();
    let before = fs.stat(&at("d/e/deep")).unwrap();
    let replaced = fs.replace(&varied(), &Scope::everything()).unwrap();
    assert_eq!(replaced, Replaced { unchanged: 7, ..Replaced::default() });
    assert_eq!(fs.stat(&at("d/e/deep")).unwrap(), before);
}

pub(super) fn an_empty_tree_takes_everything_away(fs: &mut dyn Backend) {
    occupied(fs);
    fs.replace(&MemoryBackend::new(), &Scope::everything()).unwrap();
    assert_eq!(dump(fs).unwrap(), dump(&MemoryBackend::new()).unwrap());
}

pub(super) fn a_replacement_can_be_taken_back(fs: &mut dyn Backend) {
    occupied(fs);
    let mut before = MemoryBackend::new();
    before.replace(&*fs.live(), &Scope::everything()).unwrap();
    fs.replace(&varied(), &Scope::everything()).unwrap();
    fs.replace(&before, &Scope::everything()).unwrap();
    assert_eq!(dump(fs).unwrap(), dump(&before).unwrap());
}

/// A tree with an unreadable file, or a special one.
struct Broken {
    inner: MemoryBackend,
    special: bool,
}

struct Unreadable;

impl ReadAt for Unreadable {
    fn read_at(&self, _: &mut [u8], _: u64) -> std::io::Result<usize> {
        Err(std::io::Error::other("made to fail"))
    }
}

impl Tree for Broken {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        self.inner.stat(path)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        let mut entries = self.inner.list(path)?;
        let last = entries.iter_mut().rfind(|entry| entry.kind == Kind::File);
        if let Some(entry) = last.filter(|_| self.special) {
            entry.kind = Kind::Other;
        }
        Ok(entries)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        match self.inner.open(path)? {
            content if content.len() < 100 => Ok(content),
            content => Ok(Content::positional(Arc::new(Unreadable), content.len())),
        }
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        self.inner.read_link(path)
    }

    fn known_hash(&self, _: &TreePath) -> Option<ContentHash> {
        None
    }

    fn known_tree_hash(&self, _: &TreePath) -> Option<TreeHash> {
        None
    }
}

pub(super) fn a_target_that_cannot_be_read_changes_nothing(fs: &mut dyn Backend) {
    occupied(fs);
    let before = dump(fs).unwrap();
    let error: Error =
        fs.replace(&Broken { inner: varied(), special: false }, &Scope::everything()).unwrap_err();
    assert_eq!((error.kind(), error.operation()), (ErrorKind::Io, Operation::Replace));
    assert_eq!(error.path(), Some("d/e/deep"));
    assert_eq!(dump(fs).unwrap(), before);
}

pub(super) fn a_special_file_in_the_target_changes_nothing(fs: &mut dyn Backend) {
    occupied(fs);
    let before = dump(fs).unwrap();
    let error =
        fs.replace(&Broken { inner: varied(), special: true }, &Scope::everything()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SpecialFile);
    assert_eq!(dump(fs).unwrap(), before);
}

pub(super) fn a_plan_is_refused_when_it_is_checked_as_when_it_is_done(fs: &mut dyn Backend) {
    make(fs, "d/kept", "");
    make(fs, "parent", "a file");
    let excluded = Exclusions::parse(["kept"]).unwrap();
    let mut target = MemoryBackend::new();
    make(&mut target, "d", "a file now");
    make(&mut target, "parent/inside", "");
    let starts = [("d", ErrorKind::Conflict), ("parent/inside", ErrorKind::NotADirectory)];
    for (start, kind) in starts {
        let scope = Scope::paths([at(start)]).excluding(excluded.clone());
        let plan = ReplacePlan::new(fs.capture(&excluded).unwrap(), &target, &scope).unwrap();
        let before = dump(fs).unwrap();
        let checked = fs.check_replace(&plan).unwrap_err();
        let done = fs.replace_by(&plan, &mut || Ok(None)).unwrap_err();
        assert_eq!((checked.kind(), checked.to_string()), (kind, done.to_string()));
        assert_eq!(dump(fs).unwrap(), before);
    }
    let everything = Scope::everything();
    let capture = fs.capture(&Exclusions::default()).unwrap();
    let plan = ReplacePlan::new(capture, &target, &everything).unwrap();
    let before = dump(fs).unwrap();
    fs.check_replace(&plan).unwrap();
    assert_eq!(dump(fs).unwrap(), before);
}

/// On its own, and in a new directory.
pub(super) fn a_special_file_in_the_target_is_refused_when_it_is_checked(fs: &mut dyn Backend) {
    occupied(fs);
    let target = Broken { inner: varied(), special: true };
    let before = dump(fs).unwrap();
    for start in [None, Some("was-file"), Some("d/e")] {
        let scope = start.map_or_else(Scope::everything, |start| Scope::paths([at(start)]));
        let capture = fs.capture(&Exclusions::default()).unwrap();
        let plan = ReplacePlan::new(capture, &target, &scope).unwrap();
        let checked = fs.check_replace(&plan).unwrap_err();
        let done = fs.replace_by(&plan, &mut || Ok(None)).unwrap_err();
        assert_eq!((checked.kind(), done.kind()), (ErrorKind::SpecialFile, ErrorKind::SpecialFile));
        assert_eq!(dump(fs).unwrap(), before);
    }
}

pub(super) fn a_private_directory_in_the_target_becomes_private(fs: &mut dyn Backend) {
    let mut source = MemoryBackend::new();
    make(&mut source, "d/e/file", "content");
    make_dir(&mut source, "empty");
    for directory in ["d", "d/e", "empty"] {
        let target = WithPrivate(&source, directory);
        fs.replace(&MemoryBackend::new(), &Scope::everything()).unwrap();
        fs.replace(&target, &Scope::everything()).unwrap();
        assert!(mode(fs, directory).private);
        assert_eq!(dump(fs).unwrap(), dump(&target).unwrap());
        assert_eq!(tree_hash(fs).unwrap(), tree_hash(&target).unwrap());
        let captured = fs.capture(&Exclusions::default()).unwrap().tree;
        assert_eq!(dump(&*captured).unwrap(), dump(&target).unwrap());
        assert_eq!(tree_hash(&*captured).unwrap(), tree_hash(&target).unwrap());
    }
}

pub(super) fn a_directory_changes_its_mode_and_keeps_its_files(fs: &mut dyn Backend) {
    make(fs, "d/e/file", "content");
    make(fs, "d/other", "");
    let public = fs.capture(&Exclusions::default()).unwrap();
    let mut source = MemoryBackend::new();
    source.replace(&*public.tree, &Scope::everything()).unwrap();
    let private = WithPrivate(&source, "d");
    let replaced = fs.replace(&private, &Scope::everything()).unwrap();
    assert_eq!((replaced.written, replaced.removed, replaced.unchanged), (0, 0, 2));
    assert_eq!(dump(fs).unwrap(), dump(&private).unwrap());
    assert!(!mode(&*public.tree, "d").private);
    make(fs, "d/other", "changed");
    let replaced = fs.replace(&source, &Scope::everything()).unwrap();
    assert_eq!((replaced.written, replaced.removed, replaced.unchanged), (1, 0, 1));
    assert_eq!(dump(fs).unwrap(), dump(&source).unwrap());
}

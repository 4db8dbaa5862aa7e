//! A root with a staging directory beside it, for tests.
#![allow(clippy::disallowed_methods, reason = "plays other programs, and processes that died")]

use std::fs::{self, File};
use std::path::PathBuf;

use rustix::fd::AsFd as _;

use super::journal::Journal;
use super::recover::{Finished, recover};
use super::step::{Move, Mover, Step};
use crate::host::preimage::fingerprint::Fingerprint;
use crate::host::root::Root;
use crate::path::TreePath;

pub(super) struct Scene {
    place: tempfile::TempDir,
    pub(super) root: Root,
    staging: File,
}

impl Scene {
    /// Makes one with files, whose names begin with `root/` or `staging/`.
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        for name in ["root", "staging"] {
            fs::create_dir(path(name)).unwrap();
        }
        for (name, content) in files {
            fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            fs::write(path(name), content).unwrap();
        }
        let root = Root::open_ambient(&path("root"), None).unwrap();
        let staging = File::open(path("staging")).unwrap();
        Self { place, root, staging }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(super) fn mover(&self) -> Mover<'_> {
        Mover { root: &self.root, staging: self.staging.as_fd() }
    }

    /// Makes a step at a path, with `1` in the staging directory.
    pub(super) fn step(&self, what: Move, path: &str) -> Step {
        let path = TreePath::parse(path).unwrap();
        let name = "1".to_owned();
        let (at_path, in_staging) = self.mover().look(&path, &name).unwrap();
        let is_directory = self.path("root").join(path.to_string()).is_dir();
        let inside = is_directory
            .then(|| Fingerprint::of(&self.root, self.root.as_fd(), path.as_bytes()).unwrap());
        Step { what, path, name, at_path, in_staging, inside, content: None }
    }

    pub(super) fn journal(&self, step: Step) -> Journal {
        Journal { root: self.root.identity().unwrap(), steps: vec![step] }
    }

    /// Runs recovery with a journal.
    pub(super) fn recover(&self, journal: &[u8]) -> Option<Finished> {
        recover(&self.root, self.staging.as_fd(), journal)
    }
}

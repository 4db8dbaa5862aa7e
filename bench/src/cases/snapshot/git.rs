//! A shadow repository, driven as tools that make checkpoints drive it.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::keeper::{Keeper, Place, run_all};
use super::listing::{Lister, Listing};
use crate::context::{Context, output_of};

/// What git is told about durability; by its default it syncs neither loose objects nor references.
#[derive(Clone, Copy)]
pub(super) enum Durability {
    Everything,
    Batch,
    Default,
}

impl Durability {
    fn settings(self) -> &'static [&'static str] {
        match self {
            Self::Everything => &["-c", "core.fsync=all", "-c", "core.fsyncMethod=fsync"],
            Self::Batch => &["-c", "core.fsync=all", "-c", "core.fsyncMethod=batch"],
            Self::Default => &[],
        }
    }
}

/// No settings of the user, and no housekeeping in the middle of a measurement.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_AUTHOR_NAME", "bench"),
    ("GIT_AUTHOR_EMAIL", "bench@localhost"),
    ("GIT_COMMITTER_NAME", "bench"),
    ("GIT_COMMITTER_EMAIL", "bench@localhost"),
];
const QUIET: [(&str, &str); 3] =
    [("gc.auto", "0"), ("maintenance.auto", "false"), ("core.autocrlf", "false")];

pub(super) struct Git {
    place: Place,
    durability: Durability,
}

/// Makes the keeper that is as durable as ours.
pub(super) fn durable(_: &Context, place: Place) -> Result<Box<dyn Keeper>> {
    Ok(Box::new(Git::new(place, Durability::Everything)))
}

impl Git {
    pub(super) fn new(place: Place, durability: Durability) -> Self {
        Self { place, durability }
    }

    /// Returns what makes the files those of the newest snapshot.
    pub(super) fn restore(&self) -> Vec<Command> {
        vec![self.git(&["reset", "-q", "--hard", "HEAD"]), self.git(&["clean", "-q", "-xfd"])]
    }

    pub(super) fn tag(&self, name: &str) -> Command {
        self.git(&["tag", name])
    }

    pub(super) fn reset_to(&self, tag: &str) -> Vec<Command> {
        vec![self.git(&["reset", "-q", "--hard", tag])]
    }

    pub(super) fn merge(&self, tag: &str) -> Command {
        self.git(&["merge", "-q", "--no-edit", tag])
    }

    pub(super) fn restore_described(&self) -> String {
        format!("{0} reset -q --hard HEAD && {0} clean -q -xfd", self.prefix())
    }

    /// Packs everything, as its own housekeeping would.
    pub(super) fn collect(&self) -> Result<()> {
        run_all(vec![self.git(&["gc", "--quiet"])])
    }

    fn prefix(&self) -> String {
        let words = ["git"].iter().chain(self.durability.settings());
        let words = words.copied().chain(["--git-dir=STORE", "--work-tree=ROOT"]);
        words.collect::<Vec<_>>().join(" ")
    }

    fn git(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.envs(ENVIRONMENT).current_dir(&self.place.root).args(self.durability.settings());
        command.arg(format!("--git-dir={}", self.place.store.display()));
        command.arg(format!("--work-tree={}", self.place.root.display()));
        command.args(arguments);
        command
    }
}

impl Keeper for Git {
    fn name(&self) -> &'static str {
        "git"
    }

    fn described(&self) -> String {
        format!("{0} add -A && {0} commit -q --allow-empty --no-verify -m snapshot", self.prefix())
    }

    fn prepare(&self) -> Result<()> {
        run_all(vec![self.git(&["init", "-q"])])?;
        run_all(QUIET.map(|(name, value)| self.git(&["config", name, value])).into())
    }

    fn snapshot(&self) -> Vec<Command> {
        let commit = ["commit", "-q", "--allow-empty", "--no-verify", "-m", "snapshot"];
        vec![self.git(&["add", "-A"]), self.git(&commit)]
    }

    fn kept(&self) -> Result<Listing> {
        let differing = output_of(&mut self.git(&["status", "--porcelain"]))?;
        ensure!(differing.is_empty(), "the commit is not of the files that are there");
        let listed = output_of(&mut self.git(&["ls-tree", "-r", "-l", "-z", "HEAD"]))?;
        let mut lister = Lister::default();
        for line in listed.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
            let (path, bytes) = parsed(line).context("git ls-tree prints something else")?;
            lister.add(path, bytes);
        }
        Ok(lister.finish())
    }

    fn unjudged(&self) -> Vec<(&'static str, Box<dyn Keeper>)> {
        let with = |durability| Box::new(Self::new(self.place.clone(), durability)) as _;
        vec![
            ("git core.fsyncMethod=batch", with(Durability::Batch)),
            ("git not durable (its default)", with(Durability::Default)),
        ]
    }
}

/// Takes path and size from a line such as `100644 blob HASH    12<tab>path`.
fn parsed(line: &[u8]) -> Option<(&[u8], u64)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let facts = std::str::from_utf8(&line[..tab]).ok()?;
    Some((&line[tab + 1..], facts.split_whitespace().nth(3)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_ls_tree_has_a_path_and_a_size() {
        assert_eq!(parsed(b"100644 blob 3b18e51    12\ta b"), Some((&b"a b"[..], 12)));
        assert_eq!(parsed(b"040000 tree 3b18e51     -\ta"), None);
    }
}

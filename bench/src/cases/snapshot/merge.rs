//! Two lines of work made one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use super::FILES;
use super::git::{Durability, Git};
use super::keeper::{Keeper as _, run_all, traced};
use super::ours::Ours;
use super::rounds::{Side, noted};
use crate::case::{Case, Outcome, Peer};
use crate::context::{Context, SEED};
use crate::digest::{self, Digest, files_below};
use crate::measure::{Measured, side_by_side, timed_ms};
use crate::rng::Rng;

const NAME: &str = "merge-vs-git";

pub(crate) const MERGE_VS_GIT: Case =
    Case::new(NAME, "two lines of work with 200 changed files each", 1.0, measure);

const CHANGED: usize = 200;

/// How many files both sides change, each at another end.
const COMMON: usize = 50;

/// Files that small may have no line between both ends.
const ENOUGH_BYTES: usize = 200;

fn measure(context: &Context) -> Result<Outcome> {
    let tree = context.source_tree(FILES)?;
    let (our_side, their_side) = (Side::new(context, &tree)?, Side::new(context, &tree)?);
    let work = Work::draw(&tree)?;
    let ours = prepare_ours(&our_side, &work)?;
    let theirs = Git::new(their_side.place.clone(), Durability::Everything);
    prepare_git(&theirs, &their_side, &work)?;
    let (our_root, their_root) = (&our_side.place.root, &their_side.place.root);
    let (our_times, their_times) = side_by_side(
        || merged(context, our_root, ours.back()?, vec![ours.merge()]),
        || merged(context, their_root, theirs.reset_to("ours"), vec![theirs.merge("theirs")]),
    )?;
    run_all(ours.back()?)?;
    run_all(theirs.reset_to("ours"))?;
    let traced = traced(context, NAME, vec![ours.merge()], vec![theirs.merge("theirs")])?;
    Ok(Outcome {
        peer: Peer::Measured {
            name: "git",
            command: "git merge -q --no-edit theirs".into(),
            samples: their_times,
        },
        ours: our_times,
        unit: "ms",
        place: context.warm(our_root)?,
        note: noted(&[
            traced,
            format!("{COMMON} of the files are changed on both sides, at different ends"),
            "ours keeps what it replaces in a snapshot; git commits the outcome".into(),
        ]),
    })
}

/// Goes back to where the merge begins, and times it.
fn merged(
    context: &Context,
    root: &Path,
    back: Vec<Command>,
    merge: Vec<Command>,
) -> Result<Measured<Digest>> {
    run_all(back)?;
    let before = digest::of_disk(root)?;
    context.settle()?;
    let timed = timed_ms(|| run_all(merge))?;
    let after = digest::of_disk(root)?;
    ensure!(after != before, "nothing was merged");
    Ok(timed.with_result(after))
}

/// Which files each side changes.
struct Work {
    ours: Vec<PathBuf>,
    theirs: Vec<PathBuf>,
}

impl Work {
    fn draw(tree: &Path) -> Result<Self> {
        let mut files = Vec::new();
        for path in files_below(tree)? {
            let bytes = fs::read(&path)?;
            if bytes.len() >= ENOUGH_BYTES && bytes.ends_with(b"\n") && !bytes.contains(&0) {
                files.push(path.strip_prefix(tree)?.to_path_buf());
            }
        }
        Rng::new(SEED, CHANGED as u64).draw(&mut files, 2 * CHANGED - COMMON);
        ensure!(files.len() == 2 * CHANGED - COMMON, "the tree is too small");
        let theirs = files[CHANGED - COMMON..].to_vec();
        files.truncate(CHANGED);
        Ok(Self { ours: files, theirs })
    }

    fn do_ours(&self, root: &Path) -> Result<()> {
        change(root, &self.ours, |old| ["a first line\n", old].concat())
    }

    fn do_theirs(&self, root: &Path) -> Result<()> {
        change(root, &self.theirs, |old| [old, "a last line\n"].concat())
    }
}

fn change(root: &Path, files: &[PathBuf], change: impl Fn(&str) -> String) -> Result<()> {
    for file in files {
        let path = root.join(file);
        fs::write(&path, change(&fs::read_to_string(&path)?))?;
    }
    Ok(())
}

/// Our side, with the snapshots a merge needs.
struct Prepared {
    keeper: Ours,
    base: String,
    theirs: String,
    ours: String,
}

impl Prepared {
    fn merge(&self) -> Command {
        self.keeper.merge(&self.base, &self.theirs)
    }

    /// Returns what goes to where the merge begins; the snapshot learns the files, as git's index does.
    fn back(&self) -> Result<Vec<Command>> {
        let mut commands = vec![self.keeper.restore_to(&self.ours)];
        commands.extend(self.keeper.snapshot());
        Ok(commands)
    }
}

fn prepare_ours(side: &Side, work: &Work) -> Result<Prepared> {
    let keeper = Ours::new(side.place.clone())?;
    keeper.prepare()?;
    let root = &side.place.root;
    let keep = || {
        run_all(keeper.snapshot())?;
        keeper.newest()
    };
    let base = keep()?;
    work.do_theirs(root)?;
    let theirs = keep()?;
    run_all(vec![keeper.restore_to(&base)])?;
    work.do_ours(root)?;
    let ours = keep()?;
    Ok(Prepared { keeper, base, theirs, ours })
}

fn prepare_git(git: &Git, side: &Side, work: &Work) -> Result<()> {
    git.prepare()?;
    run_all(git.snapshot())?;
    run_all(vec![git.tag("base")])?;
    work.do_theirs(&side.place.root)?;
    run_all(git.snapshot())?;
    run_all(vec![git.tag("theirs")])?;
    run_all(git.reset_to("base"))?;
    work.do_ours(&side.place.root)?;
    run_all(git.snapshot())?;
    run_all(vec![git.tag("ours")])
}

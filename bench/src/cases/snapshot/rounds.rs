//! The rounds that all keepers go through.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use super::FILES;
use super::changes::{Change, Changer};
use super::git::{Durability, Git};
use super::keeper::{Keeper, Make, Place, run_all, traced};
use super::listing::Listing;
use super::ours::{self, Ours};
use crate::case::{Case, Outcome, Peer};
use crate::context::{Context, output_of};
use crate::digest::{self, Digest};
use crate::measure::{Measured, rounds, side_by_side, timed_ms};
use crate::stats::{Samples, short};

/// How many repetitions of a first snapshot count: git makes and syncs a file for each of ours.
const FIRST_REPETITIONS: usize = 3;

/// How many repetitions there are of what is told and not judged.
const UNJUDGED_REPETITIONS: u64 = 3;

/// A directory for one side: a copy of the tree, and room for stores beside it.
pub(super) struct Side {
    _directory: TempDir,
    pub(super) place: Place,
}

impl Side {
    pub(super) fn new(context: &Context, tree: &Path) -> Result<Self> {
        Self::in_directory(context.fresh_dir()?, tree)
    }

    pub(super) fn in_directory(directory: TempDir, tree: &Path) -> Result<Self> {
        let place = Place::new(&directory.path().join("root"), &directory.path().join("store"));
        copy(tree, &place.root)?;
        Ok(Self { _directory: directory, place })
    }

    /// Returns the same files with a new place for their snapshots.
    fn with_store_in(&self, directory: &TempDir) -> Place {
        Place::new(&self.place.root, &directory.path().join("store"))
    }
}

fn copy(tree: &Path, root: &Path) -> Result<()> {
    output_of(Command::new("cp").arg("-a").arg(tree).arg(root)).map(drop)
}

/// Measures a first snapshot, each into a new store.
pub(super) fn first(context: &Context, case: &Case, theirs: Make) -> Result<Outcome> {
    let tree = context.source_tree(FILES)?;
    let (our_side, their_side) = (Side::new(context, &tree)?, Side::new(context, &tree)?);
    let (our_times, their_times) = rounds(
        FIRST_REPETITIONS,
        || once(context, &our_side, ours::make),
        || once(context, &their_side, theirs),
    )?;
    let (our_store, their_store) = (context.fresh_dir()?, context.fresh_dir()?);
    let ours = ours::make(context, our_side.with_store_in(&our_store))?;
    let theirs = theirs(context, their_side.with_store_in(&their_store))?;
    [&ours, &theirs].into_iter().try_for_each(|keeper| keeper.prepare())?;
    let mut notes = vec![traced(context, case.name, ours.snapshot(), theirs.snapshot())?];
    notes.extend(theirs.remark()?);
    for (name, other) in theirs.unjudged() {
        fs::remove_dir_all(their_store.path().join("store"))?;
        other.prepare()?;
        context.settle()?;
        notes.push(unjudged(name, timed_ms(|| run_all(other.snapshot()))?.value));
    }
    notes.push(unjudged("cp -a, not durable", copied(context, &tree)?));
    Ok(Outcome {
        peer: Peer::Measured {
            name: theirs.name(),
            command: theirs.described(),
            samples: their_times,
        },
        ours: our_times,
        unit: "ms",
        place: context.warm(&our_side.place.root)?,
        note: noted(&notes),
    })
}

fn once(context: &Context, side: &Side, make: Make) -> Result<Measured<Listing>> {
    let directory = context.fresh_dir()?;
    let keeper = make(context, side.with_store_in(&directory))?;
    keeper.prepare()?;
    snapshot(context, &*keeper)
}

fn copied(context: &Context, tree: &Path) -> Result<f64> {
    let directory = context.fresh_dir()?;
    context.settle()?;
    Ok(timed_ms(|| copy(tree, &directory.path().join("copy")))?.value)
}

/// Times a snapshot; the result is what it holds.
pub(super) fn snapshot(context: &Context, keeper: &dyn Keeper) -> Result<Measured<Listing>> {
    context.settle()?;
    let timed = timed_ms(|| run_all(keeper.snapshot()))?;
    Ok(timed.with_result(keeper.kept()?))
}

/// Measures a snapshot after another one, with or without changes in between.
pub(super) fn again(
    context: &Context,
    case: &Case,
    theirs: Make,
    change: Change,
) -> Result<Outcome> {
    let tree = context.source_tree(FILES)?;
    let (our_side, their_side) = (Side::new(context, &tree)?, Side::new(context, &tree)?);
    let ours = ours::make(context, our_side.place.clone())?;
    let theirs = theirs(context, their_side.place.clone())?;
    let pair = Pair { context, ours: &*ours, theirs: &*theirs };
    pair.measure(case, [&our_side.place.root, &their_side.place.root], change)
}

/// Two keepers of equal files.
pub(super) struct Pair<'a> {
    pub(super) context: &'a Context,
    pub(super) ours: &'a dyn Keeper,
    pub(super) theirs: &'a dyn Keeper,
}

impl Pair<'_> {
    pub(super) fn measure(
        &self,
        case: &Case,
        roots: [&PathBuf; 2],
        change: Change,
    ) -> Result<Outcome> {
        let Self { context, ours, theirs } = *self;
        let changer = Changer::new(roots[0], change)?;
        for keeper in [ours, theirs] {
            keeper.prepare()?;
            run_all(keeper.snapshot())?;
        }
        let changed = |keeper: &dyn Keeper, root: &Path, round: &mut u64| {
            *round += 1;
            changer.apply(root, *round)?;
            snapshot(context, keeper)
        };
        let (mut our_round, mut their_round) = (0, 0);
        let (our_times, their_times) = side_by_side(
            || changed(ours, roots[0], &mut our_round),
            || changed(theirs, roots[1], &mut their_round),
        )?;
        roots.iter().try_for_each(|root| changer.apply(root, our_round + 1))?;
        let mut notes = vec![traced(context, case.name, ours.snapshot(), theirs.snapshot())?];
        notes.extend(theirs.remark()?);
        for (name, other) in theirs.unjudged() {
            let mut values = Vec::new();
            for _ in 0..UNJUDGED_REPETITIONS {
                values.push(changed(&*other, roots[1], &mut their_round)?.value);
            }
            let samples = Samples::new(values).context("no measurement")?;
            notes.push(unjudged(name, samples.median()));
        }
        Ok(Outcome {
            peer: Peer::Measured {
                name: theirs.name(),
                command: theirs.described(),
                samples: their_times,
            },
            ours: our_times,
            unit: "ms",
            place: context.warm(roots[0])?,
            note: noted(&notes),
        })
    }
}

/// Measures the way back to the first snapshot.
pub(super) fn restore(context: &Context, case: &Case) -> Result<Outcome> {
    let tree = context.source_tree(FILES)?;
    let (our_side, their_side) = (Side::new(context, &tree)?, Side::new(context, &tree)?);
    let ours = Ours::new(our_side.place.clone())?;
    let theirs = Git::new(their_side.place.clone(), Durability::Everything);
    let keepers: [&dyn Keeper; 2] = [&ours, &theirs];
    for keeper in keepers {
        keeper.prepare()?;
        run_all(keeper.snapshot())?;
    }
    let (expected, changer) = (digest::of_disk(&tree)?, Changer::new(&tree, Change::Ten)?);
    let back = |root: &Path, round: &mut u64, commands: Vec<Command>| {
        *round += 1;
        changer.apply(root, *round)?;
        went_back(context, root, &expected, commands)
    };
    let (mut our_round, mut their_round) = (0, 0);
    let (our_root, their_root) = (&our_side.place.root, &their_side.place.root);
    let (our_times, their_times) = side_by_side(
        || back(our_root, &mut our_round, ours.restore()?),
        || back(their_root, &mut their_round, theirs.restore()),
    )?;
    [our_root, their_root].into_iter().try_for_each(|root| changer.apply(root, our_round + 1))?;
    let traced = traced(context, case.name, ours.restore()?, theirs.restore())?;
    Ok(Outcome {
        peer: Peer::Measured {
            name: "git",
            command: theirs.restore_described(),
            samples: their_times,
        },
        ours: our_times,
        unit: "ms",
        place: context.warm(our_root)?,
        note: noted(&[
            traced,
            "ours keeps what it replaces in a snapshot and can be undone; git keeps nothing".into(),
        ]),
    })
}

/// Times a restore; the files must be those of the beginning again.
fn went_back(
    context: &Context,
    root: &Path,
    expected: &Digest,
    commands: Vec<Command>,
) -> Result<Measured<Digest>> {
    ensure!(digest::of_disk(root)? != *expected, "nothing was changed");
    context.settle()?;
    let timed = timed_ms(|| run_all(commands))?;
    let found = digest::of_disk(root)?;
    ensure!(found == *expected, "the files are not back");
    Ok(timed.with_result(found))
}

fn unjudged(name: &str, value: f64) -> String {
    format!("not judged: {name} {} ms", short(value))
}

/// Joins what a reader must know; what is true of all rounds comes first.
pub(super) fn noted(notes: &[String]) -> String {
    let common = "fresh processes on both sides, STORE on the same disk";
    [common].into_iter().chain(notes.iter().map(String::as_str)).collect::<Vec<_>>().join("; ")
}

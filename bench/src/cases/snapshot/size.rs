//! How much room a hundred snapshots take.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::FILES;
use super::changes::{Change, Changer};
use super::git::{Durability, Git};
use super::keeper::{Keeper, run_all};
use super::ours::Ours;
use super::rounds::Side;
use crate::case::{Case, Outcome, Peer};
use crate::context::Context;
use crate::measure::check_equal;
use crate::stats::Samples;

pub(crate) const STORE_SIZE_VS_GIT: Case = Case::new(
    "store-size-vs-git",
    "bytes of 100 snapshots of 30,000 files, ten changes between them",
    0.67,
    measure,
);

const SNAPSHOTS: u64 = 100;

fn measure(context: &Context) -> Result<Outcome> {
    let tree = context.source_tree(FILES)?;
    let (our_side, their_side) = (Side::new(context, &tree)?, Side::new(context, &tree)?);
    let ours = Ours::new(our_side.place.clone())?;
    let theirs = Git::new(their_side.place.clone(), Durability::Default);
    fill(&ours, &our_side.place.root)?;
    fill(&theirs, &their_side.place.root)?;
    let loose = megabytes_below(&their_side.place.store)?;
    theirs.collect()?;
    check_equal(&ours.kept()?, &theirs.kept()?)?;
    let one = |store: &Path| -> Result<Samples> {
        Samples::new(vec![megabytes_below(store)?]).context("no size")
    };
    Ok(Outcome {
        peer: Peer::Measured {
            name: "git",
            command: "git gc --quiet, after all snapshots".to_owned(),
            samples: one(&their_side.place.store)?,
        },
        ours: one(&our_side.place.store)?,
        unit: "MB",
        place: context.warm(&our_side.place.root)?,
        note: format!(
            "the sizes of all files in STORE, ours as the snapshots left them; git before gc {loose:.0} MB"
        ),
    })
}

fn fill(keeper: &dyn Keeper, root: &Path) -> Result<()> {
    let changer = Changer::new(root, Change::Ten)?;
    keeper.prepare()?;
    for round in 1..=SNAPSHOTS {
        run_all(keeper.snapshot())?;
        changer.apply(root, round)?;
    }
    // The last one is of what is there now, so that it can be compared.
    run_all(keeper.snapshot())
}

fn megabytes_below(directory: &Path) -> Result<f64> {
    let (mut bytes, mut pending) = (0, vec![directory.to_path_buf()]);
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                pending.push(entry.path())
            } else {
                bytes += entry.metadata()?.len()
            }
        }
    }
    Ok(bytes as f64 / 1e6)
}

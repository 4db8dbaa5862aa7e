//! The whole command that a person types, against git's.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::FILES;
use super::changes::Change;
use super::git;
use super::keeper::{Keeper, Place};
use super::listing::Listing;
use super::ours;
use super::rounds::{Pair, Side};
use crate::case::{Case, Outcome};
use crate::context::{Context, output_of};

pub(crate) const CLI_VS_GIT: Case =
    Case::new("cli-snapshot-vs-git", "`wink snapshot`, nothing changed", 3.0, measure);

fn measure(context: &Context) -> Result<Outcome> {
    let program = std::env::current_exe()?.with_file_name("wink");
    check_command(&program)?;
    let tree = context.source_tree(FILES)?;
    let (our_side, their_side) = (Side::new(context, &tree)?, Side::new(context, &tree)?);
    let ours = Cli { place: our_side.place.clone(), program };
    let theirs = git::durable(context, their_side.place.clone())?;
    let pair = Pair { context, ours: &ours, theirs: &*theirs };
    let roots = [&our_side.place.root, &their_side.place.root];
    pair.measure(&CLI_VS_GIT, roots, Change::Nothing)
}

/// Says clearly where the program lies that is missing, or what it cannot do.
fn check_command(program: &PathBuf) -> Result<()> {
    let named = || format!("{} is not there; bench/run builds it", program.display());
    let help = Command::new(program).args(["snapshot", "--help"]).output().with_context(named)?;
    ensure!(help.status.success(), "{} has no command `snapshot` yet", program.display());
    Ok(())
}

/// The program that people use.
struct Cli {
    place: Place,
    program: PathBuf,
}

impl Keeper for Cli {
    fn name(&self) -> &'static str {
        "wink"
    }

    fn described(&self) -> String {
        "wink -C ROOT --store STORE snapshot".to_owned()
    }

    fn prepare(&self) -> Result<()> {
        let mut command = Command::new(&self.program);
        command.arg("init").arg("--store").arg(&self.place.store).arg(&self.place.root);
        output_of(&mut command).map(drop)
    }

    fn snapshot(&self) -> Vec<Command> {
        let mut command = Command::new(&self.program);
        command.arg("-C").arg(&self.place.root);
        command.arg("--store").arg(&self.place.store).arg("snapshot");
        vec![command]
    }

    fn kept(&self) -> Result<Listing> {
        // The directory of a history has the store in it.
        let Place { root, store } = &self.place;
        ours::newest_checked(&wink_fs::Store::open_ambient(store.join("store"))?, root)
    }
}

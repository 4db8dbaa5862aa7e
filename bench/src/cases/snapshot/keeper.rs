//! Something that keeps snapshots of a directory, driven by commands.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::listing::Listing;
use crate::context::{Context, output_of};
use crate::trace;

/// Where the files are, and where their snapshots are kept.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) root: PathBuf,
    pub(super) store: PathBuf,
}

impl Place {
    pub(super) fn new(root: &Path, store: &Path) -> Self {
        Self { root: root.to_path_buf(), store: store.to_path_buf() }
    }
}

/// Keeps snapshots; every command is a fresh process.
pub(super) trait Keeper {
    fn name(&self) -> &'static str;

    /// Says how it is called, for a reader.
    fn described(&self) -> String;

    /// Makes the empty store.
    fn prepare(&self) -> Result<()>;

    /// Returns what takes a snapshot.
    fn snapshot(&self) -> Vec<Command>;

    /// Returns what the newest snapshot holds, and checks it as far as the keeper can.
    fn kept(&self) -> Result<Listing>;

    /// Returns other ways to do the same, which are told and not judged.
    fn unjudged(&self) -> Vec<(&'static str, Box<dyn Keeper>)> {
        Vec::new()
    }

    /// Returns what a reader must know, found out when the rounds are over.
    fn remark(&self) -> Result<Option<String>> {
        Ok(None)
    }
}

/// Makes a keeper for a place.
pub(super) type Make = fn(&Context, Place) -> Result<Box<dyn Keeper>>;

pub(super) fn run_all(commands: Vec<Command>) -> Result<()> {
    commands.into_iter().try_for_each(|mut command| output_of(&mut command).map(drop))
}

/// Runs the commands of both sides once more under strace; says how often each syncs.
pub(super) fn traced(
    context: &Context,
    case: &str,
    ours: Vec<Command>,
    theirs: Vec<Command>,
) -> Result<String> {
    let ours = trace::syncs(context, case, "ours", ours)?;
    let theirs = trace::syncs(context, case, "theirs", theirs)?;
    Ok(format!("calls that sync: ours {ours}, theirs {theirs} (strace/{case}.*.txt)"))
}

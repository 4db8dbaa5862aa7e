//! `wink merge`: merges a fork.

use std::time::Instant;

use clap::Args;
use serde::Serialize;
use wink_fs::{MergeOptions, Merged, SnapshotId, SnapshotOptions, Workspace};

use super::fork as forks;
use super::merged::{self, MergeFlags, MergeOutcome};
use crate::cli::completion;
use crate::cli::context::{Context, Opened};
use crate::error::CliError;
use crate::json::documents;
use crate::project::settings::MergeBase;
use crate::project::{self, Project};
use crate::ui::answer::Answer;
use crate::ui::recovery_notice;

/// Merge a fork; by default a conflict changes nothing.
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Name of the fork.
    #[arg(value_name = "NAME")]
    #[arg(add = completion::forks())]
    name: String,

    #[command(flatten)]
    flags: MergeFlags,
}

documents! {
    MergedIn: "wink/merge@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MergedIn {
    fork: String,
    /// The id of the merge base: the fork's first snapshot, or the last one that was merged.
    base: String,
    /// The id of the merged snapshot; null if nothing was merged.
    theirs: Option<String>,
    #[serde(flatten)]
    outcome: MergeOutcome,
}

pub(crate) fn run(context: &Context, args: &MergeArgs) -> Result<Answer, CliError> {
    let start = Instant::now();
    let opened = context.open()?;
    let project = forks::find(&opened, &args.name)?;
    let fork = project.settings.fork.as_ref().ok_or_else(|| CliError::no_fork(&args.name))?;
    let progress = context.progress("merging");
    let base = project::merge_base(&opened.files, fork)?;
    let theirs = match fork.kept.clone() {
        Some(kept) => Theirs::Kept(Box::new(project), kept),
        None => Theirs::Directory(Box::new(Context::open_project(project, None)?)),
    };
    let (merged, theirs) = bring_in(&opened, theirs, &base, &args.flags)?;
    drop(progress);
    let outcome = merged::outcome(&merged, &args.flags, start);
    let document = MergedIn { fork: args.name.clone(), base, theirs, outcome };
    let text = |_: &MergedIn| merged::text("Merged", "merge", &args.name, &merged, &args.flags);
    merged::answer(context, &document, &merged, text)
}

/// The fork to merge.
enum Theirs {
    Directory(Box<Opened>),
    /// A fork without a directory: the project, and the id of the snapshot with its files.
    Kept(Box<Project>, String),
}

impl Theirs {
    /// Returns what the merge would do.
    fn rehearse(
        &self,
        files: &Workspace,
        base: &str,
        options: &MergeOptions,
    ) -> Result<Merged, CliError> {
        Ok(match self {
            Self::Directory(fork) => files.rehearse_merge(base, &fork.files, options)?,
            Self::Kept(_, id) => files.merge_states(base, &**id, &options.clone().dry_run(true))?,
        })
    }

    /// Returns the id of a snapshot of its current files.
    fn state(&self) -> Result<String, CliError> {
        match self {
            Self::Directory(fork) => {
                let now = SnapshotOptions::default().message("merge");
                Ok(fork.files.snapshot_with(&now)?.id.to_string())
            }
            Self::Kept(_, id) => Ok(id.clone()),
        }
    }

    fn into_home(self) -> Project {
        match self {
            Self::Directory(fork) => fork.project,
            Self::Kept(project, _) => *project,
        }
    }
}

/// Merges. A dry run, or a merge that stops at conflicts, leaves no snapshot.
fn bring_in(
    opened: &Opened,
    fork: Theirs,
    base: &str,
    flags: &MergeFlags,
) -> Result<(Merged, Option<String>), CliError> {
    let mut rehearsed = fork.rehearse(&opened.files, base, &flags.options())?;
    let is_nothing = rehearsed.changes.is_empty() && rehearsed.conflicts.is_empty();
    let resolves_nothing =
        rehearsed.changes.is_empty() && !rehearsed.conflicts.iter().any(|it| it.is_resolved);
    if flags.dry_run() || resolves_nothing || flags.stops_at(&rehearsed) {
        rehearsed.applied = is_nothing && !flags.dry_run();
        return Ok((rehearsed, None));
    }
    let id = fork.state()?;
    let merged = opened.files.merge_states(base, &*id, &flags.options())?;
    if merged.is_to_be_remembered() {
        let saved = merged.saved.map(|saved| saved.to_string());
        let record = || -> Result<(), CliError> {
            let theirs = id.parse::<SnapshotId>()?;
            let theirs = opened.files.next_merge_base(base, theirs, &merged)?.to_string();
            project::record_merge(&opened.files, fork.into_home(), MergeBase { theirs, saved })
        };
        // The merge is done, so this is no failure: the next merge finds the same changes on both sides.
        if let Err(error) = record() {
            recovery_notice::warn(&format!(
                "the merge is done, but the new merge base could not be recorded ({})",
                error.message()
            ));
        }
    }
    Ok((merged, Some(id)))
}

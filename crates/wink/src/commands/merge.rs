//! `wink merge`: what was done in a fork, brought in.

use std::time::Instant;

use clap::Args;
use wink_fs::{MergeOptions, Merged, SnapshotOptions, Workspace};

use super::branch;
use super::merged::{self, MergeFlags};
use crate::cli::completion;
use crate::cli::context::{Context, Opened};
use crate::error::CliError;
use crate::json::MergedIn;
use crate::project::Project;
use crate::project::forks::merge_base;
use crate::project::settings::MergeBase;
use crate::ui::answer::Answer;

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Name of the fork.
    #[arg(value_name = "NAME")]
    #[arg(add = completion::forks())]
    name: String,

    #[command(flatten)]
    flags: MergeFlags,
}

pub(crate) fn run(context: &Context, args: &MergeArgs) -> Result<Answer, CliError> {
    let start = Instant::now();
    let opened = context.open()?;
    let project = branch::find(&opened, &args.name)?;
    let branch = project.settings.branch.as_ref().ok_or_else(|| CliError::no_branch(&args.name))?;
    let progress = context.progress("merging");
    let base = merge_base::base(&opened.files, branch)?;
    let theirs = match branch.kept.clone() {
        Some(kept) => Theirs::Kept(Box::new(project), kept),
        None => Theirs::Directory(Box::new(Context::open_project(project)?)),
    };
    let (merged, theirs) = bring_in(&opened, theirs, &base, &args.flags)?;
    drop(progress);
    let outcome = merged::outcome(&merged, &args.flags, start);
    let document = MergedIn { branch: args.name.clone(), base, theirs, outcome };
    let text = |_: &MergedIn| merged::text("Merged", "merge", &args.name, &merged, &args.flags);
    merged::answer(context, &document, &merged, text)
}

/// The fork that is brought in.
enum Theirs {
    Directory(Box<Opened>),
    /// It has no directory, and its files are those of a snapshot.
    Kept(Box<Project>, String),
}

impl Theirs {
    /// Says what would be done.
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

    /// Returns the id of the snapshot that has its files as they are now.
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

/// Merges; of what is only asked about, or not done, nothing is kept.
fn bring_in(
    opened: &Opened,
    fork: Theirs,
    base: &str,
    flags: &MergeFlags,
) -> Result<(Merged, Option<String>), CliError> {
    let mut rehearsed = fork.rehearse(&opened.files, base, &flags.options())?;
    let is_nothing = rehearsed.changes.is_empty() && rehearsed.conflicts.is_empty();
    if flags.dry_run() || is_nothing || flags.stops_at(&rehearsed) {
        rehearsed.applied = is_nothing && !flags.dry_run();
        return Ok((rehearsed, None));
    }
    let id = fork.state()?;
    let merged = opened.files.merge_states(base, &*id, &flags.options())?;
    if merged.is_to_be_remembered() {
        let saved = merged.saved.map(|saved| saved.to_string());
        merge_base::remember(
            &opened.files,
            fork.into_home(),
            MergeBase { theirs: id.clone(), saved },
        )?;
    }
    Ok((merged, Some(id)))
}

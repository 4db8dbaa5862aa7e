//! `wink prune`: deletes snapshots and frees their space.

use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;
use wink_fs::{Error, ErrorKind, Exclusions, Operation, PruneOptions, Pruned, Redacted, Retention};

use super::fork::DamagedEntry;
use super::{list_text, milliseconds};
use crate::cli::context::{Context, Opened};
use crate::error::{CliError, PARTIAL};
use crate::json::{SnapshotEntry, documents};
use crate::project::DamagedFork;
use crate::project::retention;
use crate::sys::disk;
use crate::ui::answer::Answer;
use crate::ui::format;

const DAY: u64 = 24 * 60 * 60;

/// Delete old snapshots and free their space.
#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    /// Number of untagged snapshots to keep [default: 500, or as `wink config` says]; tagged, pinned and the newest
    /// ones always stay.
    #[arg(long, value_name = "N")]
    keep: Option<usize>,

    /// Also delete snapshots older than this many days.
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u64>,

    /// Print what would be deleted, and delete nothing.
    #[arg(long)]
    dry_run: bool,

    /// Delete matching paths, such as a secret, from all snapshots, and exclude them here and in all forks from
    /// now on; the files stay. Operations that keep a match can no longer be undone.
    #[arg(long, value_name = "GLOB", conflicts_with_all = ["keep", "older_than"])]
    path: Option<String>,
}

documents! {
    PrunedEntry: "wink/prune@1";
    RedactedEntry: "wink/prune.path@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PrunedEntry {
    dry_run: bool,
    /// The deleted snapshots, or those that would be deleted, oldest first.
    snapshots: Vec<SnapshotEntry>,
    bytes_freed: u64,
    packs_removed: u64,
    packs_written: u64,
    duration_ms: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RedactedEntry {
    pattern: String,
    dry_run: bool,
    /// The ids of the snapshots with a match, oldest first.
    snapshots: Vec<String>,
    paths: Vec<String>,
    /// The numbers of operations that were deleted because they kept a match.
    operations: Vec<u64>,
    /// Whether the pattern was added to the exclusions, here and in all forks.
    excluded: bool,
    bytes_freed: u64,
    /// The quarantine of `wink repair`, which may still contain matches.
    quarantine: Option<String>,
    /// Forks with unreadable settings, in which the pattern is not excluded.
    damaged_forks: Vec<DamagedEntry>,
}

pub(crate) fn run(context: &Context, args: &PruneArgs) -> Result<Answer, CliError> {
    let start = Instant::now();
    let opened = context.open()?;
    match &args.path {
        Some(pattern) => redact(context, &opened, pattern, args.dry_run),
        None => prune(context, &opened, args, start),
    }
}

fn prune(
    context: &Context,
    opened: &Opened,
    args: &PruneArgs,
    start: Instant,
) -> Result<Answer, CliError> {
    let mut retention = retention::of(&opened.project)?;
    retention.max_count = args.keep.or(retention.max_count);
    if let Some(days) = args.older_than {
        retention = retention.max_age(Duration::from_secs(days.saturating_mul(DAY)));
    }
    if !args.dry_run {
        ask(context, opened, &retention)?;
    }
    let options = PruneOptions::default().retention(retention).dry_run(args.dry_run);
    let progress = context.progress("pruning");
    let pruned = opened.files.prune(&options)?;
    drop(progress);
    let document = PrunedEntry {
        dry_run: args.dry_run,
        snapshots: pruned.snapshots.iter().map(SnapshotEntry::from).collect(),
        bytes_freed: pruned.bytes_freed,
        packs_removed: pruned.reclaimed.packs_removed,
        packs_written: pruned.reclaimed.packs_written,
        duration_ms: milliseconds(start),
    };
    context.answer(&document, |document| text(document, &pruned))
}

/// Asks before snapshots are deleted.
fn ask(context: &Context, opened: &Opened, retention: &Retention) -> Result<(), CliError> {
    let options = PruneOptions::default().retention(retention.clone()).dry_run(true);
    match opened.files.prune(&options)?.snapshots.len() as u64 {
        0 => Ok(()),
        count => {
            let snapshots = format::counted(count, "snapshot", "snapshots");
            context.confirm(&format!("Delete {snapshots} permanently?"))
        }
    }
}

fn text(document: &PrunedEntry, pruned: &Pruned) -> String {
    let count = format::counted(pruned.snapshots.len() as u64, "snapshot", "snapshots");
    let lines = list_text(pruned.snapshots.iter().map(format::snapshot_line));
    if document.dry_run {
        format!("Would delete {count}\n{lines}")
    } else {
        let freed = format::size(document.bytes_freed);
        let took = document.duration_ms;
        format!("Deleted {count}, freed {freed} · {took} ms\n{lines}")
    }
}

fn redact(
    context: &Context,
    opened: &Opened,
    pattern: &str,
    dry_run: bool,
) -> Result<Answer, CliError> {
    let pattern = &*rooted(context, opened, pattern)?;
    let (redacted, (excluded, damaged)) = if dry_run {
        let _progress = context.progress("searching all snapshots");
        (opened.files.would_prune_path(pattern)?, (false, Vec::new()))
    } else {
        take_out(context, opened, pattern)?
    };
    let all = opened.files.snapshots()?;
    let changed = all.iter().filter(|it| redacted.snapshots.contains(&it.id));
    let quarantine = opened.project.store()?.join("quarantine");
    let is_empty = disk::names(&quarantine).is_ok_and(|names| names.is_empty());
    let document = RedactedEntry {
        pattern: pattern.to_owned(),
        dry_run,
        snapshots: changed.map(|it| it.id.to_string()).collect(),
        paths: redacted.paths.iter().cloned().collect(),
        operations: redacted.operations.clone(),
        excluded,
        bytes_freed: redacted.reclaimed.bytes_freed,
        quarantine: (!is_empty).then(|| quarantine.display().to_string()),
        damaged_forks: damaged.iter().map(DamagedEntry::from).collect(),
    };
    let mut answer = context.answer(&document, |document| redacted_text(document, &redacted))?;
    let quarantine = document.quarantine.iter().map(|place| quarantine_warning(place));
    let warnings: Vec<_> = quarantine.chain(damaged.iter().map(DamagedFork::warning)).collect();
    if !warnings.is_empty() {
        answer.exit = PARTIAL;
        answer.notes.extend(warnings.into_iter().filter(|_| context.is_for_people()));
    }
    Ok(answer)
}

/// Warns about the quarantine: paths cannot be deleted from damaged files.
fn quarantine_warning(quarantine: &str) -> String {
    format!(
        "warning: the quarantine of `wink repair` may still contain matches; remove {quarantine} if you do not \
         need it"
    )
}

/// Makes a pattern of an absolute path, or of one that starts with `./` or `../`.
fn rooted(context: &Context, opened: &Opened, pattern: &str) -> Result<String, CliError> {
    if pattern.trim_matches('/').is_empty() {
        let nothing = Error::new(Operation::Prune, ErrorKind::InvalidPattern);
        return Err(nothing
            .with_detail("the pattern is empty; give a path, such as `.env`")
            .into());
    }
    if let Ok(below) = Path::new(pattern).strip_prefix(&opened.project.root) {
        return Ok(format!("/{}", below.display()));
    }
    if pattern.starts_with("./") || pattern.starts_with("../") {
        Ok(format!("/{}", context.path(opened, Path::new(pattern))?))
    } else {
        Ok(pattern.to_owned())
    }
}

/// Deletes matching paths; also returns whether the exclusion is new, and the forks in which it could not be set.
fn take_out(
    context: &Context,
    opened: &Opened,
    pattern: &str,
) -> Result<(Redacted, (bool, Vec<DamagedFork>)), CliError> {
    let question = format!("Delete `{pattern}` from all snapshots permanently, and exclude it?");
    context.confirm(&question)?;
    Exclusions::parse([pattern])?;
    let _progress = context.progress("deleting it from all snapshots");
    // First, so that a snapshot taken meanwhile does not capture the path again.
    let excluded = opened.project.exclude_everywhere(pattern)?;
    Ok((opened.files.prune_path(pattern)?, excluded))
}

fn redacted_text(document: &RedactedEntry, redacted: &Redacted) -> String {
    let RedactedEntry { pattern, dry_run, .. } = document;
    let elsewhere = redacted.elsewhere.values().map(Vec::len).sum::<usize>();
    let forgotten = match (redacted.operations.len() + elsewhere) as u64 {
        0 => String::new(),
        count => {
            let operations = format::counted(count, "operation", "operations");
            let verb = if *dry_run { "Would delete" } else { "Deleted" };
            format!("{verb} {operations} that kept a match\n")
        }
    };
    let excluded = if document.excluded {
        format!(
            "`{pattern}` is now excluded, also in running servers: snapshots omit it, and restores leave it \
         alone\n"
        )
    } else {
        String::new()
    };
    let taken = taken_text(redacted, *dry_run);
    format!("{taken}{forgotten}{excluded}")
}

fn taken_text(redacted: &Redacted, dry_run: bool) -> String {
    if redacted.paths.is_empty() {
        return "No snapshot contains a match.\n".to_owned();
    }
    let paths = format::counted(redacted.paths.len() as u64, "path", "paths");
    let snapshots = format::counted(redacted.snapshots.len() as u64, "snapshot", "snapshots");
    let verb = if dry_run { "Would delete" } else { "Deleted" };
    let lines = list_text(redacted.paths.iter());
    format!("{verb} {paths} from {snapshots}; the files in the workspace stay\n{lines}")
}

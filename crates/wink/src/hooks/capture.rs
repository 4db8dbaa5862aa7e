//! Snapshots for hooks: at once, or by a process that goes on when the hook has ended.

use std::path::Path;
use std::process::{Command, Stdio};

use wink_fs::{SnapshotOptions, SnapshotOrigin};

use super::record::{self, HookRecord};
use crate::cli::context::{Context, Opened};
use crate::error::CliError;
use crate::mcp::newest_or_taken;
use crate::project::Project;
use crate::project::git::head;
use crate::sys::disk;

/// The file that the one process holds that takes snapshots of calls.
const LOCK: &str = "hooks.lock";

/// The option of `wink hook` for that process.
pub(crate) const IN_BACKGROUND: &str = "--capture";

/// Takes a snapshot now, and keeps its record. The record says why it failed.
pub(crate) fn now(opened: &Opened, mut record: HookRecord) -> HookRecord {
    taken(opened, &mut record);
    record::keep(&opened.project.directory, &record);
    record
}

fn taken(opened: &Opened, record: &mut HookRecord) {
    let unasked =
        SnapshotOptions::default().message(record.message()).asked_by(SnapshotOrigin::Auto);
    match newest_or_taken(&opened.files, &unasked) {
        Ok(snapshot) => {
            if let Some(id) = snapshot {
                head::remember(opened, id);
                record.snapshot = Some(id.to_string());
            }
            record.operation = opened
                .files
                .operations()
                .ok()
                .map(|all| all.last().map_or(0, |last| last.sequence));
        }
        Err(error) => record.failed = Some(CliError::from(error).message().to_owned()),
    }
}

/// Lets another process take the snapshot of a call; the hook does not wait for it.
pub(crate) fn later(project: &Project, record: &HookRecord) -> Result<(), CliError> {
    record::queue(&project.directory, record);
    let mut command = Command::new("/proc/self/exe");
    command.args(["hook", IN_BACKGROUND, "-q", "-C"]).arg(&project.root);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop).map_err(|error| CliError::other(&error))
}

/// Takes snapshots until no call waits, one for all that wait. Another process that does so already gets the new calls too.
pub(crate) fn all(context: &Context) -> Result<(), CliError> {
    // A client that ends kills what is left in its session.
    let _ = rustix::process::setsid();
    let project = Project::find(&context.directory, context.store.as_deref())?;
    let directory = project.directory.clone();
    while record::has_queue(&directory) {
        let Ok(alone) = disk::hold(&directory.join(LOCK)) else { return Ok(()) };
        drain(context, &directory)?;
        // A call that came after the last look was left to this process.
        drop(alone);
    }
    Ok(())
}

fn drain(context: &Context, directory: &Path) -> Result<(), CliError> {
    loop {
        let waiting = record::take_queue(directory);
        let Some(mut last) = waiting.last().cloned() else {
            record::forget_taken(directory);
            return Ok(());
        };
        match context.open() {
            Ok(opened) => taken(&opened, &mut last),
            Err(error) => last.failed = Some(error.message().to_owned()),
        }
        for mut record in waiting {
            record.snapshot.clone_from(&last.snapshot);
            record.failed.clone_from(&last.failed);
            record.operation = last.operation;
            record::keep(directory, &record);
        }
        record::forget_taken(directory);
    }
}

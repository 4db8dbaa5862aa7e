//! The workspace, its disk and its history.

use std::path::Path;

use rustix::fs::{statfs, statvfs};
use wink_fs::VerifyOptions;

use super::{Check, Health};
use super::{check, mendable};
use crate::cli::context::{Context, Opened};
use crate::error::CliError;
use crate::sys::disk;
use crate::ui::format;

/// With less than this, a snapshot may fail.
const LITTLE: u64 = 256 * 1024 * 1024;

/// The kinds of file systems that matter, by the numbers that the system has for them.
const KINDS: [(u32, &str); 6] = [
    (0x9123_683e, "btrfs"),
    (0x5846_5342, "xfs"),
    (0xef53, "ext4"),
    (0x0102_1994, "tmpfs"),
    (0x794c_7630, "overlay"),
    (0x6969, "nfs"),
];

pub(super) fn checks(context: &Context, fix: bool) -> Vec<Check> {
    let opened = match context.open() {
        Ok(opened) => opened,
        Err(failure) => return vec![unopened(&failure)],
    };
    let root = check("workspace", Health::Ok, opened.project.root.display().to_string());
    let store = opened.project.store().unwrap_or_default();
    let mut checks = vec![root, space("disk", &opened.project.root), space("store disk", &store)];
    checks.extend([clones(&opened.project.directory), private(&opened.project.directory, fix)]);
    let _progress = context.progress("examining the history");
    checks.push(
        history(&opened, fix)
            .unwrap_or_else(|failure| check("history", Health::Failed, failure.message())),
    );
    checks
}

/// A directory without a workspace is fine; a history that cannot be opened is a failure.
fn unopened(failure: &CliError) -> Check {
    let health = if failure.is_no_workspace() { Health::Note } else { Health::Failed };
    check("workspace", health, failure.message())
}

fn space(name: &'static str, path: &Path) -> Check {
    let Ok(space) = statvfs(path) else {
        return check(name, Health::Warning, "its free space cannot be read");
    };
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    let kind = statfs(path).ok().and_then(|found| {
        let number = found.f_type as u32;
        KINDS.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
    });
    let health = if free < LITTLE { Health::Warning } else { Health::Ok };
    check(name, health, format!("{}, {} free", kind.unwrap_or("other"), format::size(free)))
}

fn clones(directory: &Path) -> Check {
    match disk::can_clone(directory) {
        Ok(true) => check("reflinks", Health::Ok, "copies of files take no space"),
        Ok(false) => check("reflinks", Health::Note, "not supported by this disk; not needed"),
        Err(error) => check("reflinks", Health::Warning, format!("cannot be tested: {error}")),
    }
}

fn private(directory: &Path, fix: bool) -> Check {
    if fix {
        let _ = disk::keep_private(directory);
    }
    match disk::is_private(directory) {
        Ok(true) => check("privacy", Health::Ok, "only you can read the history"),
        Ok(false) => mendable("privacy", "other users can read the history"),
        Err(error) => check("privacy", Health::Failed, error.to_string()),
    }
}

fn history(opened: &Opened, fix: bool) -> Result<Check, CliError> {
    let verify = || opened.files.snapshot_store()?.verify(&VerifyOptions::default());
    let mut found = verify()?;
    let mut mended = "";
    if fix && !found.problems.is_empty() {
        opened.files.repair()?;
        found = verify()?;
        mended = "repaired; ";
    }
    let snapshots = format::counted(found.snapshots, "snapshot", "snapshots");
    let all = opened.files.snapshots()?;
    let incomplete = all.iter().filter(|it| it.missing().next().is_some()).count() as u64;
    Ok(match found.problems.len() as u64 {
        0 if incomplete > 0 => {
            let count = format::counted(incomplete, "is incomplete", "are incomplete");
            let said = format!("{mended}{snapshots}, of which {count}; see `wink verify`");
            check("history", Health::Warning, said)
        }
        0 => check("history", Health::Ok, format!("{mended}{snapshots}, no problems")),
        count => {
            let problems = format::counted(count, "problem", "problems");
            let said = format!("{problems}; see `wink verify --data`");
            mendable("history", said)
        }
    })
}

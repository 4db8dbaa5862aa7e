//! Facts about the machine, without which the numbers mean little.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use anyhow::{Context as _, Result};

use crate::context::output_of;

/// Returns what is worth knowing, as name and value.
pub(crate) fn facts(scratch: &Path) -> Result<Vec<(&'static str, String)>> {
    Ok(vec![
        ("commit", commit().unwrap_or_else(|| "unknown".into())),
        ("processor", processor().unwrap_or_else(|| std::env::consts::ARCH.into())),
        ("cores", thread::available_parallelism()?.to_string()),
        ("kernel", first_line("/proc/sys/kernel/osrelease")?),
        ("load before the run", first_line("/proc/loadavg")?),
        ("scratch", filesystem_of(scratch)?),
    ])
}

/// Returns the type of the file system that a path lies on.
pub(crate) fn filesystem_of(path: &Path) -> Result<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    type_in(&mounts, &path.canonicalize()?)
        .with_context(|| format!("no mount point for {}", path.display()))
}

/// Finds the deepest mount point above a path; of equal ones the last covers the others.
fn type_in(mounts: &str, path: &Path) -> Option<String> {
    let parse = |line: &str| -> Option<(String, String)> {
        let (mount, kind) = line.split_once(" - ")?;
        let point = mount.split(' ').nth(4)?.replace("\\040", " ");
        Some((point, kind.split(' ').next()?.to_string()))
    };
    mounts
        .lines()
        .filter_map(parse)
        .filter(|(point, _)| path.starts_with(point))
        .max_by_key(|(point, _)| Path::new(point).components().count())
        .map(|(_, kind)| kind)
}

/// Returns the commit the benchmarks were built from, where there is one.
fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        let output = output_of(command.args(["-C", env!("CARGO_MANIFEST_DIR")]).args(arguments));
        output.ok().map(|bytes| String::from_utf8_lossy(&bytes).trim().to_string())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { commit } else { format!("{commit} with changes") })
}

fn processor() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

fn first_line(path: &str) -> Result<String> {
    let text = fs::read_to_string(path).with_context(|| path.to_string())?;
    Ok(text.lines().next().unwrap_or_default().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 0:20 / / rw - overlay overlay rw
23 22 8:1 / /mnt/my\\040disk rw shared:1 - ext4 /dev/sda1 rw
24 22 0:21 / /mnt rw - tmpfs tmpfs rw
25 22 0:22 / /mnt rw - btrfs /dev/sdb rw
";

    fn kind(path: &str) -> Option<String> {
        type_in(MOUNTS, Path::new(path))
    }

    #[test]
    fn the_deepest_mount_point_counts() {
        assert_eq!(kind("/mnt/my disk/a").as_deref(), Some("ext4"));
        assert_eq!(kind("/home").as_deref(), Some("overlay"));
    }

    #[test]
    fn the_last_of_equal_mount_points_covers_the_others() {
        assert_eq!(kind("/mnt/a").as_deref(), Some("btrfs"));
    }

    #[test]
    fn a_name_that_only_starts_alike_is_not_below() {
        assert_eq!(kind("/mnt2").as_deref(), Some("overlay"));
    }
}

//! Files by extension, against fd.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use wink_fs::search::{self, GlobOptions};
use wink_fs::{HostBackend, Limits, TreePath};

use crate::case::{Case, Outcome, Peer};
use crate::context::{Context, output_of};
use crate::measure::{Measured, side_by_side, timed_ms};

pub(crate) const CASE: Case =
    Case::new("glob-host-vs-fd", "all files of one extension, sorted", 1.2, measure);

const EXTENSION: &str = "rs";

fn measure(context: &Context) -> Result<Outcome> {
    let tree = context.tree()?;
    let program = program()?;
    let command = format!("{program} -uuu -g '*.{EXTENSION}' | LC_ALL=C sort");
    let (ours, theirs) = side_by_side(|| glob(tree), || run_fd(tree, &command))?;
    Ok(Outcome {
        peer: Peer::Measured { name: "fd", command, samples: theirs },
        ours,
        unit: "ms",
        place: context.warm(tree)?,
        note: format!("ours in process: a new backend and **/*.{EXTENSION}"),
    })
}

/// Debian calls the program fdfind, everybody else fd.
fn program() -> Result<&'static str> {
    let starts = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    ["fdfind", "fd"].into_iter().find(starts).context("fd is not installed (Debian: fd-find)")
}

fn glob(tree: &Path) -> Result<Measured<Vec<String>>> {
    let pattern = format!("**/*.{EXTENSION}");
    let found = timed_ms(|| {
        let backend = HostBackend::open_ambient(tree)?;
        let (root, options) = (TreePath::root(), GlobOptions::default());
        Ok(search::glob(&backend, &pattern, &root, &options, &Limits::default())?)
    })?;
    let mut paths: Vec<_> = found.result.paths.iter().map(ToString::to_string).collect();
    // fd's paths are sorted as lines, ours by segment.
    paths.sort();
    Ok(found.with_result(paths))
}

fn run_fd(tree: &Path, command: &str) -> Result<Measured<Vec<String>>> {
    let mut shell = Command::new("sh");
    shell.current_dir(tree).stdin(Stdio::null()).args(["-c", command]);
    let output = timed_ms(|| output_of(&mut shell))?;
    let text = String::from_utf8_lossy(&output.result);
    let path = |line: &str| line.strip_prefix("./").unwrap_or(line).to_owned();
    let paths = text.lines().map(path).collect();
    Ok(output.with_result(paths))
}

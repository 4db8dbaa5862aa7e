//! A page in the middle of a large file, with the number of all lines, against sed, which stops there.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use wink_fs::{HostBackend, Limits, PageLimit, ReadOptions, TextPage, TreePath, ops};

use crate::case::{Case, Outcome, Peer};
use crate::context::{Context, SEED, output_of};
use crate::measure::{Measured, check_equal, side_by_side, timed_ms};
use crate::rng::Rng;
use crate::text;

pub(crate) const CASE: Case = Case::new(
    "read-page-vs-sed",
    "ten lines in the middle of a 100 MB file, total_lines included",
    2.0,
    measure,
);

const FILE: &str = "large.txt";
const BYTES: usize = 100_000_000;
const LINES: usize = 10;

fn measure(context: &Context) -> Result<Outcome> {
    let directory = context.fresh_dir()?;
    let total = write_file(&directory.path().join(FILE))?;
    let script = script(total);
    let (ours, theirs) = side_by_side(
        || read_ours(directory.path(), total),
        || read_theirs(directory.path(), &script),
    )?;
    Ok(Outcome {
        peer: Peer::Measured {
            name: "sed",
            command: format!("LC_ALL=C sed -n '{script}' {FILE}"),
            samples: theirs,
        },
        ours,
        unit: "ms",
        place: context.warm(directory.path())?,
        note: format!(
            "ours in process: a new backend and ops::read, which counts all {total} lines; \
             sed's time has its process start and stops at the page"
        ),
    })
}

/// Writes the file and returns how many lines it has.
fn write_file(path: &Path) -> Result<usize> {
    let mut content = Vec::with_capacity(BYTES);
    text::append(&mut Rng::new(SEED, 0), &mut content, BYTES);
    fs::write(path, &content)?;
    Ok(content.iter().filter(|byte| **byte == b'\n').count())
}

/// Returns the 0-based first line of the page.
fn offset(total: usize) -> usize {
    total / 2
}

fn script(total: usize) -> String {
    let (first, last) = (offset(total) + 1, offset(total) + LINES);
    format!("{first},{last}p;{last}q")
}

fn read_ours(root: &Path, total: usize) -> Result<Measured<String>> {
    let path = TreePath::parse(FILE)?;
    let options =
        ReadOptions::default().offset(offset(total) as u64).limit(PageLimit::Count(LINES as u64));
    let page: Measured<TextPage> = timed_ms(|| {
        let backend = HostBackend::open_ambient(root)?;
        Ok(ops::read(&backend, &path, &options, &Limits::default())?)
    })?;
    check_equal(&page.result.total_lines, &(total as u64)).context("total_lines")?;
    Ok(Measured { value: page.value, result: page.result.content })
}

fn read_theirs(root: &Path, script: &str) -> Result<Measured<String>> {
    let mut sed = Command::new("sed");
    sed.current_dir(root).env("LC_ALL", "C").args(["-n", script, FILE]);
    timed_ms(|| Ok(String::from_utf8(output_of(&mut sed)?)?))
}

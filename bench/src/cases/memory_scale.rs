//! Whether an operation in memory costs the same however many files there are.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wink_fs::{
    Filesystem, Limits, ListOptions, MemoryBackend, ReadOptions, Recursion, Tree, TreePath,
    WriteOptions, ops,
};

use crate::case::{Case, Outcome, Peer};
use crate::context::{Context, SEED};
use crate::measure::{Measured, side_by_side};
use crate::rng::Rng;
use crate::stats::short;

pub(crate) const CASE: Case = Case::new(
    NAME,
    "read, write, list, delete in memory: ours at 1,000,000 files, theirs at 100,000",
    0.4,
    measure,
)
.with_child(child);

const NAME: &str = "memory-scale";
const MANY: usize = 1_000_000;
const FEW: usize = 100_000;
const WIDTH: usize = 100;
const OPERATIONS: usize = 20_000;

/// What a child found: microseconds an operation of each kind, and what the operations returned.
#[derive(Serialize, Deserialize)]
struct Found {
    micros: [f64; 4],
    seen: Seen,
}

/// What must not depend on the number of files.
#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Seen {
    bytes_read: u64,
    replaced: u64,
    entries_listed: u64,
    deleted: u64,
}

fn measure(context: &Context) -> Result<Outcome> {
    let (mut at_many, mut at_few) = ([0.0; 4], [0.0; 4]);
    let (ours, theirs) =
        side_by_side(|| ask(context, MANY, &mut at_many), || ask(context, FEW, &mut at_few))?;
    Ok(Outcome {
        peer: Peer::Measured {
            name: "self",
            command: format!("the same operations at {FEW} files"),
            samples: theirs,
        },
        ours,
        unit: "µs/op",
        place: "memory".into(),
        note: format!(
            "{OPERATIONS} of each kind in random order, directories {WIDTH} wide, a fresh process \
             each; the last repetition: ours {}, theirs {}",
            by_kind(at_many),
            by_kind(at_few)
        ),
    })
}

/// Fills and measures in a fresh process, so that no side inherits the other's heap.
fn ask(context: &Context, files: usize, micros: &mut [f64; 4]) -> Result<Measured<Seen>> {
    let found: Found = context.ask_child(NAME, &[&files.to_string()])?;
    *micros = found.micros;
    let value = micros.iter().sum::<f64>() / micros.len() as f64;
    Ok(Measured { value, result: found.seen })
}

fn by_kind(micros: [f64; 4]) -> String {
    let [read, write, list, delete] = micros.map(short);
    format!("read {read}, write {write}, list {list}, delete {delete}")
}

fn child(arguments: &[String]) -> Result<Value> {
    let files = arguments.first().context("how many files?")?.parse()?;
    let mut backend = filled(files)?;
    Ok(serde_json::to_value(operate(&mut backend, files, OPERATIONS)?)?)
}

fn filled(files: usize) -> Result<MemoryBackend> {
    let mut backend = MemoryBackend::new();
    for number in 0..files {
        ops::write(&mut backend, &file(number)?, &content(number), &WriteOptions::default())?;
    }
    Ok(backend)
}

/// Returns the path of a file: two levels of directories above it, whatever the number of files.
fn file(number: usize) -> Result<TreePath> {
    let (directory, name) = (number / WIDTH, number % WIDTH);
    Ok(TreePath::parse(&format!("{}/file_{name:02}", directory_text(directory)))?)
}

fn directory_text(number: usize) -> String {
    format!("dir_{:02}/dir_{:02}", number / WIDTH, number % WIDTH)
}

fn content(number: usize) -> String {
    format!("the content of {number:08}\n")
}

/// Returns the paths of some files, each once, in random order.
fn some_files(files: usize, count: usize, stream: u64) -> Result<Vec<TreePath>> {
    let mut numbers: Vec<_> = (0..files).collect();
    Rng::new(SEED, stream).draw(&mut numbers, count);
    numbers.into_iter().map(file).collect()
}

fn some_directories(files: usize, count: usize) -> Result<Vec<TreePath>> {
    let mut rng = Rng::new(SEED, 0);
    let mut path = || Ok(TreePath::parse(&directory_text(rng.below(files / WIDTH)))?);
    (0..count).map(|_| path()).collect()
}

fn operate(backend: &mut MemoryBackend, files: usize, count: usize) -> Result<Found> {
    let (read, bytes_read) = each(&some_files(files, count, 1)?, |path| read(backend, path))?;
    let (write, replaced) = each(&some_files(files, count, 2)?, |path| write(backend, path))?;
    let (list, entries_listed) =
        each(&some_directories(files, count)?, |path| list(backend, path))?;
    let (delete, deleted) = each(&some_files(files, count, 3)?, |path| delete(backend, path))?;
    let seen = Seen { bytes_read, replaced, entries_listed, deleted };
    Ok(Found { micros: [read, write, list, delete], seen })
}

/// Does something with each path; returns the microseconds one takes and the sum of the results.
fn each(
    paths: &[TreePath],
    mut operation: impl FnMut(&TreePath) -> Result<u64>,
) -> Result<(f64, u64)> {
    let start = Instant::now();
    let mut sum = 0;
    for path in paths {
        sum += black_box(operation(path)?);
    }
    Ok((start.elapsed().as_secs_f64() * 1e6 / paths.len() as f64, sum))
}

fn read(tree: &dyn Tree, path: &TreePath) -> Result<u64> {
    let page = ops::read(tree, path, &ReadOptions::default(), &Limits::default())?;
    Ok(page.content.len() as u64)
}

fn write(fs: &mut dyn Filesystem, path: &TreePath) -> Result<u64> {
    let written = ops::write(fs, path, "the new content\n", &WriteOptions::default())?;
    Ok(u64::from(!written.created))
}

fn list(tree: &dyn Tree, path: &TreePath) -> Result<u64> {
    Ok(ops::list(tree, path, &ListOptions::default())?.len() as u64)
}

fn delete(fs: &mut dyn Filesystem, path: &TreePath) -> Result<u64> {
    Ok(fs.remove(path, Recursion::OnlyEmpty)?.files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_does_not_depend_on_the_number_of_files() {
        let found = |files| operate(&mut filled(files).unwrap(), files, 500).unwrap().seen;
        assert_eq!(found(2_000), found(1_000));
    }
}

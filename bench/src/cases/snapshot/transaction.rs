//! What it costs that a call is an operation that can be undone, beyond the write itself.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use wink_fs::{Store, Workspace};

use super::FILES;
use crate::case::{Case, Outcome, Peer};
use crate::context::{Context, SEED};
use crate::measure::{Measured, alone, check_equal};
use crate::source_tree::{self, Shape};
use crate::stats::{Samples, short};

pub(crate) const TRANSACTION_HOST: Case = Case::new(
    "transaction-host",
    "what a write costs as an operation, beyond the write; the slower of two trees",
    1.0,
    measure,
);

const FEW: usize = 100;
const BUDGET_MS: f64 = 0.1;
const WRITES: usize = 200;

/// As many operations as are kept and more, so that an old one goes with each that comes.
const BEFORE: usize = 250;

const FILE: &str = "transaction.txt";

fn measure(context: &Context) -> Result<Outcome> {
    let few = Pair::new(context, FEW)?;
    let many = Pair::new(context, FILES)?;
    let mut last = String::new();
    let times = alone(&(), || {
        context.settle()?;
        let found = [few.cost()?, many.cost()?];
        last = format!("at {FEW} files {}, at {FILES} {}", short(found[0]), short(found[1]));
        Ok(Measured { value: found[0].max(found[1]), result: () })
    })?;
    Ok(Outcome {
        peer: Peer::Budget(BUDGET_MS),
        ours: times,
        unit: "ms",
        place: context.warm(context.scratch())?,
        note: format!(
            "median of {WRITES} writes with a store less that of {WRITES} without, in turn, to a \
             small file that is there, with all operations there that are kept; the last \
             repetition: {last}"
        ),
    })
}

/// Two workspaces with equal files, one of which remembers.
struct Pair {
    _directory: tempfile::TempDir,
    with: Workspace,
    without: Workspace,
}

impl Pair {
    fn new(context: &Context, files: usize) -> Result<Self> {
        let directory = context.fresh_dir()?;
        let place = |name: &str| directory.path().join(name);
        for name in ["with", "without"] {
            generate(&place(name), files)?;
        }
        let store = Store::create_ambient(place("store"))?;
        let with = Workspace::host_with_store(place("with"), store)?;
        let without = Workspace::host(place("without"))?;
        for number in 0..BEFORE {
            with.write(FILE, &content(number))?;
        }
        Ok(Self { _directory: directory, with, without })
    }

    /// Returns the milliseconds that a write takes longer where it is an operation.
    fn cost(&self) -> Result<f64> {
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for number in 0..WRITES {
            for (workspace, times) in [(&self.with, &mut with), (&self.without, &mut without)] {
                let content = content(number);
                let start = Instant::now();
                workspace.write(FILE, &content)?;
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
        self.check()?;
        let median = |times| Samples::new(times).context("no measurement");
        Ok(median(with)?.median() - median(without)?.median())
    }

    /// Checks that the last write can be undone, and does it again.
    fn check(&self) -> Result<()> {
        let last = content(WRITES - 1);
        self.with.undo()?;
        check_equal(&self.with.read(FILE)?.content, &content(WRITES - 2))?;
        ensure!(self.without.read(FILE)?.content == last, "the write was lost");
        self.with.redo()?;
        check_equal(&self.with.read(FILE)?.content, &last)
    }
}

fn generate(root: &Path, files: usize) -> Result<()> {
    source_tree::generate(root, Shape { files, seed: SEED })?;
    Ok(fs::write(root.join(FILE), "the first content\n")?)
}

fn content(number: usize) -> String {
    format!("the content of write {number}\n")
}

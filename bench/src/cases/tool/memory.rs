//! One call on a large workspace in memory, against a budget.

use std::time::Instant;

use anyhow::Result;
use serde_json::{Value, json};
use wink_agent::ToolContext;
use wink_agent::session::Session;
use wink_fs::Workspace;

use super::{call, tool};
use crate::case::{Case, Outcome, Peer};
use crate::context::SEED;
use crate::measure::{Measured, alone};
use crate::rng::Rng;

const BUDGET_US: f64 = 15.0;
const FILES: usize = 100_000;
const WIDTH: usize = 100;
const CALLS: usize = 2_000;

pub(crate) const READ: Case =
    Case::new("tool-read-memory", "read_file, one of 100,000 files in memory", 1.0, |_| {
        measure("read_file", |path, _| json!({ "path": path }))
    });

pub(crate) const WRITE: Case = Case::new(
    "tool-write-memory",
    "write_file, one of 100,000 files in memory",
    1.0,
    |_| {
        measure(
            "write_file",
            |path, round| json!({"path": path, "content": format!("round {round}\n"), "mode": "append"}),
        )
    },
);

pub(crate) const EDIT: Case =
    Case::new("tool-edit-memory", "edit_file, one of 100,000 files in memory", 1.0, |_| {
        measure("edit_file", |path, round| {
            let (old, new) = (format!("number {round}\n"), format!("number {}\n", round + 1));
            json!({"path": path, "old_string": old, "new_string": new})
        })
    });

fn measure(name: &str, arguments: impl Fn(&str, usize) -> Value) -> Result<Outcome> {
    let workspace = filled()?;
    let context = ToolContext::over(&workspace).session(&Session::new());
    let mut first = 0;
    let ours = alone(&(), || {
        let value = median_us(name, &context, first, &arguments)?;
        first += CALLS;
        Ok(Measured { value, result: () })
    })?;
    Ok(Outcome {
        peer: Peer::Budget(BUDGET_US),
        ours,
        unit: "µs",
        place: "memory".into(),
        note: format!("with a session, which is told of each call; medians of {CALLS} calls"),
    })
}

/// Returns the median of calls, each on another file.
fn median_us(
    name: &str,
    context: &ToolContext,
    first: usize,
    arguments: &impl Fn(&str, usize) -> Value,
) -> Result<f64> {
    let tool = tool(name)?;
    let mut order: Vec<usize> = (0..FILES).collect();
    Rng::new(SEED, 1).draw(&mut order, usize::MAX);
    let mut times = Vec::with_capacity(CALLS);
    for number in &order[first..first + CALLS] {
        let arguments = arguments(&path(*number), *number);
        let start = Instant::now();
        call(tool, context, arguments)?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[CALLS / 2])
}

fn filled() -> Result<Workspace> {
    let workspace = Workspace::memory();
    for number in 0..FILES {
        workspace.write(&path(number), &format!("the file of\nnumber {number}\n"))?;
    }
    Ok(workspace)
}

fn path(number: usize) -> String {
    let (directory, name) = (number / WIDTH, number % WIDTH);
    format!("dir_{:02}/dir_{:02}/file_{name:02}", directory / WIDTH, directory % WIDTH)
}

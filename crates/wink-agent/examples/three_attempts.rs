//! Three attempts at one task, each on a fork of its own; the best one is kept.
//!
//! `cargo run -p wink-agent --example three_attempts`

use std::error::Error;
use std::io::{self, Write};

use serde_json::json;
use wink_agent::{ToolContext, call};
use wink_fs::Workspace;

/// What three models would make of the function that does not add.
const ATTEMPTS: [(&str, &str); 3] =
    [("guess", "return 4"), ("careful", "return a + b"), ("confused", "return a * b")];

/// Sums that must come out right.
const CHECKS: [(i64, i64, i64); 3] = [(2, 2, 4), (1, 3, 4), (5, 7, 12)];

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}

pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let files = Workspace::memory();
    files.write("sum.py", "def add(a, b):\n    return a - b\n")?;
    let start = files.snapshot("start")?;

    let mut best: Option<(usize, &str, Workspace)> = None;
    for (name, body) in ATTEMPTS {
        let fork = files.fork(&start)?;
        attempt(&fork, name, body)?;
        let score = score(&fork)?;
        writeln!(out, "{name}: {score} of {} checks", CHECKS.len())?;
        if best.as_ref().is_none_or(|(most, ..)| score > *most) {
            best = Some((score, name, fork));
        }
    }

    let (_, name, fork) = best.ok_or("there was no attempt")?;
    files.merge(&fork)?;
    write!(out, "kept {name}:\n{}", files.read("sum.py")?.content)?;
    writeln!(out, "notes: {}", files.list("notes")?.len())?;
    Ok(())
}

/// Lets a tool call change the fork; the workspace it was made of stays as it is.
fn attempt(fork: &Workspace, name: &str, body: &str) -> Result<(), Box<dyn Error>> {
    let context = ToolContext::over(fork);
    let edit = json!({"path": "sum.py", "old_string": "return a - b", "new_string": body});
    let note = json!({"path": format!("notes/{name}.txt"), "content": format!("I tried {body}\n")});
    for (tool, arguments) in [("edit_file", edit), ("write_file", note)] {
        let result = call(&context, tool, arguments);
        if !result.ok() {
            return Err(result.message.into());
        }
    }
    Ok(())
}

/// Counts the checks that an attempt passes; a real one would run the project's tests.
fn score(fork: &Workspace) -> Result<usize, Box<dyn Error>> {
    let code = fork.read("sum.py")?.content;
    let add = |a: i64, b: i64| match code.lines().last().map(str::trim) {
        Some("return a + b") => a + b,
        Some("return a * b") => a * b,
        _ => 4,
    };
    Ok(CHECKS.iter().filter(|(a, b, sum)| add(*a, *b) == *sum).count())
}

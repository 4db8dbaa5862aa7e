//! One line of a large file edited by the tool a model calls, against a budget.

use anyhow::{Result, ensure};
use serde_json::json;
use wink_agent::ToolContext;
use wink_fs::Workspace;

use crate::case::{Case, Outcome, Peer};
use crate::context::Context;
use crate::measure::{Measured, alone, timed_ms};

pub(crate) const CASE: Case =
    Case::new("tool-edit-10mb", "one line of a 10 MB file edited", 1.0, measure);

const BUDGET_MS: f64 = 50.0;

const BYTES: usize = 10_000_000;

fn measure(context: &Context) -> Result<Outcome> {
    let (before, after) = (text("old"), text("new"));
    Ok(Outcome {
        peer: Peer::Budget(BUDGET_MS),
        ours: alone(&after, || edit(context, &before))?,
        unit: "ms",
        place: context.warm(context.scratch())?,
        note: "edit_file on a host directory; every line ends in \\r\\n and the text is given with \\n"
            .into(),
    })
}

/// Numbered lines, one of which, near the end, holds a word.
fn text(word: &str) -> String {
    let mut text = String::with_capacity(BYTES + 100);
    let mut number = 0;
    while text.len() < BYTES {
        number += 1;
        text.push_str(&format!("{number} one of very many lines of a text\r\n"));
    }
    text + &format!("this is {word}\r\nand that is the end\r\n")
}

fn edit(context: &Context, before: &str) -> Result<Measured<String>> {
    let directory = context.fresh_dir()?;
    let workspace = Workspace::host(directory.path())?;
    workspace.write("large.txt", before)?;
    context.settle()?;
    let arguments = json!({
        "path": "large.txt",
        "old_string": "this is old\nand that",
        "new_string": "this is new\nand that",
    });
    let done = timed_ms(|| {
        let result = wink_agent::call(&ToolContext::over(&workspace), "edit_file", arguments);
        ensure!(result.ok(), "{}", result.message);
        Ok(())
    })?;
    let content = workspace.open("large.txt")?.read_all()?;
    Ok(done.with_result(String::from_utf8(content.to_vec())?))
}

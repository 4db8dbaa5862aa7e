//! From the start of the program to its first answer.

use anyhow::Result;

use super::server::{Server as _, Wink};
use super::stdio::Client;
use crate::case::{Case, Outcome, Peer};
use crate::context::Context;
use crate::measure::{alone, timed_ms};

const BUDGET_MS: f64 = 50.0;
const FILES: usize = 5_000;

pub(crate) const CASE: Case =
    Case::new("mcp-start", "`wink mcp` from its start to the first answer", 1.0, measure);

fn measure(context: &Context) -> Result<Outcome> {
    let (root, beside) = (context.source_tree(FILES)?, context.fresh_dir()?);
    let ours = alone(&(), || {
        let mut command = Wink.command(&root, beside.path())?;
        let started = timed_ms(|| Client::start(&mut command))?;
        Ok(started.with_result(()))
    })?;
    Ok(Outcome {
        peer: Peer::Budget(BUDGET_MS),
        ours,
        unit: "ms",
        place: context.warm(&root)?,
        note: format!("a directory of {FILES} files, with its history"),
    })
}

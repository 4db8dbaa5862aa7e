//! A fork of a large workspace, against a budget.

use anyhow::Result;

use super::FILES;
use super::keeper::{Keeper as _, run_all};
use super::ours::Ours;
use super::rounds::{Side, noted};
use crate::case::{Case, Outcome, Peer};
use crate::context::{Context, output_of};
use crate::measure::{alone, timed_ms};

pub(crate) const FORK_HOST: Case =
    Case::new("fork-host", "fork of a workspace of 30,000 files", 1.0, measure);

const BUDGET_MS: f64 = 100.0;

fn measure(context: &Context) -> Result<Outcome> {
    let side = Side::new(context, &context.source_tree(FILES)?)?;
    let ours = Ours::new(side.place.clone())?;
    ours.prepare()?;
    run_all(ours.snapshot())?;
    let files = ours.kept()?.files;
    let times = alone(&files, || {
        context.settle()?;
        let mut command = ours.fork()?;
        let timed = timed_ms(|| output_of(&mut command))?;
        let files: u64 = serde_json::from_slice(&timed.result)?;
        Ok(timed.with_result(files))
    })?;
    Ok(Outcome {
        peer: Peer::Budget(BUDGET_MS),
        ours: times,
        unit: "ms",
        place: context.warm(&side.place.root)?,
        note: noted(&[
            "opens the workspace and its store, forks, changes a file of the fork".into()
        ]),
    })
}

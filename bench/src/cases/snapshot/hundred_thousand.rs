//! A large tree in which nothing has changed, against a budget.

use anyhow::Result;

use super::keeper::{Keeper, run_all};
use super::ours::Ours;
use super::rounds::{Side, noted, snapshot};
use crate::case::{Case, Outcome, Peer};
use crate::context::Context;
use crate::measure::alone;
use crate::trace;

const NAME: &str = "snapshot-100k";

pub(crate) const SNAPSHOT_100K: Case =
    Case::new(NAME, "100,000 files on the host, nothing changed", 1.0, measure);

const FILES: usize = 100_000;
const BUDGET_MS: f64 = 300.0;

fn measure(context: &Context) -> Result<Outcome> {
    let side = Side::new(context, &context.source_tree(FILES)?)?;
    let ours = Ours::new(side.place.clone())?;
    ours.prepare()?;
    run_all(ours.snapshot())?;
    let expected = ours.kept()?;
    let times = alone(&expected, || snapshot(context, &ours))?;
    let syncs = trace::syncs(context, NAME, "ours", ours.snapshot())?;
    Ok(Outcome {
        peer: Peer::Budget(BUDGET_MS),
        ours: times,
        unit: "ms",
        place: context.warm(&side.place.root)?,
        note: noted(&[format!("calls that sync: {syncs} (strace/{NAME}.ours.txt)")]),
    })
}

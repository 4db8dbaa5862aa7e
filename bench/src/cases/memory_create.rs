//! Small files created in memory, against a budget.

use anyhow::Result;
use wink_fs::Workspace;

use crate::case::{Case, Outcome, Peer};
use crate::context::Context;
use crate::digest::{self, Digest};
use crate::measure::{Measured, alone, timed_ms};
use crate::small_files::{self, SmallFile};

pub(crate) const CASE: Case =
    Case::new("memory-create", "10,000 files of 1 KiB created in memory", 1.0, measure);

const BUDGET_MS: f64 = 100.0;

fn measure(_: &Context) -> Result<Outcome> {
    let files = small_files::files()?;
    let ours = alone(&small_files::digest(&files), || create(&files))?;
    Ok(Outcome {
        peer: Peer::Budget(BUDGET_MS),
        ours,
        unit: "ms",
        place: "memory".into(),
        note: "Workspace::write into an empty workspace; 100 directories are made on the way"
            .into(),
    })
}

fn create(files: &[SmallFile]) -> Result<Measured<Digest>> {
    let workspace = Workspace::memory();
    let created = timed_ms(|| {
        for file in files {
            workspace.write(&file.name, &file.content)?;
        }
        Ok(())
    })?;
    Ok(created.with_result(digest::of_tree(&*workspace.tree())?))
}

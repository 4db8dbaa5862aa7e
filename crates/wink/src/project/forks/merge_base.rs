//! What of a fork was brought in last: where the next merge of it begins.

use wink_fs::{Pin, Workspace};

use crate::error::CliError;
use crate::project::Project;
use crate::project::settings::{Branch, MergeBase};

/// Returns the last state of a fork that is here: where the two began to differ.
pub(crate) fn base(files: &Workspace, branch: &Branch) -> wink_fs::Result<String> {
    let merges = branch.merges().map(|point| {
        let saved = point.saved.as_ref().and_then(|id| id.parse().ok());
        (saved, &point.theirs)
    });
    Ok(files.last_in_effect(merges)?.unwrap_or(&branch.base).clone())
}

/// Remembers what was brought in, so that the next merge begins there.
pub(crate) fn remember(
    files: &Workspace,
    mut project: Project,
    point: MergeBase,
) -> Result<(), CliError> {
    let store = files.snapshot_store()?;
    let owner = project.pin_owner();
    if let Ok(id) = point.theirs.parse() {
        store.pin(&Pin::new(id, owner.clone()))?;
    }
    let forgotten = project
        .change(|settings| Ok(settings.branch.as_mut().map(|branch| branch.merged(point))))?;
    for id in forgotten.into_iter().flatten().filter_map(|it| it.theirs.parse().ok()) {
        store.unpin(&id, &owner)?;
    }
    Ok(())
}

//! `import`: all files from one archive.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use wink_fs::archive::{ArchiveLimits, ArchiveTree, Imported};

use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::words::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "import",
    title: "Import all files",
    description: "Replaces ALL files of the workspace by those of a ZIP archive in the workspace that \
                  export made. What is not in the archive is gone afterwards, the archive itself \
                  included. A bad archive changes nothing.",
    effect: Effect::Writes,
    family: Family::Files,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// The archive.
    path: String,
    /// Must be true: every other file goes.
    replace_everything: bool,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    if !params.replace_everything {
        return Err(ToolError::invalid_argument(
            "Nothing was imported: set replace_everything to true if all files are to be replaced.",
        ));
    }
    let path = call.path(&params.path)?;
    let content = call.tree().open(&path)?;
    let len = content.len();
    let archive = ArchiveTree::open(Arc::new(content), len, &ArchiveLimits::default())?;
    let files = call.everything()?;
    // From here on it is finished: files are replaced as a whole.
    call.context().check_cancelled()?;
    let Imported { file_count, replaced, .. } = files.import(&archive)?;
    let message = format!(
        "The workspace now holds the {} of {path}: {} written, {} removed, {} unchanged.",
        counted(file_count, "file"),
        replaced.written,
        replaced.removed,
        replaced.unchanged
    );
    let value = json!({
        "file_count": file_count,
        "written": replaced.written,
        "removed": replaced.removed,
        "unchanged": replaced.unchanged,
    });
    Ok(ToolResult::success(message, value))
}

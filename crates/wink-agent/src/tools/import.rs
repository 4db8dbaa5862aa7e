//! `import`: replace all files with those of an archive.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wink_fs::archive::{ArchiveLimits, ArchiveTree, Imported};

use crate::history::changes;
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "import",
    title: "Import all files",
    description: "Replace ALL files of the workspace with those of a ZIP archive that export \
                  wrote. Files not in the archive are deleted, including the archive itself. \
                  An invalid archive changes nothing.",
    effect: Effect::Writes,
    family: Family::Files,
    destructive: true,
    idempotent: true,
    works_in_forks: true,
    parameters: schema::of::<Params>,
    answer: Some(schema::answer::<Answer>),
    run: Run::BuiltIn(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// Path of the archive.
    path: String,
    /// Must be true: every other file is deleted.
    replace_everything: bool,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    file_count: u64,
    written: u64,
    removed: u64,
    unchanged: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    if !params.replace_everything {
        return Err(ToolError::invalid_argument(
            "Nothing was imported: set replace_everything to true to replace all files.",
        ));
    }
    let path = call.path(&params.path)?;
    let content = call.tree().open(&path)?;
    let len = content.len();
    let archive = ArchiveTree::open(Arc::new(content), len, &ArchiveLimits::default())?;
    let files = call.everything()?;
    // From here on it is finished: files are replaced as a whole.
    call.context().check_cancelled()?;
    let Imported { file_count, replaced, missing, .. } = files.import(&archive)?;
    let message = format!(
        "Imported {} from {path}: {} written, {} removed, {} unchanged.",
        counted(file_count, "file"),
        replaced.written,
        replaced.removed,
        replaced.unchanged
    ) + &changes::missing("Not saved, so left as they are", missing.iter());
    let answer = Answer {
        file_count,
        written: replaced.written,
        removed: replaced.removed,
        unchanged: replaced.unchanged,
        missing: missing.iter().map(|it| it.path.clone()).collect(),
    };
    Ok(ToolResult::success(message, answer))
}

//! `export`: write all files into an archive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wink_fs::archive::{self, ExportOptions, Exported};
use wink_fs::{Error, Filesystem, Operation, PutCondition, PutOptions, Staged, Tree, TreePath};

use crate::history::archive_filter::WithoutSpecial;
use crate::history::changes;
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "export",
    title: "Export all files",
    description: "Export all files of the workspace to a new ZIP archive in it, which import \
                  can read. Its name should end in .fs.zip.",
    effect: Effect::Writes,
    family: Family::Files,
    destructive: false,
    idempotent: false,
    works_in_forks: true,
    parameters: schema::of::<Params>,
    answer: Some(schema::answer::<Answer>),
    run: Run::BuiltIn(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// Path of the new archive.
    #[serde(default = "target")]
    path: String,
}

fn target() -> String {
    "export.fs.zip".to_owned()
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    path: String,
    file_count: u64,
    total_bytes: u64,
    archive_bytes: u64,
    left_out: Vec<String>,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let path = call.path(&params.path)?;
    let tree = WithoutSpecial::of(call.tree_to_keep());
    let exported = call.change(|fs| export(fs, &tree, &path))?;
    let left_out = tree.left_out();
    let files = counted(exported.file_count, "file");
    let message = format!(
        "Exported {files} ({} bytes) to {path}, an archive of {} bytes.",
        exported.total_bytes, exported.archive_bytes
    );
    let message = if left_out.is_empty() {
        message
    } else {
        let listed = changes::listed(&left_out);
        format!(
            "{message}\nLeft out, because an archive cannot hold FIFOs, sockets and devices:{listed}"
        )
    };
    let answer = Answer {
        path: path.to_string(),
        file_count: exported.file_count,
        total_bytes: exported.total_bytes,
        archive_bytes: exported.archive_bytes,
        left_out: changes::paths(&left_out),
    };
    Ok(ToolResult::success(message, answer))
}

fn export(fs: &mut dyn Filesystem, tree: &dyn Tree, path: &TreePath) -> wink_fs::Result<Exported> {
    let mut staging = fs.stage()?;
    let exported = archive::write(tree, &mut staging, &ExportOptions::default())?;
    let mut staged: Staged = staging
        .finish()
        .map_err(|error| Error::system(Operation::Export, error).with_path(path))?;
    let options = PutOptions::default().condition(PutCondition::Absent);
    fs.put(path, &mut staged, &options).map_err(|error| error.during(Operation::Export))?;
    Ok(exported)
}

//! `glob`: files by name.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wink_fs::TreePath;
use wink_fs::search::{GlobOptions, GlobResult, glob};

use crate::refusal::Refusal;
use crate::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::tool_call::ToolCall;
use crate::words::counted;
use crate::{arguments, schema};

pub(crate) const TOOL: Tool = Tool {
    name: "glob",
    title: "Find files by name",
    description: "Finds files whose path matches a pattern, sorted by path. `*` and `?` stay within \
                  a path segment, `**` crosses segments, `[a-z]`, `[!a]` and `{a,b}` work as usual. \
                  A pattern without `/` matches file names at any depth; one with `/` is relative \
                  to `path`. Hidden files are found too.",
    effect: Effect::Reads,
    family: Family::Files,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// The pattern, for example `**/*.rs`.
    pattern: String,
    /// Directory to search in, relative to the workspace root.
    #[serde(default = "super::root")]
    path: String,
    /// Leave out what .gitignore and .ignore files hide.
    #[serde(default)]
    respect_ignore_files: bool,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, Refusal> {
    let base = call.path(&params.path)?;
    let limits = call.limits();
    let options = GlobOptions::default()
        .ignore_files(params.respect_ignore_files)
        .stop(call.stop(limits.max_search_time)?);
    let found = glob(&*call.tree(), &params.pattern, &base, &options, limits)?;
    let most = usize::try_from(limits.max_grep_matches).unwrap_or(usize::MAX);
    Ok(ToolResult::success(message(params, &found, most), value(&found, most)))
}

fn message(params: &Params, found: &GlobResult, most: usize) -> String {
    let total = found.paths.len();
    let mut message = match total {
        0 => format!("No file matches {} below {}.", params.pattern, params.path),
        _ => format!("Found {}:", counted(total as u64, "file")),
    };
    for path in found.paths.iter().take(most) {
        message.push_str(&format!("\n{path}"));
    }
    if total > most {
        message.push_str(&format!(
            "\n{} more are not shown; use a narrower pattern or path.",
            total - most
        ));
    }
    message + &hidden(found)
}

fn hidden(found: &GlobResult) -> String {
    match found.skipped.ignored {
        0 => String::new(),
        count => format!("\nHidden by ignore files: {}.", counted(count, "file")),
    }
}

fn value(found: &GlobResult, most: usize) -> Value {
    let paths: Vec<_> = found.paths.iter().take(most).map(TreePath::to_string).collect();
    json!({
        "paths": paths,
        "total": found.paths.len(),
        "truncated": found.paths.len() > most,
        "ignored": found.skipped.ignored,
    })
}

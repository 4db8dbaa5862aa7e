//! `glob`: files by name.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wink_fs::TreePath;
use wink_fs::search::{GlobOptions, GlobResult, glob};

use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::words::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "glob",
    title: "Find files by name",
    description: "Finds files whose path matches a pattern, sorted by path. `*` and `?` stay within \
                  a path segment, `**` crosses segments, `[a-z]`, `[!a]` and `{a,b}` work as usual. \
                  A pattern without `/` matches file names at any depth; one with `/` is relative \
                  to `path`. Hidden files are found too. Long lists come in parts, each with the call \
                  that shows the next one.",
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
    /// How many files to skip.
    #[serde(default)]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    offset: u64,
}

/// The part of a list that is shown.
struct Page<'p> {
    params: &'p Params,
    found: GlobResult,
    start: usize,
    end: usize,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let base = call.path(&params.path)?;
    let limits = call.limits();
    let options = GlobOptions::default()
        .ignore_files(params.respect_ignore_files)
        .stop(call.stop(limits.max_search_time)?);
    let found = glob(&*call.tree(), &params.pattern, &base, &options, limits)?;
    let most = usize::try_from(limits.max_grep_matches).unwrap_or(usize::MAX);
    let start = usize::try_from(params.offset).unwrap_or(usize::MAX).min(found.paths.len());
    let end = start.saturating_add(most).min(found.paths.len());
    let page = Page { params, found, start, end };
    Ok(ToolResult::success(page.message(call), page.value()))
}

impl Page<'_> {
    fn message(&self, call: &ToolCall<'_>) -> String {
        let Params { pattern, path, offset, .. } = self.params;
        let count = counted(self.found.paths.len() as u64, "file");
        let mut message = match (self.found.paths.is_empty(), self.shown().is_empty()) {
            (true, _) => format!("No file matches {pattern} below {path}."),
            (_, true) => format!("Nothing to show: offset {offset} is past the end of {count}."),
            _ => format!("Found {count}:"),
        };
        for path in self.shown() {
            message.push_str(&format!("\n{path}"));
        }
        message + &self.next_call(call) + &self.hidden()
    }

    fn shown(&self) -> &[TreePath] {
        &self.found.paths[self.start..self.end]
    }

    fn is_truncated(&self) -> bool {
        !self.shown().is_empty() && self.end < self.found.paths.len()
    }

    fn next_call(&self, call: &ToolCall<'_>) -> String {
        if !self.is_truncated() {
            return String::new();
        }
        let Params { pattern, path, respect_ignore_files, .. } = self.params;
        let mut next = json!({"pattern": pattern, "path": path, "offset": self.end});
        if *respect_ignore_files {
            next["respect_ignore_files"] = true.into();
        }
        let (first, end, total) = (self.start + 1, self.end, self.found.paths.len());
        let next = call.next(next);
        format!("\nShown are files {first} to {end} of {total}. Next call: glob {next}")
    }

    fn hidden(&self) -> String {
        match self.found.skipped.ignored {
            0 => String::new(),
            count => format!("\nHidden by ignore files: {}.", counted(count, "file")),
        }
    }

    fn value(&self) -> Value {
        let paths: Vec<_> = self.shown().iter().map(TreePath::to_string).collect();
        json!({
            "paths": paths,
            "offset": self.params.offset,
            "total": self.found.paths.len(),
            "truncated": self.is_truncated(),
            "ignored": self.found.skipped.ignored,
        })
    }
}

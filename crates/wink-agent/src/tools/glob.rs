//! `glob`: find files by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use wink_fs::search::{GlobOptions, GlobResult, Skipped, glob};
use wink_fs::{Kind, TreePath};

use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::counted;

/// Says that Git's own files were not searched.
pub(super) const GIT_NOTE: &str = "\nNot searched: .git (name it in the path to search it).";

pub(crate) const TOOL: Tool = Tool {
    name: "glob",
    title: "Find files by name",
    description: "Find files by path pattern, sorted by path. `*` and `?` match within a path \
                  segment, `**` across segments; `[a-z]`, `[!a]` and `{a,b}` work as usual. A \
                  pattern without `/` matches file names at any depth; one with `/` is \
                  relative to `path`. Includes hidden files. Long lists are paged; the answer \
                  gives the next call.",
    effect: Effect::Reads,
    family: Family::Files,
    destructive: false,
    idempotent: true,
    works_in_forks: true,
    parameters: schema::of::<Params>,
    answer: Some(schema::answer::<Answer>),
    run: Run::BuiltIn(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// Pattern, for example `**/*.rs`.
    pattern: String,
    /// Directory to search in.
    #[serde(default = "super::root")]
    path: String,
    /// Skip files that .gitignore and .ignore exclude.
    #[serde(default)]
    respect_ignore_files: bool,
    /// Files to skip.
    #[serde(default)]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    offset: u64,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    paths: Vec<String>,
    /// `file` or `symlink`, for each path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kinds: Vec<String>,
    offset: u64,
    total: usize,
    truncated: bool,
    ignored: u64,
    /// Directories that cannot be read.
    #[serde(default, skip_serializing_if = "is_zero")]
    unreadable: u64,
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
        .skip_git(true)
        .stop(call.stop(limits.max_search_time)?);
    let found = glob(&*call.tree(), &params.pattern, &base, &options, limits)?;
    let most = usize::try_from(limits.max_grep_matches).unwrap_or(usize::MAX);
    let start = usize::try_from(params.offset).unwrap_or(usize::MAX).min(found.paths.len());
    let end = start.saturating_add(most).min(found.paths.len());
    let page = Page { params, found, start, end };
    let mut answer = page.answer();
    if call.context().wants_data {
        let tree = call.tree();
        let kind =
            |path: &TreePath| tree.stat(path).map_or(Kind::Other, |stat| stat.kind).to_string();
        answer.kinds = page.page().iter().map(kind).collect();
    }
    Ok(ToolResult::success(page.message(call), answer))
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Names directories that were not looked into, so that no file seems to be missing.
fn unsearched(skipped: &Skipped) -> String {
    let mut notes = match skipped.unreadable {
        0 => String::new(),
        1 => "\nNot searched, because it cannot be read: 1 directory.".to_owned(),
        count => format!("\nNot searched, because they cannot be read: {count} directories."),
    };
    if skipped.git_directories > 0 {
        notes += GIT_NOTE;
    }
    notes
}

impl Page<'_> {
    fn message(&self, call: &ToolCall<'_>) -> String {
        let Params { pattern, path, offset, .. } = self.params;
        let count = counted(self.found.paths.len() as u64, "file");
        let mut message = match (self.found.paths.is_empty(), self.page().is_empty()) {
            (true, _) => format!("No file matches {pattern} below {path}."),
            (_, true) => format!("Nothing to show: offset {offset} is past the end of {count}."),
            _ => format!("Found {count}:"),
        };
        let listed = if call.context().wants_data { &[][..] } else { self.page() };
        for path in listed {
            message.push_str(&format!("\n{path}"));
        }
        message + &self.next_call(call) + &self.hidden()
    }

    fn page(&self) -> &[TreePath] {
        &self.found.paths[self.start..self.end]
    }

    fn is_truncated(&self) -> bool {
        !self.page().is_empty() && self.end < self.found.paths.len()
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
        let first = self.start + 1;
        let end = self.end;
        let total = self.found.paths.len();
        let next = call.next(next);
        format!("\nShowing files {first} to {end} of {total}. Next call: glob {next}")
    }

    fn hidden(&self) -> String {
        let skipped = &self.found.skipped;
        let mut notes = match skipped.ignored {
            0 => String::new(),
            count => format!("\nHidden by ignore files: {}.", counted(count, "file")),
        };
        notes += &unsearched(skipped);
        notes
    }

    fn answer(&self) -> Answer {
        Answer {
            paths: self.page().iter().map(TreePath::to_string).collect(),
            kinds: Vec::new(),
            offset: self.params.offset,
            total: self.found.paths.len(),
            truncated: self.is_truncated(),
            ignored: self.found.skipped.ignored,
            unreadable: self.found.skipped.unreadable,
        }
    }
}

//! `ls`: list a directory.

mod target;
mod walk;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use wink_fs::{Kind, Tree, TreePath};

use self::target::Target;
use self::walk::Found;
use crate::policy::PathRules;
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "ls",
    title: "List directory",
    description: "List a directory: kind, size in bytes and name of each entry, sorted by \
                  name. Symlinks show their target as a workspace path. `depth` includes \
                  subdirectories. Long listings are paged; the answer gives the next call.",
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
    /// Directory to list.
    #[serde(default = "super::root")]
    path: String,
    /// Levels to list; 1 lists only its own entries.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 100))]
    depth: u64,
    /// Entries to skip.
    #[serde(default)]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    offset: u64,
}

fn one() -> u64 {
    1
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    path: String,
    entries: Vec<EntryAnswer>,
    offset: u64,
    total: usize,
    truncated: bool,
}

#[derive(Serialize, JsonSchema)]
struct EntryAnswer {
    name: String,
    kind: String,
    size_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Option<String>>,
}

/// The part of a listing that is shown.
struct Page {
    path: TreePath,
    depth: u64,
    offset: u64,
    found: Vec<Found>,
    shown: Vec<Row>,
}

/// An entry that is shown.
struct Row {
    found: Found,
    size: Option<u64>,
    target: Option<Target>,
}

impl Row {
    fn of(tree: &dyn Tree, rules: &PathRules, found: &Found) -> Result<Self, ToolError> {
        let size = walk::size(tree, found)?;
        let target = Target::of(tree, rules, found)?;
        Ok(Self { found: found.clone(), size, target })
    }
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let path = call.path(&params.path)?;
    let tree = call.tree();
    let limits = call.limits();
    let found = walk::walk(&*tree, &path, params.depth, &call.stop(limits.max_search_time)?)?;
    let start = usize::try_from(params.offset).unwrap_or(usize::MAX);
    let most = usize::try_from(limits.max_grep_matches).unwrap_or(usize::MAX);
    let shown = found.iter().skip(start).take(most);
    let rules = &call.context().rules;
    let shown = shown.map(|it| Row::of(&*tree, rules, it)).collect::<Result<_, ToolError>>()?;
    let page = Page { path, depth: params.depth, offset: params.offset, found, shown };
    Ok(ToolResult::success(page.message(call), page.answer()))
}

impl Page {
    fn message(&self, call: &ToolCall<'_>) -> String {
        let Self { path, offset, .. } = self;
        let total = self.found.len();
        if total == 0 {
            return format!("The directory {path} is empty. Create a file in it with write_file.");
        }
        if self.shown.is_empty() {
            return format!(
                "Nothing to show: offset {offset} is past the end of {path}, which has {total} \
                 entries."
            );
        }
        let mut message = format!("{path}: {}\n", counted(&self.found));
        self.shown.iter().for_each(|row| message.push_str(&self.line(row)));
        message + &self.next_call(call)
    }

    fn line(&self, Row { found, size, target }: &Row) -> String {
        let size = size.map_or("-".to_owned(), |size| size.to_string());
        let target = target.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{:<9} {size:>10} {}{target}\n", found.kind.to_string(), self.name(found))
    }

    /// Returns the path of an entry from the listed directory on.
    fn name(&self, found: &Found) -> String {
        let text = found.path.to_string();
        if self.path.is_root() { text } else { text[self.path.to_string().len() + 1..].to_owned() }
    }

    fn end(&self) -> u64 {
        self.offset + self.shown.len() as u64
    }

    fn is_truncated(&self) -> bool {
        !self.shown.is_empty() && self.end() < self.found.len() as u64
    }

    fn next_call(&self, call: &ToolCall<'_>) -> String {
        if !self.is_truncated() {
            return String::new();
        }
        let path = self.path.to_string();
        let depth = self.depth;
        let end = self.end();
        let arguments = call.next(json!({"path": path, "depth": depth, "offset": end}));
        let total = self.found.len();
        format!(
            "Showing entries {} to {end} of {total}. Next call: ls {arguments}, or find by name \
             with glob.\n",
            self.offset + 1
        )
    }

    fn answer(&self) -> Answer {
        let entry = |Row { found, size, target }: &Row| EntryAnswer {
            name: self.name(found),
            kind: found.kind.to_string(),
            size_bytes: *size,
            target: target.as_ref().map(Target::path),
        };
        Answer {
            path: self.path.to_string(),
            entries: self.shown.iter().map(entry).collect(),
            offset: self.offset,
            total: self.found.len(),
            truncated: self.is_truncated(),
        }
    }
}

/// Kinds in the order they are counted, in the plural.
const COUNTED: [(Kind, &str); 4] = [
    (Kind::Directory, "directories"),
    (Kind::File, "files"),
    (Kind::Symlink, "symlinks"),
    (Kind::Other, "others"),
];

fn counted(found: &[Found]) -> String {
    let count = |wanted| found.iter().filter(|it| it.kind == wanted).count();
    let counts = COUNTED.map(|(kind, plural)| (count(kind), plural));
    let present = counts.iter().filter(|(count, _)| *count > 0);
    present.map(|(count, plural)| format!("{plural} {count}")).collect::<Vec<_>>().join(", ")
}

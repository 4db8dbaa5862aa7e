//! `ls`: what is in a directory.

mod target;
mod walk;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
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
    description: "Lists what is in a directory, sorted by name, each entry with its kind and its \
                  size in bytes. A link is shown with the path of the workspace that it stands for, \
                  which is the one to use. Without a path it lists the workspace root. With `depth` \
                  it also lists what is in the directories below, by their path from the listed one. \
                  Long listings come in parts, each with the call that shows the next one.",
    effect: Effect::Reads,
    family: Family::Files,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// Directory to list, relative to the workspace root.
    #[serde(default = "super::root")]
    path: String,
    /// How many levels to list: 1 (the default) is the directory's own entries.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 100))]
    depth: u64,
    /// How many entries to skip.
    #[serde(default)]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    offset: u64,
}

fn one() -> u64 {
    1
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
        let (size, target) = (walk::size(tree, found)?, Target::of(tree, rules, found)?);
        Ok(Self { found: found.clone(), size, target })
    }
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let (path, tree, limits) = (call.path(&params.path)?, call.tree(), call.limits());
    let found = walk::walk(&*tree, &path, params.depth, &call.stop(limits.max_search_time)?)?;
    let start = usize::try_from(params.offset).unwrap_or(usize::MAX);
    let most = usize::try_from(limits.max_grep_matches).unwrap_or(usize::MAX);
    let shown = found.iter().skip(start).take(most);
    let rules = &call.context().rules;
    let shown = shown.map(|it| Row::of(&*tree, rules, it)).collect::<Result<_, ToolError>>()?;
    let page = Page { path, depth: params.depth, offset: params.offset, found, shown };
    Ok(ToolResult::success(page.message(call), page.value()))
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
        let (path, depth, end) = (self.path.to_string(), self.depth, self.end());
        let arguments = call.next(json!({"path": path, "depth": depth, "offset": end}));
        let total = self.found.len();
        format!(
            "Shown are entries {} to {end} of {total}. Next call: ls {arguments}, or find by name \
             with glob.\n",
            self.offset + 1
        )
    }

    fn row_value(&self, Row { found, size, target }: &Row) -> Value {
        let kind = found.kind.to_string();
        let mut value = json!({"name": self.name(found), "kind": kind, "size_bytes": size});
        if let Some(target) = target {
            value["target"] = target.path().into();
        }
        value
    }

    fn value(&self) -> Value {
        json!({
            "path": self.path.to_string(),
            "entries": self.shown.iter().map(|row| self.row_value(row)).collect::<Vec<_>>(),
            "offset": self.offset,
            "total": self.found.len(),
            "truncated": self.is_truncated(),
        })
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

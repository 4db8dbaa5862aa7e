//! The tools that a program offers.

use serde_json::Value;

use crate::tool::context::ToolContext;
use crate::tool::engine;
use crate::tool::result::ToolResult;
use crate::tool::table::{EXECUTION, FILES, HISTORY};
use crate::tool::unknown_name;
use crate::tool::{Family, Tool};

/// Names that models know from other programs, with the tool that is meant.
const ALIASES: [(&str, &str); 2] = [("list_directory", "ls"), ("delete_file", "rm")];

/// The families of tools that a program offers.
///
/// ```
/// use serde_json::json;
/// use wink_agent::{ToolContext, Toolset};
///
/// let context = ToolContext::over(&wink_fs::Workspace::memory());
/// let tools = Toolset::named("all").unwrap();
/// assert!(tools.call(&context, "write_file", json!({"path": "a", "content": "a"})).ok());
/// assert!(tools.call(&context, "undo", json!({})).ok());
/// assert!(!Toolset::FILES.call(&context, "undo", json!({})).ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Toolset(&'static [Family]);

impl Toolset {
    /// The file tools.
    pub const FILES: Self = Self(&[Family::Files]);

    /// The history tools, for agents that have file tools of their own.
    pub const HISTORY: Self = Self(&[Family::History]);

    /// The tools that run programs.
    pub(crate) const EXECUTION: Self = Self(&[Family::Execution]);

    /// All tools; those that run programs need an executor in the context.
    pub const ALL: Self = Self(&[Family::Files, Family::History, Family::Execution]);

    /// Returns the set with this name: `files`, `history` or `all`.
    pub fn named(name: &str) -> Option<Self> {
        let named = [("files", Self::FILES), ("history", Self::HISTORY), ("all", Self::ALL)];
        named.into_iter().find(|(known, _)| *known == name).map(|(_, set)| set)
    }

    /// Returns the tools in the order they are shown.
    pub fn tools(self) -> impl Iterator<Item = &'static Tool> {
        let all = FILES.iter().chain(HISTORY).chain(EXECUTION);
        all.filter(move |tool| self.0.contains(&tool.family))
    }

    /// Returns the tools that work in a context: without an executor, none that run programs, and without a
    /// history, no history tools.
    ///
    /// ```
    /// use wink_agent::{ToolContext, Toolset};
    ///
    /// let context = ToolContext::over(&wink_fs::Workspace::memory());
    /// assert!(Toolset::ALL.offered(&context).all(|tool| tool.name != "shell_execute"));
    /// ```
    pub fn offered(self, context: &ToolContext) -> impl Iterator<Item = &'static Tool> {
        let can_run = context.executor.is_some();
        let has_history = context.has_history();
        self.tools().filter(move |tool| match tool.family {
            Family::Files => true,
            Family::History => has_history,
            Family::Execution => can_run,
        })
    }

    /// Finds a tool by its name or an alias.
    pub fn find(self, name: &str) -> Option<&'static Tool> {
        let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, own)| *own);
        self.tools().find(|tool| tool.name == name)
    }

    /// Calls a tool by name; an unknown name is a failed result.
    pub fn call(self, context: &ToolContext, name: &str, arguments: Value) -> ToolResult {
        match self.find(name) {
            Some(tool) => tool.call(context, arguments),
            None => {
                let refusal =
                    unknown_name::refusal(name, self.offered(context).map(|tool| tool.name));
                engine::refuse(&unknown_name::shorten_name(name), context, &arguments, refusal)
            }
        }
    }

    /// Returns the message for a tool that is not offered.
    pub fn unknown_tool_message(
        name: &str,
        offered: impl Iterator<Item = &'static Tool>,
    ) -> String {
        let names = offered.map(|tool| tool.name);
        match Self::ALL.find(name) {
            Some(_) => unknown_name::not_offered(name, names),
            None => unknown_name::message(name, names),
        }
    }
}

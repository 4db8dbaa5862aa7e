//! A tool, and one call of it.
//!
//! `table` lists the tools and `set` says which of them a program offers. A call goes through `engine`, which
//! gives the tool's function a [`ToolCall`] and records in the session what came of it.

pub(crate) mod budget;
pub(crate) mod call;
pub(crate) mod context;
pub(crate) mod control_characters;
pub(crate) mod engine;
pub(crate) mod error;
pub(crate) mod result;
pub(crate) mod set;
pub(crate) mod suggest;
pub(crate) mod table;
pub(crate) mod unknown_name;

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::schema::{self, aliases, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;

/// What a tool may do to the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// The tool only reads.
    Reads,
    /// The tool changes files.
    Writes,
    /// The tool runs a program.
    Executes,
}

/// What a tool is about, so that a program can offer some families and not others.
///
/// ```
/// use wink_agent::{Family, Toolset};
///
/// let undo = Toolset::ALL.find("undo").unwrap();
/// assert_eq!(undo.family, Family::History);
/// assert!(Toolset::FILES.find("undo").is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// Reading, finding and changing files.
    Files,
    /// Snapshots of all files: taking, comparing and restoring them.
    History,
    /// Programs that are run.
    Execution,
}

/// The type of a tool's function.
type Function = dyn Fn(&ToolCall<'_>, Value) -> Result<ToolResult, ToolError> + Send + Sync;

/// The function of a tool.
#[derive(Clone)]
pub(crate) enum Run {
    BuiltIn(fn(&ToolCall<'_>, Value) -> Result<ToolResult, ToolError>),
    Custom(Arc<Function>),
}

impl Run {
    pub(crate) fn call(
        &self,
        call: &ToolCall<'_>,
        arguments: Value,
    ) -> Result<ToolResult, ToolError> {
        match self {
            Self::BuiltIn(run) => run(call, arguments),
            Self::Custom(run) => run(call, arguments),
        }
    }
}

/// A tool: its declaration and function.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use serde_json::json;
/// use wink_agent::{Effect, Tool, ToolContext, ToolResult};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Params {
///     /// File whose words are counted.
///     path: String,
/// }
///
/// let words = Tool::new("words", "Counts the words of a file.", Effect::Reads, |call, params: Params| {
///     let content = call.tree().open(&call.path(&params.path)?)?.read_all()?;
///     let count = String::from_utf8_lossy(&content).split_whitespace().count();
///     Ok(ToolResult::success(format!("{count} words"), json!({"words": count})))
/// });
///
/// let files = wink_fs::Workspace::memory();
/// files.write("a.txt", "one two")?;
/// let result = words.call(&ToolContext::over(&files), json!({"path": "a.txt"}));
/// assert_eq!(result.message, "2 words");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone)]
pub struct Tool {
    /// The name a model calls it by.
    pub name: &'static str,
    /// The name shown to people.
    pub title: &'static str,
    /// The text that tells a model when and how to use it.
    pub description: &'static str,
    /// What it may do to the workspace.
    pub effect: Effect,
    /// What it is about.
    pub family: Family,
    /// Whether it can replace or delete something; one that only adds cannot.
    pub destructive: bool,
    /// Whether a second call with the same arguments changes nothing more.
    pub idempotent: bool,
    /// Whether it can work on the files of a fork instead of the workspace's own.
    pub works_in_forks: bool,
    pub(crate) parameters: fn() -> &'static Map<String, Value>,
    pub(crate) answer: Option<fn() -> &'static Map<String, Value>>,
    pub(crate) run: Run,
}

impl Tool {
    /// Creates a tool from a function that takes a struct of parameters.
    ///
    /// A field is text, a number, `bool`, an enum without values, a struct of such fields, or a list or a
    /// map by text of any of these; an `Option` may be left out.
    ///
    /// # Panics
    ///
    /// If a field is anything else, because no schema of it would be accepted by every provider.
    ///
    /// ```should_panic
    /// # use wink_agent::{Effect, Tool, ToolResult};
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Params {
    ///     anything: serde_json::Value,
    /// }
    ///
    /// Tool::new("vague", "Takes anything.", Effect::Reads, |_, params: Params| {
    ///     Ok(ToolResult::success(String::new(), params.anything))
    /// });
    /// ```
    pub fn new<P: DeserializeOwned + JsonSchema + 'static>(
        name: &'static str,
        description: &'static str,
        effect: Effect,
        run: impl Fn(&ToolCall<'_>, P) -> Result<ToolResult, ToolError> + Send + Sync + 'static,
    ) -> Self {
        let run = move |call: &ToolCall<'_>, given: Value| run(call, arguments::parse(given)?);
        // Fail here rather than at the first call.
        schema::of::<P>();
        Self {
            name,
            title: name,
            description,
            effect,
            family: Family::Files,
            destructive: effect != Effect::Reads,
            idempotent: effect == Effect::Reads,
            works_in_forks: false,
            parameters: schema::of::<P>,
            answer: None,
            run: Run::Custom(Arc::new(run)),
        }
    }

    /// Sets its family; [`Family::Files`] by default.
    #[must_use]
    pub fn family(mut self, family: Family) -> Self {
        self.family = family;
        self
    }

    /// Sets the name shown to people.
    #[must_use]
    pub fn title(mut self, title: &'static str) -> Self {
        self.title = title;
        self
    }

    /// Returns the JSON Schema of the arguments: one `type` a field, no references.
    pub fn input_schema(&self) -> &'static Map<String, Value> {
        (self.parameters)()
    }

    /// Returns the JSON Schema of an answer's [`value`](ToolResult::value): of one that succeeded, or of an error.
    ///
    /// A tool made by [`new`](Self::new) has none.
    ///
    /// ```
    /// let mkdir = wink_agent::find("mkdir").unwrap();
    /// let schema = mkdir.output_schema().unwrap();
    /// assert_eq!(schema["properties"]["created"]["type"], "boolean");
    /// ```
    pub fn output_schema(&self) -> Option<&'static Map<String, Value>> {
        self.answer.map(|schema| schema())
    }

    /// Returns the path argument of a call, under any name that a model gave it.
    ///
    /// ```
    /// use serde_json::json;
    ///
    /// let read = wink_agent::find("read_file").unwrap();
    /// assert_eq!(read.path_in(&json!({"filePath": "a.txt"})), Some("a.txt"));
    /// ```
    pub fn path_in<'a>(&self, arguments: &'a Value) -> Option<&'a str> {
        aliases::path_of(self.name, arguments)
    }

    /// Returns whether it is a built-in tool.
    pub(crate) fn is_built_in(&self) -> bool {
        matches!(self.run, Run::BuiltIn(_))
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}

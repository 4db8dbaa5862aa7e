//! `wink tool`: calls a tool from the shell.

mod arguments;
mod list;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value};
use wink_agent::exec::Outputs;
use wink_agent::{Family, Tool, ToolContext, Toolset};

use crate::cli::context::{Context, Opened};
use crate::commands::run::SandboxArgs;
use crate::error::CliError;
use crate::json::documents;
use crate::project::forks::persisted::PersistedForks;
use crate::sys::signals;
use crate::ui::answer::Answer;
use crate::ui::style::Paint;

/// Call a tool as an agent does, or list the tools.
#[derive(Debug, Args)]
pub(crate) struct ToolArgs {
    /// Tool to call; without one, list all tools.
    #[arg(value_name = "NAME")]
    name: Option<String>,

    /// Arguments: `key=value`, a JSON object, or `-` to read one from standard input.
    #[arg(value_name = "ARGUMENT", requires = "name")]
    arguments: Vec<String>,

    /// List all tools.
    #[arg(long, conflicts_with = "name")]
    list: bool,

    /// Print the JSON Schema of the tool's arguments.
    #[arg(long, requires = "name", conflicts_with = "arguments")]
    schema: bool,

    /// Let tools run programs, in the sandbox of `wink run`.
    #[arg(long)]
    allow_execution: bool,

    #[command(flatten)]
    sandbox: SandboxArgs,
}

impl ToolArgs {
    /// Returns whether the tool may run a program, which must end with the command.
    pub(crate) fn may_execute(&self) -> bool {
        self.allow_execution
    }
}

documents! {
    list::ToolList: "wink/tool.list@1";
    ToolCalled: "wink/tool@1";
    ToolSchema: "wink/tool.schema@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ToolCalled {
    tool: &'static str,
    /// What the value does not say.
    text: String,
    /// The value for a program, with contents and lines.
    value: Value,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ToolSchema {
    tool: &'static str,
    input_schema: &'static Map<String, Value>,
}

pub(crate) fn run(context: &Context, args: &ToolArgs) -> Result<Answer, CliError> {
    let Some(name) = &args.name else { return list::run(context) };
    let unknown =
        || CliError::unknown_tool(&Toolset::unknown_tool_message(name, Toolset::ALL.tools()));
    let tool = Toolset::ALL.find(name).ok_or_else(unknown)?;
    if args.sandbox.is_given() && !args.allow_execution {
        return Err(CliError::sandbox_without_execution());
    }
    match args.schema {
        true => schema(context, tool),
        false if tool.family == Family::Execution && !args.allow_execution => {
            Err(CliError::execution_not_allowed(tool.name))
        }
        false => call(context, tool, args),
    }
}

fn call(context: &Context, tool: &'static Tool, args: &ToolArgs) -> Result<Answer, CliError> {
    let arguments = arguments::parse(&args.arguments)?;
    let opened = context.open()?;
    let progress = context.progress(tool.title);
    let mut tool_context = tool_context(context, &opened, args)?;
    tool_context.wants_data = !context.is_for_people();
    let result = tool.call(&tool_context, arguments);
    drop(progress);
    if let Some(kind) = result.error {
        return Err(CliError::tool(kind, &result));
    }
    let outputs = saved_outputs(&opened, &result.value);
    let document = ToolCalled { tool: tool.name, text: result.message, value: result.value };
    let mut answer = context.answer(&document, |it| with_line_end(&it.text))?;
    if tool.name == "diff" {
        answer.paint = Paint::Patch;
    }
    answer.notes.extend(outputs.iter().flat_map(|note| context.note(note)));
    if tool.name == "fork" {
        let note = "note: this fork ends with the command; `wink fork` makes one that stays";
        answer.notes.extend(context.note(note));
    }
    Ok(answer)
}

/// Without earlier calls in a session, an overwrite must give the hash of the replaced content.
fn tool_context(
    context: &Context,
    opened: &Opened,
    args: &ToolArgs,
) -> Result<ToolContext, CliError> {
    // One name for all calls: an agent's undo takes back what its earlier calls did, each in a process of its own.
    let mut tools = ToolContext::over(&opened.files.acting_as("wink tool"));
    let known = PersistedForks { directory: opened.project.directory.clone(), is_talkative: false };
    tools.forks = known.known_to(tools.forks);
    if !args.allow_execution {
        return Ok(tools);
    }
    let executor = args.sandbox.executor(context, &opened.project.root, Some(&opened.project))?;
    let directory = outputs_of(opened);
    let outputs = Outputs::kept_in(&directory);
    let outputs = outputs.map_err(|error| CliError::host("cannot use", &directory, error))?;
    let executor = executor.save_outputs(outputs);
    Ok(tools.executor(Arc::new(executor)).cancelled(signals::give_up()))
}

/// Returns where output that is too long to show is kept: beside the history, out of reach of programs in the sandbox.
fn outputs_of(opened: &Opened) -> PathBuf {
    opened.project.directory.join("outputs")
}

/// Says where the output is that the text leaves out.
fn saved_outputs(opened: &Opened, value: &Value) -> Vec<String> {
    let names = ["stdout", "stderr"].map(|name| (name, value[format!("{name}_file")].as_str()));
    let saved = names.into_iter().filter_map(|(name, file)| Some((name, file?)));
    let note = |(name, file)| {
        format!("note: all of {name} is in {}", outputs_of(opened).join(file).display())
    };
    saved.map(note).collect()
}

fn schema(context: &Context, tool: &Tool) -> Result<Answer, CliError> {
    let document = ToolSchema { tool: tool.name, input_schema: tool.input_schema() };
    context.answer(&document, |it| {
        serde_json::to_string_pretty(it.input_schema).unwrap_or_default() + "\n"
    })
}

fn with_line_end(text: &str) -> String {
    if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

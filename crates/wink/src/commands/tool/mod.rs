//! `wink tool`: any tool of an agent, called from the shell.

mod arguments;
mod list;

use std::sync::Arc;

use clap::Args;
use wink_agent::exec::HostExecutor;
use wink_agent::{Family, Tool, ToolContext, Toolset};

use crate::cli::context::{Context, Opened};
use crate::error::CliError;
use crate::json::{ToolCalled, ToolSchema};
use crate::project::forks::persisted::PersistedForks;
use crate::sys::signals;
use crate::ui::answer::Answer;
use crate::ui::style::Paint;

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

    /// Let tools run programs. NOT a sandbox: they can do all that you can, also outside the workspace.
    #[arg(long)]
    allow_execution: bool,
}

impl ToolArgs {
    /// Tells whether a program may run, which is ended when the command is.
    pub(crate) fn may_execute(&self) -> bool {
        self.allow_execution
    }
}

pub(crate) fn run(context: &Context, args: &ToolArgs) -> Result<Answer, CliError> {
    let Some(name) = &args.name else { return list::run(context) };
    let unknown =
        || CliError::unknown_tool(&Toolset::unknown_tool_message(name, Toolset::ALL.tools()));
    let tool = Toolset::ALL.find(name).ok_or_else(unknown)?;
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
    let result = tool.call(&tool_context(&opened, args)?, arguments);
    drop(progress);
    if let Some(kind) = result.error {
        return Err(CliError::tool(kind, &result));
    }
    let document = ToolCalled { tool: tool.name, text: result.message, value: result.value };
    let mut answer = context.answer(&document, |it| with_line_end(&it.text))?;
    if tool.name == "diff" {
        answer.paint = Paint::Patch;
    }
    if tool.name == "fork" {
        let note = "note: this fork is gone with the command; `wink fork` makes one that stays";
        answer.notes = context.note(note);
    }
    Ok(answer)
}

/// No earlier call is known, so an overwrite must name the hash of what it replaces.
fn tool_context(opened: &Opened, args: &ToolArgs) -> Result<ToolContext, CliError> {
    let mut context = ToolContext::over(&opened.files);
    let known = PersistedForks { directory: opened.project.directory.clone(), is_talkative: false };
    context.forks = known.known_to(context.forks);
    if !args.allow_execution {
        return Ok(context);
    }
    let executor = HostExecutor::unsafe_on_this_machine()?;
    Ok(context.executor(Arc::new(executor)).cancelled(signals::give_up()))
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

//! `shell_execute`: run a shell command.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::edit::rewrite::check_supplied;
use crate::exec::report::{self, ExecutionAnswer};
use crate::exec::{Command, Program};
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::unknown_name;
use crate::tool::{Effect, Family, Run, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "shell_execute",
    title: "Run command",
    description: "Run a command with sh in the workspace. Shows exit code, output, duration \
                  and changed files, which undo reverses together. A command that fails is a \
                  result, not an error. Long output is cut in the middle; write it to a file \
                  and read that with read_file. Background processes are ended with the \
                  command.",
    effect: Effect::Executes,
    family: Family::Execution,
    destructive: true,
    idempotent: false,
    works_in_forks: false,
    parameters: schema::of::<Params>,
    answer: Some(schema::answer::<ExecutionAnswer>),
    run: Run::BuiltIn(|call, arguments| run(call, arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// Command, for example `make test 2>&1 | tail`.
    command: String,
    /// Directory to run it in.
    #[serde(default = "super::root")]
    cwd: String,
    /// Environment variables to add.
    #[serde(default)]
    env: Vec<Variable>,
    /// Text for its standard input.
    #[serde(default)]
    stdin: String,
    /// Seconds after which it is ended; default 30.
    #[schemars(range(min = 1, max = 86_400))]
    timeout: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
struct Variable {
    /// Its name: letters, digits and _.
    name: String,
    /// Its value.
    value: String,
}

fn run(call: &ToolCall<'_>, params: Params) -> Result<ToolResult, ToolError> {
    report::executor(call)?;
    let values = params.env.iter().map(|it| it.value.as_str());
    let texts = [params.command.as_str(), params.stdin.as_str()].into_iter().chain(values);
    check_supplied(call.limits(), "the command with its input and environment", texts)?;
    if params.command.trim().is_empty() || params.command.contains('\0') {
        return Err(ToolError::invalid_argument(
            "`command` must be text that sh can run; give it.",
        ));
    }
    let mut command = Command::new(Program::Shell(params.command));
    command.cwd = call.path(&params.cwd)?;
    command.env = environment(params.env)?;
    command.stdin = params.stdin;
    report::run(call, &command, params.timeout)
}

fn environment(variables: Vec<Variable>) -> Result<BTreeMap<String, String>, ToolError> {
    let checked = variables.into_iter().map(|Variable { name, value }| {
        if is_name(&name) && !value.contains('\0') {
            Ok((name, value))
        } else {
            let shown = unknown_name::shorten_name(&name);
            Err(ToolError::invalid_argument(format!(
                "In `env`, `{}` cannot be set: a name has letters, digits and _, does not \
                 begin with a digit, and its value has no NUL.",
                shown.escape_debug()
            )))
        }
    });
    checked.collect()
}

fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (1..=100).contains(&name.len())
        && name.chars().all(is_plain)
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

//! `shell_execute`: a command, run by a shell.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::edit::rewrite::check_supplied;
use crate::exec::report;
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
    description: "Runs a command with sh in the workspace and shows its exit code, what it printed, \
                  how long it took and what files it changed, which undo takes back as a whole. A \
                  command that fails is a result, not an error. Of long output the beginning and \
                  the end are shown; what is written into a file can be read with read_file. What it \
                  leaves running in the background is ended with it.",
    effect: Effect::Executes,
    family: Family::Execution,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// The command, for example `make test 2>&1 | tail`.
    command: String,
    /// Directory to run it in, relative to the workspace root.
    #[serde(default = "super::root")]
    cwd: String,
    /// Variables to add to its environment.
    #[serde(default)]
    env: Vec<Variable>,
    /// The text it reads from its input.
    #[serde(default)]
    stdin: String,
    /// After how many seconds it is ended; 30 where it is left out.
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
            let shown = unknown_name::shown(&name);
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

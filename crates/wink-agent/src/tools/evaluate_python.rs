//! `evaluate_python`: run a Python program.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::edit::rewrite::check_supplied;
use crate::exec::report::{self, ExecutionAnswer};
use crate::exec::{Command, Program};
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "evaluate_python",
    title: "Run Python",
    description: "Run a Python 3 program in the workspace. Shows what it printed, how it ended \
                  and the changed files, which undo reverses together. Only printed values are \
                  shown.",
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
    /// The program text.
    code: String,
    /// Seconds after which it is ended; default 30.
    #[schemars(range(min = 1, max = 86_400))]
    timeout: Option<u64>,
}

fn run(call: &ToolCall<'_>, params: Params) -> Result<ToolResult, ToolError> {
    report::executor(call)?;
    check_supplied(call.limits(), "the program", std::iter::once(params.code.as_str()))?;
    if params.code.trim().is_empty() || params.code.contains('\0') {
        return Err(ToolError::invalid_argument("`code` must be a program in Python; give it."));
    }
    report::run(call, &Command::new(Program::Python(params.code)), params.timeout)
}

//! `evaluate_python`: a program in Python, run.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::edit::rewrite::check_supplied;
use crate::exec::report;
use crate::exec::{Command, Program};
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "evaluate_python",
    title: "Run Python",
    description: "Runs a program in Python 3 in the workspace and shows what it printed, how it \
                  ended and what files it changed, which undo takes back as a whole. Only what is \
                  printed is shown: print what you want to see.",
    effect: Effect::Executes,
    family: Family::Execution,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// The program.
    code: String,
    /// After how many seconds it is ended; 30 where it is left out.
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

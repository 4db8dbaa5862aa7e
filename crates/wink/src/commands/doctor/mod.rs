//! `wink doctor`: checks this computer and this workspace for problems.

mod agents;
mod containers;
mod host;
mod programs;
mod workspace;

use clap::Args;
use serde::Serialize;

use crate::cli::context::Context;
use crate::error::CliError;
use crate::json::documents;
use crate::ui::answer::Answer;

/// Check this computer and this workspace for problems.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Fix what can be fixed: quarantine damage, and make the history private.
    #[arg(long)]
    fix: bool,
}

documents! {
    Examined: "wink/doctor@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Examined {
    /// Whether no check failed.
    ok: bool,
    checks: Vec<Check>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Check {
    name: &'static str,
    health: Health,
    said: String,
    /// Whether `--fix` may help.
    #[serde(skip)]
    can_be_mended: bool,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Health {
    Ok,
    /// Missing, but not needed.
    Note,
    Warning,
    Failed,
}

pub(super) use self::programs::on_path;

/// Checks this computer, without any workspace.
pub(crate) fn computer() -> Vec<Check> {
    let mut checks = programs::wink();
    checks.extend(host::checks());
    checks.extend(programs::others());
    checks.extend(containers::checks());
    checks
}

pub(crate) fn run(context: &Context, args: &DoctorArgs) -> Result<Answer, CliError> {
    let mut checks = computer();
    checks.extend(workspace::checks(context, args.fix));
    checks.extend(agents::checks(context));
    let ok = checks.iter().all(|it| it.health != Health::Failed);
    let document = Examined { ok, checks };
    let answer = context.answer(&document, |it| it.checks.iter().map(line).collect())?;
    let mut answer = answer.exit(u8::from(!ok));
    if !args.fix && document.checks.iter().any(|it| it.can_be_mended) {
        answer.notes = context.note("help: `wink doctor --fix` fixes what it can");
    }
    Ok(answer)
}

fn line(check: &Check) -> String {
    let mark = match check.health {
        Health::Ok => '✓',
        Health::Note => '·',
        Health::Warning => '!',
        Health::Failed => '✕',
    };
    format!("{mark} {:<12}  {}\n", check.name, check.said)
}

fn check(name: &'static str, health: Health, said: impl Into<String>) -> Check {
    Check { name, health, said: said.into(), can_be_mended: false }
}

/// Returns a failed check that `--fix` may repair.
fn mendable(name: &'static str, said: impl Into<String>) -> Check {
    Check { can_be_mended: true, ..check(name, Health::Failed, said) }
}

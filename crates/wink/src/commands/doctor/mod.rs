//! `wink doctor`: whether this computer and this workspace are as wink needs them.

mod host;
mod programs;
mod workspace;

use clap::Args;

use crate::cli::context::Context;
use crate::error::CliError;
use crate::json::{Check, Examined, Health};
use crate::ui::answer::Answer;

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Fix what can be fixed: quarantine damage, and make the history private.
    #[arg(long)]
    fix: bool,
}

pub(crate) fn run(context: &Context, args: &DoctorArgs) -> Result<Answer, CliError> {
    let mut checks = programs::wink();
    checks.extend(host::checks());
    checks.extend(programs::others());
    checks.extend(workspace::checks(context, args.fix));
    let ok = checks.iter().all(|it| it.health != Health::Failed);
    let document = Examined { ok, checks };
    let answer = context.answer(&document, |it| it.checks.iter().map(line).collect())?;
    let mut answer = answer.exit(u8::from(!ok));
    if !args.fix && document.checks.iter().any(|it| it.can_be_mended) {
        answer.notes = context.note("help: `wink doctor --fix` mends what can be mended");
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

/// Tells of something that `--fix` may mend.
fn mendable(name: &'static str, said: impl Into<String>) -> Check {
    Check { can_be_mended: true, ..check(name, Health::Failed, said) }
}

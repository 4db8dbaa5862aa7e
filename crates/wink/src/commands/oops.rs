//! `wink oops`: the panic word. Goes back to the user's last prompt.

use clap::Args;
use wink_fs::RestoreOptions;

use super::restore;
use crate::cli::context::Context;
use crate::clients::Moment;
use crate::error::CliError;
use crate::hooks::record::{self, HookRecord};
use crate::json::documents;
use crate::ui::answer::Answer;
use crate::ui::format;

/// Go back to your last prompt: undo everything that an agent, or any program, changed since.
#[derive(Debug, Args)]
#[command(
    after_help = "It needs the hooks of `wink setup CLIENT --hooks`. `wink undo` brings back what it took."
)]
pub(crate) struct OopsArgs {
    /// Print what would be done, and change nothing.
    #[arg(long)]
    dry_run: bool,
}

documents! {}

pub(crate) fn run(context: &Context, args: &OopsArgs) -> Result<Answer, CliError> {
    let opened = context.open()?;
    let mut records = record::all(&opened.project.directory);
    records.retain(|it| it.moment == Moment::Prompt);
    let last = records.last().ok_or_else(CliError::no_prompt)?;
    // An older prompt is not what the user means: it would take back a turn that may be wanted.
    let id = last.snapshot.as_ref().ok_or_else(|| CliError::prompt_unprotected(last))?;
    let snapshot = opened.files.find_snapshot(id.as_str())?;
    context.say(&said(last));
    let options = RestoreOptions::default().dry_run(args.dry_run).report_external(true);
    restore::restore(context, &opened, &snapshot, &options)
}

fn said(prompt: &HookRecord) -> String {
    let at = format::local_of_utc(&prompt.at);
    let what = prompt.what.as_deref().map(|what| format!(": {}", format::first_line(what)));
    format!("back to your prompt of {at} ({}){}", prompt.agent(), what.unwrap_or_default())
}

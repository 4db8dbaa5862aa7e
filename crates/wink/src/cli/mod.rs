//! The command line: arguments, help, shell completion, and the names of paths and states.

pub(crate) mod completion;
pub(crate) mod context;
pub(crate) mod help;
pub(crate) mod paths;
pub(crate) mod state_ref;

use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgAction, Args, Parser, ValueEnum};

use crate::commands::Command;
use crate::sys::logging::Log;

/// The workspace filesystem for AI agents.
#[derive(Debug, Parser)]
#[command(version, about, after_help = FIRST_PAGE)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The part of `--help` about names of states.
pub(crate) const REFS: &str = "\
A state is named by:
  @           the current files
  @-, @-3     the last snapshot, the third last
  TAG         the snapshot with this tag
  NAME        the last snapshot of this fork
  ID          the snapshot whose id is this or starts with it; at least four characters
  op:N, op:N- the state after operation N, and before it: to compare, read or export
  \"10m ago\"   the newest snapshot of at least this age: s, m, h, d or w, or \"10 minutes ago\"
  X.fs.zip    the files of an archive, to read or to fork";

/// The end of `wink --help`.
const FIRST_PAGE: &str = "\
Exit codes: 0 success, 1 failure (or a difference, with --exit-code), 2 wrong arguments, 3 partly done,
  10 no workspace, 11 locked, 12 no such state, 13 conflict, 14 damage, 15 backend unavailable, 16 limit, 130 interrupted.
States such as @-, a tag or \"10m ago\": `wink show --help`. To start: wink init, wink snapshot, wink undo.";

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// Run as if started in this directory.
    #[arg(short = 'C', value_name = "DIR", default_value = ".", hide_default_value = true)]
    #[arg(global = true)]
    pub(crate) directory: PathBuf,

    /// Directory of the workspace's history, if it is not the default one.
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) store: Option<PathBuf>,

    /// Print newline-delimited JSON; the last line is the summary, errors go to stderr.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print no notes, hints or progress.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// When to use colours; NO_COLOR, CLICOLOR_FORCE and TERM are respected.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, hide_default_value = true)]
    #[arg(global = true)]
    pub(crate) color: ColorWhen,

    /// Do not use a pager ($WINK_PAGER or $PAGER).
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,

    /// Answer yes to every question; scripts need it for what cannot be undone.
    #[arg(long, global = true)]
    pub(crate) yes: bool,

    /// Print what is done to stderr; repeat for more detail.
    #[arg(short, long, action = ArgAction::Count, global = true)]
    pub(crate) verbose: u8,

    /// Log to stderr at a level (error, warn, info, debug, trace), or everything to a file.
    #[arg(long, value_name = "FILE|LEVEL", global = true)]
    pub(crate) log: Option<Log>,
}

/// Parses a count of at least one.
pub(crate) fn count<N: FromStr + PartialEq + From<u8>>(text: &str) -> Result<N, String> {
    let count = text.parse().ok().filter(|count| *count != N::from(0));
    count.ok_or_else(|| "use a number of 1 or more".to_owned())
}

/// Parses the number of an operation, with or without `op:`.
pub(crate) fn operation(text: &str) -> Result<u64, String> {
    let number = text.strip_prefix("op:").unwrap_or(text);
    count(number).map_err(|_| "use the number of an operation, such as `op:5`".to_owned())
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    // On a terminal, unless NO_COLOR is set or TERM is dumb; CLICOLOR_FORCE=1 is always.
    #[default]
    Auto,
    Always,
    Never,
}

//! The command line: arguments, help, shell completion, and the names of paths and states.

pub(crate) mod completion;
pub(crate) mod context;
pub(crate) mod help;
pub(crate) mod paths;
pub(crate) mod state_ref;

use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use crate::commands::mcp;
use crate::commands::{
    branch, completions, config, diff, doctor, export, fork, fs, import, init, log, man, merge, op,
    prune, restore, revert, search, session, show, snapshot, tag, tool, undo, verify,
};
use crate::sys::logging::Log;
use crate::{demo, serve};

/// The workspace filesystem for AI agents.
#[derive(Debug, Parser)]
#[command(version, about, after_help = FIRST_PAGE)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How states are named, wherever a command takes one.
pub(crate) const REFS: &str = "\
A state is named by:
  @           the files as they are now
  @-, @-3     the last snapshot, the third one back
  TAG         the snapshot of that tag
  NAME        the last snapshot of the fork of that name
  ID          the snapshot whose id is, or begins with, that: four characters or more
  op:N        what operation N left, where a snapshot of it was taken
  \"10m ago\"   the newest snapshot that is as old, or older: s, m, h, d or w, or \"10 minutes ago\"
  X.fs.zip    the files of an archive, where they are looked at or forked";

/// How differences are written for `git apply`, for a terminal and for programs.
const PATCHES: &str = "\
In a file or a pipe it is a patch that `git apply` takes, with up to 128 MiB of binary files; what is left
out of it is said, and the exit code is 3. Git has no patches for empty directories and private files: they
are lines of their own, which it passes over. On a terminal binary files are named, with their sizes.
With --json it says which paths changed, and not how.";

/// What the first page of help ends with.
const FIRST_PAGE: &str = "\
Exit codes: 0 done, 1 failed (or a difference, with --exit-code), 2 wrong arguments, 3 done in part,
  10 no workspace, 11 locked, 12 no such state, 13 conflict, 14 damage, 15 backend gone, 16 limit, 130 interrupted.
States such as @-, a tag or \"10m ago\": `wink show --help`. In a hurry: wink init, wink snapshot, wink undo.";

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// Works as if started in this directory.
    #[arg(short = 'C', value_name = "DIR", default_value = ".", hide_default_value = true)]
    #[arg(global = true)]
    pub(crate) directory: PathBuf,

    /// The directory of the workspace's history, where it is not the usual one.
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) store: Option<PathBuf>,

    /// Answers in lines of JSON on stdout, the summary last, and fails with one on stderr.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Leaves out notes, hints and progress.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// When to use colours; NO_COLOR, CLICOLOR_FORCE and TERM count.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, hide_default_value = true)]
    #[arg(global = true)]
    pub(crate) color: ColorWhen,

    /// Shows long answers at once, not in $WINK_PAGER or $PAGER.
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,

    /// Answers yes to what is asked before something that cannot be undone; scripts need it for that.
    #[arg(long, global = true)]
    pub(crate) yes: bool,

    /// Says on stderr what is done; twice and three times says more.
    #[arg(short, long, action = ArgAction::Count, global = true)]
    pub(crate) verbose: u8,

    /// Records what is done: on stderr at a level (error, warn, info, debug, trace), or all in a file.
    #[arg(long, value_name = "FILE|LEVEL", global = true)]
    pub(crate) log: Option<Log>,
}

/// Reads how many of something are meant: one at least.
pub(crate) fn count<N: FromStr + PartialEq + From<u8>>(text: &str) -> Result<N, String> {
    let count = text.parse().ok().filter(|count| *count != N::from(0));
    count.ok_or_else(|| "write a number from 1 on".to_owned())
}

/// Reads which operation is meant: its number, with `op:` before it or not.
pub(crate) fn operation(text: &str) -> Result<u64, String> {
    let number = text.strip_prefix("op:").unwrap_or(text);
    count(number).map_err(|_| "write the number of an operation, as in `op:5`".to_owned())
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

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Makes a directory a workspace whose history is kept outside of it.
    Init(init::InitArgs),

    /// Says whether the workspace is protected, what changed, and what is not captured.
    #[command(visible_alias = "st")]
    Status,

    /// Keeps the files as they are now.
    #[command(visible_alias = "snap")]
    Snapshot(snapshot::SnapshotArgs),

    /// Lists the snapshots, newest first.
    Log(log::LogArgs),

    /// Shows one snapshot, and what it changed.
    #[command(after_help = REFS)]
    Show(show::ShowArgs),

    /// Shows what is different between two states.
    #[command(after_help = format!("{PATCHES}\n\n{REFS}"))]
    Diff(diff::DiffArgs),

    /// Makes the files those of a snapshot; what is there now is kept in another one.
    #[command(after_help = REFS)]
    Restore(restore::RestoreArgs),

    /// Takes one step out, and leaves what was done before and since.
    #[command(after_help = REFS)]
    Revert(revert::RevertArgs),

    /// Takes back the last things that wink did to the files.
    Undo(undo::UndoArgs),

    /// Does again what was undone last.
    Redo,

    /// Lists what wink did to the files, and shows one such thing line by line.
    #[command(subcommand)]
    Op(op::OpCommand),

    /// Gives a snapshot a name, in the place of the one it had.
    #[command(after_help = REFS)]
    Tag(tag::TagArgs),

    /// Finds lines in all snapshots, with the first and the last that has each.
    #[command(after_help = REFS)]
    Search(search::SearchArgs),

    /// Takes old snapshots away, and gives their space back.
    Prune(prune::PruneArgs),

    /// Looks for damage in the history.
    Verify(verify::VerifyArgs),

    /// Puts aside what is damaged, so that the rest can be used; nothing is deleted.
    Repair,

    /// Makes a directory with the files of a state, in which one can work apart from this one.
    #[command(after_help = REFS)]
    Fork(fork::ForkArgs),

    /// Lists forks, forgets one, or gives it another name.
    #[command(subcommand)]
    Branch(branch::BranchCommand),

    /// Brings in what was done in a fork; writes nothing where both sides changed the same.
    Merge(merge::MergeArgs),

    /// Writes a state to an archive.
    #[command(after_help = REFS)]
    Export(export::ExportArgs),

    /// Makes the files those of an archive; what is there now is kept in a snapshot.
    Import(import::ImportArgs),

    /// Looks at the files of any state, and changes those of now.
    #[command(subcommand, after_help = REFS)]
    Fs(fs::FsCommand),

    /// Looks whether this computer and this workspace are as wink needs them.
    Doctor(doctor::DoctorArgs),

    /// Prints what a shell needs to complete commands and names of states.
    Completions(completions::CompletionsArgs),

    /// Prints the manual, or writes all its pages.
    Man(man::ManArgs),

    /// Shows and sets what holds here, or for this person.
    #[command(subcommand)]
    Config(config::ConfigCommand),

    /// Looks at sessions of agents in files, and moves their files in and out.
    #[command(subcommand)]
    Session(session::SessionCommand),

    /// Calls a tool as an agent does, or lists the tools there are.
    Tool(tool::ToolArgs),

    /// Offers the tools to one MCP client over standard input and output.
    Mcp(mcp::McpArgs),

    /// Serves workspaces to MCP clients and shows what happens in them; by default one in memory.
    Serve(serve::ServeArgs),

    /// Lets a scripted agent work on a small project, and shows what it does and how it is taken back.
    Demo(demo::DemoArgs),
}

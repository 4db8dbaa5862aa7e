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
    /// Protect a directory: keep a history of it, outside of it.
    Init(init::InitArgs),

    /// Show whether the workspace is protected, what changed, and what is not captured.
    #[command(visible_alias = "st")]
    Status,

    /// Take a snapshot of the files.
    #[command(visible_alias = "snap")]
    Snapshot(snapshot::SnapshotArgs),

    /// List snapshots, newest first.
    Log(log::LogArgs),

    /// Show a snapshot and what it changed.
    #[command(after_help = REFS)]
    Show(show::ShowArgs),

    /// Show the differences between two states.
    #[command(after_help = format!("{PATCHES}\n\n{REFS}"))]
    Diff(diff::DiffArgs),

    /// Restore files from a snapshot (the current state is saved first).
    #[command(after_help = REFS)]
    Restore(restore::RestoreArgs),

    /// Undo one snapshot's changes, keeping everything before and after it.
    #[command(after_help = REFS)]
    Revert(revert::RevertArgs),

    /// Undo the last operations.
    Undo(undo::UndoArgs),

    /// Redo what was undone last.
    Redo,

    /// List operations, or show one line by line.
    #[command(subcommand)]
    Op(op::OpCommand),

    /// Tag a snapshot, replacing the tag it had.
    #[command(after_help = REFS)]
    Tag(tag::TagArgs),

    /// Search all snapshots for lines, with the first and last snapshot that has each.
    #[command(after_help = REFS)]
    Search(search::SearchArgs),

    /// Delete old snapshots and free their space.
    Prune(prune::PruneArgs),

    /// Check the history for damage.
    Verify(verify::VerifyArgs),

    /// Move damaged parts of the history into quarantine; nothing is deleted.
    Repair,

    /// Make a fork: a directory with the files of a state, to work in apart from this one.
    #[command(after_help = REFS)]
    Fork(fork::ForkArgs),

    /// List, rename or delete forks.
    #[command(subcommand)]
    Branch(branch::BranchCommand),

    /// Merge a fork; by default a conflict changes nothing.
    Merge(merge::MergeArgs),

    /// Export a state to an archive.
    #[command(after_help = REFS)]
    Export(export::ExportArgs),

    /// Import files from an archive (the current state is saved first).
    Import(import::ImportArgs),

    /// Read files of any state, and change the current ones.
    #[command(subcommand, after_help = REFS)]
    Fs(fs::FsCommand),

    /// Check this computer and this workspace for problems.
    Doctor(doctor::DoctorArgs),

    /// Print shell completions for commands and names of states.
    Completions(completions::CompletionsArgs),

    /// Print the manual, or write all its pages.
    Man(man::ManArgs),

    /// Get and set options.
    #[command(subcommand)]
    Config(config::ConfigCommand),

    /// Inspect saved agent sessions, and load or save their files.
    #[command(subcommand)]
    Session(session::SessionCommand),

    /// Call a tool as an agent does, or list the tools.
    Tool(tool::ToolArgs),

    /// Serve the tools to one MCP client over stdio.
    Mcp(mcp::McpArgs),

    /// Serve workspaces to MCP clients over HTTP, with a status page; by default one in memory.
    Serve(serve::ServeArgs),

    /// Watch a scripted agent work on a small project, and undo its mistakes.
    Demo(demo::DemoArgs),
}

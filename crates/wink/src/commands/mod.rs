//! The commands, one file or folder for each: arguments, run, text and JSON document.

mod blame;
mod completions;
mod config;
mod debug;
mod diff;
pub(crate) mod doctor;
mod export;
mod fork;
mod fs;
mod hook;
mod import;
pub(crate) mod init;
mod log;
mod man;
mod matching;
mod mcp;
mod merge;
mod merged;
mod oops;
mod op;
mod prune;
mod redo;
mod repair;
mod restore;
mod revert;
mod run;
mod search;
mod session;
mod setup;
mod show;
mod snapshot;
mod status;
mod tag;
mod tool;
mod undo;
mod verify;
mod workspaces;

use std::fmt;
use std::time::Instant;

use clap::Subcommand;
use wink_fs::{ErrorKind, Snapshot, StateRef, Workspace};

use crate::cli::context::Context;
use crate::error::CliError;
use crate::json::{Changes, SkippedEntry};
use crate::ui::answer::Answer;
use crate::ui::format;
use crate::{demo, serve};

/// Makes everything that must know all commands: what clap parses, what is run, the groups of `wink --help`, and the
/// list of JSON documents.
///
/// A command is named like its module, which has the arguments (their documentation is its help), a function `run` and
/// its `documents!`.
macro_rules! commands {
    ($($group:literal: $($command:ident($module:ident::$arguments:ident)),+;)+) => {
        /// A command with its arguments.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($($command($module::$arguments),)+)+
        }

        impl Command {
            pub(crate) fn run(&self, context: &Context) -> Result<Answer, CliError> {
                match self {
                    $($(Self::$command(arguments) => $module::run(context, arguments),)+)+
                }
            }
        }

        /// The groups of `wink --help`, each with the names of its commands.
        pub(crate) const GROUPS: &[(&str, &[&str])] =
            &[$(($group, &[$(stringify!($module)),+])),+];

        #[cfg(test)]
        pub(crate) const DOCUMENTS: &[&[crate::json::Schema]] = &[$($($module::DOCUMENTS),+),+];
    };
}

commands! {
    "Start here": Init(init::InitArgs), Status(status::StatusArgs), Demo(demo::DemoArgs);
    "History":
        Snapshot(snapshot::SnapshotArgs),
        Log(log::LogArgs),
        Show(show::ShowArgs),
        Diff(diff::DiffArgs),
        Restore(restore::RestoreArgs),
        Revert(revert::RevertArgs),
        Oops(oops::OopsArgs),
        Undo(undo::UndoArgs),
        Redo(redo::RedoArgs),
        Op(op::OpArgs),
        Tag(tag::TagArgs),
        Search(search::SearchArgs),
        Blame(blame::BlameArgs),
        Prune(prune::PruneArgs),
        Verify(verify::VerifyArgs),
        Repair(repair::RepairArgs);
    "Forks": Fork(fork::ForkArgs), Merge(merge::MergeArgs);
    "Files": Fs(fs::FsArgs), Export(export::ExportArgs), Import(import::ImportArgs);
    "Agents":
        Run(run::RunArgs),
        Hook(hook::HookArgs), Tool(tool::ToolArgs), Session(session::SessionArgs);
    "Servers": Serve(serve::ServeArgs), Debug(debug::DebugArgs), Mcp(mcp::McpArgs);
    "Setup":
        Setup(setup::SetupArgs),
        Workspaces(workspaces::WorkspacesArgs),
        Doctor(doctor::DoctorArgs),
        Config(config::ConfigArgs),
        Completions(completions::CompletionsArgs),
        Man(man::ManArgs);
}

impl Command {
    /// Returns whether it is run by a coding agent, which it must not stop.
    pub(crate) fn is_hook(&self) -> bool {
        matches!(self, Self::Hook(_))
    }

    /// Returns whether the command handles signals itself.
    pub(crate) fn handles_signals(&self) -> bool {
        match self {
            // The last one passes them on to the program.
            Self::Mcp(_) | Self::Serve(_) | Self::Debug(_) | Self::Run(_) => true,
            // It ends the program that it runs.
            Self::Tool(args) => args.may_execute(),
            _ => false,
        }
    }
}

pub(crate) use hook::failed as hook_failed;

/// How many paths a summary lists.
const LISTED: usize = 20;

/// Counts what changed since a snapshot; `None` where that snapshot is damaged.
fn changes_since(files: &Workspace, snapshot: &Snapshot) -> Result<Option<Changes>, CliError> {
    match files.diff(snapshot, StateRef::Live) {
        Ok(diff) => Ok(Some(Changes::from(&diff))),
        Err(error) if error.kind() == ErrorKind::Corrupt => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The message for a damaged last snapshot.
const DAMAGED: &str = "the last snapshot is damaged; see `wink verify --data`";

/// Says how much changed.
fn changes_text(changes: Changes) -> String {
    let Changes { added, modified, deleted } = changes;
    match changes.total() {
        0 => "no changes".to_owned(),
        all => {
            let [added, modified, deleted] = [added, modified, deleted].map(format::number);
            format!("{} changed (+{added} ~{modified} -{deleted})", format::number(all))
        }
    }
}

/// Lists lines, and says how many are not listed.
fn list_text(lines: impl ExactSizeIterator<Item: fmt::Display>) -> String {
    let more = lines.len().saturating_sub(LISTED);
    let mut text: String = lines.take(LISTED).map(|line| format!("  {line}\n")).collect();
    if more > 0 {
        text += &format!("  and {} more\n", format::number(more as u64));
    }
    text
}

/// Lists what an incomplete snapshot lacks, if it lacks anything.
fn incomplete_text(missing: &[SkippedEntry]) -> String {
    if missing.is_empty() {
        return String::new();
    }
    let line = |it: &SkippedEntry| format!("{}  {}", it.path, it.why);
    let listed = list_text(missing.iter().map(line));
    format!("The snapshot is incomplete, so these are missing:\n{listed}")
}

fn milliseconds(since: Instant) -> u64 {
    since.elapsed().as_millis().try_into().unwrap_or(u64::MAX)
}

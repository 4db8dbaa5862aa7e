//! Shell completion.

use std::ffi::OsStr;
use std::{env, iter};

use clap::{ArgMatches, FromArgMatches as _};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::CompleteEnv;
use wink_fs::{Entry, Kind};

use crate::cli::GlobalArgs;
use crate::cli::context::{Context, Opened};
use crate::cli::{help, state_ref};
use crate::ui::format;

/// The variable that a shell sets to ask for completions; the script of `wink completions` sets it.
pub(crate) const VARIABLE: &str = "WINK_COMPLETE";

/// How many snapshots are completed by id.
const IDS: usize = 50;

/// Answers a completion request and exits; does nothing otherwise.
pub(crate) fn answer() {
    CompleteEnv::with_factory(help::command).var(VARIABLE).complete();
}

/// Completes names of states.
pub(crate) fn states() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| matching(typed, state_names()))
}

/// Completes names of forks.
pub(crate) fn forks() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| matching(typed, fork_names(opened().as_ref())))
}

/// Completes paths of the state that `--at` names.
pub(crate) fn paths() -> ArgValueCompleter {
    ArgValueCompleter::new(|start: &OsStr| start.to_str().and_then(path_names).unwrap_or_default())
}

fn matching(typed: &OsStr, all: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let is_wanted =
        |it: &CompletionCandidate| it.get_value().to_string_lossy().starts_with(&*typed);
    all.into_iter().filter(is_wanted).collect()
}

/// Parses the words that were typed so far, ignoring errors.
fn typed() -> Option<ArgMatches> {
    let words = env::args_os().skip_while(|word| word != "--").skip(1);
    help::command().ignore_errors(true).try_get_matches_from(words).ok()
}

/// Opens the workspace; without one, there are no completions.
fn opened() -> Option<Opened> {
    context(&typed()?)?.open().ok()
}

fn context(typed: &ArgMatches) -> Option<Context> {
    Context::new(&GlobalArgs::from_arg_matches(typed).ok()?).ok()
}

/// Returns the state that `--at` names.
fn looked_at(typed: &ArgMatches) -> &str {
    let looking =
        iter::successors(Some(typed), |it| it.subcommand().map(|(_, below)| below)).last();
    let at = looking.and_then(|it| it.try_get_one::<String>("at").ok().flatten());
    at.map_or("@", String::as_str)
}

/// Returns the paths that start with `start`, with the directory part as it was typed.
fn path_names(start: &str) -> Option<Vec<CompletionCandidate>> {
    let (above, name) = start.split_at(start.rfind('/').map_or(0, |at| at + 1));
    let typed = typed()?;
    let context = context(&typed)?;
    let opened = context.open().ok()?;
    let tree = state_ref::find(&opened, looked_at(&typed)).ok()?.tree(&opened.files).ok()?;
    let directory = if above.is_empty() { "." } else { above };
    let entries = tree.list(&context.path(&opened, directory.as_ref()).ok()?).ok()?;
    let wanted = entries.iter().filter(|it| it.name.to_string().starts_with(name));
    let path = |it: &Entry| match it.kind {
        Kind::Directory => format!("{above}{}/", it.name),
        _ => format!("{above}{}", it.name),
    };
    Some(wanted.map(|it| CompletionCandidate::new(path(it))).collect())
}

fn fork_names(opened: Option<&Opened>) -> Vec<CompletionCandidate> {
    let heads = opened.and_then(|opened| state_ref::fork_heads(opened).ok()).unwrap_or_default();
    heads.into_iter().map(|(name, _)| candidate(&name, "fork")).collect()
}

fn state_names() -> Vec<CompletionCandidate> {
    let mut all = vec![candidate("@", "the current files"), candidate("@-", "the last snapshot")];
    let Some(opened) = opened() else { return all };
    let snapshots = opened.files.snapshots().unwrap_or_default();
    let tagged = snapshots.iter().rev().filter_map(|it| Some((it.tag.as_deref()?, it)));
    all.extend(tagged.map(|(tag, it)| candidate(tag, &format::local(it.created_at))));
    all.extend(fork_names(Some(&opened)));
    let ids = snapshots.iter().rev().take(IDS);
    all.extend(ids.map(|it| candidate(&it.id.short(), &format::snapshot_line(it))));
    all
}

fn candidate(value: &str, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(help.to_owned().into()))
}

//! What a shell proposes while something is typed.

use std::ffi::OsStr;

use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::CompleteEnv;

use crate::cli::GlobalArgs;
use crate::context::{Context, Opened};
use crate::{help, refs, words};

/// The variable by which a shell asks; `wink completions` tells it how.
pub(crate) const VARIABLE: &str = "WINK_COMPLETE";

/// How many snapshots are proposed by their ids.
const IDS: usize = 50;

/// Answers a shell that asks, and ends; does nothing otherwise.
pub(crate) fn answer() {
    CompleteEnv::with_factory(help::command).var(VARIABLE).complete();
}

/// Proposes names of states.
pub(crate) fn states() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| matching(typed, state_names()))
}

/// Proposes names of forks.
pub(crate) fn forks() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| matching(typed, fork_names(opened().as_ref())))
}

fn matching(typed: &OsStr, all: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let is_wanted =
        |it: &CompletionCandidate| it.get_value().to_string_lossy().starts_with(&*typed);
    all.into_iter().filter(is_wanted).collect()
}

/// Opens the workspace of the current directory; where there is none, nothing is proposed.
fn opened() -> Option<Opened> {
    let args = GlobalArgs { directory: ".".into(), ..GlobalArgs::default() };
    Context::new(&args).ok()?.open().ok()
}

fn fork_names(opened: Option<&Opened>) -> Vec<CompletionCandidate> {
    let heads = opened.and_then(|opened| refs::branch_heads(opened).ok()).unwrap_or_default();
    heads.into_iter().map(|(name, _)| candidate(&name, "fork")).collect()
}

fn state_names() -> Vec<CompletionCandidate> {
    let mut all =
        vec![candidate("@", "the files as they are now"), candidate("@-", "the last snapshot")];
    let Some(opened) = opened() else { return all };
    let snapshots = opened.files.snapshots().unwrap_or_default();
    let tagged = snapshots.iter().rev().filter_map(|it| Some((it.tag.as_deref()?, it)));
    all.extend(tagged.map(|(tag, it)| candidate(tag, &words::local(it.created_at))));
    all.extend(fork_names(Some(&opened)));
    let ids = snapshots.iter().rev().take(IDS);
    all.extend(ids.map(|it| candidate(&it.id.short(), &words::snapshot_line(it))));
    all
}

fn candidate(value: &str, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(help.to_owned().into()))
}

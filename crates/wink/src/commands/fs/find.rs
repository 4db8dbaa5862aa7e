//! `wink fs glob` and `grep`.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use wink_fs::search::{self, GlobOptions, GrepMatch, GrepOptions, Skipped};

use super::StateArg;
use crate::cli::context::{Context, Opened};
use crate::commands::matching::Matching;
use crate::error::CliError;
use crate::ui::answer::Answer;
use crate::ui::format;

#[derive(Debug, Args)]
pub(crate) struct GlobArgs {
    /// What the paths look like, such as `*.rs` or `src/**/*.{c,h}`.
    #[arg(value_name = "PATTERN")]
    pattern: String,

    /// Where to look [default: the current directory].
    #[arg(value_name = "PATH", default_value = ".", hide_default_value = true)]
    path: PathBuf,

    #[command(flatten)]
    at: StateArg,
}

#[derive(Debug, Args)]
pub(crate) struct GrepArgs {
    /// Regular expression.
    #[arg(value_name = "PATTERN")]
    pattern: String,

    /// Where to look [default: the current directory].
    #[arg(value_name = "PATH", default_value = ".", hide_default_value = true)]
    path: PathBuf,

    /// Search only files whose path matches.
    #[arg(short, long, value_name = "GLOB")]
    glob: Option<String>,

    #[command(flatten)]
    matching: Matching,

    #[command(flatten)]
    at: StateArg,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FoundFiles {
    /// Sorted by path.
    pub(super) paths: Vec<String>,
    /// How many entries could not be read.
    pub(super) unreadable: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FoundLines {
    /// Sorted by path and line.
    pub(super) lines: Vec<FoundLine>,
    pub(super) total_lines: u64,
    pub(super) total_files: u64,
    /// Whether lines are missing from the list.
    pub(super) truncated: bool,
    /// How many entries could not be read.
    pub(super) unreadable: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FoundLine {
    pub(super) path: String,
    /// Counted from 1.
    pub(super) line: u64,
    pub(super) text: String,
}

pub(super) fn glob(
    context: &Context,
    opened: &Opened,
    args: &GlobArgs,
) -> Result<Answer, CliError> {
    let tree = args.at.tree(opened)?;
    let base = context.path(opened, &args.path)?;
    let limits = &opened.files.properties().limits;
    let found =
        search::glob(&*tree, &args.pattern, &base, &GlobOptions::default().skip_git(true), limits)?;
    let paths = found.paths.iter().map(ToString::to_string).collect();
    let document = FoundFiles { paths, unreadable: found.skipped.unreadable };
    let text = |it: &FoundFiles| it.paths.iter().map(|path| format!("{path}\n")).collect();
    let mut answer = context.answer(&document, text)?.exit(u8::from(document.paths.is_empty()));
    answer.notes = notes(context, &found.skipped);
    Ok(answer)
}

pub(super) fn grep(
    context: &Context,
    opened: &Opened,
    args: &GrepArgs,
) -> Result<Answer, CliError> {
    let tree = args.at.tree(opened)?;
    let base = context.path(opened, &args.path)?;
    let limits = &opened.files.properties().limits;
    let found = search::grep(&*tree, &args.pattern, &base, &options(args), limits)?;
    let document = FoundLines {
        lines: found.matches.iter().map(entry).collect(),
        total_lines: found.total_lines,
        total_files: found.total_files,
        truncated: found.truncated,
        unreadable: found.skipped.unreadable,
    };
    let text = |it: &FoundLines| it.lines.iter().map(line).collect();
    let mut answer = context.answer(&document, text)?.exit(u8::from(document.lines.is_empty()));
    answer.notes = notes(context, &found.skipped);
    if found.truncated {
        let all = format::counted(found.total_lines, "line", "lines");
        answer.notes.extend(context.note(format!("note: {all} match; `-n` lists more")));
    }
    Ok(answer)
}

fn options(args: &GrepArgs) -> GrepOptions {
    let mut options = args.matching.options().skip_git(true);
    options.glob.clone_from(&args.glob);
    options
}

fn entry(found: &GrepMatch) -> FoundLine {
    let path = found.path.to_string();
    FoundLine { path, line: found.line_number, text: found.line_content.clone() }
}

fn line(found: &FoundLine) -> String {
    format!("{}:{}:{}\n", found.path, found.line, format::first_line(&found.text))
}

fn notes(context: &Context, skipped: &Skipped) -> Vec<String> {
    let mut notes = Vec::new();
    if skipped.unreadable > 0 {
        let entries = format::counted(skipped.unreadable, "entry", "entries");
        notes.extend(context.note(format!("warning: {entries} could not be read")));
    }
    if skipped.git_directories > 0 {
        notes.extend(context.note("note: `.git` was not searched; name it to search it"));
    }
    notes
}

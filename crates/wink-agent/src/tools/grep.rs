//! `grep`: search file contents.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wink_fs::search::{Case, GrepMatch, GrepMode, GrepOptions, GrepResult, MatchedFile, grep};

use super::glob::GIT_NOTE;
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "grep",
    title: "Search in files",
    description: "Search file contents by regular expression (Rust syntax: no look-around, no \
                  backreferences). Shows matching lines as path:line: text. `glob` filters \
                  files; `mode` is content (lines), files (paths only; lines are not counted) \
                  or count (matching lines of each file). Totals are exact even when results \
                  are paged; the answer gives the next call.",
    effect: Effect::Reads,
    family: Family::Files,
    destructive: false,
    idempotent: true,
    works_in_forks: true,
    parameters: schema::of::<Params>,
    answer: Some(schema::answer::<Answer>),
    run: Run::BuiltIn(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// Regular expression.
    pattern: String,
    /// Directory or file to search in.
    #[serde(default = "super::root")]
    path: String,
    /// Search only files that match this pattern, for example `*.py`.
    glob: Option<String>,
    /// What to show.
    #[serde(default)]
    mode: Mode,
    /// Ignore case.
    #[serde(default)]
    ignore_case: bool,
    /// Treat `pattern` as plain text.
    #[serde(default)]
    literal: bool,
    /// Match whole words only.
    #[serde(default)]
    word: bool,
    /// Lines of context before and after each match.
    #[serde(default)]
    #[schemars(range(min = 0, max = 20))]
    context: u64,
    /// Most lines or files to show.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    max_matches: Option<u64>,
    /// Lines (in modes files and count: files) to skip.
    #[serde(default)]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    offset: u64,
    /// Skip files that .gitignore and .ignore exclude.
    #[serde(default)]
    respect_ignore_files: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Content,
    Files,
    Count,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    matches: Vec<LineAnswer>,
    files: Vec<FileAnswer>,
    offset: u64,
    total_files: u64,
    searched: u64,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct LineAnswer {
    path: String,
    line_number: u64,
    /// Byte offset of the first match in the line as the message shows it after `path:line: `, including the
    /// three-byte ellipsis of a shortened line.
    match_start: usize,
    /// Byte offset of its end.
    match_end: usize,
    /// Matches in the line.
    match_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    line_content: Option<String>,
    /// Lines of context.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct FileAnswer {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    matching_lines: Option<u64>,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let base = call.path(&params.path)?;
    let limits = call.limits();
    let max = params.max_matches.unwrap_or(limits.max_grep_matches).min(limits.max_grep_matches);
    let options = options(params).max_matches(max).stop(call.stop(limits.max_search_time)?);
    let found = grep(&*call.tree(), &params.pattern, &base, &options, limits)?;
    let wants_data = call.context().wants_data;
    let message = message(call, params, &found);
    Ok(ToolResult::success(message, answer(params, &found, wants_data)))
}

fn options(params: &Params) -> GrepOptions {
    let case = if params.ignore_case { Case::Insensitive } else { Case::Sensitive };
    let options = GrepOptions::default()
        .case(case)
        .literal(params.literal)
        .word(params.word)
        .context(params.context as usize)
        .offset(params.offset)
        .ignore_files(params.respect_ignore_files)
        .skip_git(true)
        .mode(match params.mode {
            Mode::Content => GrepMode::Content,
            Mode::Files => GrepMode::Files,
            Mode::Count => GrepMode::Count,
        });
    match &params.glob {
        Some(glob) => options.glob(glob),
        None => options,
    }
}

fn message(call: &ToolCall<'_>, params: &Params, found: &GrepResult) -> String {
    let mut text = headline(params, found);
    if call.context().wants_data {
        return text + &next_call(call, params, found) + &skipped(found);
    }
    for line in &found.matches {
        show(&mut text, line);
    }
    for file in &found.files {
        // Writing into a string cannot fail.
        let _ = match params.mode {
            Mode::Count => write!(text, "\n{}: {}", file.path, file.matching_lines),
            _ => write!(text, "\n{}", file.path),
        };
    }
    text + &next_call(call, params, found) + &skipped(found)
}

/// Returns how many lines or files are shown.
fn shown_count(found: &GrepResult) -> u64 {
    (found.matches.len() + found.files.len()) as u64
}

fn is_truncated(found: &GrepResult) -> bool {
    found.truncated && shown_count(found) > 0
}

fn next_call(call: &ToolCall<'_>, params: &Params, found: &GrepResult) -> String {
    if !is_truncated(found) {
        return String::new();
    }
    let (noun, total) = match params.mode {
        Mode::Content => ("lines", found.total_lines),
        Mode::Files | Mode::Count => ("files", found.total_files),
    };
    let first = params.offset + 1;
    let end = params.offset + shown_count(found);
    let next = call.next(next(params, end));
    format!("\nShowing {noun} {first} to {end} of {total}. Next call: grep {next}")
}

/// Returns the arguments with another offset.
fn next(params: &Params, offset: u64) -> Value {
    let Params { pattern, path, mode, glob, max_matches, context, .. } = params;
    let mut next = json!({"pattern": pattern, "path": path, "mode": mode, "offset": offset});
    let set = |flag: bool| flag.then(|| Value::from(true));
    let given = [
        ("glob", glob.as_deref().map(Value::from)),
        ("max_matches", max_matches.map(Value::from)),
        ("context", Some(*context).filter(|lines| *lines > 0).map(Value::from)),
        ("ignore_case", set(params.ignore_case)),
        ("literal", set(params.literal)),
        ("word", set(params.word)),
        ("respect_ignore_files", set(params.respect_ignore_files)),
    ];
    for (name, value) in given {
        if let Some(value) = value {
            next[name] = value;
        }
    }
    next
}

fn headline(params: &Params, found: &GrepResult) -> String {
    let GrepResult { total_lines, total_files, searched, .. } = found;
    match (total_files, params.mode) {
        (0, _) => format!("No line matches in {}.", counted(*searched, "file")),
        _ if shown_count(found) == 0 => past_the_end(params, found),
        (_, Mode::Files) => format!("Found in {total_files} of {}:", counted(*searched, "file")),
        _ => {
            let lines = counted(*total_lines, "line");
            let files = counted(*searched, "file");
            format!("Found {lines} in {total_files} of {files}:")
        }
    }
}

fn past_the_end(params: &Params, found: &GrepResult) -> String {
    let count = match params.mode {
        Mode::Content => counted(found.total_lines, "line"),
        Mode::Files | Mode::Count => counted(found.total_files, "file"),
    };
    format!("Nothing to show: offset {} is past the end of {count}.", params.offset)
}

fn show(text: &mut String, found: &GrepMatch) {
    let GrepMatch { path, line_number, line_content, before, after, .. } = found;
    let first = line_number - before.len() as u64;
    for (number, line) in (first..).zip(before) {
        let _ = write!(text, "\n{path}-{number}- {line}");
    }
    let _ = write!(text, "\n{path}:{line_number}: {line_content}");
    for (number, line) in (line_number + 1..).zip(after) {
        let _ = write!(text, "\n{path}-{number}- {line}");
    }
}

fn skipped(found: &GrepResult) -> String {
    let counts = [
        (found.skipped.binary, "binary file"),
        (found.skipped.not_files, "link or special file"),
        (found.skipped.unreadable, "unreadable file"),
        (found.skipped.ignored, "ignored file"),
    ];
    let present = counts.iter().filter(|(count, _)| *count > 0);
    let listed: Vec<_> = present.map(|(count, what)| counted(*count, what)).collect();
    let mut notes = String::new();
    if !listed.is_empty() {
        notes = format!("\nNot searched: {}.", listed.join(", "));
    }
    if found.skipped.git_directories > 0 {
        notes += GIT_NOTE;
    }
    notes
}

fn answer(params: &Params, found: &GrepResult, wants_data: bool) -> Answer {
    let counts_lines = params.mode != Mode::Files;
    let file = |file: &MatchedFile| FileAnswer {
        path: file.path.to_string(),
        matching_lines: counts_lines.then_some(file.matching_lines),
    };
    let line = |found: &GrepMatch| LineAnswer {
        path: found.path.to_string(),
        line_number: found.line_number,
        match_start: found.match_start,
        match_end: found.match_end,
        match_count: found.match_count,
        line_content: wants_data.then(|| found.line_content.clone()),
        before: if wants_data { found.before.clone() } else { Vec::new() },
        after: if wants_data { found.after.clone() } else { Vec::new() },
    };
    Answer {
        matches: found.matches.iter().map(line).collect(),
        files: found.files.iter().map(file).collect(),
        offset: params.offset,
        total_files: found.total_files,
        searched: found.searched,
        truncated: is_truncated(found),
        total_lines: counts_lines.then_some(found.total_lines),
    }
}

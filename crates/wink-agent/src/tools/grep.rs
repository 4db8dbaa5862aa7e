//! `grep`: lines by content.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wink_fs::search::{Case, GrepMatch, GrepMode, GrepOptions, GrepResult, MatchedFile, grep};

use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::words::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "grep",
    title: "Search in files",
    description: "Searches text files for a regular expression (Rust syntax; no look-around, no \
                  backreferences) and shows matching lines as path:line: text, in order. `glob` \
                  narrows the files, `mode` is content (lines), files (paths only, and no numbers of \
                  lines, because a file is left at its first match) or count. The totals that are \
                  given are true even when not everything is shown; long answers come in parts, each \
                  with the call that shows the next one.",
    effect: Effect::Reads,
    family: Family::Files,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// The regular expression.
    pattern: String,
    /// Directory or file to search in, relative to the workspace root.
    #[serde(default = "super::root")]
    path: String,
    /// Search only files whose path matches this pattern, for example `*.py`.
    glob: Option<String>,
    /// What to show.
    #[serde(default)]
    mode: Mode,
    /// Treat upper and lower case as the same.
    #[serde(default)]
    ignore_case: bool,
    /// Take the pattern as plain text.
    #[serde(default)]
    literal: bool,
    /// Match whole words only.
    #[serde(default)]
    word: bool,
    /// Lines to show before and after each match.
    #[serde(default)]
    #[schemars(range(min = 0, max = 20))]
    context: u64,
    /// How many lines or files to show at most.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    max_matches: Option<u64>,
    /// How many lines (files in the modes files and count) to skip.
    #[serde(default)]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    offset: u64,
    /// Leave out what .gitignore and .ignore files hide.
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

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let base = call.path(&params.path)?;
    let limits = call.limits();
    let max = params.max_matches.unwrap_or(limits.max_grep_matches).min(limits.max_grep_matches);
    let options = options(params).max_matches(max).stop(call.stop(limits.max_search_time)?);
    let found = grep(&*call.tree(), &params.pattern, &base, &options, limits)?;
    Ok(ToolResult::success(message(call, params, &found), value(params, &found)))
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
fn shown(found: &GrepResult) -> u64 {
    (found.matches.len() + found.files.len()) as u64
}

fn is_truncated(found: &GrepResult) -> bool {
    found.truncated && shown(found) > 0
}

fn next_call(call: &ToolCall<'_>, params: &Params, found: &GrepResult) -> String {
    if !is_truncated(found) {
        return String::new();
    }
    let (noun, total) = match params.mode {
        Mode::Content => ("lines", found.total_lines),
        Mode::Files | Mode::Count => ("files", found.total_files),
    };
    let (first, end) = (params.offset + 1, params.offset + shown(found));
    let next = call.next(next(params, end));
    format!("\nShown are {noun} {first} to {end} of {total}. Next call: grep {next}")
}

/// Returns the same arguments with another offset.
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
        _ if shown(found) == 0 => past_the_end(params, found),
        (_, Mode::Files) => format!("Found in {total_files} of {}:", counted(*searched, "file")),
        _ => {
            let (lines, files) = (counted(*total_lines, "line"), counted(*searched, "file"));
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
    if listed.is_empty() {
        String::new()
    } else {
        format!("\nNot searched: {}.", listed.join(", "))
    }
}

fn value(params: &Params, found: &GrepResult) -> Value {
    let counts_lines = params.mode != Mode::Files;
    let file = |file: &MatchedFile| {
        if counts_lines {
            json!({"path": file.path.to_string(), "matching_lines": file.matching_lines})
        } else {
            json!({"path": file.path.to_string()})
        }
    };
    let mut value = json!({
        "matches": found.matches.iter().map(match_value).collect::<Vec<_>>(),
        "files": found.files.iter().map(file).collect::<Vec<_>>(),
        "offset": params.offset,
        "total_files": found.total_files,
        "searched": found.searched,
        "truncated": is_truncated(found),
    });
    if counts_lines {
        value["total_lines"] = found.total_lines.into();
    }
    value
}

fn match_value(found: &GrepMatch) -> Value {
    json!({
        "path": found.path.to_string(),
        "line_number": found.line_number,
        "match_start": found.match_start,
        "match_end": found.match_end,
        "match_count": found.match_count,
    })
}

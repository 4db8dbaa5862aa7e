//! What the structured data of each tool's answer looks like.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::shape::Shape::{Explained, Flag, List, Maybe, Number, Object, Sometimes, Text};
use super::shape::{Fields, object, required};

/// What every answer has.
const MESSAGE: &Fields = &[("message", Text)];

/// What a refusal has beside its message.
const REFUSAL: &Fields = &[
    ("error", Text),
    ("path", Sometimes(&Text)),
    ("current_hash", Sometimes(&Text)),
    ("lines", Sometimes(&List(&Number))),
];

const CHANGES: (&str, super::shape::Shape) =
    ("changes", List(&Object(&[("change", Text), ("path", Text)])));

const MERGED: &Fields = &[
    ("applied", Flag),
    CHANGES,
    ("change_count", Number),
    ("conflicts", List(&Object(&[("path", Text), ("why", Text)]))),
    ("saved", Maybe(&Text)),
];

const MATCH_START: &str = "Where the first match begins, in bytes from the beginning of the line as the \
                           message shows it after `path:line: `. Of a long line only a part is shown, with \
                           an ellipsis of three bytes where something is left out, which counts too.";

const MATCH_END: &str = "Where the first match ends, counted in the same way.";

/// The fields of each tool's answer, where it did what it was asked to do.
const OUTPUTS: &[(&str, &Fields)] = &[
    (
        "ls",
        &[
            ("path", Text),
            (
                "entries",
                List(&Object(&[
                    ("name", Text),
                    ("kind", Text),
                    ("size_bytes", Maybe(&Number)),
                    ("target", Sometimes(&Maybe(&Text))),
                ])),
            ),
            ("offset", Number),
            ("total", Number),
            ("truncated", Flag),
        ],
    ),
    (
        "read_file",
        &[
            ("path", Text),
            ("encoding", Sometimes(&Text)),
            ("total_lines", Sometimes(&Number)),
            ("total_bytes", Sometimes(&Number)),
            ("offset", Number),
            ("column", Sometimes(&Number)),
            ("line_bytes", Sometimes(&Number)),
            ("limit", Number),
            ("truncated", Flag),
            ("content_hash", Text),
        ],
    ),
    (
        "write_file",
        &[
            ("path", Text),
            ("bytes_written", Number),
            ("mode", Text),
            ("created", Flag),
            ("content_hash", Text),
        ],
    ),
    (
        "edit_file",
        &[
            ("path", Text),
            ("replacements", Number),
            ("lines", List(&Number)),
            ("content_hash", Text),
        ],
    ),
    (
        "multi_edit",
        &[("path", Text), ("edits", Number), ("lines", List(&Number)), ("content_hash", Text)],
    ),
    (
        "apply_patch",
        &[
            ("dry_run", Flag),
            (
                "files",
                List(&Object(&[
                    ("from", Maybe(&Text)),
                    ("path", Maybe(&Text)),
                    ("added", Number),
                    ("removed", Number),
                    ("content_hash", Maybe(&Text)),
                ])),
            ),
        ],
    ),
    ("mkdir", &[("path", Text), ("created", Flag)]),
    ("mv", &[("from", Text), ("to", Text)]),
    ("rm", &[("path", Text), ("files", Number), ("directories", Number)]),
    (
        "glob",
        &[
            ("paths", List(&Text)),
            ("offset", Number),
            ("total", Number),
            ("truncated", Flag),
            ("ignored", Number),
        ],
    ),
    (
        "grep",
        &[
            (
                "matches",
                List(&Object(&[
                    ("path", Text),
                    ("line_number", Number),
                    ("match_start", Explained(&Number, MATCH_START)),
                    ("match_end", Explained(&Number, MATCH_END)),
                    ("match_count", Explained(&Number, "How many matches the line has.")),
                ])),
            ),
            ("files", List(&Object(&[("path", Text), ("matching_lines", Sometimes(&Number))]))),
            ("offset", Number),
            ("total_lines", Sometimes(&Number)),
            ("total_files", Number),
            ("searched", Number),
            ("truncated", Flag),
        ],
    ),
    (
        "export",
        &[
            ("path", Text),
            ("file_count", Number),
            ("total_bytes", Number),
            ("archive_bytes", Number),
            ("left_out", List(&Text)),
        ],
    ),
    (
        "import",
        &[("file_count", Number), ("written", Number), ("removed", Number), ("unchanged", Number)],
    ),
    (
        "snapshot",
        &[
            ("id", Text),
            ("short_id", Text),
            ("tag", Maybe(&Text)),
            ("file_count", Number),
            ("total_bytes", Number),
            ("skipped", Number),
            ("pruned", Number),
        ],
    ),
    (
        "history",
        &[
            (
                "entries",
                List(&Object(&[
                    ("id", Sometimes(&Text)),
                    ("short_id", Sometimes(&Text)),
                    ("at", Text),
                    ("tag", Sometimes(&Maybe(&Text))),
                    ("message", Sometimes(&Maybe(&Text))),
                    ("file_count", Sometimes(&Number)),
                    ("number", Sometimes(&Number)),
                    ("name", Sometimes(&Text)),
                    ("what", Sometimes(&Text)),
                ])),
            ),
            ("total", Number),
            ("offset", Number),
        ],
    ),
    ("diff", &[CHANGES, ("change_count", Number), ("offset", Number), ("unchanged_count", Number)]),
    (
        "restore",
        &[
            ("snapshot", Maybe(&Text)),
            ("saved", Maybe(&Text)),
            ("written", Number),
            ("brought_back", Number),
            ("removed", Number),
            ("unchanged", Number),
            CHANGES,
            ("changed_outside", List(&Text)),
        ],
    ),
    ("revert", MERGED),
    (
        "undo",
        &[
            ("operation", Number),
            ("name", Text),
            ("paths", List(&Text)),
            ("conflicts", List(&Text)),
        ],
    ),
    (
        "fork",
        &[
            ("name", Sometimes(&Text)),
            ("from", Sometimes(&Maybe(&Text))),
            ("removed", Sometimes(&Text)),
            ("forks", Sometimes(&List(&Text))),
        ],
    ),
    ("merge", MERGED),
];

/// Returns the schema of a tool's answer: what it gives where it succeeds, or why it was refused.
pub(crate) fn schema(name: &str) -> Option<JsonObject> {
    let (_, fields) = OUTPUTS.iter().find(|(tool, _)| *tool == name)?;
    let all: Vec<_> = MESSAGE.iter().chain(REFUSAL).chain(*fields).copied().collect();
    let mut schema = object(&all);
    schema.insert("required".into(), required(MESSAGE).into());
    let either = [*fields, REFUSAL].map(|fields| json!({"required": required(fields)}));
    schema.insert("anyOf".into(), Value::Array(either.into()));
    Some(schema)
}

#[cfg(test)]
mod tests {
    use wink_agent::{ToolContext, Toolset};

    #[test]
    fn every_tool_that_is_offered_says_what_its_answer_looks_like() {
        let context = ToolContext::over(&wink_fs::Workspace::memory());
        for tool in Toolset::ALL.offered(&context) {
            assert!(super::schema(tool.name).is_some(), "{}", tool.name);
        }
    }
}

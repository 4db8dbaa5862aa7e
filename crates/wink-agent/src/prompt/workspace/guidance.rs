//! The description of a workspace in a prompt.

use wink_fs::Limits;

use super::files::{Place, SectionFiles};
use super::preview;
use crate::session::SessionError;
use crate::util::counted;

/// Which tools change the files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ToolSource {
    /// The tools of the section.
    Section,
    /// Tools of the harness itself, of which nothing is known here.
    Harness,
}

/// Makes the text of a workspace section; what is mounted is there once the workspace is.
pub(crate) fn text(files: &SectionFiles, tools: ToolSource) -> Result<String, SessionError> {
    let mut parts = vec![beginning(files.place).to_owned(), rules(tools)];
    parts.extend(files.mount_point().map(programs));
    if tools == ToolSource::Section {
        parts.push(limits(&files.options.limits));
    }
    let previews = files.previews()?;
    if !previews.is_empty() {
        parts.push(preview::list(&previews));
    }
    Ok(parts.join("\n\n"))
}

fn beginning(place: Place) -> &'static str {
    match place {
        Place::Memory => {
            "You have a filesystem of your own, in memory. It starts empty but for what is mounted; \
             create the files you need. Paths are relative to its root."
        }
        Place::Sandbox => {
            "You have a directory of your own in a sandbox, where you can run programs. It starts empty but for \
             what is mounted; create the files you need. Paths are relative to it."
        }
        Place::Temporary => {
            "You have a directory of your own. It starts empty but for what is mounted; create the \
             files you need. Paths are relative to it."
        }
        Place::Directory => {
            "You work in a directory with the files that are in it, and others see what you change. \
             Paths are relative to it."
        }
    }
}

/// Says how programs run.
fn programs(mount_point: &str) -> String {
    [
        format!("Programs (`shell_execute`, `evaluate_python`) find the files in `{mount_point}`; other places do not last."),
        "They have no network and limited memory, and end at a timeout; no process stays when a call has ended."
            .to_owned(),
        "The answer lists the files that a program changed; `undo`, where it is offered, reverses them together."
            .to_owned(),
    ]
    .map(|rule| format!("- {rule}"))
    .join("\n")
}

fn rules(source: ToolSource) -> String {
    let by = |tools: &str| match source {
        ToolSource::Section => format!(" ({tools})"),
        ToolSource::Harness => String::new(),
    };
    [
        "Mounts are made when the workspace is configured; you cannot bring in other directories of \
         the host."
            .to_owned(),
        format!(
            "Explore with targeted listings and searches{} before you read, and keep them small.",
            by("`ls` of one directory, `glob`, `grep`")
        ),
        format!(
            "Read a file{} before you change it, and work from the version you just read.",
            by("`read_file`")
        ),
        format!("Edit{} rather than rewrite.", by("`edit_file`, `multi_edit`, `apply_patch`")),
        format!(
            "Where you write a whole file{}, overwrite it once rather than append many times.",
            by("`write_file`")
        ),
        "Keep binary files small and few.".to_owned(),
        "Do not mirror large repositories or assets into the workspace.".to_owned(),
        format!("Clean up{}: when the work is done, remove what is of no use any more.", by("`rm`")),
    ]
    .map(|rule| format!("- {rule}"))
    .join("\n")
}

fn limits(limits: &Limits) -> String {
    let Limits { max_content, max_depth, max_segment, ascii_only, .. } = limits;
    let characters = |most: u64| counted(most, "character");
    let mut bounds = Vec::new();
    bounds.extend(max_content.map(|most| {
        format!("{} of content (bytes where it is binary) in one call", characters(most))
    }));
    bounds.extend(max_depth.map(|most| format!("{} in a path", counted(most as u64, "segment"))));
    bounds.extend(max_segment.map(|most| format!("{} in a segment", characters(most as u64))));
    bounds.push(format!(
        "{} or {} in one page of `read_file`",
        counted(limits.page_lines, "line"),
        counted(limits.max_read_bytes, "byte")
    ));
    bounds.push(format!("{} lines or files of one search", limits.max_grep_matches));
    let ascii = if *ascii_only { " New paths are ASCII only." } else { "" };
    format!("The limits: {}.{ascii}", bounds.join("; "))
}

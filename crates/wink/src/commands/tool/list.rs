//! `wink tool --list`.

use serde::Serialize;
use wink_agent::{Effect, Family, Tool, Toolset};

use crate::cli::context::Context;
use crate::error::CliError;
use crate::ui::answer::Answer;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ToolList {
    pub(super) tools: Vec<ToolEntry>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ToolEntry {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    /// `files`, `history` or `execution`.
    pub(super) family: &'static str,
    /// `reads`, `writes` or `executes`.
    pub(super) effect: &'static str,
}

pub(super) fn run(context: &Context) -> Result<Answer, CliError> {
    let document = ToolList { tools: Toolset::ALL.tools().map(entry).collect() };
    let mut answer = context.answer(&document, text)?;
    answer.notes = context.note("next: wink tool NAME --schema");
    Ok(answer)
}

fn entry(tool: &'static Tool) -> ToolEntry {
    ToolEntry {
        name: tool.name,
        title: tool.title,
        description: tool.description,
        family: match tool.family {
            Family::History => "history",
            Family::Execution => "execution",
            _ => "files",
        },
        effect: match tool.effect {
            Effect::Writes => "writes",
            Effect::Executes => "executes",
            _ => "reads",
        },
    }
}

/// Lists the tools by family.
fn text(document: &ToolList) -> String {
    let mut text = String::new();
    for tools in document.tools.chunk_by(|a, b| a.family == b.family) {
        let family = tools.first().map_or("", |tool| tool.family);
        let unsafe_ones = if family == "execution" { " (only with --allow-execution)" } else { "" };
        text += &format!("{family}{unsafe_ones}\n");
        tools.iter().for_each(|tool| text += &line(tool));
    }
    text
}

fn line(tool: &ToolEntry) -> String {
    let first = tool.description.split_once(". ").map_or(tool.description, |(first, _)| first);
    format!("  {:<16}  {}\n", tool.name, first.trim_end_matches('.'))
}

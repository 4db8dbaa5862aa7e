//! The tools there are.

use wink_agent::{Effect, Family, Tool, Toolset};

use crate::cli::context::Context;
use crate::error::CliError;
use crate::json::{ToolEntry, ToolList};
use crate::ui::answer::Answer;

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

/// Writes a line for each tool, those of a family together.
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

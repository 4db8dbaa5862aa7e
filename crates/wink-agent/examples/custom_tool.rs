//! A tool of one's own, beside those of the workspace, in the loop with a model.
//!
//! `cargo run -p wink-agent --example custom_tool`

use std::error::Error;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use wink_agent::adapter::{Adapter, Conversation, Message, ScriptedModel};
use wink_agent::prompt::{PromptTemplate, Section, SectionOptions, VfsSection};
use wink_agent::session::{Session, ToolInvoked};
use wink_agent::{Effect, Tool, ToolResult};
use wink_fs::{WriteOptions, ops};

/// What a model gives the tool; the comments are what it is told of them.
#[derive(Deserialize, JsonSchema)]
struct Params {
    /// Text file whose lines are sorted.
    path: String,
    /// Whether equal lines are kept only once.
    #[serde(default)]
    unique: bool,
}

/// Sorts the lines of a file: all of it or nothing, and it can be undone.
fn sort_lines() -> Tool {
    let description = "Sorts the lines of a text file in place.";
    Tool::new("sort_lines", description, Effect::Writes, |call, params: Params| {
        let path = call.path(&params.path)?;
        let content = call.tree().open(&path)?.read_all()?;
        let text = String::from_utf8_lossy(&content);
        let mut lines: Vec<_> = text.lines().collect();
        lines.sort_unstable();
        if params.unique {
            lines.dedup();
        }
        let sorted: String = lines.iter().flat_map(|line| [*line, "\n"]).collect();
        call.change(|fs| ops::write(fs, &path, &sorted, &WriteOptions::default()))?;
        let message = format!("Sorted the {} lines of {path}.", lines.len());
        Ok(ToolResult::success(message, json!({"lines": lines.len()})))
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}

pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let session = Session::new();
    let vfs = VfsSection::new(&session, SectionOptions::default());
    vfs.filesystem()?.write("names.txt", "Charlie\nAlice\nBob\nAlice\n")?;
    let task = Section::new("Sorting", "sorting", "Sort with `sort_lines`, not by hand.")?;
    let prompt = PromptTemplate::new("agents/clerk", "sort")?
        .section(task.tools([sort_lines()]))
        .section(&vfs)
        .prompt(&session)?;

    let mut model = ScriptedModel::new()
        .call("sort_lines", json!({"path": "name.txt"}))
        .call("sort_lines", json!({"path": "names.txt", "unique": true}))
        .say("The names are sorted.");
    let finished = Adapter::new(&prompt).run(&mut model, Conversation::of("Sort the names."))?;

    for message in finished.conversation.messages() {
        if let Message::Tools(answers) = message {
            writeln!(out, "tool: {}", answers[0].result.message)?;
        }
    }
    writeln!(out, "model: {}", finished.text)?;
    write!(out, "{}", vfs.filesystem()?.read("names.txt")?.content)?;
    for call in session.query::<ToolInvoked>()?.all() {
        writeln!(
            out,
            "turn {}: {} {}",
            call.turn,
            call.tool,
            if call.success { "ok" } else { "failed" }
        )?;
    }
    Ok(())
}

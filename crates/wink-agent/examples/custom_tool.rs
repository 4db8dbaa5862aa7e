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
use wink_agent::{Effect, Tool, ToolError, ToolResult};
use wink_fs::{ContentHash, ErrorKind, PutCondition, PutOptions, Staged, TreePath};

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
pub(crate) fn sort_lines() -> Tool {
    let description = "Sorts the lines of a text file in place.";
    Tool::new("sort_lines", description, Effect::Writes, |call, params: Params| {
        let path = call.path(&params.path)?;
        // Read where it is changed, and only replaced if it is still what was read: no work is lost.
        let count = call.change(|files| {
            let content = files.open(&path)?.read_all()?;
            let text = str::from_utf8(&content).map_err(|_| not_text(&path))?;
            let (sorted, count) = sorted(text, params.unique);
            let unchanged = PutCondition::Unchanged(ContentHash::of(&content));
            let options = PutOptions::default().condition(unchanged);
            files.put(&path, &mut Staged::from_bytes(sorted), &options)?;
            Ok::<_, ToolError>(count)
        })?;
        let message = format!("Sorted the {count} lines of {path}.");
        Ok(ToolResult::success(message, json!({"lines": count})))
    })
}

/// Sorts lines; what they end in stays where it is, and so does a missing newline at the end.
fn sorted(text: &str, unique: bool) -> (String, usize) {
    let endings =
        text.split_inclusive('\n').zip(text.lines()).map(|(all, line)| &all[line.len()..]);
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    if unique {
        lines.dedup();
    }
    (lines.iter().zip(endings).flat_map(|(line, ending)| [*line, ending]).collect(), lines.len())
}

fn not_text(path: &TreePath) -> ToolError {
    let message = format!("{path} is not text, and nothing was changed; name a text file.");
    ToolError::new(ErrorKind::NotText, message)
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

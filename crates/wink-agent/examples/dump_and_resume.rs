//! A session begins in memory, is dumped with its files, and goes on in a directory of the host.
//!
//! `cargo run -p wink-agent --example dump_and_resume`

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use serde_json::json;
use wink_agent::adapter::{Adapter, Conversation, ScriptedModel};
use wink_agent::checkpoint::Dumped;
use wink_agent::prompt::{PromptTemplate, SectionOptions, VfsSection, WorkspaceSection};
use wink_agent::session::{Session, ToolInvoked, VirtualFileSystem, load_session_tree};

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}

pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let place = tempfile::tempdir()?;
    let dumped = begin_in_memory(place.path())?;
    writeln!(out, "dumped a session and an archive")?;
    go_on_in_a_directory(&dumped, out)
}

fn begin_in_memory(place: &Path) -> Result<Dumped, Box<dyn Error>> {
    let session = Session::new();
    let vfs = VfsSection::new(&session, SectionOptions::default());
    let prompt = PromptTemplate::new("agents/writer", "story")?.section(&vfs).prompt(&session)?;
    let mut model = ScriptedModel::new()
        .call("write_file", json!({"path": "story.txt", "content": "Once upon a time.\n"}))
        .say("To be continued.");
    Adapter::new(&prompt).run(&mut model, Conversation::of("Begin a story."))?;
    Ok(vfs.files().dump(place)?)
}

fn go_on_in_a_directory(dumped: &Dumped, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let session = load_session_tree(&dumped.session)?;
    let workspace = WorkspaceSection::temporary(&session, SectionOptions::default());
    workspace.files().resume(&dumped.session)?;
    let prompt =
        PromptTemplate::new("agents/writer", "story")?.section(&workspace).prompt(&session)?;
    let more = json!({"path": "story.txt", "content": "The end.\n", "mode": "append"});
    let mut model = ScriptedModel::new().call("write_file", more).say("Done.");
    Adapter::new(&prompt).run(&mut model, Conversation::of("Finish the story."))?;

    let files = workspace.filesystem()?;
    writeln!(out, "on the backend `{}`:", files.properties().backend)?;
    write!(out, "{}", files.read("story.txt")?.content)?;
    let listing = session.query::<VirtualFileSystem>()?.latest().unwrap_or_default();
    for file in listing.files() {
        writeln!(out, "{} is at version {}", file.path, file.version)?;
    }
    writeln!(out, "calls in the session: {}", session.query::<ToolInvoked>()?.len())?;
    Ok(())
}

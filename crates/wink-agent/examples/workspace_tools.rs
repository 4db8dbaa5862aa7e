//! The tools of a workspace with host files in it, from the prompt to what the session knows.
//!
//! `cargo run -p wink-agent --example workspace_tools`

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use serde_json::json;
use wink_agent::adapter::{Adapter, Conversation, Message, ScriptedModel};
use wink_agent::prompt::{PromptTemplate, Section, SectionOptions, VfsSection};
use wink_agent::session::{Session, VirtualFileSystem};
use wink_fs::{HostMount, Workspace};

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}

pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let project = tempfile::tempdir()?;
    make_project(project.path())?;
    let session = Session::new();
    // Only what lies below an allowed root can be mounted, and a model cannot mount anything.
    let options = SectionOptions::default()
        .allow_host_root(project.path())
        .mount(HostMount::new("docs").include("*.md").max_bytes(100_000))
        .mount(HostMount::new("src").exclude("*.pyc"));
    let vfs = VfsSection::new(&session, options);
    let behaviour = "Stage edits in the virtual filesystem before they are applied to the host.";
    let prompt = PromptTemplate::new("agents/background", "workspace")?
        .section(Section::new("Behaviour", "behaviour", behaviour)?)
        .section(&vfs)
        .prompt(&session)?;
    writeln!(out, "{}", prompt.render()?.text)?;

    let finished = Adapter::new(&prompt).run(&mut model(), Conversation::of("Fix the title."))?;
    show(finished.conversation.messages(), out)?;
    for file in session.query::<VirtualFileSystem>()?.latest().unwrap_or_default().files() {
        writeln!(out, "{} has {} bytes, version {}", file.path, file.size_bytes, file.version)?;
    }
    let on_the_host = Workspace::host(project.path())?.read("docs/guide.md")?.content;
    write!(out, "on the host it still says: {on_the_host}")?;
    Ok(())
}

fn make_project(place: &Path) -> Result<(), Box<dyn Error>> {
    let files = Workspace::host(place)?;
    files.write("docs/guide.md", "# Giude\n")?;
    files.write("docs/logo.png", "not really a picture")?;
    files.write("src/main.py", "print('hello')\n")?;
    files.write("src/main.pyc", "compiled")?;
    files.write("secrets.txt", "not mounted")?;
    Ok(())
}

/// What a model would do: look, read, change, look again.
fn model() -> ScriptedModel {
    ScriptedModel::new()
        .calls([("ls", json!({"path": "docs"})), ("grep", json!({"pattern": "Giude"}))])
        .call("read_file", json!({"path": "docs/guide.md"}))
        .call(
            "edit_file",
            json!({"path": "docs/guide.md", "old_string": "Giude", "new_string": "Guide"}),
        )
        .call("read_file", json!({"path": "../secrets.txt"}))
        .say("The title is right now.")
}

/// Shows what was said, and how each call ended.
fn show(messages: &[Message], out: &mut dyn Write) -> io::Result<()> {
    for message in messages {
        match message {
            Message::User(text) => writeln!(out, "user: {text}")?,
            Message::Model(turn) if !turn.text.is_empty() => writeln!(out, "model: {}", turn.text)?,
            Message::Tools(answers) => {
                for answer in answers {
                    writeln!(out, "{}: {}", answer.name, answer.result.code().unwrap_or("ok"))?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

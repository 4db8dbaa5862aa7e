//! Makes the calls of the demo, and shows them.

use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::client::{Called, Client};
use crate::error::CliError;
use crate::ui::answer;
use crate::ui::output::Output;
use crate::ui::style::{self, Paint};
use crate::ui::terminal;

/// The lines of an answer that are shown where its first one does not say it all.
const MOST_LINES: usize = 40;

/// How far in answers stand.
const INDENT: usize = 6;

/// How wide what a call is about may be.
const WIDTH: usize = 44;

/// Printed for each call of the demo.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct DemoCall {
    pub(super) tool: String,
    /// The path, name or pattern that it is about.
    pub(super) about: String,
    /// Whether it did what was asked; some calls are refused, as they should be.
    pub(super) ok: bool,
    /// The text for a model.
    pub(super) text: String,
    pub(super) duration_us: u64,
}

/// Makes calls, and shows them.
pub(super) struct Player {
    client: Client,
    output: Output,
    pace: Duration,
    /// The directory of the demo's files, and the name of its session.
    place: String,
    calls: u32,
}

impl Player {
    /// Finds a free name in this workspace.
    pub(super) fn new(
        mut client: Client,
        output: Output,
        pace: Duration,
    ) -> Result<Self, CliError> {
        // Not one name after the other: the page would show a call that failed before the demo begins.
        let listed = client.call("ls", &json!({}))?.text;
        let is_taken =
            |name: &str| listed.split_whitespace().any(|word| word.trim_end_matches('/') == name);
        let numbered = (2..).map(|number| format!("demo-{number}"));
        let mut names = std::iter::once("demo".to_owned()).chain(numbered);
        let place = names.find(|name| !is_taken(name)).unwrap_or_default();
        Ok(Self { client, output, pace, place, calls: 0 })
    }

    /// Returns the name of the session.
    pub(super) fn session(&self) -> &str {
        &self.place
    }

    /// Returns the path of a file of the project.
    pub(super) fn path(&self, path: &str) -> String {
        format!("{}/{path}", self.place)
    }

    /// Returns a name for a snapshot or a fork, other than those of earlier demos.
    pub(super) fn name(&self, name: &str) -> String {
        format!("{}-{name}", self.place)
    }

    /// Returns how many calls were made.
    pub(super) fn calls(&self) -> u32 {
        self.calls
    }

    /// Prints text, unless the output is JSON.
    pub(super) fn say(&self, text: &str) {
        self.write(&terminal::fitted(text, 0), Paint::Plain);
    }

    /// Prints a heading.
    pub(super) fn heading(&self, text: &str) {
        let text = terminal::fitted(text, 0);
        self.write(&format!("\n{text}"), Paint::Ready(format!("\n{}\n", style::strong(&text))));
    }

    /// Prints next steps, with commands in bold.
    pub(super) fn propose(&self, text: &str) {
        let painted: String = text.lines().map(|line| with_command(line) + "\n").collect();
        self.write(text, Paint::Ready(painted));
    }

    fn write(&self, text: &str, paint: Paint) {
        if self.output.json {
            return;
        }
        // Fails if the user has closed the output.
        let _ = self.output.text(&format!("{text}\n"), &paint, false);
    }

    /// Makes a call that must succeed, and shows the first line of its answer.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Result<(), CliError> {
        let called = self.made(tool, arguments)?;
        self.wanted(tool, &called, true)
    }

    /// Makes a call that must succeed, and shows its whole answer.
    pub(super) fn show(&mut self, tool: &str, arguments: Value) -> Result<(), CliError> {
        let called = self.made(tool, arguments)?;
        let (plain, painted) = shown(&answer(&called.text));
        self.write(&plain, Paint::Ready(painted + "\n"));
        self.wanted(tool, &called, true)
    }

    /// Makes a call that must fail, and shows why.
    pub(super) fn refused(&mut self, tool: &str, arguments: Value) -> Result<(), CliError> {
        let called = self.made(tool, arguments)?;
        let plain = terminal::fitted(&answer(&called.text), INDENT);
        self.write(&plain, Paint::Ready(style::warning(&plain) + "\n"));
        self.wanted(tool, &called, false)
    }

    /// Downloads something from the server.
    pub(super) fn get(&mut self, path: &str) -> Result<Vec<u8>, CliError> {
        self.client.get(path)
    }

    fn made(&mut self, tool: &str, mut arguments: Value) -> Result<Called, CliError> {
        let about = self.about(&arguments);
        arguments["session"] = self.place.as_str().into();
        let called = self.client.call(tool, &arguments)?;
        self.calls += 1;
        self.show_call(tool, &style::harmless(&about), &called);
        if self.output.json {
            answer::item(&DemoCall {
                tool: tool.to_owned(),
                about,
                ok: called.is_ok,
                text: called.text.clone(),
                duration_us: called.took.as_micros().try_into().unwrap_or(u64::MAX),
            })?;
        }
        thread::sleep(self.pace);
        Ok(called)
    }

    fn show_call(&self, tool: &str, about: &str, called: &Called) {
        let (mark, sign): (_, fn(&str) -> String) =
            if called.is_ok { ("✓", style::good) } else { ("✕", style::bad) };
        let (tool, about) = (format!("{tool:<12}"), format!("{about:<WIDTH$}"));
        let time = format!("{:>6.1} ms", called.took.as_secs_f64() * 1e3);
        let (painted_mark, painted_tool) = (sign(mark), style::strong(&tool));
        let painted = format!("  {painted_mark} {painted_tool} {about} {}\n", style::faint(&time));
        self.write(&format!("  {mark} {tool} {about} {time}"), Paint::Ready(painted));
    }

    /// Returns the path, name or pattern of a call.
    fn about(&self, arguments: &Value) -> String {
        let text = |name: &str| arguments[name].as_str();
        let own =
            |path: &str| path.strip_prefix(&format!("{}/", self.place)).unwrap_or(path).to_owned();
        let what =
            ["path", "pattern", "tag", "name", "snapshot", "from"].into_iter().find_map(text);
        let what = own(what.unwrap_or_default());
        match text("fork").filter(|_| text("path").is_some()) {
            Some(fork) => format!("{what}  (in {fork})"),
            None => what,
        }
    }

    /// Fails if a call has another result than the script expects.
    fn wanted(&self, tool: &str, called: &Called, is_ok: bool) -> Result<(), CliError> {
        if called.is_ok == is_ok { Ok(()) } else { Err(CliError::demo(tool, &called.text)) }
    }
}

/// Returns what of an answer is for people, and not longer than they read.
fn answer(text: &str) -> String {
    let for_people = |line: &&str| !line.starts_with("content_hash: ");
    let lines = text.lines().filter(for_people).take(MOST_LINES);
    style::harmless(&lines.collect::<Vec<_>>().join("\n"))
}

/// Returns an answer as it is shown, without colours and with them; a patch is never broken into lines.
fn shown(text: &str) -> (String, String) {
    if text.contains("\n@@ ") {
        let painted = Paint::Patch.paint(text);
        return (terminal::indented(text, INDENT), terminal::indented(&painted, INDENT));
    }
    let plain = terminal::fitted(text, INDENT);
    let painted = Paint::Letters.paint(&plain);
    (plain, painted)
}

/// Makes a command bold at which a line begins, or which it ends with.
fn with_command(line: &str) -> String {
    let Some(start) = line.find("wink ") else { return line.to_owned() };
    let end = line[start..].find("  ").map_or(line.len(), |length| start + length);
    format!("{}{}{}", &line[..start], style::strong(&line[start..end]), &line[end..])
}

//! Makes the calls of the script, and shows them as they happen.

use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Called, Client};
use crate::answer;
use crate::documents::DemoCall;
use crate::failure::Failure;

/// The lines of an answer that are shown where its first one does not say it all.
const MOST_LINES: usize = 40;

/// How wide what a call is about may be.
const WIDTH: usize = 44;

/// Plays calls to a person who watches.
pub(super) struct Player {
    client: Client,
    pace: Duration,
    is_for_people: bool,
    /// The directory that everything happens in, and the name of the session.
    place: String,
    calls: u32,
}

impl Player {
    /// Finds a name that nobody has used in this workspace.
    pub(super) fn new(
        mut client: Client,
        pace: Duration,
        is_for_people: bool,
    ) -> Result<Self, Failure> {
        for number in 1.. {
            let place = match number {
                1 => "demo".to_owned(),
                number => format!("demo-{number}"),
            };
            if !client.call("ls", &json!({ "path": &place }))?.is_ok {
                return Ok(Self { client, pace, is_for_people, place, calls: 0 });
            }
        }
        unreachable!("numbers do not end")
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

    /// Says something to the person, if one is there.
    pub(super) fn say(&self, text: &str) {
        if self.is_for_people {
            // Whoever has seen enough has closed the output.
            let _ = writeln!(io::stdout(), "{text}");
        }
    }

    /// Makes a call that goes well, and shows its first line.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Result<(), Failure> {
        let called = self.made(tool, arguments)?;
        self.wanted(tool, &called, true)
    }

    /// The same, and shows all of its answer.
    pub(super) fn show(&mut self, tool: &str, arguments: Value) -> Result<(), Failure> {
        let called = self.made(tool, arguments)?;
        self.say(&indented(&called.text));
        self.wanted(tool, &called, true)
    }

    /// Makes a call that is refused, and shows why.
    pub(super) fn refused(&mut self, tool: &str, arguments: Value) -> Result<(), Failure> {
        let called = self.made(tool, arguments)?;
        self.say(&indented(&called.text));
        self.wanted(tool, &called, false)
    }

    /// Takes something home from the server.
    pub(super) fn get(&mut self, path: &str) -> Result<Vec<u8>, Failure> {
        self.client.get(path)
    }

    fn made(&mut self, tool: &str, mut arguments: Value) -> Result<Called, Failure> {
        let about = self.about(&arguments);
        arguments["session"] = self.place.as_str().into();
        let called = self.client.call(tool, &arguments)?;
        self.calls += 1;
        let mark = if called.is_ok { '✓' } else { '✕' };
        let milliseconds = called.took.as_secs_f64() * 1e3;
        self.say(&format!("  {mark} {tool:<12} {about:<WIDTH$} {milliseconds:>6.1} ms"));
        if !self.is_for_people {
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

    /// Says what a call is about.
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

    /// A demo whose calls do not go as written is no demo.
    fn wanted(&self, tool: &str, called: &Called, is_ok: bool) -> Result<(), Failure> {
        match called.is_ok == is_ok {
            true => Ok(()),
            false => Err(Failure::demo(tool, &called.text)),
        }
    }
}

fn indented(text: &str) -> String {
    let for_people = |line: &&str| !line.starts_with("content_hash: ");
    let lines = text.lines().filter(for_people).take(MOST_LINES);
    let lines: Vec<_> = lines.map(|line| format!("      {line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

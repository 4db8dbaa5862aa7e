//! Writes to the terminal, a pager or a pipe.

use std::env;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::{Command, Stdio};

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum as _;

use crate::cli::{ColorWhen, GlobalArgs};
use crate::error::CliError;
use crate::project::config::{Config, Key};
use crate::ui::style::{self, Paint};

/// How to write: JSON or text, with or without colours and pager.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) json: bool,
    color: ColorWhen,
    pager: Option<String>,
}

impl Output {
    pub(crate) fn new(args: &GlobalArgs) -> Self {
        // An error in the config file is reported by the command that needs it.
        let config = Config::read().unwrap_or_default();
        let said = |key| config.find(key, None).map(|(value, _)| value).unwrap_or_default();
        let color = match args.color {
            ColorWhen::Auto => ColorWhen::from_str(&said(Key::Color), true).unwrap_or_default(),
            color => color,
        };
        let pager = Some(said(Key::Pager)).filter(|_| !args.no_pager && !args.json);
        // `cat` is no pager.
        let pager = pager.filter(|pager| !matches!(pager.trim(), "" | "cat"));
        Self { json: args.json, color, pager }
    }

    /// The output for errors in the arguments.
    pub(crate) fn plain(json: bool) -> Self {
        Self { json, color: ColorWhen::Auto, pager: None }
    }

    /// Writes the text of an answer; on a terminal, long text goes through the pager.
    pub(crate) fn text(&self, text: &str, paint: &Paint, is_long: bool) -> Result<(), CliError> {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        let mut text =
            if is_terminal && !self.json { style::harmless(text) } else { text.to_owned() };
        if !self.json && self.is_colored(&stdout) {
            text = paint.paint(&text);
        }
        match self.pager.as_deref().filter(|_| is_long && is_terminal && !text.is_empty()) {
            Some(pager) if page(pager, &text) => Ok(()),
            _ => self.bytes(text.as_bytes()),
        }
    }

    /// Writes file content unchanged; on a terminal, without control sequences.
    pub(crate) fn content(&self, data: &[u8]) -> Result<(), CliError> {
        if io::stdout().is_terminal() {
            self.bytes(style::harmless(&String::from_utf8_lossy(data)).as_bytes())
        } else {
            self.bytes(data)
        }
    }

    /// Writes bytes; a closed pipe, as by `head`, is not an error.
    fn bytes(&self, data: &[u8]) -> Result<(), CliError> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(data).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CliError::output(&error)),
            _ => Ok(()),
        }
    }

    /// Writes a note or error to stderr, with colours.
    pub(crate) fn talk(&self, text: &str) {
        let mut stderr = io::stderr();
        let text = for_people(text);
        let colored = !self.json && self.is_colored(&stderr);
        let text = if colored { style::talk(&text) } else { text };
        // With stderr closed, there is nowhere to report the error.
        let _ = writeln!(stderr, "{text}");
    }

    fn is_colored(&self, stream: &impl anstream::stream::RawStream) -> bool {
        match self.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => AutoStream::choice(stream) != ColorChoice::Never,
        }
    }
}

/// Writes a line to stderr without colours.
pub(crate) fn say(line: &str) {
    // With stderr closed, there is nowhere to report the error.
    let _ = writeln!(io::stderr(), "{}", for_people(line));
}

/// Writes a question to stderr, without a newline.
pub(crate) fn ask(question: &str) {
    let mut stderr = io::stderr();
    let _ = write!(stderr, "{} ", for_people(question)).and_then(|()| stderr.flush());
}

/// Removes control sequences for a terminal: messages contain names and content of files.
fn for_people(talk: &str) -> String {
    if io::stderr().is_terminal() { style::harmless(talk) } else { talk.to_owned() }
}

/// Writes a line of JSON before the answer.
pub(crate) fn say_to_programs(line: &str) {
    // A closed stdout is reported when the answer is written.
    let _ = writeln!(io::stdout(), "{line}");
}

/// Shows a text in a pager; returns false if it cannot be started.
fn page(pager: &str, text: &str) -> bool {
    let mut command = Command::new("sh");
    command.args(["-c", pager]).stdin(Stdio::piped());
    if env::var_os("LESS").is_none() {
        // As git does: quit if one screen is enough, show colours, leave the text on screen.
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // The user may quit the pager before the end.
        let _ = stdin.write_all(text.as_bytes());
    }
    // The shell exits with these if the program is missing or cannot be started.
    child.wait().is_ok_and(|status| !matches!(status.code(), Some(126 | 127)))
}

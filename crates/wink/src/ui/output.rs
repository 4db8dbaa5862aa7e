//! What the answer is written to: a terminal with or without colours, a pager, or a pipe.

use std::env;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::{Command, Stdio};

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum as _;

use crate::cli::{ColorWhen, GlobalArgs};
use crate::error::CliError;
use crate::project::config::{Config, Key};
use crate::ui::style::{self, Paint};

/// Says how to write.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) json: bool,
    color: ColorWhen,
    pager: Option<String>,
}

impl Output {
    pub(crate) fn new(args: &GlobalArgs) -> Self {
        // What a person's file says wrong is told by the command that needs it.
        let config = Config::read().unwrap_or_default();
        let said = |key| config.find(key, None).map(|(value, _)| value).unwrap_or_default();
        let color = match args.color {
            ColorWhen::Auto => ColorWhen::from_str(&said(Key::Color), true).unwrap_or_default(),
            color => color,
        };
        let pager = Some(said(Key::Pager)).filter(|_| !args.no_pager && !args.json);
        // One that only prints is none.
        let pager = pager.filter(|pager| !matches!(pager.trim(), "" | "cat"));
        Self { json: args.json, color, pager }
    }

    /// For what is said before it is known how.
    pub(crate) fn plain(json: bool) -> Self {
        Self { json, color: ColorWhen::Auto, pager: None }
    }

    /// Writes data for people; what is long goes through the pager, where a terminal shows it.
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

    /// Writes the content of a file: as it is, unless a terminal would obey it.
    pub(crate) fn content(&self, data: &[u8]) -> Result<(), CliError> {
        if io::stdout().is_terminal() {
            self.bytes(style::harmless(&String::from_utf8_lossy(data)).as_bytes())
        } else {
            self.bytes(data)
        }
    }

    /// Writes data as it is; a reader that has seen enough, such as `head`, is no failure.
    fn bytes(&self, data: &[u8]) -> Result<(), CliError> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(data).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CliError::output(&error)),
            _ => Ok(()),
        }
    }

    /// Writes talk.
    pub(crate) fn talk(&self, text: &str) {
        let mut stderr = io::stderr();
        let text = for_people(text);
        let colored = !self.json && self.is_colored(&stderr);
        let text = if colored { style::talk(&text) } else { text };
        // With stderr closed, there is no user left to tell.
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

/// Writes a line of talk without colours.
pub(crate) fn say(line: &str) {
    // With stderr closed, there is no user left to tell.
    let _ = writeln!(io::stderr(), "{}", for_people(line));
}

/// Asks something in a line of talk that does not end.
pub(crate) fn ask(question: &str) {
    let mut stderr = io::stderr();
    let _ = write!(stderr, "{} ", for_people(question)).and_then(|()| stderr.flush());
}

/// Returns talk as it is written: files have their say in it too, and a terminal must not obey them.
fn for_people(talk: &str) -> String {
    if io::stderr().is_terminal() { style::harmless(talk) } else { talk.to_owned() }
}

/// Writes a line of JSON before the answer.
pub(crate) fn say_to_programs(line: &str) {
    // Who reads no more is told when the answer is written.
    let _ = writeln!(io::stdout(), "{line}");
}

/// Shows a text in a pager; false where that cannot be started.
fn page(pager: &str, text: &str) -> bool {
    let mut command = Command::new("sh");
    command.args(["-c", pager]).stdin(Stdio::piped());
    if env::var_os("LESS").is_none() {
        // As git does: quits where one screen is enough, shows colours, leaves the text there.
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // A person who has seen enough closes it.
        let _ = stdin.write_all(text.as_bytes());
    }
    // With these the shell says that there is no such program, or that it cannot be started.
    child.wait().is_ok_and(|status| !matches!(status.code(), Some(126 | 127)))
}

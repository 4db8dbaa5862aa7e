//! The answer of a command, and how it is written.
//!
//! Data goes to stdout; notes, hints and errors go to stderr.

use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::error::CliError;
use crate::json::Document;
use crate::ui::output::{self, Output};
use crate::ui::style::{self, Paint};

/// What a command prints, and its exit code.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// The exit code.
    pub(crate) exit: u8,
    /// The text for stdout.
    pub(crate) text: String,
    /// File content for stdout, after the text.
    pub(crate) bytes: Vec<u8>,
    /// Lines for stderr.
    pub(crate) notes: Vec<String>,
    /// Which parts of the text get colours.
    pub(crate) paint: Paint,
    /// Whether the text may be longer than a screen.
    pub(crate) is_long: bool,
}

impl Answer {
    /// Makes an answer of one JSON document.
    pub(crate) fn json<D: Document>(document: &D) -> Result<Self, CliError> {
        Ok(Self { text: line(document)?, ..Self::default() })
    }

    /// Sets which parts of the text get colours.
    pub(crate) fn painted(mut self, paint: Paint) -> Self {
        self.paint = paint;
        self
    }

    /// Lets the text go through the pager.
    pub(crate) fn long(mut self) -> Self {
        self.is_long = true;
        self
    }

    /// Sets the exit code.
    pub(crate) fn exit(mut self, exit: u8) -> Self {
        self.exit = exit;
        self
    }
}

/// Prints a document before the answer, immediately.
pub(crate) fn item<D: Document>(document: &D) -> Result<(), CliError> {
    let line = line(document)?;
    output::say_to_programs(line.trim_end());
    Ok(())
}

fn line<D: Document>(document: &D) -> Result<String, CliError> {
    let versioned = Versioned { schema: D::SCHEMA, kind: D::KIND, document };
    let text = serde_json::to_string(&versioned).map_err(|error| CliError::other(&error))?;
    Ok(style::harmless_json(&text) + "\n")
}

#[derive(Serialize)]
struct Versioned<'a, D> {
    schema: &'static str,
    /// `summary` for the answer; `progress` or `item` before it.
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    document: &'a D,
}

/// Whether a thread has begun to write the last line.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Prints that the command was interrupted, unless it is done, and exits.
pub(crate) fn interrupted() {
    let failure = CliError::interrupted();
    if !IS_CLOSED.swap(true, Ordering::SeqCst) {
        output::say(&failure.json());
    }
    std::process::exit(failure.exit().into());
}

/// Writes the answer or the error, and returns the exit code.
pub(crate) fn finish(result: Result<Answer, CliError>, output: &Output) -> u8 {
    while IS_CLOSED.swap(true, Ordering::SeqCst) {
        // The other thread exits the process.
        std::thread::park();
    }
    let written = result.and_then(|answer| {
        output.text(&answer.text, &answer.paint, answer.is_long)?;
        output.content(&answer.bytes)?;
        Ok(answer)
    });
    match written {
        Ok(answer) => {
            tracing::info!(exit = answer.exit, "done");
            answer.notes.iter().for_each(|note| output.talk(note));
            answer.exit
        }
        Err(failure) => {
            tracing::info!(exit = failure.exit(), why = failure.message(), "failed");
            output.talk(&if output.json { failure.json() } else { failure.text() });
            failure.exit()
        }
    }
}

//! What a command answers, and the one place that writes it.
//!
//! Standard output is data, standard error is talk.

use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::error::CliError;
use crate::json::Document;
use crate::ui::output::{self, Output};
use crate::ui::style::{self, Paint};

/// Holds what a command has to say.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// The code that the process ends with.
    pub(crate) exit: u8,
    /// What goes to standard output.
    pub(crate) text: String,
    /// The content of a file, which goes there after it.
    pub(crate) bytes: Vec<u8>,
    /// What goes to standard error, a line each.
    pub(crate) notes: Vec<String>,
    /// What the text is, for its colours.
    pub(crate) paint: Paint,
    /// Whether the text may be longer than a screen.
    pub(crate) is_long: bool,
}

impl Answer {
    /// Makes an answer of one JSON document.
    pub(crate) fn json<D: Document>(document: &D) -> Result<Self, CliError> {
        Ok(Self { text: line(document)?, ..Self::default() })
    }

    /// Says what the text is, for its colours.
    pub(crate) fn painted(mut self, paint: Paint) -> Self {
        self.paint = paint;
        self
    }

    /// Says that the text may be longer than a screen.
    pub(crate) fn long(mut self) -> Self {
        self.is_long = true;
        self
    }

    /// Sets the code that the process ends with.
    pub(crate) fn exit(mut self, exit: u8) -> Self {
        self.exit = exit;
        self
    }
}

/// Says one thing to programs before the answer, at once.
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
    /// What went before the `summary`, if anything, was `progress` or `item`.
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    document: &'a D,
}

/// Whether a thread is writing the last line already; no other thread does then.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Says to programs that the command was interrupted, unless it is done, and ends the process.
pub(crate) fn interrupted() {
    let failure = CliError::interrupted();
    if !IS_CLOSED.swap(true, Ordering::SeqCst) {
        output::say(&failure.json());
    }
    std::process::exit(failure.exit().into());
}

/// Writes what a command answered, or how it failed, and returns the exit code.
pub(crate) fn finish(result: Result<Answer, CliError>, output: &Output) -> u8 {
    while IS_CLOSED.swap(true, Ordering::SeqCst) {
        // The thread that was faster ends the process.
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

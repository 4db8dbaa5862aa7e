//! What a command answers, and the one place that writes it.
//!
//! Standard output is data, standard error is talk.

use std::io::{self, ErrorKind, Write};

use serde::Serialize;

use crate::documents::Document;
use crate::failure::Failure;

/// Holds what a command has to say.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// The code that the process ends with.
    pub(crate) exit: u8,
    /// What goes to standard output.
    pub(crate) text: String,
    /// What goes there after it, as it is.
    pub(crate) bytes: Vec<u8>,
    /// What goes to standard error, a line each.
    pub(crate) notes: Vec<String>,
}

impl Answer {
    /// Makes an answer of one JSON document.
    pub(crate) fn json<D: Document>(document: &D) -> Result<Self, Failure> {
        let versioned = Versioned { schema: D::SCHEMA, document };
        let text = serde_json::to_string(&versioned).map_err(|error| Failure::other(&error))?;
        Ok(Self { text: text + "\n", ..Self::default() })
    }

    /// Sets the code that the process ends with.
    pub(crate) fn exit(mut self, exit: u8) -> Self {
        self.exit = exit;
        self
    }
}

#[derive(Serialize)]
struct Versioned<'a, D> {
    schema: &'static str,
    #[serde(flatten)]
    document: &'a D,
}

/// Writes what a command answered, or how it failed, and returns the exit code.
pub(crate) fn finish(result: Result<Answer, Failure>, json: bool) -> u8 {
    let written = result.and_then(|answer| {
        write_out(answer.text.as_bytes())?;
        write_out(&answer.bytes)?;
        Ok(answer)
    });
    match written {
        Ok(answer) => {
            answer.notes.iter().for_each(|note| write_err(note));
            answer.exit
        }
        Err(failure) => {
            write_err(&if json { failure.json() } else { failure.text() });
            failure.exit()
        }
    }
}

/// Writes data; a reader that has seen enough, such as `head`, is no failure.
fn write_out(data: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(data).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::output(&error)),
        _ => Ok(()),
    }
}

fn write_err(line: &str) {
    // With stderr closed there is nobody left to tell.
    let _ = writeln!(io::stderr(), "{line}");
}

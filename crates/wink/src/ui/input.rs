//! Reads standard input: content, and answers to questions.

use std::io::{self, BufRead as _, IsTerminal, Read};

use crate::error::CliError;
use crate::ui::output;

/// More input than this is an error.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// Reads all of standard input.
pub(crate) fn read() -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| CliError::input(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        Err(CliError::input_too_large(MAX_BYTES))
    } else {
        Ok(bytes)
    }
}

/// Returns whether a question can be asked.
pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks on the terminal; returns whether the answer is yes.
pub(crate) fn ask(question: &str) -> Result<bool, CliError> {
    Ok(matches!(&*answer(&format!("{question} [y/N]"))?, "y" | "yes"))
}

/// Asks on the terminal; returns whether the answer is not no.
pub(crate) fn ask_usually_yes(question: &str) -> Result<bool, CliError> {
    Ok(!matches!(&*answer(&format!("{question} [Y/n]"))?, "n" | "no"))
}

fn answer(question: &str) -> Result<String, CliError> {
    output::ask(question);
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|error| CliError::input(&error))?;
    Ok(line.trim().to_ascii_lowercase())
}

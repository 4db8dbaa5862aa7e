//! Questions, most of them before what cannot be undone.

use std::io::{self, BufRead as _, IsTerminal};

use crate::error::CliError;
use crate::ui::output;

/// Tells whether a person is there to be asked.
pub(crate) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a person at a terminal, and tells whether the answer is yes.
pub(crate) fn ask(question: &str) -> Result<bool, CliError> {
    output::ask(&format!("{question} [y/N]"));
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|error| CliError::input(&error))?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

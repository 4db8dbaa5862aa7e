//! Questions before what cannot be undone.

use std::io::{self, BufRead as _, IsTerminal, Write as _};

use crate::failure::Failure;

/// Asks a person at a terminal; where nobody can be asked and nobody answered before, it is refused.
pub(crate) fn ask(question: &str, is_answered: bool) -> Result<(), Failure> {
    if is_answered {
        return Ok(());
    }
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::unanswered(question));
    }
    let mut stderr = io::stderr();
    let _ = write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush());
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|error| Failure::input(&error))?;
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::declined()),
    }
}

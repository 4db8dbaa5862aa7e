//! What comes in by standard input.

use std::io::{self, Read};

use crate::error::CliError;

/// More than this is taken for a mistake.
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

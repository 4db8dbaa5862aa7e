//! Retries a change where another process was faster.

use wink_fs::ErrorKind;

use crate::tool::error::ToolError;

/// How often a change starts again because another process changed the file meanwhile.
const TRIES: usize = 8;

/// Looks again and does it again while another process changes what was looked at.
///
/// What it does must be right for whatever it finds, as an edit is whose text must be there once.
pub(crate) fn retried<T>(
    mut attempt: impl FnMut() -> Result<T, ToolError>,
) -> Result<T, ToolError> {
    for _ in 1..TRIES {
        match attempt() {
            Err(refusal) if refusal.kind() == ErrorKind::Conflict => {}
            result => return result,
        }
    }
    attempt()
}

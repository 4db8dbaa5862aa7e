//! The names by which programs know prompts and sections.

use super::error::PromptError;
use crate::tool::unknown_name;

/// Refuses a key that is hard to tell from another, or to write down.
pub(super) fn checked(key: &str) -> Result<String, PromptError> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    if !key.is_empty() && key.chars().all(is_plain) {
        Ok(key.to_owned())
    } else {
        Err(PromptError::InvalidKey { key: unknown_name::shorten_name(key) })
    }
}

/// Refuses a namespace of which a part could not be a key.
pub(super) fn checked_namespace(namespace: &str) -> Result<String, PromptError> {
    let parts = namespace.split('/').map(checked).collect::<Result<Vec<_>, _>>();
    match parts {
        Ok(parts) => Ok(parts.join("/")),
        Err(_) => Err(PromptError::InvalidKey { key: unknown_name::shorten_name(namespace) }),
    }
}

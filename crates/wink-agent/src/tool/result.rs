//! What a tool call gives back.

use serde_json::Value;
use wink_fs::ErrorKind;

/// Holds the answer to one tool call.
#[derive(Clone, Debug)]
pub struct ToolResult {
    /// The kind of failure, or nothing when the call succeeded.
    pub error: Option<ErrorKind>,
    /// The text for the model, complete by itself.
    pub message: String,
    /// A small JSON object for programs; a failure has its code under `error`.
    pub value: Value,
}

impl ToolResult {
    /// Says that the call did what it was asked to do.
    pub fn success(message: String, value: Value) -> Self {
        ToolResult { error: None, message, value }
    }

    /// Says whether the call did what it was asked to do.
    pub fn ok(&self) -> bool {
        self.error.is_none()
    }

    /// Returns the stable error code of a failed call.
    pub fn code(&self) -> Option<&'static str> {
        self.error.map(ErrorKind::code)
    }

    /// Returns the text for the model, which is complete by itself.
    pub fn render(&self) -> &str {
        &self.message
    }
}

//! Results of tool calls.

use serde::Serialize;
use serde_json::Value;
use wink_fs::ErrorKind;

/// The answer to one tool call.
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
    /// Creates the result of a call that succeeded: a text for the model, and the same as data.
    pub fn success(message: String, answer: impl Serialize) -> Self {
        // Only a map whose keys are no text fails, and no answer has one.
        let value = serde_json::to_value(answer).unwrap_or_default();
        ToolResult { error: None, message, value }
    }

    /// Returns whether the call succeeded.
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

//! Results of tool calls.

use serde::Serialize;
use serde_json::Value;
use wink_fs::ErrorKind;

/// The answer to one tool call.
#[derive(Clone, Debug)]
pub struct ToolResult {
    /// The kind of failure, or nothing when the call succeeded.
    pub error: Option<ErrorKind>,
    /// The text for the model: complete by itself, or where [`ToolContext::wants_data`] is set, what the data does
    /// not say. Control characters are escaped.
    ///
    /// [`ToolContext::wants_data`]: crate::ToolContext::wants_data
    pub message: String,
    /// A small JSON object for programs; a failure has its code under `error`.
    pub value: Value,
    /// A picture that the call shows.
    pub image: Option<Image>,
}

/// A picture, bounded in size by the tool that shows it.
#[derive(Clone, Debug)]
pub struct Image {
    /// Its type, such as `image/png`.
    pub mime_type: &'static str,
    /// Its bytes as base64.
    pub base64: String,
}

impl ToolResult {
    /// Creates the result of a call that succeeded: a text for the model, and the same as data.
    pub fn success(message: String, answer: impl Serialize) -> Self {
        // Only a map whose keys are no text fails, and no answer has one.
        let value = serde_json::to_value(answer).unwrap_or_default();
        ToolResult { error: None, message, value, image: None }
    }

    /// Returns whether the call succeeded.
    pub fn ok(&self) -> bool {
        self.error.is_none()
    }

    /// Returns the stable error code of a failed call.
    pub fn code(&self) -> Option<&'static str> {
        self.error.map(ErrorKind::code)
    }

    /// Returns the text for the model.
    pub fn render(&self) -> &str {
        &self.message
    }
}

//! Errors of tool calls.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use wink_fs::{ContentHash, Error, ErrorKind, Operation, TreePath};

use crate::schema::aliases::{self, Misfit};
use crate::tool::result::ToolResult;

/// A failed call on its way to becoming a [`ToolResult`].
///
/// ```
/// use wink_agent::{ToolError, ToolResult};
/// use wink_fs::ErrorKind;
///
/// let refusal = ToolError::new(ErrorKind::InvalidArgument, "`colour` must be red or blue.");
/// assert_eq!(ToolResult::from(refusal).code(), Some("invalid_argument"));
/// ```
#[derive(Debug)]
pub struct ToolError {
    kind: ErrorKind,
    message: String,
    path: Option<String>,
    current_hash: Option<ContentHash>,
    lines: Box<[usize]>,
    /// The parameter that does not exist, if that is the error.
    unknown_parameter: Option<Box<str>>,
}

impl ToolError {
    /// Creates an error from a message that says what went wrong and what to do next.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        ToolError {
            kind,
            message: message.into(),
            path: None,
            current_hash: None,
            lines: Box::default(),
            unknown_parameter: None,
        }
    }

    pub(crate) fn invalid_argument(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }

    /// Creates the error for arguments that do not fit a schema.
    pub(crate) fn misfit(schema: &Map<String, Value>, misfit: Misfit) -> Self {
        let unknown_parameter = match &misfit {
            Misfit::Unknown(key) => Some(key.as_str().into()),
            Misfit::Other(_) => None,
        };
        Self { unknown_parameter, ..Self::invalid_argument(misfit.worded(schema)) }
    }

    /// Lists the caller's parameters too, if the error is about an unknown parameter.
    pub(crate) fn naming_also(self, schema: &Map<String, Value>, also: &[&str]) -> Self {
        match &self.unknown_parameter {
            Some(key) if !also.is_empty() => {
                let message = aliases::unknown(schema, also, key);
                self.reworded(message)
            }
            _ => self,
        }
    }

    /// Returns the kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Replaces the message by one that names the next step with this tool.
    pub(crate) fn reworded(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// Appends to the message.
    pub(crate) fn saying_also(mut self, more: &str) -> Self {
        self.message += more;
        self
    }

    /// Returns whether the message contains these words.
    pub(crate) fn says(&self, words: &str) -> bool {
        self.message.contains(words)
    }

    /// Names the file it is about.
    pub(crate) fn with_path(mut self, path: &TreePath) -> Self {
        self.path = Some(path.to_string());
        self
    }

    /// Names the lines of the file it is about, counted from 1.
    pub(crate) fn with_lines(mut self, lines: Vec<usize>) -> Self {
        self.lines = lines.into();
        self
    }

    /// Returns whether the current content is unknown.
    pub(crate) fn knows_no_hash(&self) -> bool {
        self.current_hash.is_none()
    }

    /// Returns the message with the hash of the current content, for clients that show only the message.
    fn complete_message(&self) -> String {
        let hash = self.current_hash.map(|hash| hash.to_string());
        match hash.filter(|hash| !self.message.contains(hash)) {
            Some(hash) => format!("{}\ncurrent_hash: {hash}", self.message),
            None => self.message.clone(),
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ErrorAnswer {
    error: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_hash: Option<String>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    lines: Box<[usize]>,
}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        ToolError {
            kind: error.kind(),
            message: error.to_string(),
            path: error.path().map(ToString::to_string),
            current_hash: error.current_hash(),
            lines: Box::default(),
            unknown_parameter: None,
        }
    }
}

impl From<ToolError> for ToolResult {
    fn from(refusal: ToolError) -> Self {
        let message = refusal.complete_message();
        let ToolError { kind, path, current_hash, lines, .. } = refusal;
        let current_hash = current_hash.map(|hash| hash.to_string());
        let answer = ErrorAnswer { error: kind.code(), path, current_hash, lines };
        ToolResult { error: Some(kind), ..ToolResult::success(message, answer) }
    }
}

impl From<std::io::Error> for ToolError {
    fn from(error: std::io::Error) -> Self {
        Error::system(Operation::Read, error).into()
    }
}

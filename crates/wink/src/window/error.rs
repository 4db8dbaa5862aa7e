//! Errors of the page's API, worded for a person who looks at a page.

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use wink_agent::ToolResult;
use wink_fs::{Error, ErrorKind, ResolveError};

use crate::error::{CliError, http_status};

/// Why a request has no other answer.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ApiError {
    #[serde(skip)]
    status: u16,
    /// The code of the error, such as `not_found`.
    code: String,
    message: String,
}

impl ApiError {
    /// Makes the error of a kind.
    pub(crate) fn of(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { status: http_status(kind), code: kind.code().to_owned(), message: message.into() }
    }

    /// Returns the sentence for people.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The work ended unexpectedly.
    pub(crate) fn failed() -> Self {
        Self::of(ErrorKind::Io, "the server failed to answer this; see its output")
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::of(error.kind(), error.to_string())
    }
}

impl From<ResolveError> for ApiError {
    fn from(error: ResolveError) -> Self {
        // Its own kind and sentence are those of the library.
        Error::from(error).into()
    }
}

impl From<CliError> for ApiError {
    fn from(error: CliError) -> Self {
        Self::of(ErrorKind::Io, error.message())
    }
}

impl From<std::io::Error> for ApiError {
    fn from(error: std::io::Error) -> Self {
        Self::of(ErrorKind::Io, format!("the file cannot be read any more: {error}"))
    }
}

impl From<ToolResult> for ApiError {
    fn from(result: ToolResult) -> Self {
        Self::of(result.error.unwrap_or(ErrorKind::Io), result.message)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status);
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::json!({ "error": self });
        (status, [(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
    }
}

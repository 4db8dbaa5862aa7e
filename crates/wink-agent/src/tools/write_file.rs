//! `write_file`: create, replace or extend a file.

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wink_fs::ops::{self, WriteMode, WriteOptions, Written};
use wink_fs::{ContentHash, Error, ErrorKind, Filesystem, Operation, TreePath};

use crate::policy::expected_hash;
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::counted;
use crate::util::encoding::{Encoding, decoded};

pub(crate) const TOOL: Tool = Tool {
    name: "write_file",
    title: "Write file",
    description: "Write a file, creating missing parent directories. `mode` is overwrite \
                  (default: replace or create), create (fail if the file exists) or append. To \
                  overwrite an existing file, read it first and pass its content_hash as \
                  `expected_hash`. For binary content set encoding to base64.",
    effect: Effect::Writes,
    family: Family::Files,
    destructive: true,
    idempotent: false,
    works_in_forks: true,
    parameters: schema::of::<Params>,
    answer: Some(schema::answer::<Answer>),
    run: Run::BuiltIn(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// File to write.
    path: String,
    /// The text, or bytes as base64.
    content: String,
    /// How `content` is encoded.
    #[serde(default)]
    encoding: Encoding,
    /// What to do if the file exists.
    #[serde(default)]
    mode: Mode,
    /// The content_hash from read_file; the write fails if the file has changed since.
    expected_hash: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Create,
    #[default]
    Overwrite,
    Append,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    path: String,
    bytes_written: u64,
    mode: Mode,
    created: bool,
    content_hash: String,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let path = call.path(&params.path)?;
    let expected = expected_hash::parse(params.expected_hash.as_deref())?;
    let content = match params.encoding {
        Encoding::Text => Given::Text(&params.content),
        Encoding::Base64 => Given::Bytes(decoded(&params.content)?.into()),
    };
    let written = call
        .change(|fs| write(call, fs, &path, (&content, params.mode), expected))
        .map_err(|refused| refusal(refused, call, &path, expected))?;
    call.saw(written.content_hash);
    Ok(answer(&written, params.mode))
}

/// Content as the limits count it: text by characters, bytes by bytes.
enum Given<'p> {
    Text(&'p str),
    Bytes(Bytes),
}

fn write(
    call: &ToolCall<'_>,
    fs: &mut dyn Filesystem,
    path: &TreePath,
    (content, mode): (&Given<'_>, Mode),
    expected: Option<ContentHash>,
) -> wink_fs::Result<Written> {
    let expected = match (mode, expected) {
        (Mode::Overwrite, None) if call.remembers() => seen(call, fs, path)?,
        (_, expected) => expected,
    };
    let options = options(mode, expected);
    let written = match content {
        Given::Text(text) => ops::write(fs, path, text, &options),
        Given::Bytes(bytes) => ops::write_bytes(fs, path, bytes.clone(), &options),
    };
    written.map_err(|error| if mode == Mode::Overwrite { unread(fs, path, error) } else { error })
}

/// Looks, before anything is written, which version the session may replace: one that it has seen. None where nothing is
/// there.
fn seen(
    call: &ToolCall<'_>,
    fs: &dyn Filesystem,
    path: &TreePath,
) -> wink_fs::Result<Option<ContentHash>> {
    match ops::content_hash(fs, path) {
        Ok(hash) if call.has_seen(&hash) => Ok(Some(hash)),
        Ok(hash) => Err(conflict(path, hash)),
        // The write has a better error for a missing parent, or one that is no directory.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error.during(Operation::Write)),
    }
}

/// Turns the refusal to replace a file that the caller has not shown to have read into a conflict.
fn unread(fs: &dyn Filesystem, path: &TreePath, error: Error) -> Error {
    if error.kind() != ErrorKind::AlreadyExists {
        return error;
    }
    match ops::content_hash(fs, path) {
        Ok(hash) => conflict(path, hash),
        // Something that is no file stands there, and that is the better answer.
        Err(other) => other.during(Operation::Write),
    }
}

fn conflict(path: &TreePath, current: ContentHash) -> Error {
    let conflict = Error::new(Operation::Write, ErrorKind::Conflict);
    conflict.with_path(path).with_current_hash(current)
}

/// Without a hash, overwriting makes a new file: the check and the write are one step.
fn options(mode: Mode, expected: Option<ContentHash>) -> WriteOptions {
    let options = WriteOptions::default();
    match (mode, expected) {
        (Mode::Create | Mode::Overwrite, None) => options.mode(WriteMode::Create),
        (Mode::Create, Some(hash)) => options.mode(WriteMode::Create).expected(hash),
        (Mode::Overwrite, Some(hash)) => options.expected(hash),
        (Mode::Append, None) => options.mode(WriteMode::Append),
        (Mode::Append, Some(hash)) => options.mode(WriteMode::Append).expected(hash),
    }
}

fn refusal(
    refusal: ToolError,
    call: &ToolCall<'_>,
    path: &TreePath,
    expected: Option<ContentHash>,
) -> ToolError {
    match (refusal.kind(), expected) {
        (ErrorKind::Conflict, None) if call.remembers() => refusal.reworded(format!(
            "{path} already exists with content that you have not read, so nothing was written: \
             read it with read_file first, then repeat this call."
        )),
        (ErrorKind::Conflict, None) => refusal.reworded(format!(
            "{path} already exists, so nothing was written: read it with read_file first, then \
             repeat this call with expected_hash set to the content_hash it gives."
        )),
        (ErrorKind::Conflict, Some(_)) => expected_hash::stale(refusal, path),
        _ => refusal,
    }
}

fn answer(written: &Written, mode: Mode) -> ToolResult {
    let Written { bytes_written, created, .. } = *written;
    let path = written.path.to_string();
    let hash = written.content_hash.to_string();
    let bytes = counted(bytes_written, "byte");
    let did = match (created, mode) {
        (true, _) => format!("Created {path} with {bytes}."),
        (false, Mode::Append) => format!("Appended {bytes} to {path}."),
        (false, _) => format!("Replaced {path}; it now has {bytes}."),
    };
    let message = did + "\ncontent_hash: " + &hash;
    ToolResult::success(message, Answer { path, bytes_written, mode, created, content_hash: hash })
}

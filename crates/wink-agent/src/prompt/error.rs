//! What can be wrong with a prompt.

use std::error::Error as StdError;
use std::fmt;

use wink_fs::ErrorKind;

use crate::session::SessionError;

/// An error of a prompt, with what to do next.
///
/// ```
/// use wink_agent::prompt::{PromptError, Section};
///
/// let error = Section::new("Task", "task", "Fix ${what}.").unwrap_err();
/// assert!(matches!(error, PromptError::UnknownPlaceholder { .. }));
/// ```
#[derive(Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields say what they are")]
pub enum PromptError {
    /// This text cannot be the key of a section or a prompt, or a namespace.
    InvalidKey { key: String },
    /// The title of this section is empty, or has more than one line.
    InvalidTitle { section: String },
    /// Something in the text of a section looks like a placeholder and is none.
    MalformedPlaceholder { section: String, text: String },
    /// The parameters of a section have no field of this name.
    UnknownPlaceholder { section: String, placeholder: String, nearest: Option<String> },
    /// No parameters of the type that a section needs were bound.
    MissingParameters { section: String, parameters: &'static str },
    /// The parameters that were bound have no value for this placeholder.
    MissingValue { section: String, placeholder: String },
    /// Parameters must be a struct that can be written as JSON.
    InvalidParameters { parameters: &'static str, why: String },
    /// Two sections have this key.
    DuplicateSection { key: String },
    /// Two sections that are enabled offer tools of one name.
    DuplicateTool { tool: &'static str, sections: [String; 2] },
    /// No section has this key.
    UnknownSection { key: String },
    /// What says whether a section is enabled panicked.
    PredicatePanicked { section: String, message: String },
    /// A section's files belong to a session that is not the prompt's.
    AnotherSession { section: String },
    /// The files of a section could not be made.
    Files { section: String, error: SessionError },
}

impl PromptError {
    /// Returns the kind of failure, which callers map to an exit code or HTTP status.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::DuplicateSection { .. } | Self::DuplicateTool { .. } => ErrorKind::AlreadyExists,
            Self::UnknownSection { .. } => ErrorKind::NotFound,
            Self::PredicatePanicked { .. } => ErrorKind::Io,
            Self::AnotherSession { .. } => ErrorKind::PermissionDenied,
            Self::Files { error, .. } => error.kind(),
            _ => ErrorKind::InvalidArgument,
        }
    }

    fn write_placeholder_problem(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MalformedPlaceholder { section, text } => write!(
                f,
                "`{text}` in the section `{section}` is no placeholder; write `${{name}}`, or `$${{` \
                 where it is text"
            ),
            Self::UnknownPlaceholder { section, placeholder, nearest } => {
                write!(f, "the parameters of the section `{section}` have no `{placeholder}`")?;
                match nearest {
                    Some(near) => write!(f, "; did you mean `{near}`?"),
                    None => write!(f, "; add the field, or take the placeholder out"),
                }
            }
            Self::MissingParameters { section, parameters } => {
                write!(f, "the section `{section}` needs a value of `{parameters}`; bind one")
            }
            Self::MissingValue { section, placeholder } => {
                write!(f, "`{placeholder}` of the section `{section}` has no value; give it one")
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for PromptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidKey { key } => write!(
                f,
                "`{key}` cannot be a key; use lowercase letters, digits, `-`, `_`, `.` and, in a \
                 namespace, `/`"
            ),
            Self::InvalidTitle { section } => {
                write!(f, "the title of the section `{section}` must be one line of text")
            }
            Self::InvalidParameters { parameters, why } => {
                write!(f, "`{parameters}` cannot be parameters: {why}")
            }
            Self::DuplicateSection { key } => {
                write!(f, "two sections have the key `{key}`; give each its own")
            }
            Self::DuplicateTool { tool, sections: [one, other] } => {
                write!(
                    f,
                    "the sections `{one}` and `{other}` both offer `{tool}`; keep one of them"
                )
            }
            Self::UnknownSection { key } => write!(f, "no section has the key `{key}`"),
            Self::PredicatePanicked { section, message } => {
                write!(f, "whether the section `{section}` is enabled cannot be told: {message}")
            }
            Self::AnotherSession { section } => write!(
                f,
                "the files of the section `{section}` belong to another session; make the section \
                 with the prompt's own"
            ),
            Self::Files { section, error } => {
                write!(f, "the files of the section `{section}` cannot be made: {error}")
            }
            _ => self.write_placeholder_problem(f),
        }
    }
}

// The message contains the inner error, so the source is the inner error's own.
impl StdError for PromptError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Files { error, .. } => error.source(),
            _ => None,
        }
    }
}

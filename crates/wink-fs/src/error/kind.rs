//! What can go wrong, and how each door words it.

use std::fmt;

/// Says what kind of failure an [`Error`](crate::Error) is; callers decide by it.
///
/// Every backend gives the same kind for the same input. The table that maps a kind to a tool's error
/// code, a process's exit code and an HTTP status is in `docs/errors.md`.
///
/// ```
/// use wink_fs::ErrorKind;
///
/// assert_eq!(ErrorKind::NotFound.code(), "not_found");
/// assert_eq!(ErrorKind::Conflict.exit_code(), 13);
/// assert_eq!(ErrorKind::TooLarge.http_status(), 413);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Nothing is there.
    NotFound,
    /// Something is there already.
    AlreadyExists,
    /// A file was needed and a directory is there.
    IsADirectory,
    /// A directory was needed and something else is there.
    NotADirectory,
    /// The directory has entries.
    NotEmpty,
    /// The path leaves the workspace, passes through a link, or the system refuses.
    PermissionDenied,
    /// The workspace, or the disk below it, takes no writes.
    ReadOnly,
    /// The bytes are not UTF-8 text.
    NotText,
    /// A limit would be passed.
    TooLarge,
    /// The path cannot name anything.
    InvalidPath,
    /// The glob or regular expression does not parse.
    InvalidPattern,
    /// Another argument makes no sense.
    InvalidArgument,
    /// A FIFO, socket or device.
    SpecialFile,
    /// Somebody else changed what the call relied on.
    Conflict,
    /// Another process holds the workspace.
    Locked,
    /// This backend or machine cannot do it.
    Unsupported,
    /// The backend is gone.
    Unavailable,
    /// The disk, its inodes or a quota are used up.
    NoSpace,
    /// The deadline passed.
    Deadline,
    /// The caller gave up.
    Cancelled,
    /// Stored data is not what it was.
    Corrupt,
    /// Any other failure of the system.
    Io,
}

/// One row of the table of kinds.
struct Row {
    code: &'static str,
    exit_code: u8,
    http_status: u16,
    sentence: &'static str,
}

const fn row(code: &'static str, exit_code: u8, http_status: u16, sentence: &'static str) -> Row {
    Row { code, exit_code, http_status, sentence }
}

impl ErrorKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: &[Self] = &[
        Self::NotFound,
        Self::AlreadyExists,
        Self::IsADirectory,
        Self::NotADirectory,
        Self::NotEmpty,
        Self::PermissionDenied,
        Self::ReadOnly,
        Self::NotText,
        Self::TooLarge,
        Self::InvalidPath,
        Self::InvalidPattern,
        Self::InvalidArgument,
        Self::SpecialFile,
        Self::Conflict,
        Self::Locked,
        Self::Unsupported,
        Self::Unavailable,
        Self::NoSpace,
        Self::Deadline,
        Self::Cancelled,
        Self::Corrupt,
        Self::Io,
    ];

    const fn row(self) -> Row {
        match self {
            Self::NotFound => {
                row("not_found", 1, 404, "nothing is there; list its parent to see what is")
            }
            Self::AlreadyExists => row(
                "already_exists",
                1,
                409,
                "it exists already; choose another name, or overwrite on purpose",
            ),
            Self::IsADirectory => row("is_a_directory", 1, 409, "it is a directory; name a file"),
            Self::NotADirectory => row(
                "not_a_directory",
                1,
                409,
                "a part of the path is not a directory; choose another path",
            ),
            Self::NotEmpty => row(
                "not_empty",
                1,
                409,
                "the directory has entries; delete it recursively to remove them too",
            ),
            Self::PermissionDenied => {
                row("permission_denied", 1, 403, "access is denied; use another path")
            }
            Self::ReadOnly => {
                row("read_only", 1, 403, "the workspace is read-only; nothing in it can be changed")
            }
            Self::NotText => {
                row("not_text", 1, 415, "it is not UTF-8 text; read it with read_bytes")
            }
            Self::TooLarge => {
                row("too_large", 16, 413, "a limit would be passed; do it in smaller parts")
            }
            Self::InvalidPath => row("invalid_path", 2, 400, "it is not a valid path; correct it"),
            Self::InvalidPattern => {
                row("invalid_pattern", 2, 400, "it is not a valid pattern; correct it")
            }
            Self::InvalidArgument => {
                row("invalid_argument", 2, 400, "an argument is not valid; correct it")
            }
            Self::SpecialFile => row(
                "special_file",
                1,
                422,
                "it is a FIFO, socket or device, which can only be listed, renamed or deleted",
            ),
            Self::Conflict => row(
                "conflict",
                13,
                409,
                "it changed meanwhile; read it again and redo the change on what is there now",
            ),
            Self::Locked => row(
                "locked",
                11,
                423,
                "another process works in this workspace; try again in a moment",
            ),
            Self::Unsupported => row("unsupported", 1, 501, "this workspace cannot do it"),
            Self::Unavailable => row(
                "unavailable",
                15,
                503,
                "the workspace's backend is gone; open the workspace again",
            ),
            Self::NoSpace => row(
                "no_space",
                16,
                507,
                "there is no space, or no inode, left; free some and try again",
            ),
            Self::Deadline => row(
                "deadline",
                16,
                504,
                "the time allowed was used up; try a smaller step or a longer deadline",
            ),
            Self::Cancelled => {
                row("cancelled", 130, 499, "the call was cancelled; nothing was changed")
            }
            Self::Corrupt => row("corrupt", 14, 500, "stored data is damaged; verify the store"),
            Self::Io => row("io", 1, 500, "the system reported a failure; try again"),
        }
    }

    /// Returns the stable code that tools and JSON show.
    pub const fn code(self) -> &'static str {
        self.row().code
    }

    /// Returns the exit code of a command that fails with this kind.
    pub const fn exit_code(self) -> u8 {
        self.row().exit_code
    }

    /// Returns the HTTP status of a response that fails with this kind.
    pub const fn http_status(self) -> u16 {
        self.row().http_status
    }

    /// Returns the sentence that tells a reader what it means and what to do next.
    pub const fn sentence(self) -> &'static str {
        self.row().sentence
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

//! What can go wrong, and how each door words it.

use std::fmt;

/// One row of the table of kinds.
struct Row {
    code: &'static str,
    exit_code: u8,
    http_status: u16,
    sentence: &'static str,
}

/// Makes the enum, the list of all kinds and the table of one list.
macro_rules! kinds {
    ($(#[$about:meta])* {
        $($(#[$doc:meta])* $kind:ident: $code:literal, $exit:literal, $http:literal, $sentence:literal;)*
    }) => {
        $(#[$about])*
        pub enum ErrorKind {
            $($(#[$doc])* $kind,)*
        }

        impl ErrorKind {
            /// Every kind, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            const fn row(self) -> Row {
                match self {
                    $(Self::$kind => Row {
                        code: $code,
                        exit_code: $exit,
                        http_status: $http,
                        sentence: $sentence,
                    },)*
                }
            }
        }
    };
}

kinds! {
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
    {
        /// Nothing is there.
        NotFound: "not_found", 1, 404, "nothing is there; list its parent to see what is";
        /// Something is there already.
        AlreadyExists: "already_exists", 1, 409, "it exists already; choose another name, or overwrite on purpose";
        /// A file was needed and a directory is there.
        IsADirectory: "is_a_directory", 1, 409, "it is a directory; name a file";
        /// A directory was needed and something else is there.
        NotADirectory: "not_a_directory", 1, 409, "a part of the path is not a directory; choose another path";
        /// The directory has entries.
        NotEmpty: "not_empty", 1, 409, "the directory has entries; delete it recursively to remove them too";
        /// The path leaves the workspace, passes through a link, or the system refuses.
        PermissionDenied: "permission_denied", 1, 403, "access is denied; use another path";
        /// The workspace, or the disk below it, takes no writes.
        ReadOnly: "read_only", 1, 403, "the workspace is read-only; nothing in it can be changed";
        /// The bytes are not UTF-8 text.
        NotText: "not_text", 1, 415, "it is not UTF-8 text; read it with read_bytes";
        /// A limit would be passed.
        TooLarge: "too_large", 16, 413, "a limit would be passed; do it in smaller parts";
        /// The path cannot name anything.
        InvalidPath: "invalid_path", 2, 400, "it is not a valid path; correct it";
        /// The glob or regular expression does not parse.
        InvalidPattern: "invalid_pattern", 2, 400, "it is not a valid pattern; correct it";
        /// Another argument makes no sense.
        InvalidArgument: "invalid_argument", 2, 400, "an argument is not valid; correct it";
        /// A FIFO, socket or device.
        SpecialFile: "special_file", 1, 422, "it is a FIFO, socket or device, which can only be listed, renamed or deleted";
        /// Another writer changed what the call relied on.
        Conflict: "conflict", 13, 409, "it changed meanwhile; read it again and redo the change on what is there now";
        /// Another process holds the workspace.
        Locked: "locked", 11, 423, "another process works in this workspace; try again in a moment";
        /// This backend or machine cannot do it.
        Unsupported: "unsupported", 1, 501, "this workspace cannot do it";
        /// The backend is gone.
        Unavailable: "unavailable", 15, 503, "the workspace's backend is gone; open the workspace again";
        /// The disk, its inodes or a quota are used up.
        NoSpace: "no_space", 16, 507, "there is no space, or no inode, left; free some and try again";
        /// The deadline passed.
        Deadline: "deadline", 16, 504, "the time allowed was used up; try a smaller step or a longer deadline";
        /// The caller gave up.
        Cancelled: "cancelled", 130, 499, "the call was cancelled; nothing was changed";
        /// Stored data is not what it was.
        Corrupt: "corrupt", 14, 500, "stored data is damaged; verify the store";
        /// No snapshot has this id or tag.
        SnapshotNotFound: "snapshot_not_found", 12, 404, "there is no such snapshot; list the snapshots to see which there are";
        /// What was stored has a format that is not known.
        SnapshotIncompatible: "snapshot_incompatible", 14, 409, "it was stored in a format that is not known; use the version that wrote it";
        /// Any other failure of the system.
        Io: "io", 1, 500, "the system reported a failure; try again";
    }
}

impl ErrorKind {
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

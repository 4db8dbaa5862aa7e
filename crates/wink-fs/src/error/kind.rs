//! The kinds of errors, with the code and the sentence of each.

use std::fmt;

/// One row of the table of kinds.
struct Row {
    code: &'static str,
    sentence: &'static str,
}

/// Makes the enum, the list of all kinds and the table of one list.
macro_rules! kinds {
    ($(#[$about:meta])* {
        $($(#[$doc:meta])* $kind:ident: $code:literal, $sentence:literal;)*
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
                        sentence: $sentence,
                    },)*
                }
            }
        }
    };
}

kinds! {
    /// The kind of an [`Error`](crate::Error), which callers map to an exit code or HTTP status.
    ///
    /// Every backend gives the same kind for the same input. `docs/errors.md` lists them, with the exit codes and HTTP
    /// statuses of the `wink` binary.
    ///
    /// ```
    /// use wink_fs::ErrorKind;
    ///
    /// assert_eq!(ErrorKind::NotFound.code(), "not_found");
    /// assert!(ErrorKind::NotFound.sentence().starts_with("nothing is there"));
    /// ```
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    #[non_exhaustive]
    {
        /// Nothing is there.
        NotFound: "not_found", "nothing is there; list its parent to see what is";
        /// Something is there already.
        AlreadyExists: "already_exists", "it exists already; choose another name, or overwrite on purpose";
        /// A file was needed and a directory is there.
        IsADirectory: "is_a_directory", "it is a directory; name a file";
        /// A directory was needed and something else is there.
        NotADirectory: "not_a_directory", "a part of the path is not a directory; choose another path";
        /// The directory has entries.
        NotEmpty: "not_empty", "the directory has entries; delete it recursively to remove them too";
        /// The path leaves the workspace, passes through a link, or the system refuses.
        PermissionDenied: "permission_denied", "access is denied; use another path";
        /// The workspace, or the disk below it, takes no writes.
        ReadOnly: "read_only", "the workspace is read-only; nothing in it can be changed";
        /// The bytes are not UTF-8 text.
        NotText: "not_text", "it is not UTF-8 text; read it with read_bytes";
        /// A limit would be passed.
        TooLarge: "too_large", "a limit would be passed; do it in smaller parts";
        /// The path cannot name anything.
        InvalidPath: "invalid_path", "it is not a valid path; correct it";
        /// The glob or regular expression does not parse.
        InvalidPattern: "invalid_pattern", "it is not a valid pattern; correct it";
        /// Another argument makes no sense.
        InvalidArgument: "invalid_argument", "an argument is not valid; correct it";
        /// A FIFO, socket or device.
        SpecialFile: "special_file", "it is a FIFO, socket or device, which can only be listed, renamed or deleted";
        /// Another writer changed what the call relied on.
        Conflict: "conflict", "it changed meanwhile; read it again and redo the change on what is there now";
        /// Another process holds the workspace.
        Locked: "locked", "another process works in this workspace; try again in a moment";
        /// This backend or machine cannot do it.
        Unsupported: "unsupported", "this workspace cannot do it";
        /// The backend is gone.
        Unavailable: "unavailable", "the workspace's backend is gone; open the workspace again";
        /// The disk, its inodes or a quota are used up.
        NoSpace: "no_space", "there is no space, or no inode, left; free some and try again";
        /// The deadline passed.
        Deadline: "deadline", "the time allowed was used up; try a smaller step or a longer deadline";
        /// The caller gave up.
        Cancelled: "cancelled", "the call was cancelled; nothing was changed";
        /// Stored data is not what it was.
        Corrupt: "corrupt", "stored data is damaged; verify the store";
        /// No snapshot has this id or tag.
        SnapshotNotFound: "snapshot_not_found", "there is no such snapshot; list the snapshots to see which there are";
        /// What was stored has a format that is not known.
        SnapshotIncompatible: "snapshot_incompatible", "it was stored in a format that is not known; use the version that wrote it";
        /// Any other failure of the system.
        Io: "io", "the system reported a failure; try again";
    }
}

impl ErrorKind {
    /// Returns the stable code that tools and JSON show.
    pub const fn code(self) -> &'static str {
        self.row().code
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

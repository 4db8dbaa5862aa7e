//! The exit codes, and the exit code and HTTP status of each kind of error.

use wink_fs::ErrorKind;

/// The exit code for a failure without a code of its own.
pub(super) const FAILED: u8 = 1;

/// The exit code for wrong arguments.
pub(super) const USAGE: u8 = 2;

/// The exit code if only a part was done.
pub(crate) const PARTIAL: u8 = 3;

/// The exit code if no history is found.
pub(super) const NO_STORE: u8 = 10;

/// The exit code if another process holds the lock.
const LOCKED: u8 = 11;

/// The exit code for an unknown or ambiguous state.
pub(super) const NO_REF: u8 = 12;

/// The exit code for conflicts.
const CONFLICT: u8 = 13;

/// The exit code for a damaged or incompatible history.
const DAMAGED: u8 = 14;

/// The exit code if a service is unavailable.
const UNAVAILABLE: u8 = 15;

/// The exit code if space, time or a limit is exceeded.
const LIMIT: u8 = 16;

/// The exit code of an interrupted command, which shells expect: 128 and the number of SIGINT.
const INTERRUPTED: u8 = 130;

/// What a process that fails with an error of this kind ends with, and the status of a response that fails with it.
///
/// `docs/errors.md` is this table with the codes and sentences of the library.
const TABLE: &[(ErrorKind, u8, u16)] = &[
    (ErrorKind::NotFound, FAILED, 404),
    (ErrorKind::AlreadyExists, FAILED, 409),
    (ErrorKind::IsADirectory, FAILED, 409),
    (ErrorKind::NotADirectory, FAILED, 409),
    (ErrorKind::NotEmpty, FAILED, 409),
    (ErrorKind::PermissionDenied, FAILED, 403),
    (ErrorKind::ReadOnly, FAILED, 403),
    (ErrorKind::NotText, FAILED, 415),
    (ErrorKind::TooLarge, LIMIT, 413),
    (ErrorKind::InvalidPath, USAGE, 400),
    (ErrorKind::InvalidPattern, USAGE, 400),
    (ErrorKind::InvalidArgument, USAGE, 400),
    (ErrorKind::SpecialFile, FAILED, 422),
    (ErrorKind::Conflict, CONFLICT, 409),
    (ErrorKind::Locked, LOCKED, 423),
    (ErrorKind::Unsupported, FAILED, 501),
    (ErrorKind::Unavailable, UNAVAILABLE, 503),
    (ErrorKind::NoSpace, LIMIT, 507),
    (ErrorKind::Deadline, LIMIT, 504),
    (ErrorKind::Cancelled, INTERRUPTED, 499),
    (ErrorKind::Corrupt, DAMAGED, 500),
    (ErrorKind::SnapshotNotFound, NO_REF, 404),
    (ErrorKind::SnapshotIncompatible, DAMAGED, 409),
    (ErrorKind::Io, FAILED, 500),
];

/// Returns the exit code of a command that fails with this kind.
pub(crate) fn exit_code(kind: ErrorKind) -> u8 {
    row(kind).1
}

/// Returns the HTTP status of a response that fails with this kind.
pub(crate) fn http_status(kind: ErrorKind) -> u16 {
    row(kind).2
}

fn row(kind: ErrorKind) -> (ErrorKind, u8, u16) {
    // `ErrorKind` is non-exhaustive: a kind that the table lacks fails like any other failure of the system.
    TABLE.iter().copied().find(|row| row.0 == kind).unwrap_or((kind, FAILED, 500))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_one_row_for_each_kind() {
        let kinds: Vec<_> = TABLE.iter().map(|row| row.0).collect();
        assert_eq!(kinds, ErrorKind::ALL);
        let page = include_str!("../../../../docs/errors.md");
        let found: Vec<_> = page.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
        let expected: Vec<_> = ErrorKind::ALL.iter().copied().map(page_row).collect();
        assert_eq!(found, expected, "docs/errors.md should be:\n{}", expected.join("\n"));
    }

    fn page_row(kind: ErrorKind) -> String {
        let (exit, status) = (exit_code(kind), http_status(kind));
        assert!(exit != 0 && (400..600).contains(&status), "{kind}");
        format!("| {kind:?} | `{}` | {exit} | {status} | {} |", kind.code(), kind.sentence())
    }
}

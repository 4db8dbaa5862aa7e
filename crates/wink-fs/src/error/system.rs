//! From the system's failures to kinds: one place, for every backend.

use std::io;

use super::ErrorKind;
use super::worded::Worded;

/// Returns the kind of a system failure and, where the kind's own sentence is too general, a better one.
pub(super) fn classify(error: &io::Error) -> (ErrorKind, Option<String>) {
    let (kind, sentence) = classify_kind(error);
    let worded = error.get_ref().and_then(|inner| inner.downcast_ref::<Worded>());
    (kind, worded.map(Worded::to_string).or(sentence.map(String::from)))
}

fn classify_kind(error: &io::Error) -> (ErrorKind, Option<&'static str>) {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        io::ErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
        io::ErrorKind::IsADirectory => ErrorKind::IsADirectory,
        io::ErrorKind::NotADirectory => ErrorKind::NotADirectory,
        io::ErrorKind::DirectoryNotEmpty => ErrorKind::NotEmpty,
        io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
        io::ErrorKind::ReadOnlyFilesystem => ErrorKind::ReadOnly,
        io::ErrorKind::InvalidFilename => ErrorKind::InvalidPath,
        io::ErrorKind::InvalidInput => ErrorKind::InvalidArgument,
        io::ErrorKind::InvalidData => ErrorKind::Corrupt,
        io::ErrorKind::StorageFull | io::ErrorKind::FileTooLarge => ErrorKind::NoSpace,
        io::ErrorKind::QuotaExceeded => return (ErrorKind::NoSpace, Some(QUOTA)),
        io::ErrorKind::CrossesDevices | io::ErrorKind::ResourceBusy => {
            return (ErrorKind::PermissionDenied, Some(OTHER_MOUNT));
        }
        io::ErrorKind::Unsupported => ErrorKind::Unsupported,
        io::ErrorKind::StaleNetworkFileHandle => ErrorKind::Conflict,
        _ => ErrorKind::Io,
    };
    (kind, None)
}

const QUOTA: &str = "the disk quota is used up; free some space and try again";

/// The kernel answers both in the same way.
const OTHER_MOUNT: &str = "another file system is mounted there, or it was moved out of the workspace \
                           meanwhile; use another path";

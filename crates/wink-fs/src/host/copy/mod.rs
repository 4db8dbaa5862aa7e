//! Copies of files and directories, for where a rename or a hard link cannot be.

pub(crate) mod links;
pub(crate) mod snapshot_files;
pub(crate) mod transfer;

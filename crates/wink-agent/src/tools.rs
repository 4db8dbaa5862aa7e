//! The tools, one file each.

pub(crate) mod export;
pub(crate) mod glob;
pub(crate) mod grep;
pub(crate) mod import;
pub(crate) mod ls;
pub(crate) mod read_file;
pub(crate) mod write_file;

//! The tools, one file each.

pub(crate) mod apply_patch;
pub(crate) mod edit_file;
pub(crate) mod export;
pub(crate) mod glob;
pub(crate) mod grep;
pub(crate) mod import;
pub(crate) mod ls;
pub(crate) mod mkdir;
pub(crate) mod multi_edit;
pub(crate) mod mv;
pub(crate) mod read_file;
pub(crate) mod rm;
pub(crate) mod write_file;

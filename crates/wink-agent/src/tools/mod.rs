//! The tools, one file each.

pub(crate) mod apply_patch;
pub(crate) mod diff;
pub(crate) mod edit_file;
pub(crate) mod evaluate_python;
pub(crate) mod export;
pub(crate) mod fork;
pub(crate) mod glob;
pub(crate) mod grep;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod ls;
pub(crate) mod merge;
pub(crate) mod mkdir;
pub(crate) mod multi_edit;
pub(crate) mod mv;
pub(crate) mod read_file;
pub(crate) mod restore;
pub(crate) mod revert;
pub(crate) mod rm;
pub(crate) mod shell_execute;
pub(crate) mod snapshot;
pub(crate) mod undo;
pub(crate) mod write_file;

/// The default directory of path parameters.
fn root() -> String {
    ".".to_owned()
}

//! Packs: the new objects of a snapshot in one immutable file.

mod layout;
mod read;
mod write;

pub(crate) use layout::ObjectRow;
pub(crate) use read::Pack;
pub(crate) use write::{BLOCK_BYTES, FinishedPack, LOOKUP_BLOCK_BYTES, PackWriter};

/// The directory of packs.
pub(crate) const DIRECTORY: &str = "packs";

const SUFFIX: &str = ".pack";

/// Returns the id of a pack from its file name; `None` if it is not one.
pub(crate) fn id_of(file_name: &str) -> Option<&str> {
    file_name.strip_suffix(SUFFIX)
}

/// Returns the path of a pack.
pub(crate) fn place(id: &str) -> String {
    format!("{DIRECTORY}/{}", file_name(id))
}

/// Returns the file name of a pack.
fn file_name(id: &str) -> String {
    format!("{id}{SUFFIX}")
}

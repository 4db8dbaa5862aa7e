//! Packs: the new objects of one capture in one immutable file.

mod layout;
mod read;
mod write;

pub(crate) use layout::ObjectRow;
pub(crate) use read::Pack;
pub(crate) use write::{BLOCK_BYTES, FinishedPack, LOOKUP_BLOCK_BYTES, PackWriter};

/// The directory that packs are in.
pub(crate) const DIRECTORY: &str = "packs";

const SUFFIX: &str = ".pack";

/// Returns the id of a pack by the name of its file; `None` where that names no pack.
pub(crate) fn id_of(file_name: &str) -> Option<&str> {
    file_name.strip_suffix(SUFFIX)
}

/// Returns where the file of a pack is.
pub(crate) fn place(id: &str) -> String {
    format!("{DIRECTORY}/{}", file_name(id))
}

/// Returns the name of a pack's file in its directory.
fn file_name(id: &str) -> String {
    format!("{id}{SUFFIX}")
}

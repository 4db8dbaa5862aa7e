//! Objects: contents and directories by their hash, many of them in one pack.
//!
//! `index` finds an object, `chunker` splits large files, `pack/` reads and writes packs, and `manifest` lists the
//! packs that must exist.

pub(crate) mod cache;
pub(crate) mod chunked_file;
pub(crate) mod chunker;
pub(crate) mod index;
pub(crate) mod interval_set;
pub(crate) mod manifest;
pub(crate) mod object;
pub(crate) mod pack;
pub(crate) mod part_list;

/// Takes bytes from the front; `None` if too few are left.
pub(crate) fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (front, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*front)
}

//! The objects of a store: contents and directories by their hash, many of them in one pack.
//!
//! `index` finds an object, `chunker` cuts large files, `pack/` reads and writes packs, and `manifest` lists the
//! packs that must be there.

pub(crate) mod bytes;
pub(crate) mod cache;
pub(crate) mod chunked_file;
pub(crate) mod chunker;
pub(crate) mod index;
pub(crate) mod interval_set;
pub(crate) mod manifest;
pub(crate) mod object;
pub(crate) mod pack;

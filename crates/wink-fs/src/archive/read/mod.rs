//! Reads an archive as a tree.
//!
//! Nothing is trusted before it is checked. The end leads to the directory (`end`, `central`), every entry's own header
//! must agree with it and entries must be adjacent (`layout`), names must form a tree (`index`), and the manifest must
//! have the right counts. Content is unpacked on demand (`unpack`) and checked.

mod ambient;
mod central;
mod end;
mod index;
mod layout;
mod section;
mod tree;
mod unpack;

pub use self::tree::ArchiveTree;

//! From an archive to a tree.
//!
//! Nothing is believed before it was checked. The end leads to the directory of entries (`end`,
//! `central`), every entry's own header must agree with it and the entries must lie side by side
//! (`layout`), their names must make a tree (`index`), and the manifest must know its size. Content is
//! unpacked where it is asked for (`unpack`), and only if it is what it is said to be.

mod ambient;
mod central;
mod end;
mod index;
mod layout;
mod section;
mod tree;
mod unpack;

pub use self::tree::ArchiveTree;

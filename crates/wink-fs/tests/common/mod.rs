//! What several parts share.

pub(crate) mod again;
pub(crate) mod disk;
pub(crate) mod on_both;
pub(crate) mod short;
pub(crate) mod size;
pub(crate) mod trees;

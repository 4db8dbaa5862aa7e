//! What a file in memory holds.

use std::sync::Arc;

use bytes::Bytes;

use crate::error::Result;
use crate::path::TreePath;
use crate::tree::Tree;
use crate::tree::content::Content;

/// Bytes, or a file of another tree that never changes, which is read when it is opened.
#[derive(Clone)]
pub(super) enum Body {
    Here(Bytes),
    There(Arc<There>),
}

/// A file of another tree.
pub(super) struct There {
    pub(super) tree: Arc<dyn Tree>,
    pub(super) path: TreePath,
    pub(super) len: u64,
}

impl Body {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Here(bytes) => bytes.len() as u64,
            Self::There(file) => file.len,
        }
    }

    pub(super) fn open(&self) -> Result<Content> {
        match self {
            Self::Here(bytes) => Ok(Content::from(bytes.clone())),
            Self::There(file) => file.tree.open(&file.path),
        }
    }
}

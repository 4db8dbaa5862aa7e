//! Locks that outlive a panic, numbers in sentences, base64.

pub(crate) mod encoding;
pub(crate) mod lock;
pub(crate) mod words;

//! Pre-images: what operations displaced, kept until the operation is forgotten.
//!
//! `write` keeps them, `read` finds them, `fingerprint` tells whether a directory is still the same, and `tamper`
//! whether a program wrote into a pre-image.

pub(crate) mod fingerprint;
pub(crate) mod read;
pub(crate) mod tamper;
pub(crate) mod write;

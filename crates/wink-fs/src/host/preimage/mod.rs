//! What a call displaced, kept until its operation is forgotten: the files as they were before.
//!
//! `write` keeps them, `read` finds them again, `fingerprint` says whether a directory is the one that was kept, and
//! `tamper` whether a program wrote into what was kept.

pub(crate) mod fingerprint;
pub(crate) mod read;
pub(crate) mod tamper;
pub(crate) mod write;

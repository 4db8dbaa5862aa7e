//! What is needed to test a backend, and to test with one; behind the feature `testkit`.
//!
//! - [`conformance_suite!`](crate::conformance_suite) makes a test of each sentence of the contract.
//! - [`Fault`] makes a backend fail or die at the n-th call.
//! - [`MockFilesystem`] records what was called.
//! - [`dump`] shows a whole tree, to be compared with another.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a case fails by panicking, and says where"
)]

pub mod conformance;
mod dump;
mod fault;
mod recorder;

pub use dump::dump;
pub use fault::Fault;
pub use recorder::{MockFilesystem, Recorded, Recorder};

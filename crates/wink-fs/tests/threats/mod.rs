//! Attacks by a model's output or by files in the workspace, numbered as in the threat model.
//!
//! `scripts/check-threats` makes sure that each number of `tests/threats.txt` has a test on the
//! memory and on the host backend.

mod both;
mod operations;
mod planted;

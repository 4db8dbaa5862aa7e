//! Another process saves files in the directory of a workspace while the workspace makes calls.
//!
//! A save that the kernel acknowledged is never lost: unless the saver itself replaced or deleted it, its bytes
//! are in a file below the root, among what the store keeps for operations, or in a snapshot. And whatever the
//! saver did, the workspace goes on: it writes, takes and restores snapshots, and its store is whole.
//!
//! How many saves are made depends on the machine: some 70,000 in the ordinary run on two cores. With `WINK_LONG_TESTS`
//! there are ten times as many rounds, each of them longer.

mod failing_calls;
mod harness;
mod history_calls;
mod mark;
mod moving_calls;
mod race;
mod removing_calls;
mod saver;
mod scene;
mod store_elsewhere;
mod writing_calls;

//! Forks, merges and reverts: what one side changed is brought in or taken out, and nothing else.

mod conflicts;
mod fork;
mod generated;
mod git;
mod revert;
mod scene;

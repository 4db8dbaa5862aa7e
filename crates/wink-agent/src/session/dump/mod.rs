//! Sessions in files: one line of JSON a session. The format is in `docs/session-format.md`.

#![allow(
    clippy::disallowed_methods,
    reason = "a dump is a file of the program's own, by the ambient authority of the process"
)]

mod assemble;
mod fields;
mod line;
mod read;
mod states;
mod write;

pub(crate) use self::read::open_dump;
pub use self::read::{LoadOptions, load_session_tree, load_session_tree_with, read_session_tree};
pub(crate) use self::states::{States, read_states, write_states};
pub(crate) use self::write::{directory_of, dump_even_empty};
pub use self::write::{dump_session_tree, write_session_tree};

pub(super) use self::line::Kept;

/// What a line says that it is.
const FORMAT: &str = "wink session";

/// The version of the lines that are written, and the only one that is read.
const VERSION: u64 = 1;

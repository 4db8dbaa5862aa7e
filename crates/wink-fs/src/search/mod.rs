//! Finding files by name and lines by content, over any [`Tree`](crate::Tree).
//!
//! One implementation, on ripgrep's libraries, for current files, archives and any other tree.
//! Files are looked at in parallel; results come in order and are the same on every backend.
//!
//! ```
//! use wink_fs::search::GrepOptions;
//! use wink_fs::Workspace;
//!
//! let files = Workspace::memory();
//! files.write("src/main.rs", "fn main() {\n    run()\n}\n")?;
//! files.write("src/lib.rs", "pub fn one() -> u8 { 1 }\n")?;
//!
//! let found = files.glob("**/*.rs", "")?;
//! assert_eq!(found.paths.len(), 2);
//!
//! let found = files.grep(r"run\(\)", "", &GrepOptions::default())?;
//! assert_eq!(found.matches[0].path.to_string(), "src/main.rs");
//! assert_eq!((found.matches[0].line_number, found.matches[0].match_start), (2, 4));
//! # Ok::<(), wink_fs::Error>(())
//! ```
//!
//! # Patterns for paths
//!
//! `*` and `?` stay within a segment, `**` crosses segments, `[a-z]`, `[!a]` and `[[:alpha:]]` (ASCII) are sets of
//! characters, `{a,b}` are alternatives, and `\\` makes the next character literal. A path that reads like the pattern
//! matches too: `app/[id].tsx` finds that file. Empty patterns and those with `..` are errors. A pattern without `/` matches the name of a file at any depth; with `/` it is
//! relative to the base. Dotfiles are files like all others. A name that is not text is matched in its
//! escaped form, as listings show it.

mod collector;
mod file;
mod glob;
mod grep;
mod ignored;
mod later;
mod line;
mod long_line;
mod pattern;
mod states;
mod stop;
mod walk;

pub use glob::{GlobOptions, GlobResult, glob};
pub use grep::{Case, GrepMode, GrepOptions, GrepResult, MatchedFile, grep};
pub use line::GrepMatch;
pub use pattern::PathPattern;
pub(crate) use states::grep_states;
pub use states::{StateMatch, StatesResult};
pub use stop::Stop;
pub use walk::Skipped;

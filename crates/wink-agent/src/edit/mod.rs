//! The edits behind the tools: bytes in, bytes or a typed error out.
//!
//! An edit changes the bytes it matches and no others. Three rules say what that means for lines:
//!
//! - **Matching.** `read_file` shows every line ending as `\n`, so a `\n` in the text to be replaced
//!   matches `\n` and `\r\n` alike, and a `\r` one that is no part of a line ending. A text with a `\r`
//!   that is not there in this way is compared byte for byte.
//! - **Inserting.** What the old and the new text have in common at their beginning and at their end
//!   keeps the bytes of the file. Each `\n` of what lies between becomes the ending of the line on
//!   which the change begins; if that line has none, because the file ends there, the ending of the
//!   line before it, and `\n` if there is no other line. If the old text was compared byte for byte,
//!   or only the new one has a `\r\n`, the new one is inserted byte for byte instead.
//! - **Several matches.** With `replace_all` they are taken from the beginning, each after the end of
//!   the one before. Without, two that overlap are two.

mod edits;
mod ending;
mod error;
mod fold;
mod line_feeds;
mod lines;
mod nearest;
mod overlaps;
pub(crate) mod patch;
#[cfg(test)]
mod properties;
pub(crate) mod rewrite;
mod search;
mod snippet;
mod splice;

pub(crate) use edits::{Edit, apply, apply_all};
pub(crate) use error::{EditError, NumberedError};
pub(crate) use snippet::answer;
pub(crate) use splice::Edited;

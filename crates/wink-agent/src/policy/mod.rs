//! What a session may do to files.

pub(crate) mod expected_hash;
mod ruled;
mod rules;
mod seen;

pub(crate) use self::ruled::{RuledFilesystem, RuledTree};
pub use self::rules::PathRules;
pub use self::seen::SeenContents;

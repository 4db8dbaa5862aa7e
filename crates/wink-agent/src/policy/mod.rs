//! What a session may see, change and overwrite.

pub(crate) mod expected_hash;
mod ruled;
mod rules;
mod seen;

pub(crate) use self::ruled::{RuledFilesystem, RuledTree};
pub use self::rules::PathRules;
pub use self::seen::SeenContents;

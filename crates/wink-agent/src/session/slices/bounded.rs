//! Text that is kept up to a bound.

use serde::{Deserialize, Serialize};

/// The beginning of a text, and the length of the whole.
///
/// ```
/// use wink_agent::session::BoundedText;
///
/// let text = BoundedText::new("grün", 3);
/// assert_eq!((text.text.as_str(), text.full_bytes, text.is_cut()), ("gr", 5, true));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BoundedText {
    /// The text, or the part of it that is kept.
    pub text: String,
    /// The bytes of the whole text.
    pub full_bytes: u64,
}

impl BoundedText {
    /// Keeps at most so many bytes of a text, and no part of a character.
    pub fn new(text: &str, max_bytes: usize) -> Self {
        let kept = &text[..text.floor_char_boundary(max_bytes)];
        Self { text: kept.to_owned(), full_bytes: text.len() as u64 }
    }

    /// Returns whether a part is missing.
    pub fn is_cut(&self) -> bool {
        self.full_bytes > self.text.len() as u64
    }
}

//! What a slice of a session is made of.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Names the slice whose items a type is.
///
/// A session has at most one slice of each name, and dumps find their way back to the type by it, so a
/// name stays the same for ever.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use wink_agent::session::{Slice, SliceKind};
///
/// #[derive(Debug, Serialize, Deserialize)]
/// struct Fact {
///     text: String,
/// }
///
/// impl Slice for Fact {
///     const NAME: &'static str = "fact";
/// }
/// assert_eq!(Fact::KIND, SliceKind::State);
/// ```
pub trait Slice: Serialize + DeserializeOwned + Debug + Send + Sync + 'static {
    /// The name that no other type has.
    const NAME: &'static str;
    /// Whether the slice goes back with a rollback.
    const KIND: SliceKind = SliceKind::State;
}

/// What a rollback does to a slice.
///
/// ```
/// assert_eq!(wink_agent::session::SliceKind::default(), wink_agent::session::SliceKind::State);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SliceKind {
    /// What the session knows now: it goes back.
    #[default]
    State,
    /// What happened: it is kept.
    Log,
}

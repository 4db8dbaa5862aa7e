//! What a reducer sees.

use std::sync::Arc;

use super::Slices;
use super::items::Items;
use super::slice::Slice;
use crate::session::error::SessionError;
use crate::session::id::SessionId;

/// Shows a reducer the session as it is before the reducer's change.
///
/// ```
/// use wink_agent::session::{Items, Session, View};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Debug, Serialize, Deserialize)]
/// # struct Total(u64);
/// # impl wink_agent::session::Slice for Total { const NAME: &'static str = "total"; }
///
/// struct Spent(u64);
///
/// let session = Session::new();
/// session.register(|view: &View<'_, Total>, event: &std::sync::Arc<Spent>| {
///     let so_far = view.latest().map_or(0, |total| total.0);
///     Items::of([Total(so_far + event.0)])
/// })?;
/// session.dispatch(Spent(2))?;
/// session.dispatch(Spent(3))?;
/// assert_eq!(session.query::<Total>()?.latest().unwrap().0, 5);
/// # Ok::<(), wink_agent::session::SessionError>(())
/// ```
#[derive(Debug)]
pub struct View<'a, S> {
    items: &'a Items<S>,
    slices: &'a Slices,
    session_id: SessionId,
}

impl<'a, S: Slice> View<'a, S> {
    pub(in crate::session) fn new(
        items: &'a Items<S>,
        slices: &'a Slices,
        session_id: SessionId,
    ) -> Self {
        Self { items, slices, session_id }
    }

    /// Returns the items of the reducer's own slice.
    pub fn items(&self) -> &'a Items<S> {
        self.items
    }

    /// Returns the newest item of the reducer's own slice.
    pub fn latest(&self) -> Option<Arc<S>> {
        self.items.latest()
    }

    /// Returns the items of any slice; those of reducers that ran before for this event are new already.
    pub fn query<T: Slice>(&self) -> Result<Items<T>, SessionError> {
        self.slices.items()
    }

    /// Returns the id of the session.
    pub fn session_id(&self) -> SessionId {
        self.session_id
    }
}

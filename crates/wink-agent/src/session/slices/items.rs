//! The items of one slice, which never change.

use std::sync::Arc;

use imbl::Vector;
use serde::{Serialize, Serializer};

/// The items of a slice at one moment, oldest first.
///
/// A clone costs nothing to speak of, and a change gives a new value that shares with the old one all
/// that is the same. So a caller that has asked a session for its items keeps them as they were.
///
/// ```
/// use wink_agent::session::Items;
///
/// let one: Items<u32> = Items::of([1]);
/// let two = one.clone().with(2);
/// assert_eq!((one.len(), two.len()), (1, 2));
/// assert_eq!(two.latest().as_deref(), Some(&2));
/// assert_eq!(two.filter(|item| *item < 2).len(), 1);
/// assert_eq!(two.all().map(|item| **item).collect::<Vec<_>>(), [1, 2]);
/// ```
#[derive(Debug)]
pub struct Items<S>(Vector<Arc<S>>);

impl<S> Items<S> {
    /// Takes items, oldest first.
    pub fn of(items: impl IntoIterator<Item = S>) -> Self {
        items.into_iter().map(Arc::new).collect()
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the newest one.
    pub fn latest(&self) -> Option<Arc<S>> {
        self.0.last().cloned()
    }

    /// Returns the one at a place, counted from the oldest.
    pub fn get(&self, place: usize) -> Option<&Arc<S>> {
        self.0.get(place)
    }

    /// Returns all of them, oldest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Arc<S>> + ExactSizeIterator {
        self.0.iter()
    }

    /// Returns those that are wanted, oldest first.
    pub fn filter(&self, mut wanted: impl FnMut(&S) -> bool) -> Vec<Arc<S>> {
        self.0.iter().filter(|item| wanted(item)).cloned().collect()
    }

    /// Adds an item as the newest one, in a time that does not depend on how many there are.
    #[must_use]
    pub fn with(mut self, item: impl Into<Arc<S>>) -> Self {
        self.0.push_back(item.into());
        self
    }

    /// Replaces the item at an index; out of bounds, nothing changes.
    #[must_use]
    pub fn with_at(mut self, place: usize, item: impl Into<Arc<S>>) -> Self {
        if place < self.0.len() {
            self.0.set(place, item.into());
        }
        self
    }

    /// Removes the item at an index; out of bounds, nothing changes.
    #[must_use]
    pub fn without(mut self, place: usize) -> Self {
        if place < self.0.len() {
            self.0.remove(place);
        }
        self
    }

    /// Tells in no time whether both are surely the same; equal ones may still be told apart.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

impl<S> Clone for Items<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S> Default for Items<S> {
    fn default() -> Self {
        Self(Vector::new())
    }
}

impl<S> FromIterator<Arc<S>> for Items<S> {
    fn from_iter<I: IntoIterator<Item = Arc<S>>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl<S: Serialize> Serialize for Items<S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.collect_seq(self.0.iter().map(|item| &**item))
    }
}

//! The reducers that most slices want: an event that is itself the item.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use super::slices::items::Items;
use super::slices::slice::Slice;
use super::slices::view::View;
use crate::util::lock;

/// Appends every item, in constant time.
///
/// ```
/// use wink_agent::session::{Session, reducers};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Debug, Serialize, Deserialize)]
/// # struct Fact(u64);
/// # impl wink_agent::session::Slice for Fact { const NAME: &'static str = "fact"; }
///
/// let session = Session::new();
/// session.register(reducers::append_all::<Fact>)?;
/// session.dispatch(Fact(1))?;
/// session.dispatch(Fact(1))?;
/// assert_eq!(session.query::<Fact>()?.len(), 2);
/// # Ok::<(), wink_agent::session::SessionError>(())
/// ```
pub fn append_all<S: Slice>(view: &View<'_, S>, item: &Arc<S>) -> Items<S> {
    view.items().clone().with(item.clone())
}

/// Keeps only the newest item.
///
/// ```
/// use wink_agent::session::{Session, reducers};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Debug, Serialize, Deserialize)]
/// # struct Plan(u64);
/// # impl wink_agent::session::Slice for Plan { const NAME: &'static str = "plan"; }
///
/// let session = Session::new();
/// session.register(reducers::replace_latest::<Plan>)?;
/// session.dispatch(Plan(1))?;
/// session.dispatch(Plan(2))?;
/// assert_eq!(session.query::<Plan>()?.len(), 1);
/// # Ok::<(), wink_agent::session::SessionError>(())
/// ```
pub fn replace_latest<S: Slice>(_: &View<'_, S>, item: &Arc<S>) -> Items<S> {
    Items::default().with(item.clone())
}

/// Keeps only the newest item of each key, and moves it to the end.
///
/// It searches for the item with the same key from the newest on, so the time grows with its distance,
/// and a new key takes a look at every item.
///
/// ```
/// use wink_agent::session::{Session, reducers};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Debug, Serialize, Deserialize)]
/// # struct Status { part: String, ok: bool }
/// # impl wink_agent::session::Slice for Status { const NAME: &'static str = "status"; }
///
/// let session = Session::new();
/// session.register(reducers::replace_latest_by(|status: &Status| status.part.clone()))?;
/// for (part, ok) in [("disk", false), ("net", true), ("disk", true)] {
///     session.dispatch(Status { part: part.into(), ok })?;
/// }
/// let parts: Vec<_> = session.query::<Status>()?.all().map(|s| s.part.clone()).collect();
/// assert_eq!(parts, ["net", "disk"]);
/// # Ok::<(), wink_agent::session::SessionError>(())
/// ```
pub fn replace_latest_by<S: Slice, K: PartialEq>(
    key: impl Fn(&S) -> K + Send + Sync + 'static,
) -> impl Fn(&View<'_, S>, &Arc<S>) -> Items<S> + Send + Sync + 'static {
    move |view, item| {
        let wanted = key(item);
        let place = view.items().all().rposition(|other| key(other) == wanted);
        let others = match place {
            Some(place) => view.items().clone().without(place),
            None => view.items().clone(),
        };
        others.with(item.clone())
    }
}

/// Keeps one item of each key, in the place where the key came first.
///
/// It remembers where each key is, so it costs nearly the same however many items there are, as long as
/// it alone changes the slice. After another reducer, a rollback, a seed or a clear it looks at every
/// item once.
///
/// ```
/// use wink_agent::session::{Session, reducers};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Debug, Serialize, Deserialize)]
/// # struct User { id: u32, name: String }
/// # impl wink_agent::session::Slice for User { const NAME: &'static str = "user"; }
///
/// let session = Session::new();
/// session.register(reducers::upsert_by(|user: &User| user.id))?;
/// for (id, name) in [(1, "Alice"), (2, "Bob"), (1, "Alice Smith")] {
///     session.dispatch(User { id, name: name.into() })?;
/// }
/// let names: Vec<_> = session.query::<User>()?.all().map(|user| user.name.clone()).collect();
/// assert_eq!(names, ["Alice Smith", "Bob"]);
/// # Ok::<(), wink_agent::session::SessionError>(())
/// ```
pub fn upsert_by<S: Slice, K: Hash + Eq + Send + 'static>(
    key: impl Fn(&S) -> K + Send + Sync + 'static,
) -> impl Fn(&View<'_, S>, &Arc<S>) -> Items<S> + Send + Sync + 'static {
    let remembered = Mutex::new(Places::<S, K>::default());
    move |view, item| {
        let mut places = lock(&remembered);
        let wanted = key(item);
        places.learn(view.items(), &key);
        places.upsert(wanted, item)
    }
}

/// The index of each key in the items that were last seen.
struct Places<S, K> {
    items: Items<S>,
    by_key: HashMap<K, usize>,
}

impl<S, K: Hash + Eq> Places<S, K> {
    /// Indexes the items, unless they are indexed already.
    fn learn(&mut self, items: &Items<S>, key: &impl Fn(&S) -> K) {
        if self.items.is_same(items) {
            return;
        }
        // A key that panics must not leave half of the places.
        let mut by_key = HashMap::with_capacity(items.len());
        for (place, item) in items.all().enumerate() {
            by_key.entry(key(item)).or_insert(place);
        }
        (self.items, self.by_key) = (items.clone(), by_key);
    }

    fn upsert(&mut self, key: K, item: &Arc<S>) -> Items<S> {
        let items = self.items.clone();
        self.items = match self.by_key.get(&key) {
            Some(place) => items.with_at(*place, item.clone()),
            None => {
                self.by_key.insert(key, items.len());
                items.with(item.clone())
            }
        };
        self.items.clone()
    }
}

impl<S, K> Default for Places<S, K> {
    fn default() -> Self {
        Self { items: Items::default(), by_key: HashMap::new() }
    }
}

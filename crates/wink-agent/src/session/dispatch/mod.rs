//! Events: all reducers of an event change the session, or none; then subscribers are notified.

pub(crate) mod bus;
pub(crate) mod in_call;
pub(crate) mod panics;
pub(crate) mod pending;

use std::cell::Cell as Flag;
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard};

use super::Session;
use super::dispatch::bus::{Outcome, Subscription, Told};
use super::error::SessionError;
use super::id::SessionId;
use super::slices::Slices;
use super::slices::cell::Cell;
use super::slices::items::Items;
use super::slices::registry::Registry;
use super::slices::slice::{Slice, SliceKind};
use super::slices::view::View;
use crate::util::lock;

/// The reducers and the seeds of slices, which one call at a time works with.
#[derive(Default)]
pub(super) struct Rules {
    registry: Registry,
    seeds: HashMap<&'static str, (SliceKind, Cell)>,
}

impl Rules {
    /// Adds a reducer for a slice of this crate, whose name is claimed for it.
    pub(super) fn add_own<S, E, F>(&mut self, reducer: F)
    where
        S: Slice,
        E: Send + Sync + 'static,
        F: Fn(&View<'_, S>, &Arc<E>) -> Items<S> + Send + Sync + 'static,
    {
        self.registry.own::<S>();
        self.registry.add(reducer);
    }

    /// Runs every reducer of an event, in order; returns how many there are.
    pub(super) fn reduce<E: Send + Sync + 'static>(
        &self,
        slices: &mut Slices,
        session_id: SessionId,
        event: &Arc<E>,
    ) -> Result<usize, SessionError> {
        while_reducing(|| self.registry.reduce(slices, session_id, event))
    }
}

thread_local! {
    static REDUCING: Flag<bool> = const { Flag::new(false) };
}

/// The result of dispatching an event.
///
/// ```
/// use wink_agent::session::Session;
///
/// let done = Session::new().dispatch("heard by no reducer")?;
/// assert_eq!((done.reducers, done.told.subscribers), (0, 0));
/// # Ok::<(), wink_agent::session::SessionError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Dispatched {
    /// How many reducers it had.
    pub reducers: usize,
    /// The subscribers that were notified.
    pub told: Told,
}

/// The event of a session's [reset](Session::reset).
///
/// ```
/// use wink_agent::session::{Session, SessionReset};
///
/// let session = Session::new();
/// let _subscription = session.subscribe(|_: &SessionReset| ());
/// assert_eq!(session.reset().subscribers, 1);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionReset;

/// Slices and events.
impl Session {
    /// Adds a reducer, which applies events of a type to a slice.
    ///
    /// An event may have several, for one slice or for many; they run in the order in which they were
    /// added. A reducer works only with what it is given: one that changes a session panics.
    pub fn register<S, E, F>(&self, reducer: F) -> Result<(), SessionError>
    where
        S: Slice,
        E: Send + Sync + 'static,
        F: Fn(&View<'_, S>, &Arc<E>) -> Items<S> + Send + Sync + 'static,
    {
        let mut rules = self.rules();
        rules.registry.claim::<S>()?;
        self.query::<S>()?;
        rules.registry.add(reducer);
        Ok(())
    }

    /// Gives an event to its reducers, then notifies its subscribers.
    ///
    /// All reducers of the event change the session, or none: if one panics, the session is as it was, and no
    /// subscriber is notified. Events take turns; asking for items never waits for a reducer.
    ///
    /// A tool is refused, on the thread it runs on, to dispatch into the session that it is called for,
    /// because the call may yet fail: its events go through [`ToolCall::dispatch`](crate::ToolCall::dispatch).
    pub fn dispatch<E: Send + Sync + 'static>(&self, event: E) -> Result<Dispatched, SessionError> {
        self.check_outside_call()?;
        let event = Arc::new(event);
        let reducers = self.reduce(&self.rules(), &event)?;
        Ok(Dispatched { reducers, told: self.0.bus.tell(&*event) })
    }

    /// Gives an event to its reducers and notifies no subscriber; [`publish`](Self::publish) does that.
    pub(crate) fn apply<E: Send + Sync + 'static>(
        &self,
        event: &Arc<E>,
    ) -> Result<usize, SessionError> {
        self.reduce(&self.rules(), event)
    }

    /// Gives an event to its reducers, in the turn of the caller that holds the rules.
    pub(super) fn reduce<E: Send + Sync + 'static>(
        &self,
        rules: &Rules,
        event: &Arc<E>,
    ) -> Result<usize, SessionError> {
        let mut slices = self.slices().clone();
        let reducers = rules.reduce(&mut slices, self.id(), event)?;
        if reducers > 0 {
            self.set_slices(slices);
        }
        Ok(reducers)
    }

    /// Reduces several events in one turn: all of them change the session, or none.
    pub(super) fn reduce_all(
        &self,
        work: impl FnOnce(&Rules, &mut Slices) -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        let rules = self.rules();
        let mut slices = self.slices().clone();
        work(&rules, &mut slices)?;
        self.set_slices(slices);
        Ok(())
    }

    /// Notifies the subscribers of an event, without giving it to reducers.
    pub fn publish<E: 'static>(&self, event: &E) -> Told {
        self.0.bus.tell(event)
    }

    /// Subscribes to every event of a type that this session dispatches or publishes.
    ///
    /// Subscribers are notified after the change, one after the other. If one fails, the others are still
    /// notified. One that holds the session keeps it alive until it is unsubscribed.
    pub fn subscribe<E: 'static, R: Outcome>(
        &self,
        subscriber: impl Fn(&E) -> R + Send + Sync + 'static,
    ) -> Subscription {
        self.0.bus.subscribe(subscriber)
    }

    /// Returns the items of a slice as they are now; a slice that was never filled has none.
    pub fn query<S: Slice>(&self) -> Result<Items<S>, SessionError> {
        let mut slices = self.slices();
        let items = slices.items::<S>()?;
        if slices.is_raw::<S>() {
            slices.put(items.clone());
        }
        Ok(items)
    }

    /// Sets the items of a slice, now and after each [`reset`](Self::reset).
    pub fn seed<S: Slice>(&self, items: impl IntoIterator<Item = S>) -> Result<(), SessionError> {
        self.check_outside_call()?;
        let items = Items::of(items);
        let mut rules = self.rules();
        rules.registry.claim::<S>()?;
        self.query::<S>()?;
        rules.seeds.insert(S::NAME, (S::KIND, Cell::typed(items.clone())));
        self.slices().put(items);
        self.begin_epoch();
        Ok(())
    }

    /// Removes all items of a slice.
    pub fn clear<S: Slice>(&self) -> Result<(), SessionError> {
        self.check_outside_call()?;
        let _turn = self.rules();
        self.query::<S>()?;
        self.slices().put(Items::<S>::default());
        self.begin_epoch();
        Ok(())
    }

    /// Resets every slice, the logs included, to its [seed](Self::seed), or empties it.
    ///
    /// Reducers, subscribers and snapshots stay, so a rollback brings the state back. Subscribers are
    /// told by [`SessionReset`]. A tool that resets the session it is called for panics.
    pub fn reset(&self) -> Told {
        assert!(self.check_outside_call().is_ok(), "a tool cannot reset its own session");
        self.put_seeds();
        self.publish(&SessionReset)
    }

    fn put_seeds(&self) {
        let rules = self.rules();
        let mut slices = Slices::default();
        for (name, (kind, cell)) in &rules.seeds {
            slices.put_cell(*kind, (*name).into(), cell.clone());
        }
        self.set_slices(slices);
        self.begin_epoch();
    }

    /// Returns the slices, which are locked only for a moment.
    pub(super) fn slices(&self) -> MutexGuard<'_, Slices> {
        lock(&self.0.slices)
    }

    fn set_slices(&self, slices: Slices) {
        let old = std::mem::replace(&mut *self.slices(), slices);
        // Freeing what only this session held takes time, and no other thread should wait for it.
        drop(old);
    }

    /// Waits for the caller's turn to change the session.
    pub(super) fn rules(&self) -> MutexGuard<'_, Rules> {
        assert!(!REDUCING.get(), "a reducer works only with the view and the event it is given");
        lock(&self.0.rules)
    }
}

/// Panics in a reducer that changes a session: it would deadlock.
fn while_reducing<T>(work: impl FnOnce() -> T) -> T {
    struct Reducing;
    impl Drop for Reducing {
        fn drop(&mut self) {
            REDUCING.set(false);
        }
    }
    REDUCING.set(true);
    let _reducing = Reducing;
    work()
}

//! Subscribers to the events of a session.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use super::in_call::outside_calls;
use super::panics::caught;
use crate::util::lock;

type Handler = dyn Fn(&dyn Any) -> Result<(), String> + Send + Sync;

/// The subscribers of one session, by the type of the event.
#[derive(Default)]
pub(crate) struct Bus(Mutex<Subscribers>);

#[derive(Default)]
struct Subscribers {
    last: u64,
    by_event: HashMap<TypeId, Vec<(u64, Arc<Handler>)>>,
}

impl Bus {
    pub(crate) fn subscribe<E: 'static, R: Outcome>(
        self: &Arc<Self>,
        subscriber: impl Fn(&E) -> R + Send + Sync + 'static,
    ) -> Subscription {
        let handler: Arc<Handler> = Arc::new(move |event| match event.downcast_ref::<E>() {
            Some(event) => subscriber(event).into_result(),
            None => Ok(()),
        });
        let mut subscribers = self.lock();
        let event = TypeId::of::<E>();
        subscribers.last += 1;
        let id = subscribers.last;
        subscribers.by_event.entry(event).or_default().push((id, handler));
        Subscription { bus: Arc::downgrade(self), event, id }
    }

    /// Notifies every subscriber of an event, in the order in which they subscribed.
    pub(crate) fn tell<E: 'static>(&self, event: &E) -> Told {
        // Nothing is locked meanwhile, so that a subscriber may use the session and its bus.
        let handlers = self.lock().by_event.get(&TypeId::of::<E>()).cloned().unwrap_or_default();
        let mut told = Told { subscribers: handlers.len(), failures: Vec::new() };
        for (id, handler) in handlers {
            let outcome = outside_calls(|| caught(|| handler(event)));
            if let Err(message) = outcome.and_then(|result| result) {
                let event = type_name::<E>();
                told.failures.push(SubscriberFailure { subscription: id, event, message });
            }
        }
        told
    }

    fn remove(&self, event: TypeId, id: u64) {
        let mut subscribers = self.lock();
        let Some(handlers) = subscribers.by_event.get_mut(&event) else { return };
        let removed = handlers.extract_if(.., |(other, _)| *other == id).collect::<Vec<_>>();
        if handlers.is_empty() {
            subscribers.by_event.remove(&event);
        }
        drop(subscribers);
        // The subscriber is dropped without the lock: dropping what it owns may use the bus.
        drop(removed);
    }

    fn lock(&self) -> MutexGuard<'_, Subscribers> {
        lock(&self.0)
    }
}

/// What a subscriber may return: nothing, or a result.
pub trait Outcome: outcome::Sealed {}

mod outcome {
    pub trait Sealed {
        fn into_result(self) -> Result<(), String>;
    }
}

impl Outcome for () {}

impl outcome::Sealed for () {
    fn into_result(self) -> Result<(), String> {
        Ok(())
    }
}

impl<X: fmt::Display> Outcome for Result<(), X> {}

impl<X: fmt::Display> outcome::Sealed for Result<(), X> {
    fn into_result(self) -> Result<(), String> {
        self.map_err(|error| error.to_string())
    }
}

/// How many subscribers were notified of an event, and which failed.
///
/// ```
/// use wink_agent::session::Session;
///
/// struct Started;
///
/// let session = Session::new();
/// let failing = session.subscribe(|_: &Started| Err("the disk is full"));
/// let told = session.publish(&Started);
/// assert_eq!(told.subscribers, 1);
/// assert_eq!(told.failures[0].subscription, failing.id());
/// assert_eq!(told.failures[0].message, "the disk is full");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Told {
    /// How many subscribers there were.
    pub subscribers: usize,
    /// Those that returned an error or panicked.
    pub failures: Vec<SubscriberFailure>,
}

/// A subscriber that failed, and its message.
///
/// ```
/// use wink_agent::session::Session;
///
/// let session = Session::new();
/// let _panics = session.subscribe(|_: &u8| -> () { panic!("no") });
/// assert_eq!(session.publish(&1u8).failures[0].message, "no");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SubscriberFailure {
    /// The [id](Subscription::id) of its subscription.
    pub subscription: u64,
    /// The type of the event.
    pub event: &'static str,
    /// Its message.
    pub message: String,
}

/// Ends a subscription when it is dropped.
///
/// ```
/// use wink_agent::session::Session;
///
/// let session = Session::new();
/// let subscription = session.subscribe(|_: &u8| ());
/// assert_eq!(session.publish(&1u8).subscribers, 1);
/// drop(subscription);
/// assert_eq!(session.publish(&1u8).subscribers, 0);
/// ```
#[must_use = "a subscription ends when this is dropped"]
pub struct Subscription {
    bus: Weak<Bus>,
    event: TypeId,
    id: u64,
}

impl Subscription {
    /// Returns its id, unique in the session.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Keeps it for as long as the session lives.
    pub fn forever(mut self) {
        self.bus = Weak::new();
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(bus) = self.bus.upgrade() {
            bus.remove(self.event, self.id);
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subscription({})", self.id)
    }
}

//! Events of a running call.

use std::sync::Arc;

use super::Rules;
use crate::session::Session;
use crate::session::error::SessionError;
use crate::session::slices::Slices;

/// Events of a call, dispatched once it has succeeded.
#[derive(Default)]
pub(crate) struct PendingEvents(Vec<Box<dyn PendingEvent>>);

impl PendingEvents {
    pub(crate) fn add<E: Send + Sync + 'static>(&mut self, event: E) {
        self.0.push(Box::new(Arc::new(event)));
    }

    /// Gives all of them to their reducers, or none if one panics, and then tells the subscribers.
    pub(crate) fn dispatch(self, session: &Session) -> Result<(), SessionError> {
        if self.0.is_empty() {
            return Ok(());
        }
        session.reduce_all(|rules, slices| {
            self.0.iter().try_for_each(|event| event.reduce(session, rules, slices))
        })?;
        self.0.iter().for_each(|event| event.publish(session));
        Ok(())
    }
}

/// An event without its type.
trait PendingEvent: Send {
    fn reduce(
        &self,
        session: &Session,
        rules: &Rules,
        slices: &mut Slices,
    ) -> Result<(), SessionError>;

    fn publish(&self, session: &Session);
}

impl<E: Send + Sync + 'static> PendingEvent for Arc<E> {
    fn reduce(
        &self,
        session: &Session,
        rules: &Rules,
        slices: &mut Slices,
    ) -> Result<(), SessionError> {
        rules.reduce(slices, session.id(), self).map(drop)
    }

    fn publish(&self, session: &Session) {
        session.publish(&**self);
    }
}

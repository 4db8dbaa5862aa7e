//! Which reducers an event has.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

use super::Slices;
use super::items::Items;
use super::slice::Slice;
use super::view::View;
use crate::session::dispatch::panics::caught;
use crate::session::error::SessionError;
use crate::session::id::SessionId;

/// The reducers of a session, by the type of the event.
#[derive(Default)]
pub(crate) struct Registry {
    reducers: HashMap<TypeId, Vec<Box<dyn Reduce>>>,
    types: HashMap<&'static str, TypeId>,
}

impl Registry {
    /// Adds a reducer that runs after those added before it.
    pub(crate) fn add<S, E, F>(&mut self, reducer: F)
    where
        S: Slice,
        E: Send + Sync + 'static,
        F: Fn(&View<'_, S>, &Arc<E>) -> Items<S> + Send + Sync + 'static,
    {
        let reducer = Reducer { reducer, types: PhantomData };
        self.reducers.entry(TypeId::of::<E>()).or_default().push(Box::new(reducer));
    }

    /// Refuses a type whose name another type has.
    pub(crate) fn claim<S: Slice>(&mut self) -> Result<(), SessionError> {
        if *self.types.entry(S::NAME).or_insert_with(TypeId::of::<S>) == TypeId::of::<S>() {
            Ok(())
        } else {
            Err(SessionError::SliceMismatch { slice: S::NAME.to_owned() })
        }
    }

    /// Keeps a name for a type before anybody else can have it.
    pub(crate) fn own<S: Slice>(&mut self) {
        self.types.insert(S::NAME, TypeId::of::<S>());
    }

    /// Runs every reducer of an event, in order; returns how many there are.
    pub(crate) fn reduce<E: Send + Sync + 'static>(
        &self,
        slices: &mut Slices,
        session_id: SessionId,
        event: &Arc<E>,
    ) -> Result<usize, SessionError> {
        let Some(reducers) = self.reducers.get(&TypeId::of::<E>()) else { return Ok(0) };
        for reducer in reducers {
            reducer.reduce(slices, session_id, event)?;
        }
        Ok(reducers.len())
    }
}

/// A reducer without its types.
trait Reduce: Send + Sync {
    fn reduce(
        &self,
        slices: &mut Slices,
        session_id: SessionId,
        event: &dyn Any,
    ) -> Result<(), SessionError>;
}

struct Reducer<S, E, F> {
    reducer: F,
    types: PhantomData<fn(E) -> S>,
}

impl<S, E, F> Reduce for Reducer<S, E, F>
where
    S: Slice,
    E: Send + Sync + 'static,
    F: Fn(&View<'_, S>, &Arc<E>) -> Items<S> + Send + Sync,
{
    fn reduce(
        &self,
        slices: &mut Slices,
        session_id: SessionId,
        event: &dyn Any,
    ) -> Result<(), SessionError> {
        // The registry only gives a reducer the events that it is for.
        let Some(event) = event.downcast_ref::<Arc<E>>() else { return Ok(()) };
        let items = slices.items::<S>()?;
        let view = View::new(&items, slices, session_id);
        let reduced = caught(|| (self.reducer)(&view, event));
        let items = reduced.map_err(|message| SessionError::ReducerPanicked {
            slice: S::NAME,
            event: type_name::<E>(),
            message,
        })?;
        slices.put(items);
        Ok(())
    }
}

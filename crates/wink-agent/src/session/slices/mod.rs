//! The slices of a session: lists of one type that share what is the same between two states.

pub(crate) mod bounded;
pub(crate) mod cell;
pub(crate) mod items;
pub(crate) mod registry;
pub(crate) mod slice;
pub(crate) mod view;

use std::borrow::Cow;

use imbl::OrdMap;

use self::cell::Cell;
use self::items::Items;
use self::slice::{Slice, SliceKind};
use super::error::SessionError;

/// Slices by name; a clone is one pointer.
pub(super) type SliceMap = OrdMap<Cow<'static, str>, Cell>;

/// All slices of a session; a clone takes constant time.
#[derive(Clone, Debug, Default)]
pub(super) struct Slices {
    state: SliceMap,
    log: SliceMap,
}

impl Slices {
    pub(super) fn of(&self, kind: SliceKind) -> &SliceMap {
        match kind {
            SliceKind::State => &self.state,
            SliceKind::Log => &self.log,
        }
    }

    fn of_mut(&mut self, kind: SliceKind) -> &mut SliceMap {
        match kind {
            SliceKind::State => &mut self.state,
            SliceKind::Log => &mut self.log,
        }
    }

    /// Returns the items of a type; a slice that is not there has none.
    pub(super) fn items<S: Slice>(&self) -> Result<Items<S>, SessionError> {
        if let Some(cell) = self.of(S::KIND).get(S::NAME) {
            return cell.read();
        }
        if self.of(other(S::KIND)).contains_key(S::NAME) {
            Err(SessionError::SliceMismatch { slice: S::NAME.to_owned() })
        } else {
            Ok(Items::default())
        }
    }

    /// Returns whether the slice is still as it stood in a dump.
    pub(super) fn is_raw<S: Slice>(&self) -> bool {
        self.of(S::KIND).get(S::NAME).is_some_and(Cell::is_raw)
    }

    pub(super) fn put<S: Slice>(&mut self, items: Items<S>) {
        self.put_cell(S::KIND, Cow::Borrowed(S::NAME), Cell::typed(items));
    }

    pub(super) fn put_cell(&mut self, kind: SliceKind, name: Cow<'static, str>, cell: Cell) {
        self.of_mut(kind).insert(name, cell);
    }

    /// Replaces the state, and leaves the log.
    pub(super) fn set_state(&mut self, state: SliceMap) {
        self.state = state;
    }

    /// Returns every slice with its kind: the state by name, then the log by name.
    pub(super) fn each(&self) -> impl Iterator<Item = (SliceKind, &str, &Cell)> {
        [SliceKind::State, SliceKind::Log].into_iter().flat_map(|kind| {
            self.of(kind).iter().map(move |(name, cell)| (kind, name.as_ref(), cell))
        })
    }
}

fn other(kind: SliceKind) -> SliceKind {
    match kind {
        SliceKind::State => SliceKind::Log,
        SliceKind::Log => SliceKind::State,
    }
}

//! The items of a slice whose type is known only to those who ask for it.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};

use super::items::Items;
use super::slice::Slice;
use crate::session::error::SessionError;

/// The items of any slice.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    /// Items of a type that the program has.
    Typed(Arc<dyn AnyItems>),
    /// Items as they stood in a dump, because the program has not asked for their type yet.
    Raw(Arc<RawValue>),
}

/// Items without the name of their type.
pub(crate) trait AnyItems: Any + fmt::Debug + Send + Sync {
    fn is_empty(&self) -> bool;
    fn to_json(&self) -> serde_json::Result<Box<RawValue>>;
    fn as_any(&self) -> &dyn Any;
}

impl<S: Slice> AnyItems for Items<S> {
    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn to_json(&self) -> serde_json::Result<Box<RawValue>> {
        to_raw_value(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Cell {
    pub(crate) fn typed<S: Slice>(items: Items<S>) -> Self {
        Self::Typed(Arc::new(items))
    }

    /// Returns the items as those of a type.
    pub(crate) fn read<S: Slice>(&self) -> Result<Items<S>, SessionError> {
        match self {
            Self::Typed(items) => match items.as_any().downcast_ref::<Items<S>>() {
                Some(items) => Ok(items.clone()),
                None => Err(SessionError::SliceMismatch { slice: S::NAME.to_owned() }),
            },
            Self::Raw(items) => match serde_json::from_str::<Vec<S>>(items.get()) {
                Ok(items) => Ok(Items::of(items)),
                Err(why) => Err(SessionError::SliceUnreadable {
                    slice: S::NAME.to_owned(),
                    why: why.to_string(),
                }),
            },
        }
    }

    pub(crate) fn is_raw(&self) -> bool {
        matches!(self, Self::Raw(_))
    }

    /// Returns whether a dump has nothing to say of it.
    pub(crate) fn is_absent(&self) -> bool {
        match self {
            Self::Typed(items) => items.is_empty(),
            Self::Raw(_) => false,
        }
    }

    pub(crate) fn to_json(&self, slice: &str) -> Result<Box<RawValue>, SessionError> {
        let json = match self {
            Self::Typed(items) => items.to_json(),
            Self::Raw(items) => Ok((**items).to_owned()),
        };
        json.map_err(|why| SessionError::NotSerializable {
            slice: slice.to_owned(),
            why: why.to_string(),
        })
    }
}

//! The files of a workspace as a session knows them: listings, the events that change them, and which snapshot
//! of the files belongs to a state of the session.

pub(crate) mod changed;
pub(crate) mod listed_file;
pub(crate) mod listing;
pub(crate) mod listings;
pub(crate) mod owned;
pub(crate) mod snapshot_ref;

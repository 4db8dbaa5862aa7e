//! The user's Git repository, read only: where it is and what is checked out.

pub(crate) mod directory;
pub(crate) mod head;

//! What hooks of coding agents tell, and the snapshots that are taken for them.

pub(crate) mod capture;
pub(crate) mod record;
pub(crate) mod taken_back;

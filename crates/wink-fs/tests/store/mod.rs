//! The store of snapshots: gives back what it was given, or says that it cannot.

mod catalog;
mod concurrent;
mod damage;
mod faults;
mod golden;
mod incremental;
mod page;
mod places;
mod prune;
mod repair;
mod round_trip;
mod support;
mod tampered;

//! Sessions, as a program uses them.

mod damaged;
mod dump;
mod events;
mod files;
mod golden;
mod reducers;
mod roundtrip;
mod slices;
mod snapshots;
mod threads;
mod trees;
mod types;

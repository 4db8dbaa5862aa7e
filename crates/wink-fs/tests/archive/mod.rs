//! Archives: made of every tree, read by every program, and believed only after they were checked.

mod across;
mod corpus;
mod golden;
mod python;
mod round_trip;
mod shapes;
mod support;
mod threats;
mod tools;
mod zip;

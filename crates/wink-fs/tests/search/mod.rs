//! Search on every backend: the dialect of patterns, the lines found, the totals.

mod corpus;
mod glob;
mod grep;
mod reference;
mod states;

//! What holds for every call, whatever the tool and the backend.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods)]

mod bounds;
mod custom;
mod failing;
mod records;
mod rules;
mod scene;
mod seen;

//! Files and session that go back together, on every backend.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod scene;

mod events;
mod forgetting;
mod history;
mod listing;
mod owned;
mod resume;
mod together;

//! Files and session that go back together, on every backend.

mod scene;

mod events;
mod forgetting;
mod history;
mod listing;
mod owned;
mod resume;
mod together;

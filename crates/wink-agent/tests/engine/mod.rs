//! What holds for every call, whatever the tool and the backend.

mod bounds;
mod custom;
mod every_tool;
mod failing;
mod records;
mod rules;
mod scene;
mod seen;

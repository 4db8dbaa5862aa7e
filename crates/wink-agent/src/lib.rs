//! Tools a model can call over a wink workspace.

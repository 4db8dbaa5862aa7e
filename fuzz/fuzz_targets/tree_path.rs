//! Feeds arbitrary bytes to `TreePath`, as text of a caller and as names on a disk.

#![no_main]
#![allow(
    clippy::disallowed_methods,
    reason = "the macro of libFuzzer opens a file for its debug output"
)]

#[path = "../properties/tree_path.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::check(data));

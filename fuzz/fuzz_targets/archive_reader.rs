//! Feeds arbitrary bytes to the reader of archives.

#![no_main]
#![allow(
    clippy::disallowed_methods,
    reason = "the macro of libFuzzer opens a file for its debug output"
)]

#[path = "../properties/archive_reader.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::check(data));

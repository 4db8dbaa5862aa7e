//! Feeds arbitrary path patterns and regular expressions to search.

#![no_main]
#![allow(
    clippy::disallowed_methods,
    reason = "the macro of libFuzzer opens a file for its debug output"
)]

#[path = "../properties/patterns.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::check(data));

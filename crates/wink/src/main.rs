//! The wink binary.

fn main() {}

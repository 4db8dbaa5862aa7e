//! How much a test does.

/// Returns the first of two sizes, or, in the long run of all tests, the second.
pub(crate) fn size<T>(ordinary: T, long: T) -> T {
    if std::env::var_os("WINK_LONG_TESTS").is_some() { long } else { ordinary }
}

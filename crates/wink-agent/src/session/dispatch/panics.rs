//! Panics of callbacks as errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a callback; a panic is an error with its message.
///
/// The caller must discard what the callback may have left half done.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| message(&*panic))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it said nothing").to_owned()
}

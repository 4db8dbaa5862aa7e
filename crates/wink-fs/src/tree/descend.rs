//! Recursion into a tree whose depth another program chose, without overflowing the stack.

/// The stack that must be left for one more level, and what is added where it is not.
const LEVEL: usize = 64 * 1024;
const MORE: usize = 2 * 1024 * 1024;

/// Does the work of one level of a recursion over directories, whatever the depth.
pub(crate) fn descend<T>(level: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(LEVEL, MORE, level)
}

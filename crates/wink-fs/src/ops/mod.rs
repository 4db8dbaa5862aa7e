//! All operations on files, written once over [`Tree`](crate::Tree) and [`Filesystem`](crate::Filesystem).
//!
//! A backend implements only what it alone can do; these functions add the rest. Each takes a parsed path;
//! [`Workspace`](crate::Workspace) has the same with text.
//!
//! ```
//! use wink_fs::{ops, Limits, MemoryBackend, ReadOptions, TreePath, WriteOptions};
//!
//! let mut files = MemoryBackend::new();
//! let path = TreePath::parse("docs/notes.md")?;
//! ops::write(&mut files, &path, "one\ntwo\n", &WriteOptions::default())?;
//! let page = ops::read(&files, &path, &ReadOptions::default(), &Limits::default())?;
//! assert_eq!((page.content.as_str(), page.total_lines), ("one\ntwo\n", 2));
//! # Ok::<(), wink_fs::Error>(())
//! ```

mod copy;
mod line;
mod list;
mod look;
mod make;
mod page;
mod read;
mod write;

pub use copy::{Copied, copy};
pub use line::{LineOptions, LinePart, read_line};
pub use list::{ListOptions, Listed, list};
pub use look::{content_hash, exists, is_dir, is_file};
pub use make::{MkdirOptions, MoveOptions, mkdir, rename};
pub use read::{BytePage, PageLimit, ReadOptions, TextPage, read, read_bytes};
pub use write::{WriteMode, WriteOptions, Written, write, write_bytes};

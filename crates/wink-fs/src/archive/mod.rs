//! ZIP archives: the one exchange format of all backends.
//!
//! [`write()`] makes an archive of any [`Tree`](crate::Tree), and [`ArchiveTree`] reads one as a tree, without
//! unpacking it. Nothing in an archive is trusted before it is checked: see [`ArchiveTree::open`]. The format is
//! described in `docs/archive-format.md`.
//!
//! ```
//! use std::sync::Arc;
//! use wink_fs::archive::{self, ArchiveLimits, ArchiveTree, ExportOptions};
//! use wink_fs::{Content, Tree, TreePath, Workspace};
//!
//! let files = Workspace::memory();
//! files.write("src/main.rs", "fn main() {}\n")?;
//!
//! let mut bytes = Vec::new();
//! let exported = archive::write(&*files.tree(), &mut bytes, &ExportOptions::default())?;
//! assert_eq!((exported.file_count, exported.total_bytes), (1, 13));
//!
//! let (len, source) = (bytes.len() as u64, Content::from(bytes::Bytes::from(bytes)));
//! let tree = ArchiveTree::open(Arc::new(source), len, &ArchiveLimits::default())?;
//! tree.verify()?;
//! assert_eq!(&tree.open(&TreePath::parse("src/main.rs")?)?.read_all()?[..], b"fn main() {}\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod export;
mod import;
mod manifest;
mod options;
mod portability;
mod read;
mod record;
mod refuse;
mod spelling;

pub use export::{Exported, export_ambient, write};
pub use import::{Imported, import};
pub use options::{ArchiveLimits, ExportOptions, Method};
pub use portability::{Portability, PortabilityProblem, portability};
pub use read::ArchiveTree;

/// Larger content is streamed.
const WHOLE_BYTES: u64 = 8 * 1024 * 1024;

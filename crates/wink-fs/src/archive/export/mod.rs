//! Writes a tree as an archive.

mod ambient;
mod pack;
mod sink;
mod walk;

use std::io::Write;
use std::time::SystemTime;

use rayon::prelude::*;

pub use self::ambient::export_ambient;
use self::pack::{Body, Packer, Planned};
use self::sink::{Header, Sink};
use self::walk::Walk;
use super::manifest::Manifest;
use super::options::{ExportOptions, Method};
use super::portability::Portability;
use super::spelling::MANIFEST;
use super::{WHOLE_BYTES, spelling};
use crate::error::{Error, Operation, Result};
use crate::path::TreePath;
use crate::tree::{Kind, Tree};
use crate::util::parallel;

/// How many entries are processed together.
const GROUP_ENTRIES: usize = 1024;

/// How much content is in memory at once; compressed, it takes at most as much again.
const GROUP_BYTES: u64 = 32 * 1024 * 1024;

/// The contents of a new archive.
///
/// ```
/// use wink_fs::archive::{self, ExportOptions};
///
/// let files = wink_fs::Workspace::memory();
/// files.write("a.txt", "hello")?;
/// let mut bytes = Vec::new();
/// let exported = archive::write(&*files.tree(), &mut bytes, &ExportOptions::default())?;
/// assert_eq!((exported.file_count, exported.total_bytes), (1, 5));
/// assert_eq!(exported.archive_bytes, bytes.len() as u64);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Exported {
    /// The number of files and links.
    pub file_count: u64,
    /// The bytes of their contents and targets.
    pub total_bytes: u64,
    /// The size of the archive.
    pub archive_bytes: u64,
    /// The names that other systems may not support, sorted by path.
    pub portability: Vec<Portability>,
}

/// Writes an archive of a whole tree, from the first byte to the last.
///
/// Equal trees give equal bytes, except for the time, which [`ExportOptions::created_at`] fixes. A FIFO, socket or
/// device in the tree is SpecialFile. Memory is bounded, whatever the sizes of the files.
pub fn write(tree: &dyn Tree, out: impl Write, options: &ExportOptions) -> Result<Exported> {
    export(tree, out, options).map_err(|error| error.during(Operation::Export))
}

fn export(tree: &dyn Tree, out: impl Write, options: &ExportOptions) -> Result<Exported> {
    let mut export = Export { tree, options, sink: Sink::new(out), file_count: 0, total_bytes: 0 };
    let mut walk = Walk::new(tree)?;
    loop {
        let group = walk.by_ref().take(GROUP_ENTRIES).collect::<Result<Vec<_>>>()?;
        if group.is_empty() {
            return export.finish(walk.into_portability());
        }
        export.add(&group)?;
    }
}

struct Export<'a, W: Write> {
    tree: &'a dyn Tree,
    options: &'a ExportOptions,
    sink: Sink<W>,
    file_count: u64,
    total_bytes: u64,
}

impl<W: Write> Export<'_, W> {
    fn add(&mut self, entries: &[(TreePath, Kind)]) -> Result<()> {
        let tree = self.tree;
        let planned = parallel::map(entries, |(path, kind)| Planned::look(tree, path, *kind));
        let planned = planned.into_iter().collect::<Result<Vec<_>>>()?;
        let mut rest = &planned[..];
        while !rest.is_empty() {
            let (part, later) = rest.split_at(part_of(rest));
            self.add_part(part)?;
            rest = later;
        }
        Ok(())
    }

    fn add_part(&mut self, part: &[Planned<'_>]) -> Result<()> {
        let tree = self.tree;
        let options = self.options;
        let pack = |packer: &mut Packer, planned: &Planned<'_>| packer.pack(tree, planned);
        let packed = part.par_iter().map_init(|| Packer::new(options), pack);
        let bodies: Vec<_> = parallel::run(|| packed.collect());
        part.iter().zip(bodies).try_for_each(|(planned, body)| self.put(planned, body?))
    }

    fn put(&mut self, planned: &Planned<'_>, body: Body) -> Result<()> {
        let name = spelling::spell(planned.path);
        let header = Header::new(name, planned.unix_mode());
        let size = match body {
            Body::Directory => self.sink.directory(header).map(|()| None),
            Body::Whole(packed) => self.sink.whole(header, &packed).map(|()| Some(packed.size)),
            Body::Large(content) => self.sink.stream(header, &content, self.options).map(Some),
        };
        if let Some(size) = size.map_err(|error| unwritten(error).with_path(planned.path))? {
            self.file_count += 1;
            self.total_bytes += size;
        }
        Ok(())
    }

    fn finish(mut self, mut portability: Vec<Portability>) -> Result<Exported> {
        let file_count = self.file_count;
        let total_bytes = self.total_bytes;
        let now = self.options.created_at.unwrap_or_else(SystemTime::now);
        let json = Manifest::new(now, file_count, total_bytes)?.to_json();
        let packed = Packer::new(&self.options.method(Method::Stored)).pack_bytes(json.into());
        self.sink.whole(Header::new(MANIFEST.into(), 0o100_644), &packed).map_err(unwritten)?;
        let archive_bytes = self.sink.finish().map_err(unwritten)?;
        portability.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Exported { file_count, total_bytes, archive_bytes, portability })
    }
}

/// Returns how many entries fit into memory together; large ones are streamed and need none.
fn part_of(planned: &[Planned<'_>]) -> usize {
    let mut bytes = 0;
    let fits = |planned: &&Planned<'_>| {
        bytes += if planned.size <= WHOLE_BYTES { planned.size } else { 0 };
        bytes <= GROUP_BYTES
    };
    planned.iter().take_while(fits).count().max(1)
}

fn unwritten(error: std::io::Error) -> Error {
    Error::system(Operation::Export, error)
}

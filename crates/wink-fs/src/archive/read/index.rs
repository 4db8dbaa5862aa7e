//! Builds a tree from the entries of an archive.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::central::Listed;
use super::unpack::Stored;
use crate::archive::manifest::{self, Manifest};
use crate::archive::options::ArchiveLimits;
use crate::archive::refuse;
use crate::archive::spelling::{self, FILES, MANIFEST};
use crate::error::{Error, Result};
use crate::filesystem::checks;
use crate::path::{Name, TreePath};
use crate::tree::content::ReadAt;
use crate::tree::{FileMode, Kind};

const TYPE_BITS: u16 = 0o170_000;
const REGULAR: u16 = 0o100_000;
const DIRECTORY: u16 = 0o040_000;
const LINK: u16 = 0o120_000;

/// An entry of the tree.
pub(super) enum Node {
    Directory(Directory),
    File(File),
    Link(Box<[u8]>),
}

#[derive(Default)]
pub(super) struct Directory {
    /// Whether it has an entry of its own.
    listed: bool,
    /// Only `private` can be set.
    pub(super) mode: FileMode,
    pub(super) children: BTreeMap<Name, Node>,
}

impl Directory {
    /// Returns a subdirectory, making it if it is missing.
    fn enter(&mut self, name: &Name) -> Result<&mut Self, &'static str> {
        let new = || Node::Directory(Self::default());
        match self.children.entry(name.clone()).or_insert_with(new) {
            Node::Directory(next) => Ok(next),
            Node::File(_) => Err("it lies below a file"),
            Node::Link(_) => Err("it passes through a link"),
        }
    }
}

pub(super) struct File {
    pub(super) stored: Stored,
    pub(super) mode: FileMode,
    /// Whether its content was checked.
    pub(super) checked: AtomicBool,
}

impl Node {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Directory(_) => Kind::Directory,
            Self::File(_) => Kind::File,
            Self::Link(_) => Kind::Symlink,
        }
    }
}

/// Builds the tree.
pub(super) struct Index<'a> {
    source: &'a Arc<dyn ReadAt>,
    limits: &'a ArchiveLimits,
    pub(super) root: Directory,
    manifest: Option<Manifest>,
    /// Directories without an entry, which take far more memory than their names.
    implied: u64,
    file_count: u64,
    total_bytes: u64,
}

impl<'a> Index<'a> {
    pub(super) fn new(source: &'a Arc<dyn ReadAt>, limits: &'a ArchiveLimits) -> Self {
        let root = Directory::default();
        let manifest = None;
        Self { source, limits, root, manifest, implied: 0, file_count: 0, total_bytes: 0 }
    }

    /// Adds one entry.
    pub(super) fn add(&mut self, entry: &Listed, stored: Stored) -> Result<()> {
        self.check_budget(entry)?;
        let added = match entry.name.strip_prefix(FILES) {
            _ if &*entry.name == MANIFEST => return self.add_manifest(entry, stored),
            None => return Err(wrong(entry, "only manifest.json and files/ belong at the top")),
            Some("") => add_directory(&mut self.root, entry, stored),
            Some(text) => self.add_below(entry, text, stored),
        };
        added.map_err(|why| why.into_error(entry))?;
        self.check_implied(entry)
    }

    fn check_implied(&self, entry: &Listed) -> Result<()> {
        let implied = self.implied;
        let limit = self.limits.max_entries;
        if implied <= limit {
            return Ok(());
        }
        let error = refuse::too_large("its directories are", implied, limit, "max_entries");
        Err(error.with_path_text(&entry.name))
    }

    fn check_budget(&mut self, entry: &Listed) -> Result<()> {
        let named = |error: Error| error.with_path_text(&entry.name);
        let size = entry.sizes.size;
        let limits = self.limits;
        if size > limits.max_file_bytes {
            let what = "its bytes are";
            let limit = limits.max_file_bytes;
            return Err(named(refuse::too_large(what, size, limit, "max_file_bytes")));
        }
        let total = self.total_bytes.saturating_add(size);
        if total > limits.max_total_bytes {
            let what = "all bytes up to it are";
            let limit = limits.max_total_bytes;
            return Err(named(refuse::too_large(what, total, limit, "max_total_bytes")));
        }
        Ok(())
    }

    fn add_manifest(&mut self, entry: &Listed, stored: Stored) -> Result<()> {
        if self.manifest.is_some() {
            return Err(wrong(entry, "it is there twice"));
        }
        if stored.size > manifest::MAX_BYTES || stored.packed > manifest::MAX_BYTES {
            return Err(wrong(entry, "no manifest is that large"));
        }
        if !matches!(type_of(entry), None | Some(0 | REGULAR)) {
            return Err(wrong(entry, "the manifest must be a file"));
        }
        self.manifest =
            Some(Manifest::parse(&self.read(stored).map_err(|w| w.into_error(entry))?)?);
        Ok(())
    }

    fn read(&self, stored: Stored) -> Result<Vec<u8>, Wrong> {
        stored.read_all(self.source).map_err(Wrong::Read)
    }

    fn add_below(&mut self, entry: &Listed, text: &str, stored: Stored) -> Result<(), Wrong> {
        match text.strip_suffix('/') {
            Some(text) => {
                let (parent, name) = self.parent_of(&spelling::parse(text)?)?;
                add_directory(parent.enter(&name).map_err(|_| TWICE)?, entry, stored)
            }
            None => self.add_file(entry, &spelling::parse(text)?, stored),
        }
    }

    fn add_file(&mut self, entry: &Listed, path: &TreePath, stored: Stored) -> Result<(), Wrong> {
        let node = self.node(entry, path, stored)?;
        let (parent, name) = self.parent_of(path)?;
        match parent.children.entry(name) {
            Slot::Vacant(slot) => slot.insert(node),
            Slot::Occupied(_) => return Err(TWICE.into()),
        };
        self.file_count += 1;
        self.total_bytes += stored.size;
        Ok(())
    }

    /// Returns the parent directory of a path, making missing ones.
    fn parent_of(&mut self, path: &TreePath) -> Result<(&mut Directory, Name), Wrong> {
        let name = path.name().ok_or("it names the root")?;
        let mut directory = &mut self.root;
        for segment in path.segments().take(path.depth() - 1) {
            // A short name like `a/a/a/…` makes thousands of directories, so they are limited like entries.
            self.implied += u64::from(!directory.children.contains_key(segment));
            directory = directory.enter(&Name::from_segment(segment))?;
        }
        Ok((directory, name))
    }

    fn node(&self, entry: &Listed, path: &TreePath, stored: Stored) -> Result<Node, Wrong> {
        match type_of(entry) {
            Some(LINK) => self.link(path, stored),
            None | Some(0 | REGULAR) => {
                let mode = mode_of(entry);
                let checked = AtomicBool::new(false);
                Ok(Node::File(File { stored, mode, checked }))
            }
            Some(DIRECTORY) => Err("a directory's name must end in `/`".into()),
            Some(_) => Err(Wrong::Special),
        }
    }

    fn link(&self, path: &TreePath, stored: Stored) -> Result<Node, Wrong> {
        const WRONG: &str = "no link can have such a target";
        // Targets are read at once, so their size is checked before anything is unpacked.
        if stored.size.max(stored.packed) > manifest::MAX_BYTES {
            return Err(WRONG.into());
        }
        let target = self.read(stored)?;
        checks::check_target(path, &target).map_err(|_| WRONG)?;
        Ok(Node::Link(target.into()))
    }

    /// Returns the tree and its manifest, whose counts must be right.
    pub(super) fn finish(self) -> Result<(Directory, Manifest)> {
        let manifest = self.manifest.ok_or_else(|| refuse::damaged("it has no manifest.json"))?;
        let found = (self.file_count, self.total_bytes);
        let said = (manifest.file_count, manifest.total_bytes);
        if found != said {
            let why = format!(
                "it says {} files and {} bytes, and the archive has {} and {}",
                said.0, said.1, found.0, found.1
            );
            return Err(refuse::entry(MANIFEST.as_bytes(), why));
        }
        Ok((self.root, manifest))
    }
}

const TWICE: &str = "something is there already under this name";

/// Why an entry is refused.
enum Wrong {
    Name(&'static str),
    Read(std::io::Error),
    Special,
}

impl From<&'static str> for Wrong {
    fn from(why: &'static str) -> Self {
        Self::Name(why)
    }
}

impl Wrong {
    fn into_error(self, entry: &Listed) -> Error {
        let name = entry.name.as_bytes();
        match self {
            Self::Name(why) => refuse::entry(name, why),
            Self::Read(error) => refuse::reading_entry(name, error),
            Self::Special => {
                refuse::unsupported(name, "only files, directories and links are read")
            }
        }
    }
}

fn wrong(entry: &Listed, why: &str) -> Error {
    refuse::entry(entry.name.as_bytes(), why)
}

fn add_directory(directory: &mut Directory, entry: &Listed, stored: Stored) -> Result<(), Wrong> {
    if directory.listed {
        return Err(TWICE.into());
    }
    if stored.size != 0 || !matches!(type_of(entry), None | Some(0 | DIRECTORY)) {
        return Err("a name that ends in `/` must be a directory's".into());
    }
    directory.listed = true;
    directory.mode = mode_of(entry).executable(false);
    Ok(())
}

fn type_of(entry: &Listed) -> Option<u16> {
    entry.unix_mode.map(|mode| mode & TYPE_BITS)
}

/// Returns the mode of an entry.
///
/// Bits without a type are not from a file or directory: some programs always put 0600 there.
fn mode_of(entry: &Listed) -> FileMode {
    let mode = entry.unix_mode.unwrap_or_default();
    let is_entry = matches!(mode & TYPE_BITS, REGULAR | DIRECTORY);
    let private = is_entry && mode & 0o007 == 0;
    FileMode::default().executable(mode & 0o100 != 0).private(private)
}

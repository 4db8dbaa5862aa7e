//! A backend from scratch: all entries in one sorted map, everything else by the defaults of the traits.
//!
//! The conformance suite runs over it in `tests/conformance`.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::SystemTime;

use bytes::Bytes;
use wink_fs::{
    Backend, BackendKind, Content, ContentHash, DoneFirst, Durability, Entry, EntryIdentity, Error,
    ErrorKind, FileMode, Filesystem, Kind, Operation, Properties, Put, PutCondition, PutOptions,
    Recursion, Removed, ReplacePlan, Replaced, Replacement, Result, Staged, Stat, Tree, TreePath,
    Workspace, checks,
};

/// An entry: of a file `bytes` is its content, of a link its target.
#[derive(Clone)]
struct Node {
    kind: Kind,
    bytes: Bytes,
    mode: FileMode,
    changed: SystemTime,
}

impl Node {
    fn new(kind: Kind, bytes: Bytes) -> Self {
        Self { kind, bytes, mode: FileMode::default(), changed: SystemTime::now() }
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.kind, self.mode, &self.bytes) == (other.kind, other.mode, &other.bytes)
    }
}

/// All entries by their paths, the root included. Paths sort by segments, so that a directory comes right before what is
/// below it.
struct Entries(BTreeMap<TreePath, Node>);

impl Entries {
    /// Returns what is at a path, where an entry could be.
    fn place(&self, operation: Operation, path: &TreePath) -> Result<Option<&Node>> {
        for parent in path.ancestors() {
            match self.0.get(&parent).map(|node| node.kind) {
                Some(Kind::Directory) => {}
                Some(Kind::Symlink) => return Err(Error::through_link(operation, path)),
                Some(_) => {
                    return Err(Error::new(operation, ErrorKind::NotADirectory).with_path(path));
                }
                None => return Err(checks::no_parent(operation, path)),
            }
        }
        Ok(self.0.get(path))
    }

    /// Returns what is at a path; a path through a file is not there.
    fn find(&self, operation: Operation, path: &TreePath) -> Result<&Node> {
        match self.place(operation, path) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(error),
            Ok(Some(node)) => Ok(node),
            _ => Err(Error::new(operation, ErrorKind::NotFound).with_path(path)),
        }
    }

    /// Returns an entry and everything below it.
    fn below(&self, path: &TreePath) -> impl Iterator<Item = (&TreePath, &Node)> {
        self.0.range(path..).take_while(move |(it, _)| it.starts_with(path))
    }

    fn create(&mut self, operation: Operation, path: &TreePath, node: Node) -> Result<()> {
        if self.place(operation, path)?.is_some() {
            return Err(Error::new(operation, ErrorKind::AlreadyExists).with_path(path));
        }
        self.0.insert(path.clone(), node);
        Ok(())
    }

    /// Reads another tree, from a directory on.
    fn read(&mut self, tree: &dyn Tree, path: TreePath) -> Result<()> {
        let stat = tree.stat(&path)?;
        let failed = |error| Error::system(Operation::Replace, error).with_path(&path);
        let bytes = match stat.kind {
            Kind::File => tree.open(&path)?.read_all().map_err(failed)?,
            Kind::Symlink => tree.read_link(&path)?.into(),
            _ => Bytes::new(),
        };
        if stat.kind == Kind::Directory {
            for entry in tree.list(&path)? {
                self.read(tree, path.join(&entry.name)?)?;
            }
        }
        let changed = stat.modified_at.unwrap_or_else(SystemTime::now);
        self.0.insert(path, Node { kind: stat.kind, bytes, mode: stat.mode, changed });
        Ok(())
    }
}

/// The entries as they are at each look.
struct Live(RwLock<Entries>);

impl Live {
    fn read(&self) -> RwLockReadGuard<'_, Entries> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Entries> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tree for Live {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        let entries = self.read();
        let node = entries.find(Operation::Stat, path)?;
        let mut stat = Stat::new(node.kind, node.bytes.len() as u64);
        stat.mode = node.mode;
        stat.modified_at = Some(node.changed);
        Ok(stat)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        let entries = self.read();
        checks::check_directory(path, entries.find(Operation::List, path)?.kind)?;
        let children = entries.below(path).filter(|(it, _)| it.depth() == path.depth() + 1);
        Ok(children.filter_map(|(it, node)| Some(Entry::new(it.name()?, node.kind))).collect())
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        let entries = self.read();
        let node = entries.find(Operation::Read, path)?;
        checks::check_file(Operation::Read, path, node.kind)?;
        Ok(node.bytes.clone().into())
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        let entries = self.read();
        let node = entries.find(Operation::Read, path)?;
        if node.kind == Kind::Symlink {
            Ok(node.bytes.to_vec())
        } else {
            Err(checks::not_a_link(path))
        }
    }
}

/// Files in one map.
pub(crate) struct MapBackend {
    live: Arc<Live>,
    properties: Properties,
}

impl Default for MapBackend {
    fn default() -> Self {
        let root = (TreePath::root(), Node::new(Kind::Directory, Bytes::new()));
        let live = Arc::new(Live(RwLock::new(Entries(BTreeMap::from([root])))));
        Self { live, properties: Properties::new(BackendKind::Other("map"), "/") }
    }
}

impl Tree for MapBackend {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        self.live.stat(path)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        self.live.list(path)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        self.live.open(path)
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        self.live.read_link(path)
    }
}

impl Filesystem for MapBackend {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn put(&mut self, path: &TreePath, staged: &mut Staged, options: &PutOptions) -> Result<Put> {
        let failed = |error| Error::system(Operation::Write, error).with_path(path);
        let mut node = Node::new(Kind::File, staged.content().read_all().map_err(failed)?);
        let mut entries = self.live.write();
        let old = entries.place(Operation::Write, path)?;
        if old.is_some() && options.condition == PutCondition::Absent {
            return Err(Error::new(Operation::Write, ErrorKind::AlreadyExists).with_path(path));
        }
        if let Some(old) = old {
            checks::check_file(Operation::Write, path, old.kind)?;
            node.mode = old.mode;
        }
        if let PutCondition::Unchanged(expected) = options.condition {
            let current = old.map(|old| ContentHash::of(&old.bytes));
            if current != Some(expected) {
                return Err(checks::conflict(path, current));
            }
        }
        node.mode = options.mode.unwrap_or(node.mode);
        let created = old.is_none();
        entries.0.insert(path.clone(), node);
        Ok(Put::new(created, Durability::Atomic))
    }

    fn create_dir(&mut self, path: &TreePath) -> Result<()> {
        let node = Node::new(Kind::Directory, Bytes::new());
        self.live.write().create(Operation::Mkdir, path, node)
    }

    fn symlink(&mut self, path: &TreePath, target: &[u8]) -> Result<()> {
        checks::check_target(path, target)?;
        let node = Node::new(Kind::Symlink, Bytes::copy_from_slice(target));
        self.live.write().create(Operation::Symlink, path, node)
    }

    fn set_mode(&mut self, path: &TreePath, mode: FileMode) -> Result<()> {
        let mut entries = self.live.write();
        let node = entries.find(Operation::SetMode, path)?.clone();
        checks::check_file(Operation::SetMode, path, node.kind)?;
        entries.0.insert(path.clone(), Node { mode, ..node });
        Ok(())
    }

    fn remove(&mut self, path: &TreePath, recursion: Recursion) -> Result<Removed> {
        checks::check_not_root(Operation::Delete, path)?;
        self.live.read().find(Operation::Delete, path)?;
        if let Recursion::Unchanged(expected) = recursion
            && EntryIdentity::at(&*self.live, path)? != Some(expected)
        {
            return Err(checks::not_expected(path));
        }
        let mut entries = self.live.write();
        let gone: Vec<_> = entries.below(path).map(|(it, node)| (it.clone(), node.kind)).collect();
        if gone.len() > 1 && recursion == Recursion::OnlyEmpty {
            return Err(Error::new(Operation::Delete, ErrorKind::NotEmpty).with_path(path));
        }
        let directories = gone.iter().filter(|(_, kind)| *kind == Kind::Directory).count() as u64;
        gone.iter().for_each(|(path, _)| drop(entries.0.remove(path)));
        Ok(Removed::new(gone.len() as u64 - directories, directories))
    }

    fn rename(&mut self, from: &TreePath, to: &TreePath, replacement: Replacement) -> Result<()> {
        checks::check_not_root(Operation::Rename, from)?;
        checks::check_not_root(Operation::Rename, to)?;
        let mut entries = self.live.write();
        let kind = entries.find(Operation::Rename, from)?.kind;
        checks::check_not_into_itself(Operation::Rename, kind, from, to)?;
        if let Some(there) = entries.place(Operation::Rename, to)? {
            if replacement == Replacement::Refuse {
                return Err(Error::new(Operation::Rename, ErrorKind::AlreadyExists).with_path(to));
            }
            checks::check_replaceable(kind, there.kind, to)?;
            if from != to && entries.below(to).count() > 1 {
                return Err(Error::new(Operation::Rename, ErrorKind::NotEmpty).with_path(to));
            }
        }
        let moved: Vec<_> =
            entries.below(from).map(|(it, node)| (it.clone(), node.clone())).collect();
        let new = moved.iter().filter_map(|(it, _)| it.rebase(from, to));
        let new = new.collect::<Result<Vec<_>>>()?;
        moved.iter().for_each(|(it, _)| drop(entries.0.remove(it)));
        entries.0.extend(new.into_iter().zip(moved.into_iter().map(|(_, node)| node)));
        Ok(())
    }
}

impl Backend for MapBackend {
    fn replace_by(&mut self, plan: &ReplacePlan<'_>, first: DoneFirst<'_>) -> Result<Replaced> {
        let live: Arc<dyn Tree> = self.live.clone();
        let (after, replaced) = plan.apply(&live)?;
        let mut entries = Entries(BTreeMap::new());
        entries.read(&*after, TreePath::root())?;
        first()?;
        let mut live = self.live.write();
        for (path, node) in &mut entries.0 {
            // What is the same already keeps its time.
            if let Some(old) = live.0.get(path).filter(|old| old.is_same(node)) {
                node.changed = old.changed;
            }
        }
        *live = entries;
        Ok(replaced)
    }

    fn live(&self) -> Arc<dyn Tree> {
        self.live.clone()
    }
}

fn main() -> Result<()> {
    let files = Workspace::builder(MapBackend::default()).build();
    files.write("src/a.txt", "hello\n")?;
    assert_eq!(files.read("src/a.txt")?.content, "hello\n");
    assert_eq!(files.delete_all("src")?.directories, 1);
    Ok(())
}

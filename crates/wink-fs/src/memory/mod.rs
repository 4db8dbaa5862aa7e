//! The backend in memory.

mod build;
mod compare;
mod image;
mod node;
mod replace;
mod state;

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use parking_lot::RwLock;

use self::build::Builder;
pub(crate) use self::compare::compare;
use self::image::Image;
use self::node::{Body, Directory, File, Link, Node, Times};
use self::state::State;
use crate::clock::{Clock, SystemClock};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::capture::{Capture, Totals};
use crate::filesystem::checks;
use crate::filesystem::layer::Source;
use crate::filesystem::replace_plan::ReplacePlan;
use crate::filesystem::staged::Staged;
use crate::filesystem::{
    Backend, BackendKind, DoneFirst, Durability, Filesystem, Properties, Put, PutCondition,
    PutOptions, Recursion, Removed, Replaced, Replacement,
};
use crate::hash::ContentHash;
use crate::oplog::BeforeImage;
use crate::path::TreePath;
use crate::tree::content::Content;
use crate::tree::hash::TreeHash;
use crate::tree::scope::{Exclusions, Scope};
use crate::tree::{Entry, FileMode, Stat, Tree};

/// Keeps files in memory, as immutable nodes that captured states share.
///
/// Finding or changing an entry costs the depth of its path times the logarithm of the directories' sizes, regardless
/// of the number of files.
///
/// ```
/// use wink_fs::{ops, Backend, MemoryBackend, Tree, TreePath, WriteOptions};
///
/// let mut files = MemoryBackend::new();
/// let path = TreePath::parse("src/main.rs")?;
/// ops::write(&mut files, &path, "fn main() {}", &WriteOptions::default())?;
///
/// let before = files.capture(&Default::default())?.tree;
/// ops::write(&mut files, &path, "", &WriteOptions::default())?;
/// assert_eq!(before.open(&path)?.len(), 12);
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub struct MemoryBackend {
    live: Arc<Live>,
    clock: Arc<dyn Clock>,
    properties: Properties,
}

/// The current state, locked for one read or one change at a time.
struct Live(RwLock<State>);

impl MemoryBackend {
    /// Makes an empty filesystem.
    pub fn new() -> Self {
        Self::with_clock(Arc::new(SystemClock))
    }

    /// Makes an empty filesystem whose times come from `clock`.
    pub fn with_clock(clock: Arc<dyn Clock>) -> Self {
        let live = Arc::new(Live(RwLock::new(State::new(clock.now()))));
        Self { live, clock, properties: Properties::new(BackendKind::InMemory, "/") }
    }

    /// Makes a filesystem with the files of an immutable tree, such as a snapshot.
    ///
    /// A file whose hash the tree knows is not copied, but read when it is opened.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use wink_fs::{ops, Backend, Filesystem, MemoryBackend, Tree, TreePath, WriteOptions};
    ///
    /// let (mut files, path) = (MemoryBackend::new(), TreePath::parse("a.txt")?);
    /// ops::write(&mut files, &path, "hello", &WriteOptions::default())?;
    /// let state = files.capture(&Default::default())?.tree;
    ///
    /// let mut other = MemoryBackend::over(&state)?;
    /// ops::write(&mut other, &path, "changed", &WriteOptions::default())?;
    /// assert_eq!(files.open(&path)?.read_all().unwrap(), "hello");
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn over(tree: &Arc<dyn Tree>) -> Result<Self> {
        let backend = Self::new();
        let state = match State::of(&**tree) {
            Some(state) => state.clone(),
            None => {
                let excluded = &Exclusions::default();
                let now = backend.clock.now();
                let builder = Builder { target: &**tree, shared: Some(tree), excluded, now };
                State::with_root(Arc::new(builder.directory(&TreePath::root())?))
            }
        };
        *backend.live.0.write() = state;
        Ok(backend)
    }

    /// Changes the state as a whole or not at all.
    fn change<T>(&mut self, change: impl FnOnce(&mut State) -> Result<T>) -> Result<T> {
        change(&mut self.live.0.write())
    }
}

impl Live {
    fn now(&self) -> State {
        self.0.read().clone()
    }
}

impl Tree for Live {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        self.0.read().stat(path)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        self.0.read().list(path)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        self.0.read().open(path)
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        self.0.read().read_link(path)
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        self.0.read().known_hash(path)
    }

    fn known_tree_hash(&self, path: &TreePath) -> Option<TreeHash> {
        // It may have to be computed, and a writer must not wait for that.
        self.now().known_tree_hash(path)
    }
}

impl Tree for MemoryBackend {
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

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        self.live.known_hash(path)
    }

    fn known_tree_hash(&self, path: &TreePath) -> Option<TreeHash> {
        self.live.known_tree_hash(path)
    }
}

impl Filesystem for MemoryBackend {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn put(&mut self, path: &TreePath, staged: &mut Staged, options: &PutOptions) -> Result<Put> {
        let content = staged.content().read_all().map_err(|e| unreadable(path, e))?;
        let hash = staged.hash();
        let now = self.clock.now();
        self.change(|state| {
            let place = state.find_place(Operation::Write, path)?;
            let taken = place.as_ref().map_or(Totals::default(), Node::totals);
            let old = replaced_file(place, path, options.condition)?;
            let file = successor(old.as_deref(), content, hash, options.mode, now);
            state.set_over(path, Some(Node::File(Arc::new(file))), taken, now);
            Ok(Put::new(old.is_none(), Durability::Atomic))
        })
    }

    fn create_dir(&mut self, path: &TreePath) -> Result<()> {
        let now = self.clock.now();
        let node = Node::Directory(Arc::new(Directory::new(now)));
        self.change(|state| create(state, Operation::Mkdir, path, node, now))
    }

    fn symlink(&mut self, path: &TreePath, target: &[u8]) -> Result<()> {
        checks::check_target(path, target)?;
        let now = self.clock.now();
        let node = Node::Link(Arc::new(Link { target: target.into(), times: Times::new(now) }));
        self.change(|state| create(state, Operation::Symlink, path, node, now))
    }

    fn set_mode(&mut self, path: &TreePath, mode: FileMode) -> Result<()> {
        self.change(|state| {
            let mut node = state.find(Operation::SetMode, path)?;
            checks::check_file(Operation::SetMode, path, node.kind())?;
            if let Node::File(file) = &mut node {
                Arc::make_mut(file).mode = mode;
            }
            state.update(path, node);
            Ok(())
        })
    }

    fn remove(&mut self, path: &TreePath, recursion: Recursion) -> Result<Removed> {
        checks::check_not_root(Operation::Delete, path)?;
        let now = self.clock.now();
        self.change(|state| {
            let node = state.find(Operation::Delete, path)?;
            match recursion {
                Recursion::OnlyEmpty if node.has_entries() => {
                    return Err(Error::new(Operation::Delete, ErrorKind::NotEmpty).with_path(path));
                }
                Recursion::Unchanged(expected) if node.identity() != expected.0 => {
                    return Err(checks::not_expected(path));
                }
                _ => {}
            }
            state.set(path, None, now);
            let Totals { files, directories, .. } = node.totals();
            Ok(Removed::new(files, directories))
        })
    }

    fn rename(&mut self, from: &TreePath, to: &TreePath, replacement: Replacement) -> Result<()> {
        checks::check_not_root(Operation::Rename, from)?;
        checks::check_not_root(Operation::Rename, to)?;
        let now = self.clock.now();
        self.change(|state| {
            let node = state.find(Operation::Rename, from)?;
            checks::check_not_into_itself(Operation::Rename, node.kind(), from, to)?;
            let place = state.find_place(Operation::Rename, to)?;
            check_replacement(&node, place.as_ref(), from, to, replacement)?;
            state.set(from, None, now);
            state.set(to, Some(node), now);
            Ok(())
        })
    }
}

impl Backend for MemoryBackend {
    fn capture(&self, excluded: &Exclusions) -> Result<Capture> {
        let state = self.live.now();
        if excluded.is_empty() {
            let totals = state.totals();
            return Ok(Capture::new(Arc::new(state), totals));
        }
        let mut without = Self::with_clock(self.clock.clone());
        without.replace(&state, &Scope::everything().excluding(excluded.clone()))?;
        without.capture(&Exclusions::default())
    }

    fn check_replace(&self, plan: &ReplacePlan<'_>) -> Result<()> {
        replace::check(&self.live.now(), plan, self.clock.now())
    }

    fn replace_by(&mut self, plan: &ReplacePlan<'_>, first: DoneFirst<'_>) -> Result<Replaced> {
        // The new state is complete before `first` saves the snapshot: a target that cannot be read must not leave one.
        let (after, counts) = replace::replaced(&self.live.now(), plan, self.clock.now())?;
        first()?;
        *self.live.0.write() = after;
        Ok(counts)
    }

    fn install(&mut self, path: &TreePath, source: Source<'_>) -> Result<()> {
        let now = self.clock.now();
        let excluded = &Exclusions::default();
        let kind = source.tree.stat(source.at)?.kind;
        let builder = Builder { target: source.tree, shared: None, excluded, now };
        let node = builder.node(source.at, kind)?;
        self.change(|state| create(state, Operation::Replace, path, node, now))
    }

    fn before_image(&self, _: &Path) -> Result<Box<dyn BeforeImage>> {
        Ok(Box::new(Image::new(self.live.clone(), self.clock.now())))
    }

    fn replace(&mut self, target: &dyn Tree, scope: &Scope) -> Result<Replaced> {
        let state = self.live.now();
        let totals = state.totals();
        let before = Capture::new(Arc::new(state), totals);
        self.replace_by(&ReplacePlan::new(before, target, scope)?, &mut || Ok(None))
    }

    fn live(&self) -> Arc<dyn Tree> {
        self.live.clone()
    }
}

/// Returns an immutable copy of a tree; a state in memory is shared.
pub(crate) fn kept(tree: &dyn Tree) -> Result<Arc<dyn Tree>> {
    if let Some(state) = State::of(tree) {
        return Ok(Arc::new(state.clone()));
    }
    let mut copy = MemoryBackend::new();
    copy.replace(tree, &Scope::everything())?;
    Ok(Arc::new(copy.live.now()))
}

impl Default for MemoryBackend {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBackend").finish_non_exhaustive()
    }
}

fn unreadable(path: &TreePath, error: io::Error) -> Error {
    Error::system(Operation::Write, error).with_path(path)
}

/// Puts a node at a free path.
fn create(
    state: &mut State,
    operation: Operation,
    path: &TreePath,
    node: Node,
    now: SystemTime,
) -> Result<()> {
    if state.find_place(operation, path)?.is_some() {
        return Err(Error::new(operation, ErrorKind::AlreadyExists).with_path(path));
    }
    state.set(path, Some(node), now);
    Ok(())
}

/// Returns the file that new content may replace, after checking the condition.
fn replaced_file(
    place: Option<Node>,
    path: &TreePath,
    condition: PutCondition,
) -> Result<Option<Arc<File>>> {
    if place.is_some() && condition == PutCondition::Absent {
        return Err(Error::new(Operation::Write, ErrorKind::AlreadyExists).with_path(path));
    }
    if let Some(node) = &place {
        checks::check_file(Operation::Write, path, node.kind())?;
    }
    let file = place.and_then(Node::into_file);
    match condition {
        PutCondition::Unchanged(hash) if file.as_ref().map(|file| file.hash) != Some(hash) => {
            Err(checks::conflict(path, file.map(|file| file.hash)))
        }
        _ => Ok(file),
    }
}

fn successor(
    old: Option<&File>,
    content: Bytes,
    hash: ContentHash,
    mode: Option<FileMode>,
    now: SystemTime,
) -> File {
    let mode = mode.or(old.map(|old| old.mode)).unwrap_or_default();
    let created = old.map_or(now, |old| old.times.created);
    File { content: Body::Bytes(content), hash, mode, times: Times { created, modified: now } }
}

fn check_replacement(
    moved: &Node,
    place: Option<&Node>,
    from: &TreePath,
    to: &TreePath,
    replacement: Replacement,
) -> Result<()> {
    let Some(there) = place else { return Ok(()) };
    if replacement == Replacement::Refuse {
        return Err(Error::new(Operation::Rename, ErrorKind::AlreadyExists).with_path(to));
    }
    checks::check_replaceable(moved.kind(), there.kind(), to)?;
    if there.has_entries() && from != to {
        return Err(Error::new(Operation::Rename, ErrorKind::NotEmpty).with_path(to));
    }
    Ok(())
}

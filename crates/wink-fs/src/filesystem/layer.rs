//! Decorators: one piece of code that forwards every call, and small layers that look at them.

use std::any::Any;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::capture::Capture;
use crate::filesystem::replace_plan::ReplacePlan;
use crate::filesystem::staged::{Staged, Staging};
use crate::filesystem::{
    Backend, DoneFirst, Filesystem, Properties, Put, PutOptions, Recursion, Removed, Replaced,
    Replacement,
};
use crate::hash::ContentHash;
use crate::oplog::{BeforeImage, KeptEntry};
use crate::path::TreePath;
use crate::tree::content::Content;
use crate::tree::hash::TreeHash;
use crate::tree::scope::{Exclusions, Scope};
use crate::tree::{Entry, FileMode, KnownEntry, Stat, Tree};

/// Describes one call on its way to a backend.
///
/// ```
/// use wink_fs::{Call, TreePath};
///
/// let path = TreePath::parse("src")?;
/// assert!(Call::CreateDir { path: &path }.is_change());
/// assert!(!Call::List { path: &path }.is_change());
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the variants are the methods of the traits, their fields the arguments"
)]
pub enum Call<'a> {
    Stat { path: &'a TreePath },
    List { path: &'a TreePath },
    Open { path: &'a TreePath },
    ReadLink { path: &'a TreePath },
    KnownHash { path: &'a TreePath },
    Stage,
    Put { path: &'a TreePath, staged: &'a Staged, options: &'a PutOptions },
    CreateDir { path: &'a TreePath },
    Symlink { path: &'a TreePath, target: &'a [u8] },
    SetMode { path: &'a TreePath, mode: FileMode },
    Remove { path: &'a TreePath, recursion: Recursion },
    Rename { from: &'a TreePath, to: &'a TreePath, replacement: Replacement },
    Install { path: &'a TreePath, source: Source<'a> },
    Replace { scope: &'a Scope, plan: Option<&'a ReplacePlan<'a>> },
}

/// Names an entry of another tree that is brought in.
///
/// ```
/// use wink_fs::{MemoryBackend, Source, TreePath};
///
/// let (files, at) = (MemoryBackend::new(), TreePath::parse("src")?);
/// assert_eq!(format!("{:?}", Source { tree: &files, at: &at }), r#"Source("src")"#);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The tree that has it.
    pub tree: &'a dyn Tree,
    /// Its path there.
    pub at: &'a TreePath,
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Source").field(&self.at.to_string()).finish()
    }
}

impl<'a> Call<'a> {
    /// Returns whether the call is there to change something.
    pub fn is_change(&self) -> bool {
        !matches!(
            self,
            Self::Stat { .. }
                | Self::List { .. }
                | Self::Open { .. }
                | Self::ReadLink { .. }
                | Self::KnownHash { .. }
        )
    }

    /// Returns the operation the call is a part of, for errors.
    pub fn operation(&self) -> Operation {
        match self {
            Self::Stat { .. } | Self::KnownHash { .. } => Operation::Stat,
            Self::List { .. } => Operation::List,
            Self::Open { .. } | Self::ReadLink { .. } => Operation::Read,
            Self::Stage | Self::Put { .. } => Operation::Write,
            Self::CreateDir { .. } => Operation::Mkdir,
            Self::Symlink { .. } => Operation::Symlink,
            Self::SetMode { .. } => Operation::SetMode,
            Self::Remove { .. } => Operation::Delete,
            Self::Rename { .. } => Operation::Rename,
            Self::Install { .. } | Self::Replace { .. } => Operation::Replace,
        }
    }

    /// Returns the path the call is about; of a rename the one it comes from.
    pub fn path(&self) -> Option<&'a TreePath> {
        match self {
            Self::Stage | Self::Replace { .. } => None,
            Self::Rename { from, .. } => Some(from),
            Self::Stat { path }
            | Self::List { path }
            | Self::Open { path }
            | Self::ReadLink { path }
            | Self::KnownHash { path }
            | Self::Put { path, .. }
            | Self::CreateDir { path }
            | Self::Symlink { path, .. }
            | Self::SetMode { path, .. }
            | Self::Remove { path, .. }
            | Self::Install { path, .. } => Some(path),
        }
    }

    /// Makes the error of a layer that refuses the call: it names the operation and the path.
    pub fn refused(&self, kind: ErrorKind) -> Error {
        let error = Error::new(self.operation(), kind);
        match self.path() {
            Some(path) => error.with_path(path),
            None => error,
        }
    }

    /// Returns the path at which the call makes an entry, if it does.
    pub fn created_path(&self) -> Option<&'a TreePath> {
        match self {
            Self::Put { path, .. } | Self::CreateDir { path } | Self::Symlink { path, .. } => {
                Some(path)
            }
            Self::Rename { to, .. } => Some(to),
            _ => None,
        }
    }
}

/// Looks at the calls that pass through a [`Layered`] backend.
///
/// ```
/// use wink_fs::{Call, ErrorKind, Layer, Layered, MemoryBackend, Result, Tree, TreePath};
///
/// /// Refuses every listing.
/// struct NoListing;
///
/// impl Layer for NoListing {
///     fn before(&self, _: &dyn Tree, call: &Call<'_>) -> Result<()> {
///         match call {
///             Call::List { .. } => Err(call.refused(ErrorKind::PermissionDenied)),
///             _ => Ok(()),
///         }
///     }
/// }
///
/// let files = Layered::new(MemoryBackend::new(), NoListing);
/// assert!(files.list(&TreePath::root()).is_err());
/// ```
pub trait Layer: Send + Sync + 'static {
    /// Runs before a call; an error refuses it. `tree` is what lies below, to look at.
    fn before(&self, tree: &dyn Tree, call: &Call<'_>) -> Result<()> {
        let _ = (tree, call);
        Ok(())
    }

    /// Runs after a call that was made and went well; a removal says what it took away.
    fn after(&self, call: &Call<'_>, removed: Removed) {
        let _ = (call, removed);
    }

    /// Returns what the decorated backend says of itself.
    fn properties(&self, inner: &Properties) -> Properties {
        inner.clone()
    }
}

/// Passes every call through a [`Layer`] to the backend below it.
///
/// ```
/// use wink_fs::{Filesystem, Guard, Layered, Limits, MemoryBackend};
///
/// let files = Layered::new(MemoryBackend::new(), Guard::new(Limits::default()).read_only(true));
/// assert!(files.properties().read_only);
/// ```
pub struct Layered<L> {
    inner: Box<dyn Backend>,
    layer: Arc<L>,
    properties: Properties,
}

impl<L: Layer> Layered<L> {
    /// Puts a layer over a backend.
    pub fn new(inner: impl Backend + 'static, layer: L) -> Self {
        Self::over(Box::new(inner), Arc::new(layer))
    }

    /// Puts a layer over a backend; the caller keeps a handle to the layer.
    pub fn over(inner: Box<dyn Backend>, layer: Arc<L>) -> Self {
        let properties = layer.properties(inner.properties());
        Self { inner, layer, properties }
    }

    /// Returns the layer.
    pub fn layer(&self) -> &L {
        &self.layer
    }

    /// Returns the backend below, around the layer.
    pub fn inner_mut(&mut self) -> &mut dyn Backend {
        &mut *self.inner
    }

    fn change<T>(
        &mut self,
        call: &Call<'_>,
        change: impl FnOnce(&mut dyn Backend) -> Result<T>,
    ) -> Result<T> {
        self.layer.before(&*self.inner, call)?;
        let done = change(&mut *self.inner)?;
        self.layer.after(call, Removed::default());
        Ok(done)
    }
}

/// Looks at a tree through a layer.
fn look<L: Layer, T>(
    tree: &dyn Tree,
    layer: &L,
    call: &Call<'_>,
    look: impl FnOnce(&dyn Tree) -> Result<T>,
) -> Result<T> {
    layer.before(tree, call)?;
    let found = look(tree)?;
    layer.after(call, Removed::default());
    Ok(found)
}

/// The same layer over a backend's live view, which can be read while another thread writes.
struct LayeredView<L> {
    inner: Arc<dyn Tree>,
    layer: Arc<L>,
}

/// Writes the methods of `Tree` once for both decorators.
macro_rules! layered_tree {
    ($type:ident) => {
        #[deny(clippy::missing_trait_methods)]
        impl<L: Layer> Tree for $type<L> {
            fn stat(&self, path: &TreePath) -> Result<Stat> {
                look(&*self.inner, &*self.layer, &Call::Stat { path }, |tree| tree.stat(path))
            }

            fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
                look(&*self.inner, &*self.layer, &Call::List { path }, |tree| tree.list(path))
            }

            fn list_known(&self, path: &TreePath) -> Result<Vec<KnownEntry>> {
                look(&*self.inner, &*self.layer, &Call::List { path }, |tree| tree.list_known(path))
            }

            fn open(&self, path: &TreePath) -> Result<Content> {
                look(&*self.inner, &*self.layer, &Call::Open { path }, |tree| tree.open(path))
            }

            fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
                look(&*self.inner, &*self.layer, &Call::ReadLink { path }, |tree| {
                    tree.read_link(path)
                })
            }

            fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
                look(&*self.inner, &*self.layer, &Call::KnownHash { path }, |tree| {
                    Ok(tree.known_hash(path))
                })
                .ok()
                .flatten()
            }

            fn known_tree_hash(&self, path: &TreePath) -> Option<TreeHash> {
                look(&*self.inner, &*self.layer, &Call::KnownHash { path }, |tree| {
                    Ok(tree.known_tree_hash(path))
                })
                .ok()
                .flatten()
            }

            /// None: a backend that recognised its own tree would go around the layer.
            fn own_state(&self) -> Option<&dyn Any> {
                None
            }
        }
    };
}

layered_tree!(Layered);
layered_tree!(LayeredView);

#[deny(clippy::missing_trait_methods)]
impl<L: Layer> Filesystem for Layered<L> {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn stage(&self) -> Result<Staging> {
        self.layer.before(&*self.inner, &Call::Stage)?;
        self.inner.stage()
    }

    fn put(&mut self, path: &TreePath, staged: &mut Staged, options: &PutOptions) -> Result<Put> {
        let call = Call::Put { path, staged, options };
        self.layer.before(&*self.inner, &call)?;
        let put = self.inner.put(path, staged, options)?;
        self.layer.after(&Call::Put { path, staged, options }, Removed::default());
        Ok(put)
    }

    fn create_dir(&mut self, path: &TreePath) -> Result<()> {
        self.change(&Call::CreateDir { path }, |inner| inner.create_dir(path))
    }

    fn symlink(&mut self, path: &TreePath, target: &[u8]) -> Result<()> {
        self.change(&Call::Symlink { path, target }, |inner| inner.symlink(path, target))
    }

    fn set_mode(&mut self, path: &TreePath, mode: FileMode) -> Result<()> {
        self.change(&Call::SetMode { path, mode }, |inner| inner.set_mode(path, mode))
    }

    fn remove(&mut self, path: &TreePath, recursion: Recursion) -> Result<Removed> {
        let call = Call::Remove { path, recursion };
        self.layer.before(&*self.inner, &call)?;
        let removed = self.inner.remove(path, recursion)?;
        self.layer.after(&call, removed);
        Ok(removed)
    }

    fn rename(&mut self, from: &TreePath, to: &TreePath, replacement: Replacement) -> Result<()> {
        let call = Call::Rename { from, to, replacement };
        self.change(&call, |inner| inner.rename(from, to, replacement))
    }
}

#[deny(clippy::missing_trait_methods)]
impl<L: Layer> Backend for Layered<L> {
    fn replace(&mut self, target: &dyn Tree, scope: &Scope) -> Result<Replaced> {
        let call = Call::Replace { scope, plan: None };
        self.change(&call, |inner| inner.replace(target, scope))
    }

    fn check_replace(&self, plan: &ReplacePlan<'_>) -> Result<()> {
        self.inner.check_replace(plan)
    }

    fn replace_by(&mut self, plan: &ReplacePlan<'_>, first: DoneFirst<'_>) -> Result<Replaced> {
        let call = Call::Replace { scope: plan.scope(), plan: Some(plan) };
        self.change(&call, |inner| inner.replace_by(plan, first))
    }

    fn capture(&self, excluded: &Exclusions) -> Result<Capture> {
        self.inner.capture(excluded)
    }

    fn install(&mut self, path: &TreePath, source: Source<'_>) -> Result<()> {
        self.change(&Call::Install { path, source }, |inner| inner.install(path, source))
    }

    fn give_back(&mut self, path: &TreePath, kept: &KeptEntry) -> Result<bool> {
        self.inner.give_back(path, kept)
    }

    fn is_unfinished(&self) -> bool {
        self.inner.is_unfinished()
    }

    fn learn(&mut self, captured: &dyn Tree, same: &dyn Tree) {
        self.inner.learn(captured, same);
    }

    fn before_image(&self, aside: &Path) -> Result<Box<dyn BeforeImage>> {
        self.inner.before_image(aside)
    }

    fn live(&self) -> Arc<dyn Tree> {
        Arc::new(LayeredView { inner: self.inner.live(), layer: self.layer.clone() })
    }

    fn directory(&self) -> Option<PathBuf> {
        self.inner.directory()
    }
}

impl<L> fmt::Debug for Layered<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layered").field("properties", &self.properties).finish_non_exhaustive()
    }
}

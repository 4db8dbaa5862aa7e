//! Memory behind the most awkward reads and writes that a system may make.

use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use wink_fs::{
    Backend, BeforeImage, Capture, Content, ContentHash, DoneFirst, Entry, Exclusions, FileMode,
    Filesystem, MemoryBackend, Properties, Put, PutOptions, ReadAt, Recursion, Removed,
    ReplacePlan, Replaced, Replacement, Result, Scope, Source, Staged, StagedBody, Staging,
    StagingSink, Stat, Tree, TreeHash, TreePath,
};

/// The most that one read or write takes: a prime, so that no line or buffer ends with it.
const MOST: usize = 997;

/// Keeps files in memory, but reads and writes only a few bytes at a time.
#[derive(Default)]
pub(crate) struct Short(MemoryBackend);

/// Content that is not in memory, as far as anybody can tell.
struct ShortContent(Bytes);

impl ReadAt for ShortContent {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.0.len());
        let count = buffer.len().min(MOST).min(self.0.len() - start);
        buffer[..count].copy_from_slice(&self.0[start..start + count]);
        Ok(count)
    }
}

fn short(content: &Content) -> Content {
    let bytes = content.shared().cloned().unwrap_or_default();
    let len = bytes.len() as u64;
    Content::positional(Arc::new(ShortContent(bytes)), len)
}

/// Staged content that no other backend knows.
struct ShortBody(Bytes);

impl StagedBody for ShortBody {
    fn content(&self) -> Content {
        short(&self.0.clone().into())
    }
}

#[derive(Default)]
struct ShortSink(Vec<u8>);

impl Write for ShortSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(&bytes[..bytes.len().min(MOST)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl StagingSink for ShortSink {
    fn finish(self: Box<Self>) -> io::Result<Box<dyn StagedBody>> {
        Ok(Box::new(ShortBody(self.0.into())))
    }
}

/// The live view of [`Short`].
struct ShortView(Arc<dyn Tree>);

/// Writes the methods of `Tree` once for both; no hash is known without reading.
macro_rules! short_tree {
    ($type:ident) => {
        impl Tree for $type {
            fn stat(&self, path: &TreePath) -> Result<Stat> {
                self.0.stat(path)
            }

            fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
                self.0.list(path)
            }

            fn open(&self, path: &TreePath) -> Result<Content> {
                Ok(short(&self.0.open(path)?))
            }

            fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
                self.0.read_link(path)
            }

            fn known_hash(&self, _: &TreePath) -> Option<ContentHash> {
                None
            }

            fn known_tree_hash(&self, _: &TreePath) -> Option<TreeHash> {
                None
            }
        }
    };
}

short_tree!(Short);
short_tree!(ShortView);

impl Filesystem for Short {
    fn properties(&self) -> &Properties {
        self.0.properties()
    }

    fn stage(&self) -> Result<Staging> {
        Ok(Staging::new(Box::new(ShortSink::default())))
    }

    fn put(&mut self, path: &TreePath, staged: &mut Staged, options: &PutOptions) -> Result<Put> {
        self.0.put(path, staged, options)
    }

    fn create_dir(&mut self, path: &TreePath) -> Result<()> {
        self.0.create_dir(path)
    }

    fn symlink(&mut self, path: &TreePath, target: &[u8]) -> Result<()> {
        self.0.symlink(path, target)
    }

    fn set_mode(&mut self, path: &TreePath, mode: FileMode) -> Result<()> {
        self.0.set_mode(path, mode)
    }

    fn remove(&mut self, path: &TreePath, recursion: Recursion) -> Result<Removed> {
        self.0.remove(path, recursion)
    }

    fn rename(&mut self, from: &TreePath, to: &TreePath, replacement: Replacement) -> Result<()> {
        self.0.rename(from, to, replacement)
    }
}

impl Backend for Short {
    fn check_replace(&self, plan: &ReplacePlan<'_>) -> Result<()> {
        self.0.check_replace(plan)
    }

    fn replace_by(&mut self, plan: &ReplacePlan<'_>, first: DoneFirst<'_>) -> Result<Replaced> {
        self.0.replace_by(plan, first)
    }

    fn capture(&self, excluded: &Exclusions) -> Result<Capture> {
        self.0.capture(excluded)
    }

    fn install(&mut self, path: &TreePath, source: Source<'_>) -> Result<()> {
        self.0.install(path, source)
    }

    fn learn(&mut self, captured: &dyn Tree, same: &dyn Tree) {
        self.0.learn(captured, same);
    }

    fn before_image(&self, aside: &std::path::Path) -> Result<Box<dyn BeforeImage>> {
        self.0.before_image(aside)
    }

    fn replace(&mut self, target: &dyn Tree, scope: &Scope) -> Result<Replaced> {
        self.0.replace(target, scope)
    }

    fn live(&self) -> Arc<dyn Tree> {
        Arc::new(ShortView(self.0.live()))
    }
}

//! STAND-IN, to be deleted: `HostBackend` over plain `std::fs` until `wink_fs::HostBackend` lands.
//!
//! Then `use wink_fs::HostBackend` takes its place in `main.rs`. It confines nothing and does only what
//! the cases call.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wink_fs::{
    Backend, Content, Durability, Entry, Error, ErrorKind, FileMode, Filesystem, Operation,
    Properties, Put, PutOptions, RESERVED_NAME, Recursion, Removed, Replacement, Result, Staged,
    StagedBody, Staging, StagingSink, Stat, Tree, TreePath,
};

pub(crate) struct HostBackend {
    root: Root,
    properties: Properties,
}

#[derive(Clone)]
struct Root(PathBuf);

impl HostBackend {
    pub(crate) fn open_ambient(path: impl AsRef<Path>) -> Result<Self> {
        let root = path.as_ref().to_path_buf();
        fs::create_dir_all(root.join(RESERVED_NAME)).map_err(failed(Operation::Open))?;
        let properties = Properties::new("host", root.to_string_lossy());
        Ok(Self { root: Root(root), properties })
    }
}

impl Root {
    fn at(&self, path: &TreePath) -> PathBuf {
        self.0.join(std::ffi::OsStr::from_bytes(path.as_bytes()))
    }

    fn stage(&self) -> io::Result<StagedFile> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = NEXT.fetch_add(1, Ordering::Relaxed).to_string();
        let path = self.0.join(RESERVED_NAME).join(name);
        Ok(StagedFile { file: Arc::new(File::create_new(&path)?), path })
    }
}

fn failed(operation: Operation) -> impl Fn(io::Error) -> Error {
    move |error| Error::system(operation, error)
}

fn unsupported<T>(operation: Operation) -> Result<T> {
    Err(Error::new(operation, ErrorKind::Unsupported))
}

impl Tree for Root {
    fn stat(&self, _: &TreePath) -> Result<Stat> {
        unsupported(Operation::Stat)
    }

    fn list(&self, _: &TreePath) -> Result<Vec<Entry>> {
        unsupported(Operation::List)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        let file = File::open(self.at(path)).map_err(failed(Operation::Read))?;
        let len = file.metadata().map_err(failed(Operation::Read))?.len();
        Ok(Content::positional(Arc::new(file), len))
    }

    fn read_link(&self, _: &TreePath) -> Result<Vec<u8>> {
        unsupported(Operation::Read)
    }
}

impl Tree for HostBackend {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        self.root.stat(path)
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        self.root.list(path)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        self.root.open(path)
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        self.root.read_link(path)
    }
}

impl Filesystem for HostBackend {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn stage(&self) -> Result<Staging> {
        let staged = self.root.stage().map_err(failed(Operation::Write))?;
        Ok(Staging::new(Box::new(staged)))
    }

    fn put(&mut self, path: &TreePath, staged: &mut Staged, _: &PutOptions) -> Result<Put> {
        let target = self.root.at(path);
        let put = |from: &Path| fs::rename(from, &target).map_err(failed(Operation::Write));
        match staged.body_mut::<StagedFile>() {
            Some(body) => put(&body.path)?,
            None => {
                let mut copy = self.root.stage().map_err(failed(Operation::Write))?;
                let bytes = staged.content().read_all().map_err(failed(Operation::Write))?;
                copy.write_all(&bytes).map_err(failed(Operation::Write))?;
                put(&copy.path)?;
            }
        }
        Ok(Put::new(true, Durability::Atomic))
    }

    fn create_dir(&mut self, _: &TreePath) -> Result<()> {
        unsupported(Operation::Mkdir)
    }

    fn symlink(&mut self, _: &TreePath, _: &[u8]) -> Result<()> {
        unsupported(Operation::Symlink)
    }

    fn set_mode(&mut self, _: &TreePath, _: FileMode) -> Result<()> {
        unsupported(Operation::SetMode)
    }

    fn remove(&mut self, _: &TreePath, _: Recursion) -> Result<Removed> {
        unsupported(Operation::Delete)
    }

    fn rename(&mut self, _: &TreePath, _: &TreePath, _: Replacement) -> Result<()> {
        unsupported(Operation::Rename)
    }
}

impl Backend for HostBackend {
    fn live(&self) -> Arc<dyn Tree> {
        Arc::new(self.root.clone())
    }
}

struct StagedFile {
    file: Arc<File>,
    path: PathBuf,
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.file).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl StagingSink for StagedFile {
    fn finish(self: Box<Self>) -> io::Result<Box<dyn StagedBody>> {
        Ok(self)
    }
}

impl StagedBody for StagedFile {
    fn content(&self) -> Content {
        let len = self.file.metadata().map_or(0, |metadata| metadata.len());
        Content::positional(self.file.clone(), len)
    }
}

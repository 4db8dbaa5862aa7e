//! A session together with its workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;
use wink_agent::file_index::Follower;
use wink_agent::session::{Session, VirtualFileSystem};
use wink_agent::{SessionFiles, checkpoint};
use wink_fs::{
    HostBackend, HostMount, MemoryBackend, Result, Store, Workspace, WorkspaceBuilder, mount,
};

use crate::checkpoint::scene::{Backend, on_each_backend};

on_each_backend!(
    the_workspace_is_made_when_it_is_first_used,
    a_reset_gives_a_fresh_workspace_with_the_mounts_replayed,
    files_listing_and_session_go_back_together,
    a_dump_has_the_listing_of_its_files,
    neither_holds_the_other_for_ever,
    a_workspace_without_users_is_dropped,
);

struct Owned {
    session: Session,
    files: SessionFiles,
    made: Arc<AtomicUsize>,
    directory: TempDir,
}

impl Owned {
    fn new(backend: &Backend) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let outside = Workspace::host(directory.path()).unwrap();
        outside.write("project/guide.md", "one").unwrap();
        let (session, made) = (Session::new(), Arc::new(AtomicUsize::new(0)));
        let (count, place) = (made.clone(), directory.path().to_path_buf());
        let in_memory = matches!(backend, Backend::Memory);
        let files = SessionFiles::new(&session, "vfs", move || {
            let number = count.fetch_add(1, Ordering::Relaxed);
            if in_memory { mounted_memory(&place) } else { mounted_host(&place, number) }
        });
        Self { session, files, made, directory }
    }

    fn versions(&self) -> Vec<(String, u64)> {
        self.files.update().unwrap();
        let listing = self.session.query::<VirtualFileSystem>().unwrap().latest().unwrap();
        listing.files().map(|file| (file.path.to_string(), file.version)).collect()
    }

    fn write(&self, path: &str, content: &str) {
        self.files.workspace().unwrap().write(path, content).unwrap();
        self.files.update().unwrap();
    }

    fn read(&self, path: &str) -> String {
        self.files.workspace().unwrap().read(path).unwrap().content
    }
}

fn project(place: &Path) -> ([HostMount; 1], [PathBuf; 1]) {
    ([HostMount::new("project")], [place.to_path_buf()])
}

fn mounted_memory(place: &Path) -> Result<WorkspaceBuilder> {
    let mut backend = MemoryBackend::new();
    let (mounts, allowed) = project(place);
    mount(&mut backend, &mounts, &allowed)?;
    Ok(Workspace::builder(backend))
}

fn mounted_host(place: &Path, number: usize) -> Result<WorkspaceBuilder> {
    let root = format!("root {number}");
    Workspace::host(place)?.mkdir(&root)?;
    let mut backend = HostBackend::open_ambient(place.join(root))?;
    let (mounts, allowed) = project(place);
    mount(&mut backend, &mounts, &allowed)?;
    let store = Store::create_ambient(place.join(format!("store {number}")))?;
    Ok(Workspace::builder(backend).store(store))
}

fn listed(files: &[(&str, u64)]) -> Vec<(String, u64)> {
    files.iter().map(|(path, version)| ((*path).to_owned(), *version)).collect()
}

fn the_workspace_is_made_when_it_is_first_used(backend: &Backend) {
    let owned = Owned::new(backend);
    assert_eq!(owned.made.load(Ordering::Relaxed), 0);
    assert_eq!(owned.versions(), listed(&[("project/guide.md", 1)]));
    owned.write("a.txt", "hello");
    assert_eq!(owned.made.load(Ordering::Relaxed), 1);
}

fn a_reset_gives_a_fresh_workspace_with_the_mounts_replayed(backend: &Backend) {
    let owned = Owned::new(backend);
    owned.write("a.txt", "hello");
    owned.write("project/guide.md", "changed by the agent");
    let old = owned.files.workspace().unwrap();
    let outside = Workspace::host(owned.directory.path()).unwrap();
    outside.write("project/guide.md", "two").unwrap();

    assert!(owned.session.reset().failures.is_empty());
    assert_eq!(owned.made.load(Ordering::Relaxed), 1, "made when it is used");
    assert_eq!(owned.read("project/guide.md"), "two");
    assert_eq!(owned.versions(), listed(&[("project/guide.md", 1)]));
    assert!(old.is_file("a.txt"), "a handle to the old one still works");
}

fn files_listing_and_session_go_back_together(backend: &Backend) {
    let owned = Owned::new(backend);
    owned.write("a.txt", "1");
    owned.files.take("one").unwrap();
    owned.write("a.txt", "2");
    owned.write("b.txt", "2");
    let back = owned.files.go_back("one").unwrap();
    assert_eq!((back.files.written, back.files.removed), (1, 1));
    assert_eq!(owned.versions(), listed(&[("a.txt", 1), ("project/guide.md", 1)]));
    assert_eq!(owned.read("a.txt"), "1");
}

fn a_dump_has_the_listing_of_its_files(backend: &Backend) {
    let owned = Owned::new(backend);
    owned.files.workspace().unwrap().write("a.txt", "not told yet").unwrap();
    let dumped = owned.files.dump(owned.directory.path()).unwrap();
    let elsewhere = Workspace::memory();
    let resumed = checkpoint::resume(&dumped.session, &elsewhere).unwrap();
    let listing = resumed.query::<VirtualFileSystem>().unwrap().latest().unwrap();
    let known: Vec<_> = listing.files().map(|file| file.path.to_string()).collect();
    assert_eq!(known, ["a.txt", "project/guide.md"]);
    assert!(known.iter().all(|path| elsewhere.is_file(path)));
}

fn neither_holds_the_other_for_ever(backend: &Backend) {
    let held = Arc::new(());
    let owned = Owned::new(backend);
    owned.write("a.txt", "hello");
    let inside = held.clone();
    owned.session.subscribe(move |_: &u8| assert_eq!(*inside, ())).forever();
    drop(owned);
    assert_eq!(Arc::strong_count(&held), 1);
}

/// Once, a workspace that was followed held itself by its observer.
fn a_workspace_without_users_is_dropped(backend: &Backend) {
    let (held, session, directory) = (Arc::new(()), Session::new(), tempfile::tempdir().unwrap());
    let (inside, builder) = (held.clone(), backend.builder(&directory));
    let builder = builder.observe(move |_| assert_eq!(*inside, ()));
    let (files, follower) = Follower::begin(&session, builder).unwrap();
    files.write("a.txt", "hello").unwrap();
    follower.update().unwrap();
    drop((files, follower));
    assert_eq!(Arc::strong_count(&held), 1);
}

//! A session with a workspace.

use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use wink_agent::session::{Session, Slice, reducers};
use wink_fs::{Event, MemoryBackend, Retention, Store, Workspace, WorkspaceBuilder};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Turn(pub(crate) u64);

impl Slice for Turn {
    const NAME: &'static str = "turn";
}

/// Makes tests of functions, one on each backend.
macro_rules! on_each_backend {
    ($($name:ident),* $(,)?) => {
        mod memory {
            $(#[test] fn $name() { super::$name(&crate::checkpoint::scene::Backend::Memory) })*
        }
        mod host {
            $(#[test] fn $name() { super::$name(&crate::checkpoint::scene::Backend::Host) })*
        }
    };
}
pub(crate) use on_each_backend;

#[derive(Clone, Copy)]
pub(crate) enum Backend {
    Memory,
    Host,
}

impl Backend {
    /// Returns the backend that this one is not.
    pub(crate) fn other(&self) -> Self {
        match self {
            Self::Memory => Self::Host,
            Self::Host => Self::Memory,
        }
    }

    pub(crate) fn scene(&self) -> Scene {
        self.scene_with(|_, builder| builder)
    }

    /// Makes a scene whose workspace knows the session.
    pub(crate) fn scene_with(
        &self,
        more: impl FnOnce(Session, WorkspaceBuilder) -> WorkspaceBuilder,
    ) -> Scene {
        let session = Session::new();
        session.register(reducers::append_all::<Turn>).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let files = more(session.clone(), self.builder(&directory)).build();
        Scene { session, files, directory }
    }

    pub(crate) fn builder(&self, directory: &TempDir) -> WorkspaceBuilder {
        match self {
            Self::Memory => Workspace::builder(MemoryBackend::new()),
            Self::Host => {
                let (root, store) = (directory.path().join("root"), directory.path().join("store"));
                Workspace::host(directory.path()).unwrap().mkdir("root").unwrap();
                Workspace::host_builder(root, Store::create_ambient(store).unwrap()).unwrap()
            }
        }
    }
}

pub(crate) struct Scene {
    pub(crate) session: Session,
    pub(crate) files: Workspace,
    pub(crate) directory: TempDir,
}

impl Scene {
    /// Makes the files and the session those of a turn.
    pub(crate) fn work(&self, turn: u64) {
        self.files.write("code.py", &format!("v{turn}")).unwrap();
        self.session.dispatch(Turn(turn)).unwrap();
    }

    /// Returns the turn that the files are of, and those that the session knows.
    pub(crate) fn now(&self) -> (String, Vec<u64>) {
        let turns = self.session.query::<Turn>().unwrap();
        (self.files.read("code.py").unwrap().content, turns.all().map(|turn| turn.0).collect())
    }
}

/// Says what a scene is like after some turns.
pub(crate) fn after(turns: impl IntoIterator<Item = u64>) -> (String, Vec<u64>) {
    let turns: Vec<_> = turns.into_iter().collect();
    (format!("v{}", turns.last().unwrap()), turns)
}

/// Has a session forget a snapshot in the moment in which its files have gone back.
pub(crate) fn forget_when_restored(
    tag: &'static str,
) -> impl FnOnce(Session, WorkspaceBuilder) -> WorkspaceBuilder {
    move |session, builder| {
        builder.observe(move |event| {
            if matches!(event, Event::Restored { .. }) {
                let _ = session.forget_snapshot(tag);
            }
        })
    }
}

/// Keeps only the newest snapshot of those that nothing else keeps.
pub(crate) fn keep_one(_: Session, builder: WorkspaceBuilder) -> WorkspaceBuilder {
    builder.retention(Retention::default().max_count(1))
}

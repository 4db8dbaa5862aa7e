//! What a workspace tells comes to the subscribers of its session.

use std::sync::{Arc, Mutex};

use serde_json::json;
use wink_agent::session::{Session, Subscription, VirtualFileSystem};
use wink_agent::{SessionFiles, ToolContext, call};
use wink_fs::{Error, ErrorKind, Event, Operation, TreePath, WriteOptions, ops};

use crate::checkpoint::scene::{Backend, on_each_backend};

on_each_backend!(
    writes_removals_snapshots_and_restores_are_told,
    a_call_that_failed_is_told_with_what_took_it_back,
    a_subscriber_may_call_tools_and_finds_the_listing_up_to_date,
);

/// A session with files and what was told of them.
struct Told {
    session: Session,
    files: SessionFiles,
    told: Arc<Mutex<Vec<String>>>,
    _subscription: Subscription,
}

impl Told {
    fn new(backend: &Backend) -> Self {
        let (session, directory) = (Session::new(), tempfile::tempdir().unwrap());
        let backend = *backend;
        let files = SessionFiles::new(&session, "vfs", move || Ok(backend.builder(&directory)));
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = told.clone();
        let subscription = session.subscribe(move |event: &Event| {
            let name = format!("{event:?}");
            sink.lock().unwrap().push(name.split([' ', '(']).next().unwrap().to_owned());
        });
        Self { session, files, told, _subscription: subscription }
    }

    fn context(&self) -> ToolContext {
        self.files.context().unwrap()
    }

    /// Returns the names of the events since the last time.
    fn names(&self) -> Vec<String> {
        std::mem::take(&mut self.told.lock().unwrap())
    }
}

fn writes_removals_snapshots_and_restores_are_told(backend: &Backend) {
    let scene = Told::new(backend);
    assert!(call(&scene.context(), "write_file", json!({"path": "a", "content": "1"})).ok());
    assert_eq!(scene.names(), ["FileWritten"]);
    scene.files.take("one").unwrap();
    assert_eq!(scene.names(), ["SnapshotTaken"]);
    assert!(call(&scene.context(), "rm", json!({"path": "a"})).ok());
    assert_eq!(scene.names(), ["FileDeleted"]);
    scene.files.go_back("one").unwrap();
    assert_eq!(scene.names().last().unwrap(), "Restored");
}

fn a_call_that_failed_is_told_with_what_took_it_back(backend: &Backend) {
    let scene = Told::new(backend);
    let (files, path) = (scene.files.workspace().unwrap(), TreePath::parse("a").unwrap());
    let failed = files.as_agent("fail", |fs| {
        ops::write(fs, &path, "1", &WriteOptions::default())?;
        Err::<(), _>(Error::new(Operation::Write, ErrorKind::Cancelled))
    });
    assert!(failed.is_err());
    assert_eq!(scene.names(), [""; 0], "no observer is told before it is settled");
    scene.files.update().unwrap();
    assert_eq!(scene.names(), ["FileWritten", "Replaced"]);
}

fn a_subscriber_may_call_tools_and_finds_the_listing_up_to_date(backend: &Backend) {
    let scene = Told::new(backend);
    let (context, session) = (scene.context(), scene.session.clone());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = seen.clone();
    let _calling = scene.session.subscribe(move |event: &Event| {
        if !matches!(event, Event::FileWritten { path, .. } if path.to_string() == "a") {
            return;
        }
        let listing = session.query::<VirtualFileSystem>().unwrap().latest().unwrap();
        sink.lock().unwrap().push(listing.len());
        assert!(call(&context, "write_file", json!({"path": "b", "content": "1"})).ok());
    });
    assert!(call(&scene.context(), "write_file", json!({"path": "a", "content": "1"})).ok());
    assert_eq!(*seen.lock().unwrap(), [1]);
    assert_eq!(scene.names(), ["FileWritten", "FileWritten"]);
}

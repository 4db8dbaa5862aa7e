//! The same calls on each backend, with the same answers.

use wink_fs::{HostBackend, MemoryBackend, Store, Workspace, WorkspaceBuilder};

/// Begins a workspace with nothing in it.
pub(crate) type New = fn() -> WorkspaceBuilder;

/// Does the same on each backend; a snapshot that is asserted is one for all of them.
pub(crate) fn on_each_backend(test: impl Fn(New)) {
    insta::allow_duplicates! {
        test(|| Workspace::builder(MemoryBackend::new()));
        test(|| {
            let host = Workspace::builder(HostBackend::temporary().unwrap());
            host.store(Store::temporary().unwrap())
        });
    }
}

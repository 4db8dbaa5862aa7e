//! Two workspaces of one session: each has a listing of its own.

use serde_json::json;
use wink_agent::session::{Session, VirtualFileSystem};

use crate::prompt::scene::{Backend, Owner, empty, on_each_backend};

on_each_backend!(
    files_of_one_path_in_two_workspaces_are_two_files,
    a_reset_of_one_workspace_leaves_the_listing_of_the_other,
    what_goes_back_with_one_workspace_is_found_by_the_next_call_on_the_other,
    calls_on_a_workspace_that_was_given_up_tell_the_session_nothing_of_its_files,
);

/// Returns what a session says of the files of a section: paths with their versions.
fn listed(session: &Session, owner: &Owner) -> Vec<(String, u64)> {
    let (listings, section) = (session.query::<VirtualFileSystem>().unwrap(), owner.section());
    let own = listings.filter(|listing| listing.filesystem_key() == Some(section.key()));
    assert!(own.len() <= 1, "{own:?}");
    let files = own.iter().flat_map(|listing| listing.files());
    files.map(|file| (file.path.to_string(), file.version)).collect()
}

fn written(owner: &Owner, session: &Session, path: &str) {
    assert!(owner.call(session, "write_file", json!({"path": path, "content": path})).ok());
}

fn versions(files: &[(&str, u64)]) -> Vec<(String, u64)> {
    files.iter().map(|(path, version)| ((*path).to_owned(), *version)).collect()
}

/// Both were one file of the listing, at version 2, and `rm` in one took it out for the other.
fn files_of_one_path_in_two_workspaces_are_two_files(backend: Backend) {
    let session = Session::new();
    let (first, second) = (empty(backend, &session), empty(backend.other(), &session));
    written(&first, &session, "a");
    written(&second, &session, "a");
    assert_eq!(listed(&session, &first), versions(&[("a", 1)]));
    assert_eq!(listed(&session, &second), versions(&[("a", 1)]));
    assert!(first.call(&session, "rm", json!({"path": "a"})).ok());
    assert_eq!(listed(&session, &first), []);
    assert_eq!(listed(&session, &second), versions(&[("a", 1)]));
}

fn a_reset_of_one_workspace_leaves_the_listing_of_the_other(backend: Backend) {
    let session = Session::new();
    let (first, second) = (empty(backend, &session), empty(backend.other(), &session));
    written(&first, &session, "a");
    written(&second, &session, "b");
    first.reset().unwrap();
    assert_eq!(listed(&session, &first), []);
    assert_eq!(listed(&session, &second), versions(&[("b", 1)]));
}

fn what_goes_back_with_one_workspace_is_found_by_the_next_call_on_the_other(backend: Backend) {
    let session = Session::new();
    let (first, second) = (empty(backend, &session), empty(backend.other(), &session));
    written(&first, &session, "a");
    written(&second, &session, "b");
    first.files().take("one").unwrap();
    written(&first, &session, "more");
    written(&second, &session, "b");
    written(&second, &session, "more");
    first.files().go_back("one").unwrap();
    assert!(second.call(&session, "ls", json!({})).ok());
    assert_eq!(listed(&session, &first), versions(&[("a", 1)]));
    assert_eq!(listed(&session, &second), versions(&[("b", 2), ("more", 1)]));
}

fn calls_on_a_workspace_that_was_given_up_tell_the_session_nothing_of_its_files(backend: Backend) {
    let session = Session::new();
    let owner = empty(backend, &session);
    for reset in [&(|| owner.reset().unwrap()) as &dyn Fn(), &|| drop(session.reset())] {
        written(&owner, &session, "old");
        let old = owner.files().context().unwrap();
        reset();
        written(&owner, &session, "new");
        let write = json!({"path": "older", "content": ""});
        assert!(wink_agent::call(&old, "write_file", write).ok());
        assert_eq!(listed(&session, &owner), versions(&[("new", 1)]));
        owner.reset().unwrap();
    }
}

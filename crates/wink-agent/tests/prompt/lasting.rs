//! Workspaces that begin anew, go back, and go on elsewhere.

use std::time::SystemTime;

use serde_json::json;
use wink_agent::prompt::{PromptTemplate, SectionOptions, WorkspaceSection};
use wink_agent::session::{
    Session, ToolInvoked, VirtualFileSystem, dump_session_tree, load_session_tree,
};
use wink_fs::{ErrorKind, HostMount, StateRef, Workspace};

use crate::prompt::scene::{Backend, Owner, Project, empty, listing, on_each_backend, paths};

on_each_backend!(
    a_reset_of_the_section_or_the_session_gives_a_fresh_workspace_with_the_mounts,
    named_snapshots_bring_the_files_back,
    files_and_session_go_back_together_under_the_sections_key,
    a_dump_resumes_on_the_other_backend_with_the_same_listing,
    a_dump_with_its_history_goes_back_on_the_other_backend,
    a_fork_outlives_the_section_that_it_was_made_in,
    a_dump_resumes_over_mounts_with_the_listing_that_it_had,
);

fn a_reset_of_the_section_or_the_session_gives_a_fresh_workspace_with_the_mounts(backend: Backend) {
    let (session, project) = (Session::new(), Project::new(&[("docs/guide.md", "one")]));
    let owner = backend.owner(&session, project.mounting([HostMount::new("docs")]));
    let reset_section = || owner.reset().unwrap();
    let reset_session = || drop(session.reset());
    for (reset, content) in [(&reset_section as &dyn Fn(), "two"), (&reset_session, "three")] {
        let write = json!({"path": "mine.txt", "content": "mine"});
        assert!(owner.call(&session, "write_file", write).ok());
        assert_eq!(listing(&session).len(), 2);
        let old = owner.workspace();
        project.files.write("docs/guide.md", content).unwrap();
        reset();
        assert_eq!(listing(&session), []);
        assert_eq!(owner.workspace().read("docs/guide.md").unwrap().content, content);
        assert_eq!(listing(&session), [("docs/guide.md".to_owned(), 1)]);
        assert_eq!(paths(&owner.workspace()), ["docs/guide.md"]);
        assert!(old.is_file("mine.txt"), "a handle to the old one still works");
    }
}

fn named_snapshots_bring_the_files_back(backend: Backend) {
    let place = tempfile::tempdir().unwrap();
    let options = SectionOptions::default().snapshot_dir(place.path().join("archives"));
    let owner = backend.owner(&Session::new(), options);
    let (snapshots, files) = (owner.snapshots().unwrap(), owner.workspace());
    for version in ["v1", "v2"] {
        files.write("file.txt", version).unwrap();
        snapshots.snapshot(version).unwrap();
    }
    files.write("file.txt", "v3").unwrap();
    for version in ["v1", "v2"] {
        assert_eq!(snapshots.rollback(version).unwrap(), 1);
        assert_eq!(files.read("file.txt").unwrap().content, version);
    }
    let other = empty(backend.other(), &Session::new());
    let archive = snapshots.get("v1").unwrap().archive_path;
    assert_eq!(other.snapshots().unwrap().restore(archive).unwrap(), 1);
    assert_eq!(other.workspace().read("file.txt").unwrap().content, "v1");
}

fn files_and_session_go_back_together_under_the_sections_key(backend: Backend) {
    let session = Session::new();
    let owner = empty(backend, &session);
    owner.workspace().write("code.py", "v1").unwrap();
    let taken = owner.files().take("checkpoint").unwrap();
    let key = &taken.session.files[0].filesystem_key;
    assert_eq!(key, owner.section().key());
    let overwrite = json!({"path": "other.py", "content": "v2"});
    assert!(owner.call(&session, "write_file", overwrite).ok());
    owner.files().go_back("checkpoint").unwrap();
    assert_eq!(listing(&session), [("code.py".to_owned(), 1)]);
    assert_eq!(paths(&owner.workspace()), ["code.py"]);
    // What was called stays called.
    assert_eq!(session.query::<ToolInvoked>().unwrap().len(), 1);
}

fn a_dump_resumes_on_the_other_backend_with_the_same_listing(backend: Backend) {
    let (session, place) = (Session::new(), tempfile::tempdir().unwrap());
    let owner = empty(backend, &session);
    for content in ["one", "two"] {
        let write = json!({"path": "a.txt", "content": content});
        assert!(owner.call(&session, "write_file", write).ok());
    }
    let dumped = owner.files().dump(place.path()).unwrap();

    let resumed = load_session_tree(&dumped.session).unwrap();
    let there = empty(backend.other(), &resumed);
    there.files().resume(&dumped.session).unwrap();
    assert_eq!(there.workspace().read("a.txt").unwrap().content, "two");
    assert!(there.call(&resumed, "ls", json!({})).ok());
    assert_eq!(listing(&resumed), [("a.txt".to_owned(), 2)]);
    let edit = json!({"path": "a.txt", "old_string": "two", "new_string": "three"});
    assert!(there.call(&resumed, "edit_file", edit).ok());
    assert_eq!(listing(&resumed), [("a.txt".to_owned(), 3)]);
}

/// The files that were there before were told to the session: versions went up without a write, and a file
/// that the agent had removed was listed.
fn a_dump_resumes_over_mounts_with_the_listing_that_it_had(backend: Backend) {
    let (session, place) = (Session::new(), tempfile::tempdir().unwrap());
    let project = Project::new(&[("docs/edited", "one"), ("docs/gone", ""), ("docs/kept", "")]);
    let mounting = || project.mounting([HostMount::new("docs")]);
    let owner = backend.owner(&session, mounting());
    let edit = json!({"path": "docs/edited", "old_string": "one", "new_string": "another"});
    assert!(owner.call(&session, "edit_file", edit).ok());
    assert!(owner.call(&session, "rm", json!({"path": "docs/gone"})).ok());
    let dumped = owner.files().dump(place.path()).unwrap();
    let (before, times) = (listing(&session), updated(&session));
    assert_eq!(before, [("docs/edited".to_owned(), 2), ("docs/kept".to_owned(), 1)]);

    for is_used_before in [false, true] {
        for backend in [backend, backend.other()] {
            let resumed = load_session_tree(&dumped.session).unwrap();
            let there = backend.owner(&resumed, mounting());
            if is_used_before {
                assert!(there.call(&resumed, "ls", json!({})).ok());
            }
            there.files().resume(&dumped.session).unwrap();
            assert!(there.call(&resumed, "ls", json!({})).ok());
            assert_eq!((listing(&resumed), updated(&resumed)), (before.clone(), times.clone()));
        }
    }
}

fn updated(session: &Session) -> Vec<SystemTime> {
    let listing = session.query::<VirtualFileSystem>().unwrap().latest().unwrap();
    listing.files().map(|file| file.updated_at).collect()
}

#[test]
fn a_loaded_session_over_its_directory_hears_only_of_what_is_another_file() {
    let (session, place) = (Session::new(), tempfile::tempdir().unwrap());
    let project = Project::new(&[("kept", "one"), ("gone", "one"), ("grown", "one")]);
    let over = |session: &Session| {
        let root = project.directory.path();
        WorkspaceSection::over(session, root, SectionOptions::default()).unwrap()
    };
    over(&session).filesystem().unwrap().write("kept", "two").unwrap();
    let dumped = dump_session_tree(&session, place.path()).unwrap().unwrap();
    project.files.delete("gone").unwrap();
    project.files.write("grown", "longer").unwrap();
    project.files.write("new", "").unwrap();

    let loaded = load_session_tree(dumped).unwrap();
    over(&loaded).filesystem().unwrap();
    let expected = [("grown", 2), ("kept", 1), ("new", 1)];
    assert_eq!(listing(&loaded), expected.map(|(path, version)| (path.to_owned(), version)));
}

/// The section of the other backend knows its files by another key.
fn a_dump_with_its_history_goes_back_on_the_other_backend(backend: Backend) {
    let (session, place) = (Session::new(), tempfile::tempdir().unwrap());
    let owner = empty(backend, &session);
    for (content, tag) in [("one", "turn-1"), ("two", "turn-2"), ("three", "turn-3")] {
        let write = json!({"path": "a.txt", "content": content});
        assert!(owner.call(&session, "write_file", write).ok());
        owner.files().take(tag).unwrap();
    }
    let dumped = owner.files().dump_with_history(place.path()).unwrap();
    drop(owner);

    let resumed = load_session_tree(&dumped.session).unwrap();
    let there = empty(backend.other(), &resumed);
    there.files().resume(&dumped.session).unwrap();
    drop(place);
    for (tag, content, version) in
        [("turn-1", "one", 1), ("turn-3", "three", 3), ("turn-2", "two", 2)]
    {
        there.files().go_back(tag).unwrap();
        assert_eq!(there.workspace().read("a.txt").unwrap().content, content);
        assert_eq!(listing(&resumed), [("a.txt".to_owned(), version)]);
    }
    let edit = json!({"path": "a.txt", "old_string": "two", "new_string": "zwei"});
    assert!(there.call(&resumed, "edit_file", edit).ok());
    assert_eq!(listing(&resumed), [("a.txt".to_owned(), 3)]);
}

#[test]
fn a_harness_with_its_own_tools_works_on_the_disk_and_the_session_learns_of_it() {
    let session = Session::new();
    let native = WorkspaceSection::temporary(&session, SectionOptions::default()).without_tools();
    let prompt = PromptTemplate::new("a", "b").unwrap().section(&native).prompt(&session).unwrap();
    assert!(prompt.render().unwrap().tools.is_empty());
    let harness = Workspace::host(native.root().unwrap()).unwrap();
    harness.write("by-native-tool.txt", "one").unwrap();
    native.files().rescan().unwrap();
    assert_eq!(listing(&session), [("by-native-tool.txt".to_owned(), 1)]);
    native.files().take("one").unwrap();
    harness.write("by-native-tool.txt", "two!").unwrap();
    native.files().rescan().unwrap();
    assert_eq!(listing(&session), [("by-native-tool.txt".to_owned(), 2)]);
    native.files().go_back("one").unwrap();
    assert_eq!(harness.read("by-native-tool.txt").unwrap().content, "one");
}

#[test]
fn a_temporary_directory_goes_with_the_last_handle_and_one_that_was_there_stays() {
    let session = Session::new();
    let temporary = WorkspaceSection::temporary(&session, SectionOptions::default());
    let (handle, root) = (temporary.filesystem().unwrap(), temporary.root().unwrap());
    drop(temporary);
    handle.write("a.txt", "").unwrap();
    drop(handle);
    assert_eq!(Workspace::host(&root).unwrap_err().kind(), ErrorKind::NotFound);

    let project = Project::new(&[("a.txt", "theirs")]);
    let root = project.directory.path();
    let over = WorkspaceSection::over(&session, root, SectionOptions::default()).unwrap();
    over.filesystem().unwrap().write("b.txt", "ours").unwrap();
    over.reset().unwrap();
    assert_eq!(paths(&over.filesystem().unwrap()), ["a.txt", "b.txt"]);
    drop(over);
    assert_eq!(paths(&project.files), ["a.txt", "b.txt"]);
}

/// Once, the history of a temporary section was removed with the section, and with it the files of a fork that
/// no caller had read yet.
fn a_fork_outlives_the_section_that_it_was_made_in(backend: Backend) {
    let large = "a line of a file that is in a pack of its own\n".repeat(100_000);
    let (session, reset, dropped) =
        (Session::new(), |owner: &Owner| owner.reset().unwrap(), |_: &Owner| {});
    for end in [&reset as &dyn Fn(&Owner), &dropped] {
        let owner = empty(backend, &session);
        owner.workspace().write("small.txt", "small").unwrap();
        owner.workspace().write("large.txt", &large).unwrap();
        let fork = owner.workspace().fork(StateRef::Live).unwrap();
        let snapshots = owner.workspace().snapshot_store().unwrap();
        let place = snapshots.directory().map(ToOwned::to_owned);
        drop(snapshots);
        end(&owner);
        drop(owner);
        assert_eq!(fork.read("small.txt").unwrap().content, "small");
        let content = fork.open("large.txt").unwrap().read_all().unwrap();
        assert_eq!(content.len(), large.len());
        fork.write("small.txt", "changed").unwrap();
        assert_eq!(fork.undo().unwrap().paths.len(), 1);
        drop(fork);
        let left = place.is_some_and(|place| Workspace::host(place).is_ok());
        assert!(!left, "the history goes with the fork");
    }
}

//! Host files that are in a workspace from the beginning.

use serde_json::json;
use wink_agent::prompt::{PromptError, SectionOptions, WorkspaceSection};
use wink_agent::session::Session;
use wink_fs::{ErrorKind, HostMount, TreePath};

use crate::prompt::scene::{Backend, Owner, Project, on_each_backend, paths};

on_each_backend!(
    without_an_allowed_root_every_mount_is_refused,
    a_path_or_link_out_of_the_allowed_roots_is_refused,
    patterns_choose_what_is_mounted_and_the_report_says_what_was_left_out,
    over_max_bytes_is_an_error_that_names_both_numbers_and_mounts_nothing,
    later_mounts_win_and_directories_merge_the_same_each_time,
    a_mount_goes_by_its_last_component_unless_it_is_told_where,
    limits_do_not_apply_to_what_is_mounted,
    nothing_offered_to_a_model_can_mount,
);

fn project() -> Project {
    Project::new(&[
        ("src/main.py", "print(1)"),
        ("src/lib/util.py", "x = 1"),
        ("src/lib/data.bin", "12345"),
        ("docs/guide.md", "# Guide"),
        ("secret/key.pem", "key"),
    ])
}

fn owner(backend: Backend, options: SectionOptions) -> Owner {
    backend.owner(&Session::new(), options)
}

fn kind_of(owner: &Owner) -> ErrorKind {
    owner.filesystem().unwrap_err().kind()
}

fn without_an_allowed_root_every_mount_is_refused(backend: Backend) {
    let project = project();
    let mount = HostMount::new(project.directory.path().join("src"));
    let session = Session::new();
    let owner = backend.owner(&session, SectionOptions::default().mount(mount));
    assert_eq!(kind_of(&owner), ErrorKind::PermissionDenied);
    // Rendering says so too, instead of a prompt about files that are not there.
    let error = owner.prompt(&session).render().unwrap_err();
    assert!(matches!(error, PromptError::Files { .. }), "{error}");
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
}

fn a_path_or_link_out_of_the_allowed_roots_is_refused(backend: Backend) {
    let project = project();
    project.files.symlink("src/way-out", b"../secret").unwrap();
    let allowed = project.directory.path().join("src");
    for host_path in ["../secret", "way-out", "lib/../../secret"] {
        let options = SectionOptions::default().allow_host_root(&allowed);
        let owner = owner(backend, options.mount(HostMount::new(host_path)));
        assert_eq!(kind_of(&owner), ErrorKind::PermissionDenied, "{host_path}");
    }
    let options = SectionOptions::default().allow_host_root(&allowed);
    let absolute = HostMount::new(project.directory.path().join("secret"));
    assert_eq!(kind_of(&owner(backend, options.mount(absolute))), ErrorKind::PermissionDenied);
}

fn patterns_choose_what_is_mounted_and_the_report_says_what_was_left_out(backend: Backend) {
    let mount = HostMount::new("src").include("*.py").include("*.bin").exclude("lib/*.bin");
    let project = project();
    let owner = owner(backend, project.mounting([mount]));
    assert_eq!(paths(&owner.workspace()), ["src/lib/util.py", "src/main.py"]);
    let reports = owner.mounts().unwrap();
    assert_eq!((reports[0].files, reports[0].bytes), (2, 13));
    assert_eq!(reports[0].skipped[0].to_string(), "src/lib/data.bin: excluded by a pattern");
}

fn over_max_bytes_is_an_error_that_names_both_numbers_and_mounts_nothing(backend: Backend) {
    let project = project();
    let mount = |most| HostMount::new("docs").max_bytes(most);
    let owner_of = |most| owner(backend, project.mounting([HostMount::new("src"), mount(most)]));
    let error = owner_of(6).filesystem().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    let message = error.to_string();
    assert!(message.contains("at least 7 bytes") && message.contains("at most 6"), "{message}");
    assert_eq!(paths(&owner_of(7).workspace()).len(), 4);
}

fn later_mounts_win_and_directories_merge_the_same_each_time(backend: Backend) {
    let project = Project::new(&[
        ("one/a.txt", "one"),
        ("one/only-one.txt", ""),
        ("two/a.txt", "two"),
        ("two/deep/only-two.txt", ""),
    ]);
    let at = |host: &str| HostMount::new(host).at(TreePath::parse("merged").unwrap());
    for _ in 0..3 {
        let owner = owner(backend, project.mounting([at("one"), at("two")]));
        assert_eq!(
            paths(&owner.workspace()),
            ["merged/a.txt", "merged/deep/only-two.txt", "merged/only-one.txt"]
        );
        assert_eq!(owner.workspace().read("merged/a.txt").unwrap().content, "two");
        let reverse = self::owner(backend, project.mounting([at("two"), at("one")]));
        assert_eq!(reverse.workspace().read("merged/a.txt").unwrap().content, "one");
    }
}

fn a_mount_goes_by_its_last_component_unless_it_is_told_where(backend: Backend) {
    let at = TreePath::parse("a/b").unwrap();
    let mounts = [HostMount::new("src/lib"), HostMount::new("docs").at(at)];
    let project = project();
    let owner = owner(backend, project.mounting(mounts));
    assert_eq!(paths(&owner.workspace()), ["a/b/guide.md", "lib/data.bin", "lib/util.py"]);
}

fn limits_do_not_apply_to_what_is_mounted(backend: Backend) {
    let project = Project::new(&[("big.txt", &"x".repeat(60_000))]);
    let session = Session::new();
    let owner = backend.owner(&session, project.mounting([HostMount::new("big.txt")]));
    assert_eq!(owner.workspace().stat("big.txt").unwrap().size_bytes, 60_000);
    let write = json!({"path": "new.txt", "content": "x".repeat(60_000)});
    assert_eq!(owner.call(&session, "write_file", write).code(), Some("too_large"));
}

fn nothing_offered_to_a_model_can_mount(backend: Backend) {
    let (session, project) = (Session::new(), project());
    let owner = backend.owner(&session, project.mounting([HostMount::new("docs")]));
    let outside = project.directory.path().join("src/main.py");
    let outside = outside.to_str().unwrap();
    for offered in owner.prompt(&session).render().unwrap().tools {
        let context = offered.context().unwrap();
        for argument in [outside, "../src/main.py", "docs/../../src/main.py"] {
            let given =
                json!({"path": argument, "from": argument, "to": "here", "pattern": argument});
            offered.tool.call(&context, given.clone());
        }
    }
    assert_eq!(paths(&owner.workspace()), ["docs/guide.md"]);
}

#[test]
fn nothing_is_mounted_over_files_that_are_not_the_sessions_own() {
    let project = project();
    let options = project.mounting([HostMount::new("docs")]);
    let root = project.directory.path().join("src");
    let error = WorkspaceSection::over(&Session::new(), root, options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

//! What a model is told of its workspace.

use wink_agent::Toolset;
use wink_agent::prompt::{PromptTemplate, SectionOptions, VfsSection, WorkspaceSection};
use wink_agent::session::Session;
use wink_fs::{HostMount, Limits, TreePath};

use crate::prompt::scene::{Backend, Project, on_each_backend};

on_each_backend!(
    all_tools_are_offered_and_named_as_they_are_called,
    the_limits_are_those_of_the_workspace,
    a_limit_that_is_not_set_is_not_spoken_of,
    only_the_beginning_of_what_is_mounted_is_shown,
    very_many_empty_directories_are_not_all_looked_into,
);

fn text(section: impl Into<wink_agent::prompt::Section>, session: &Session) -> String {
    let template = PromptTemplate::new("agents/coder", "edit-files").unwrap();
    template.section(section).prompt(session).unwrap().render().unwrap().text
}

fn docs() -> Project {
    Project::new(&[("docs/guide.md", "# Guide\n"), ("docs/deep/a.md", "a"), ("main.py", "pass\n")])
}

fn mounts() -> [HostMount; 2] {
    let at = TreePath::parse("project/start.py").unwrap();
    [HostMount::new("docs").include("*.md"), HostMount::new("main.py").at(at)]
}

#[test]
fn a_virtual_filesystem_with_mounts_is_explained() {
    let (session, project) = (Session::new(), docs());
    let vfs = VfsSection::new(&session, project.mounting(mounts()));
    insta::assert_snapshot!(text(&vfs, &session));
}

#[test]
fn an_empty_virtual_filesystem_is_explained() {
    let session = Session::new();
    let vfs = VfsSection::new(&session, SectionOptions::default());
    insta::assert_snapshot!(text(&vfs, &session));
}

#[test]
fn a_temporary_directory_for_a_harness_with_its_own_tools_is_explained() {
    let (session, project) = (Session::new(), docs());
    let workspace = WorkspaceSection::temporary(&session, project.mounting(mounts()));
    insta::assert_snapshot!(text(&workspace.without_tools(), &session));
}

#[test]
fn a_directory_that_was_there_is_explained_and_its_path_not_shown() {
    let (session, project) = (Session::new(), docs());
    let root = project.directory.path();
    let workspace = WorkspaceSection::over(&session, root, SectionOptions::default()).unwrap();
    let text = text(&workspace, &session);
    assert!(!text.contains(root.to_str().unwrap()));
    insta::assert_snapshot!(text);
}

fn all_tools_are_offered_and_named_as_they_are_called(backend: Backend) {
    let session = Session::new();
    let rendered = backend.owner(&session, SectionOptions::default()).prompt(&session);
    let rendered = rendered.render().unwrap();
    let offered: Vec<_> = rendered.tools.iter().map(|offered| offered.tool.name).collect();
    let files = ["ls", "read_file", "write_file", "edit_file", "glob", "grep", "rm"];
    assert!(files.iter().all(|name| offered.contains(name)), "{offered:?}");
    let named = rendered.text.split('`').skip(1).step_by(2);
    let named: Vec<_> = named.filter(|name| !name.contains(' ')).collect();
    assert!(named.iter().all(|name| offered.contains(name)), "{named:?}");
    assert!(offered.iter().all(|name| Toolset::FILES.tools().any(|tool| tool.name == *name)));
}

fn the_limits_are_those_of_the_workspace(backend: Backend) {
    let session = Session::new();
    let mut limits = Limits::default();
    limits.max_content = Some(1_234);
    limits.max_depth = Some(5);
    limits.max_segment = Some(67);
    limits.page_lines = 89;
    limits.max_read_bytes = 1_011;
    limits.max_grep_matches = 12;
    limits.ascii_only = true;
    let owner = backend.owner(&session, SectionOptions::default().limits(limits.clone()));
    let text = owner.prompt(&session).render().unwrap().text;
    let said = text.lines().find(|line| line.starts_with("The limits")).unwrap();
    assert_eq!(
        said,
        "The limits: 1234 characters of content (bytes where it is binary) in one call; 5 segments \
         in a path; 67 characters in a segment; 89 lines or 1011 bytes in one page of `read_file`; \
         12 lines or files of one search. New paths are ASCII only."
    );
    assert_eq!(owner.workspace().properties().limits, limits);
}

fn a_limit_that_is_not_set_is_not_spoken_of(backend: Backend) {
    let session = Session::new();
    let options = SectionOptions::default().limits(Limits::unlimited());
    let text = backend.owner(&session, options).prompt(&session).render().unwrap().text;
    assert!(!text.contains("in one call") && !text.contains("segment"), "{text}");
}

fn only_the_beginning_of_what_is_mounted_is_shown(backend: Backend) {
    let (session, project) = (Session::new(), Project::new(&[]));
    for number in (0..100).rev() {
        project.files.write(&format!("many/{number:03}.txt"), "").unwrap();
    }
    let options = project.mounting((0..30).map(|number| {
        HostMount::new("many").at(TreePath::parse(&format!("m{number:02}")).unwrap())
    }));
    let text = backend.owner(&session, options).prompt(&session).render().unwrap().text;
    let lines: Vec<_> =
        text.lines().skip_while(|line| *line != "- `m00`: 100 files, 0 bytes").collect();
    assert_eq!(lines[1..3], ["  - `m00/000.txt`", "  - `m00/001.txt`"]);
    assert_eq!(lines[20..23], ["  - `m00/019.txt`", "  - and more", "- `m01`: 100 files, 0 bytes"]);
    assert_eq!(*lines.last().unwrap(), "- and 10 more mounts");
    assert_eq!(lines.len(), 20 * 22 + 1);
}

fn very_many_empty_directories_are_not_all_looked_into(backend: Backend) {
    let (session, project) = (Session::new(), Project::new(&[("many/z.txt", "")]));
    for number in 0..250 {
        project.files.mkdir(&format!("many/{number:03}")).unwrap();
    }
    let owner = backend.owner(&session, project.mounting([HostMount::new("many")]));
    let text = owner.prompt(&session).render().unwrap().text;
    assert!(text.ends_with("\n- `many`: 1 file, 0 bytes\n  - and more\n"), "{text}");
    assert!(owner.workspace().is_file("many/z.txt"));
}

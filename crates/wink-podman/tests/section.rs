//! The section of a prompt, as the documents of this design use it.

use std::fs;

use serde_json::{Value, json};
use wink_agent::ToolResult;
use wink_agent::prompt::{Prompt, PromptTemplate, SectionOptions, VfsSection};
use wink_agent::session::{FilesystemSnapshotRef, Session};
use wink_fs::HostMount;
use wink_podman::{PodmanOptions, PodmanSection};

use crate::common::{BUSYBOX, PYTHON, make_image, podman_in};

/// A session whose sandbox has a mount, and the place that both are in.
struct Scene {
    session: Session,
    sandbox: PodmanSection,
    prompt: Prompt,
    place: tempfile::TempDir,
}

fn scene(image: &str) -> Scene {
    let place = tempfile::tempdir().unwrap();
    let podman = podman_in(place.path());
    make_image(&podman, image);
    fs::create_dir(place.path().join("docs")).unwrap();
    fs::write(place.path().join("docs/read.me"), "mounted\n").unwrap();
    let session = Session::new();
    let options = PodmanOptions::default().program(podman);
    let options = options.allow_image(image).unwrap().image(image).unwrap();
    let mounts =
        SectionOptions::default().mount(HostMount::new("docs")).allow_host_root(place.path());
    let sandbox = PodmanSection::new(&session, options, mounts).unwrap();
    let template = PromptTemplate::new("agents/coder", "run").unwrap().section(&sandbox);
    let prompt = template.prompt(&session).unwrap();
    Scene { session, sandbox, prompt, place }
}

impl Scene {
    /// Calls a tool as the loop does, in the context of its section.
    fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        let rendered = self.prompt.render().unwrap();
        let offered = rendered.tool(tool).unwrap_or_else(|| panic!("{tool} is not offered"));
        offered.tool.call(&offered.context().unwrap(), arguments)
    }

    fn done(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert!(result.ok(), "{tool}: {}", result.message);
        result.message
    }
}

#[test]
#[ignore = "needs Podman"]
fn the_sandbox_offers_the_tools_for_files_and_programs() {
    let scene = scene(PYTHON);
    let rendered = scene.prompt.render().unwrap();
    assert!(rendered.text.starts_with("## 1. Sandbox\n"), "{}", rendered.text);
    for words in ["`/workspace`", "no network", "docs/read.me"] {
        assert!(rendered.text.contains(words), "{words}: {}", rendered.text);
    }
    assert!(rendered.tools.iter().all(|tool| tool.section == "podman"));
    scene.done("write_file", json!({"path": "src/app.py", "content": "print('hello')\n"}));
    scene.done(
        "edit_file",
        json!({"path": "src/app.py", "old_string": "hello", "new_string": "bye"}),
    );
    assert!(scene.done("shell_execute", json!({"command": "python3 src/app.py"})).contains("bye"));
    let code = "import pathlib\npathlib.Path('made.txt').write_text(open('docs/read.me').read())";
    scene.done("evaluate_python", json!({ "code": code }));
    assert!(scene.done("read_file", json!({"path": "/workspace/made.txt"})).contains("mounted"));
    assert!(scene.done("glob", json!({"pattern": "**/*.py"})).contains("src/app.py"));
    assert!(scene.done("grep", json!({"pattern": "bye"})).contains("src/app.py"));
    assert!(scene.done("ls", json!({})).contains("made.txt"));
    scene.done("rm", json!({"path": "src"}));
    assert!(
        !scene
            .call("shell_execute", json!({"command": "cat src/app.py; false"}))
            .message
            .contains("bye")
    );
}

#[test]
#[ignore = "needs Podman"]
fn files_and_session_go_back_together() {
    let scene = scene(BUSYBOX);
    scene.done("shell_execute", json!({"command": "echo first > state"}));
    scene.sandbox.files().take("turn-1").unwrap();
    let noted = scene.session.query::<FilesystemSnapshotRef>().unwrap();
    let noted = noted.latest().unwrap();
    assert_eq!((&*noted.filesystem_key, &*noted.backend_type), ("podman", "podman"));
    scene.done("shell_execute", json!({"command": "echo second > state; rm -r docs"}));
    scene.sandbox.files().go_back("turn-1").unwrap();
    assert!(
        scene
            .done("shell_execute", json!({"command": "cat state docs/read.me"}))
            .contains("first\nmounted")
    );
}

#[test]
#[ignore = "needs Podman"]
fn a_reset_gives_a_fresh_workspace_with_its_mounts_and_another_container() {
    let scene = scene(BUSYBOX);
    scene
        .done("shell_execute", json!({"command": "echo x > made; echo y > /tmp/note; rm -r docs"}));
    let first = scene.sandbox.executor().container_name();
    scene.sandbox.reset().unwrap();
    let seen = scene.done("shell_execute", json!({"command": "ls -A . /tmp; cat docs/read.me"}));
    assert!(seen.contains("mounted") && !seen.contains("made") && !seen.contains("note"), "{seen}");
    assert_ne!(scene.sandbox.executor().container_name(), first);
}

#[test]
#[ignore = "needs Podman"]
fn what_a_sandbox_made_is_restored_in_memory() {
    let scene = scene(BUSYBOX);
    scene.done(
        "shell_execute",
        json!({"command": "mkdir -p a/b; echo deep > a/b/c; chmod 755 a/b/c"}),
    );
    let dumped = scene.place.path().join("dump.fs.zip");
    scene.sandbox.filesystem().unwrap().export_archive(&dumped).unwrap();
    let vfs = VfsSection::new(&Session::new(), SectionOptions::default());
    vfs.filesystem().unwrap().import_archive(&dumped).unwrap();
    let hash = |files: &wink_fs::Workspace| wink_fs::tree_hash(&*files.tree()).unwrap();
    assert_eq!(hash(&vfs.filesystem().unwrap()), hash(&scene.sandbox.filesystem().unwrap()));
}

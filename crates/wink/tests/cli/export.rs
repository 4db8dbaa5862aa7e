//! `wink export`.

use crate::cli::scene::{Scene, stderr};

/// Once, only the library knew, though the format's page says that an export reports them.
#[test]
fn an_export_names_what_other_systems_may_not_support() {
    let scene = Scene::new();
    for name in ["Read.me", "read.me", "aux.txt", "caf\u{e9}", "cafe\u{301}", "plain"] {
        scene.write(name, "1");
    }
    let exported = scene.run(&["export", "../a.fs.zip"]);
    assert!(exported.status.success());
    let said = stderr(&exported);
    assert!(said.contains("  aux.txt: a name that Windows keeps for a device"), "{said}");
    assert!(
        said.contains("  Read.me: only case or normalisation tells it from another name"),
        "{said}"
    );
    let document = scene.json(&["export", "../b.fs.zip"]);
    let found: Vec<_> =
        document["portability"].as_array().unwrap().iter().map(|it| &it["path"]).collect();
    assert_eq!(found.len(), 5, "{found:?}");
    assert!(!found.iter().any(|path| *path == "plain"), "{found:?}");
}

/// Once, `work.tar.gz` was a ZIP archive.
#[test]
fn a_name_of_another_format_is_refused_and_quiet_is_quiet() {
    let scene = Scene::new();
    scene.write("a", "one");
    for name in ["work.tar.gz", "work.tar", "work"] {
        let (code, said) = scene.fails(&["export", name]);
        assert!(code != 0 && said.contains(".zip"), "{said}");
        assert!(!scene.path("project").join(name).exists());
    }
    assert_eq!(scene.ok(&["-q", "export", "../work.zip"]), "");
    assert_eq!(scene.ok(&["-q", "snapshot"]), "");
    assert!(!scene.ok(&["snapshot"]).contains("/.git"), "there is none");
    assert_eq!(scene.ok(&["-q", "import", "../work.zip", "--yes"]), "");
}

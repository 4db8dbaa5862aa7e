//! A workspace whose history is kept by any strategy.

use wink_fs::{HostBackend, Strategy, Workspace, tree_hash};

use crate::common::trees::plant;
use crate::strategies::scene::{Scene, by_every_strategy};

by_every_strategy! { a_workspace_goes_back_and_forth }

fn open(scene: &Scene) -> Workspace {
    let files = HostBackend::open_ambient(scene.root()).unwrap();
    Workspace::builder(files).snapshots(scene.reopened()).build()
}

fn a_workspace_goes_back_and_forth(strategy: Strategy) {
    let mut scene = Scene::new(strategy);
    plant(&mut scene.files);
    let files = open(&scene);
    let before = tree_hash(&*files.tree()).unwrap();
    files.snapshot("before").unwrap();
    files.write("src/main.rs", "changed").unwrap();
    files.delete_all("secret").unwrap();
    let after = tree_hash(&*files.tree()).unwrap();

    let files = open(&scene);
    assert_eq!(files.restore("before").unwrap().brought_back, 2);
    assert_eq!(tree_hash(&*files.tree()).unwrap(), before);
    let files = open(&scene);
    files.undo().unwrap();
    assert_eq!(tree_hash(&*files.tree()).unwrap(), after);
    files.redo().unwrap();
    assert_eq!(tree_hash(&*files.tree()).unwrap(), before);
    assert!(files.diff("before", wink_fs::StateRef::Live).unwrap().is_empty());
}

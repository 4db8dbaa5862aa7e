//! A session that goes on elsewhere.

use wink_agent::checkpoint;
use wink_agent::session::{FilesystemSnapshotRef, dump_session_tree, load_session_tree};
use wink_fs::{ErrorKind, tree_hash};

use crate::checkpoint::scene::{Backend, Turn, on_each_backend};

on_each_backend!(
    a_session_resumes_on_another_backend,
    a_session_without_slices_is_dumped_beside_its_files,
    a_missing_archive_or_dump_leaves_the_files,
);

fn a_session_resumes_on_another_backend(backend: &Backend) {
    let (here, there) = (backend.scene(), backend.other().scene());
    here.work(1);
    here.files.mkdir("empty").unwrap();
    here.files.write_bytes("deep/binary", vec![0, 255, 13, 10]).unwrap();
    checkpoint::take(&here.session, &here.files, "vfs", "one").unwrap();
    here.session.child().seed([Turn(7)]).unwrap();
    let dumped =
        checkpoint::dump_with_files(&here.session, &here.files, here.directory.path()).unwrap();

    there.files.write("in the way", "").unwrap();
    let resumed = checkpoint::resume(&dumped.session, &there.files).unwrap();
    let hash = |files: &wink_fs::Workspace| tree_hash(&*files.tree()).unwrap();
    assert_eq!(hash(&there.files), hash(&here.files));
    assert_eq!((resumed.id(), resumed.children().len()), (here.session.id(), 1));
    assert_eq!(resumed.query::<Turn>().unwrap().latest().unwrap().0, 1);
    let reference = resumed.query::<FilesystemSnapshotRef>().unwrap().latest().unwrap();
    assert_eq!(reference.backend_type, here.files.properties().backend.as_str());

    checkpoint::take(&resumed, &there.files, "vfs", "resumed").unwrap();
    there.files.write("code.py", "v2").unwrap();
    checkpoint::go_back(&resumed, &there.files, "vfs", "resumed").unwrap();
    assert_eq!(there.files.read("code.py").unwrap().content, "v1");
}

fn a_session_without_slices_is_dumped_beside_its_files(backend: &Backend) {
    let scene = backend.scene();
    scene.files.write("a.txt", "hello").unwrap();
    let target = scene.directory.path();
    assert_eq!(dump_session_tree(&scene.session, target).unwrap(), None);
    let dumped = checkpoint::dump_with_files(&scene.session, &scene.files, target).unwrap();
    assert_eq!(load_session_tree(&dumped.session).unwrap().id(), scene.session.id());
    assert_eq!(dumped.session.parent(), dumped.archive.parent());
}

fn a_missing_archive_or_dump_leaves_the_files(backend: &Backend) {
    let scene = backend.scene();
    scene.work(1);
    let alone = dump_session_tree(&scene.session, scene.directory.path()).unwrap().unwrap();
    let missing = scene.directory.path().join("missing.jsonl");
    for path in [alone, missing] {
        let error = checkpoint::resume(&path, &scene.files).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(!error.to_string().contains(scene.directory.path().to_str().unwrap()), "{error}");
    }
    assert_eq!(scene.files.read("code.py").unwrap().content, "v1");
}

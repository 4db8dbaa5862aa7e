//! Stores that an attacker made by hand, with valid checksums.

use wink_fs::testkit::dump;
use wink_fs::{Backend, ErrorKind, MemoryBackend, Scope, SnapshotId, SnapshotStore, Tree};

use crate::common::on_both::on_both;
use crate::store::support::{Scene, noise, path, put};

const DIRECTORY_CONTEXT: &str = "wink-fs tree hash v1: directory";

/// An object as a pack says it is.
struct Object {
    kind: u8,
    key: [u8; 32],
    size: u64,
    bytes: Vec<u8>,
}

fn blob(bytes: &[u8]) -> Object {
    let key = blake3::hash(bytes).into();
    Object { kind: b'b', key, size: bytes.len() as u64, bytes: bytes.to_vec() }
}

fn directory(entries: &[(u8, &[u8], [u8; 32])]) -> Object {
    let mut bytes = Vec::new();
    for (kind, name, identity) in entries {
        bytes.extend_from_slice(&[*kind, 0, name.len() as u8]);
        bytes.extend_from_slice(name);
        bytes.extend_from_slice(identity);
    }
    let key = blake3::derive_key(DIRECTORY_CONTEXT, &bytes);
    Object { kind: b'd', key, size: bytes.len() as u64, bytes }
}

fn list(key: [u8; 32], parts: &[&Object]) -> Object {
    let size = parts.iter().map(|part| part.size).sum::<u64>();
    let mut bytes = size.to_le_bytes().to_vec();
    for part in parts {
        bytes.extend_from_slice(&part.key);
        bytes.extend_from_slice(&(part.size as u32).to_le_bytes());
    }
    Object { kind: b'c', key, size, bytes }
}

/// Writes a pack by the page that describes it: every object in a block of its own, as it is.
fn pack(objects: &mut [Object]) -> Vec<u8> {
    objects.sort_by_key(|object| (object.key, object.kind));
    let mut pack = b"winkpack\x01\0\0\0".to_vec();
    let mut tables = Vec::new();
    for object in &*objects {
        let len = object.bytes.len() as u32;
        tables.extend_from_slice(&(pack.len() as u64).to_le_bytes());
        for number in [len, len, crc32fast::hash(&object.bytes)] {
            tables.extend_from_slice(&number.to_le_bytes());
        }
        tables.push(0);
        pack.extend_from_slice(&object.bytes);
    }
    for (block, object) in objects.iter().enumerate() {
        tables.extend_from_slice(&object.key);
        tables.push(object.kind);
        for number in [block as u32, 0, object.bytes.len() as u32] {
            tables.extend_from_slice(&number.to_le_bytes());
        }
        tables.extend_from_slice(&object.size.to_le_bytes());
    }
    tables.extend_from_slice(&(pack.len() as u64).to_le_bytes());
    for _ in 0..2 {
        tables.extend_from_slice(&(objects.len() as u32).to_le_bytes());
    }
    let sum = blake3::hash(&[&pack[..12], &tables].concat());
    [&pack, &tables, &sum.as_bytes()[..]].concat()
}

/// Makes a store with one snapshot of a forged root directory.
fn forged(root: Object, others: Vec<Object>) -> (Scene, SnapshotId) {
    let scene = Scene::new();
    let id = SnapshotId::random();
    let hash = blake3::Hash::from(root.key).to_hex();
    let mut objects = others;
    objects.push(root);
    std::fs::write(scene.root().join("packs/forged.pack"), pack(&mut objects)).unwrap();
    let json = format!(
        "{{\"version\":1,\"id\":\"{id}\",\"sequence\":1,\"created_at\":\"2026-11-15T12:00:00Z\",\
         \"parent\":null,\"tag\":null,\"message\":null,\"cause\":\"requested\",\"file_count\":1,\
         \"total_bytes\":1,\"backend\":\"\",\"strategy\":\"store\",\"reference\":\"forged\",\
         \"tree_hash\":\"{hash}\",\"point_in_time\":true,\"excluded\":[],\"skipped\":[]}}"
    );
    let record = format!("{json}\nblake3 {}\n", blake3::hash(json.as_bytes()).to_hex());
    std::fs::write(scene.record(&id), record).unwrap();
    (scene, id)
}

/// Checks that a forged store is Corrupt, naming an object, and that nothing of it is brought in.
#[track_caller]
fn check_refused(files: &mut dyn Backend, root: Object, others: Vec<Object>, named: &[u8; 32]) {
    let (scene, id) = forged(root, others);
    put(files, b"d/mine", "as it was");
    let before = dump(&*files.live()).unwrap();
    let error = match scene.store.load(&id) {
        Ok(tree) => files.replace(&*tree, &Scope::everything()).map(drop).unwrap_err(),
        Err(error) => error,
    };
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    let hex = blake3::Hash::from(*named).to_hex();
    assert!(error.to_string().contains(hex.as_str()), "{error}");
    assert_eq!(dump(&*files.live()).unwrap(), before);
    let problems = scene.verify().problems;
    assert!(problems.iter().any(|problem| problem.snapshots == [id]), "{problems:?}");
}

on_both! {
    a2_50_bytes_that_are_not_those_of_their_name_are_refused,
    a2_50_directories_that_cannot_be_are_refused,
    a2_50_a_directory_that_claims_to_hold_itself_is_refused,
    a2_50_parts_that_make_another_file_are_refused_at_its_end,
    a2_50_a_list_that_contradicts_itself_is_refused,
}

#[test]
fn a_pack_made_by_the_page_is_read() {
    let file = blob(b"hello");
    let root = directory(&[(b'f', b"a", file.key)]);
    let (scene, id) = forged(root, vec![file]);
    assert_eq!(dump(&*scene.store.load(&id).unwrap()).unwrap(), [r#"a "hello""#]);
    assert_eq!(scene.verify().problems, []);
}

fn a2_50_bytes_that_are_not_those_of_their_name_are_refused(mut files: impl Backend) {
    let mut file = blob(b"hello");
    file.bytes = b"HELLO".to_vec();
    let key = file.key;
    check_refused(&mut files, directory(&[(b'f', b"a", key)]), vec![file], &key);
    let mut root = directory(&[]);
    root.bytes = directory(&[(b'f', b"a", blob(b"").key)]).bytes;
    root.size = root.bytes.len() as u64;
    let key = root.key;
    check_refused(&mut files, root, vec![blob(b"")], &key);
}

fn a2_50_directories_that_cannot_be_are_refused(mut files: impl Backend) {
    let file = || blob(b"x");
    for names in [&[&b".."[..]][..], &[b"."], &[b"a/b"], &[b""], &[b"a", b"a"], &[b"b", b"a"]] {
        let entries: Vec<_> = names.iter().map(|name| (b'f', *name, file().key)).collect();
        let root = directory(&entries);
        let key = root.key;
        check_refused(&mut files, root, vec![file()], &key);
    }
}

fn a2_50_a_directory_that_claims_to_hold_itself_is_refused(mut files: impl Backend) {
    let mut root = directory(&[]);
    root.bytes = directory(&[(b'd', b"d", root.key)]).bytes;
    root.size = root.bytes.len() as u64;
    let key = root.key;
    check_refused(&mut files, root, vec![], &key);
}

#[test]
fn threat_50_a_missing_object_is_named() {
    let absent = blob(b"absent").key;
    let (scene, id) = forged(directory(&[(b'f', b"a", absent)]), vec![]);
    let error = scene.store.load(&id).unwrap().open(&path(b"a")).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Corrupt, Some("a")));
    assert!(error.to_string().contains(blake3::Hash::from(absent).to_hex().as_str()), "{error}");
}

fn a2_50_parts_that_make_another_file_are_refused_at_its_end(mut files: impl Backend) {
    let (one, two, other) = (noise(700_000, 1), noise(700_000, 2), noise(700_000, 3));
    let whole = blake3::hash(&[&one[..], &two].concat()).into();
    let parts = [blob(&one), blob(&other)];
    let forged_list = list(whole, &[&parts[0], &parts[1]]);
    let [first, second] = parts;
    let root = directory(&[(b'f', b"large", whole)]);
    check_refused(&mut files, root, vec![first, second, forged_list], &whole);
}

fn a2_50_a_list_that_contradicts_itself_is_refused(mut files: impl Backend) {
    let (one, two) = (blob(b"one"), blob(b"two"));
    let whole = blake3::hash(b"onetwo").into();
    let mut short = list(whole, &[&one, &two]);
    short.size = 5;
    let root = directory(&[(b'f', b"large", whole)]);
    check_refused(&mut files, root, vec![one, two, short], &whole);
}

#[test]
fn a_size_that_contradicts_the_length_is_refused() {
    let mut files = MemoryBackend::new();
    let mut root = directory(&[]);
    root.size = u64::MAX;
    let (scene, id) = forged(root, vec![]);
    let error = scene
        .store
        .load(&id)
        .and_then(|tree| files.replace(&*tree, &Scope::everything()))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(files.list(&path(b"")).unwrap().is_empty());
}

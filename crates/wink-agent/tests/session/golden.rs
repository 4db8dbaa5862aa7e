//! The dump of version 1, which is read for ever, and the page that tells of it.

use std::time::{Duration, SystemTime};

use wink_agent::session::{
    Encoding, FileChange, FilesChanged, FilesystemSnapshotRef, Session, ToolInvoked,
    VirtualFileSystem,
};
use wink_fs::{StateRef, TreePath};

use crate::session::dump::{read, text};
use crate::session::types::{Fact, facts};

const GOLDEN: &str = include_str!("golden/session-v1.jsonl");
/// The listings of two workspaces; the first dumps had one, without a key.
const KEYS: &str = include_str!("golden/session-v1-keys.jsonl");
/// A call with the operation by which it changed a file, and the states before and after it.
const CALLS: &str = include_str!("golden/session-v1-calls.jsonl");
const PAGE: &str = include_str!("../../../../docs/session-format.md");

#[test]
fn version_1_is_read_with_all_that_it_says() {
    let root = read(GOLDEN).unwrap();
    assert_eq!(root.id().to_string(), "67e55044-10b1-426f-9247-bb680e5fe0c8");
    assert_eq!(root.tags()["task"], "refactor");
    assert_eq!(root.created_at(), time(0));
    assert_eq!(facts(&root), [1, 2]);
    let call = root.query::<ToolInvoked>().unwrap().latest().unwrap();
    assert_eq!(*call, tool_call());
    let listing = root.query::<VirtualFileSystem>().unwrap().latest().unwrap();
    let listed: Vec<_> =
        listing.files().map(|file| (file.path.to_string(), file.version)).collect();
    assert_eq!(listed, [("logo.png".into(), 1), ("src/main.rs".into(), 2)]);
    let child = &root.children()[0];
    let reference = child.query::<FilesystemSnapshotRef>().unwrap().latest().unwrap();
    assert_eq!(reference.backend_type, "in_memory");
}

#[test]
fn version_1_is_written_again_byte_for_byte() {
    assert_eq!(text(&read(GOLDEN).unwrap()), GOLDEN);
    let root = read(GOLDEN).unwrap();
    for session in root.walk() {
        session.query::<Fact>().unwrap();
        session.query::<ToolInvoked>().unwrap();
        session.query::<VirtualFileSystem>().unwrap();
        session.query::<FilesystemSnapshotRef>().unwrap();
    }
    assert_eq!(text(&root), GOLDEN, "after all of it was read as types");
}

#[test]
fn a_session_of_today_is_written_as_version_1_is() {
    assert_eq!(text(&golden_session()), GOLDEN);
}

#[test]
fn the_page_shows_the_very_dump() {
    for line in GOLDEN.lines().chain(KEYS.lines()).chain(CALLS.lines()) {
        assert!(PAGE.contains(line), "docs/session-format.md lacks {line}");
    }
}

/// Once, they were dropped from the items of our own slices as soon as a caller queried those.
#[test]
fn unknown_fields_of_items_are_written_again_after_they_were_read_as_types() {
    let of_the_future = GOLDEN
        .replace(r#"21.123Z"}]}]}"#, r#"21.123Z","mode":7}],"root":"/"}]}"#)
        .replace(r#""snapshot_after":null}"#, r#""snapshot_after":null,"model":{"name":"m"}}"#)
        .replace(r#""backend_type":"in_memory"}"#, r#""backend_type":"in_memory","host":"a"}"#);
    let root = read(&of_the_future).unwrap();
    for session in root.walk() {
        session.query::<ToolInvoked>().unwrap();
        session.query::<VirtualFileSystem>().unwrap();
        session.query::<FilesystemSnapshotRef>().unwrap();
    }
    assert_eq!(text(&root), of_the_future);
    for field in [r#""mode":7"#, r#""root":"/""#, r#""model":{"name":"m"}"#, r#""host":"a""#] {
        assert!(of_the_future.contains(field), "{field}");
    }
}

#[test]
fn listings_of_two_workspaces_are_read_and_written_by_their_keys() {
    let session = Session::builder()
        .session_id("67e55044-10b1-426f-9247-bb680e5fe0c8".parse().unwrap())
        .created_at(time(0))
        .build();
    for (seconds, key, size) in [(1, "vfs", 5), (2, "workspace", 7)] {
        let path = TreePath::parse("notes.txt").unwrap();
        let made = [FileChange::written(path, size, Some(Encoding::Utf8))];
        session.dispatch(FilesChanged::new(time(seconds), made).filesystem_key(key)).unwrap();
    }
    assert_eq!(text(&session), KEYS);
    let read = read(KEYS).unwrap();
    let listings = read.query::<VirtualFileSystem>().unwrap();
    let keys: Vec<_> = listings.all().map(|listing| listing.filesystem_key()).collect();
    assert_eq!(keys, [Some("vfs"), Some("workspace")]);
    assert_eq!(text(&read), KEYS);
}

#[test]
fn a_call_is_read_and_written_with_its_operations_and_states() {
    let session = Session::builder()
        .session_id("67e55044-10b1-426f-9247-bb680e5fe0c8".parse().unwrap())
        .created_at(time(0))
        .build();
    let before = Some(StateRef::BeforeOperation(12));
    let call = tool_call().states(before, Some(StateRef::AfterOperation(12))).operations(vec![12]);
    session.dispatch(call.clone()).unwrap();
    assert_eq!(text(&session), CALLS);
    let read = read(CALLS).unwrap();
    assert_eq!(*read.query::<ToolInvoked>().unwrap().latest().unwrap(), call);
    assert_eq!(text(&read), CALLS);
}

/// Returns the session that the golden file holds.
fn golden_session() -> Session {
    let parse = |id: &str| id.parse().unwrap();
    let root = Session::builder()
        .session_id(parse("67e55044-10b1-426f-9247-bb680e5fe0c8"))
        .created_at(time(0))
        .tag("task", "refactor")
        .build();
    root.seed([Fact(1), Fact(2)]).unwrap();
    root.dispatch(tool_call()).unwrap();
    let write = |path, size, encoding| {
        FileChange::written(TreePath::parse(path).unwrap(), size, Some(encoding))
    };
    let made = [write("src/main.rs", 12, Encoding::Utf8), write("logo.png", 4, Encoding::Binary)];
    root.dispatch(FilesChanged::new(time(1), made)).unwrap();
    let changed = [write("src/main.rs", 15, Encoding::Utf8)];
    root.dispatch(FilesChanged::new(time(2), changed)).unwrap();
    let child = Session::builder()
        .session_id(parse("a1a2a3a4-b1b2-4c1c-8d1d-d2d3d4d5d6d7"))
        .created_at(time(3))
        .parent(&root)
        .build();
    let snapshot = "ec81e924-1628-4e73-ae0e-f1d217003333".parse().unwrap();
    child.dispatch(FilesystemSnapshotRef::new("vfs", snapshot, "in_memory")).unwrap();
    root
}

fn tool_call() -> ToolInvoked {
    ToolInvoked::new("call-1", "write_file", time(1))
        .turn(1)
        .parameters(r#"{"path":"src/main.rs","content":"fn main() {}"}"#)
        .result("Created src/main.rs with 12 bytes.", true)
        .path("src/main.rs")
        .mode("overwrite")
        .duration(Duration::from_micros(1_250))
}

fn time(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(1_794_807_619_123 + 1_000 * seconds)
}

//! The examples of the documents this crate was made from, on every backend.
//!
//! Where the documents disagree with each other, the decision is the specification's.

use std::sync::{Arc, Mutex};

use wink_fs::testkit::MockFilesystem;
use wink_fs::{
    Backend, Error, ErrorKind, Event, Kind, Limits, MkdirOptions, MountPoint, PageLimit,
    ReadOptions, Removed, Workspace, WriteMode, WriteOptions, ops,
};

/// Makes a test of each example for a backend.
macro_rules! on {
    ($name:ident, $fresh:expr, [$($example:ident)*]) => {
        mod $name {
            $(
                #[test]
                fn $example() {
                    super::$example($fresh);
                }
            )*
        }
    };
}

/// The list of examples.
macro_rules! documents {
    ($name:ident, $fresh:expr) => {
        on!($name, $fresh, [
            write_read
            write_and_read
            list_dir
            read_nonexistent_raises
            write_and_read_roundtrip
            read_pages_through_a_file
            write_modes
            write_without_create_parents
            write_result
            delete_is_not_recursive_by_default
            directory_deletion_leaves_unrelated_paths
            mkdir_defaults_and_refusals
            list_defaults_to_the_root
            list_of_a_file_raises
            stat_of_files_and_directories
            mount_point
            without_a_mount_point
            read_only
            paths_that_escape
            names_of_the_root
            recommended_limits
            ascii_only_paths
            default_read_limit
            exception_mapping
            files_written_are_published
            scratch_notes
        ]);
    };
}

documents!(memory, wink_fs::MemoryBackend::new());
documents!(host, wink_fs::HostBackend::temporary().unwrap());

fn workspace(backend: impl Backend + 'static) -> Workspace {
    Workspace::builder(backend).build()
}

#[track_caller]
fn kind<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorKind {
    result.unwrap_err().kind()
}

/// `test_write_read`
fn write_read(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    fs.write("test.txt", "hello").unwrap();
    assert_eq!(fs.read("test.txt").unwrap().content, "hello");
}

/// `TestFilesystemProtocol.test_write_and_read`
fn write_and_read(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    fs.write("test.txt", "hello").unwrap();
    let content = fs.read("test.txt").unwrap();
    assert_eq!(content.content, "hello");
    assert_eq!(content.path.to_string(), "test.txt");
}

/// `TestFilesystemProtocol.test_list_dir`
fn list_dir(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    fs.write("a/b.txt", "").unwrap();
    let entries = fs.list("a").unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].path.to_string(), "a/b.txt");
}

/// `FilesystemProtocolTests.test_read_nonexistent_raises`
fn read_nonexistent_raises(backend: impl Backend + 'static) {
    assert_eq!(kind(workspace(backend).read("does_not_exist.txt")), ErrorKind::NotFound);
}

/// `FilesystemProtocolTests.test_write_and_read_roundtrip`
fn write_and_read_roundtrip(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    fs.write("test.txt", "hello world").unwrap();
    assert_eq!(fs.read("test.txt").unwrap().content, "hello world");
}

/// `read(path, offset, limit)`: `ReadResult(content, path, total_lines, offset, limit, truncated)`
fn read_pages_through_a_file(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    fs.write("lines.txt", "one\ntwo\nthree\n").unwrap();
    let options = ReadOptions::default().offset(1).limit(PageLimit::Count(1));
    let page = fs.read_with("lines.txt", &options).unwrap();
    assert_eq!((page.content.as_str(), page.path.to_string()), ("two\n", "lines.txt".into()));
    assert_eq!((page.total_lines, page.offset, page.limit, page.truncated), (3, 1, 1, true));
}

/// `mode`: "create": fail if file exists; "overwrite": replace; "append": add to end of file
fn write_modes(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    let write = |mode| fs.write_with("f", "x", &WriteOptions::default().mode(mode));
    assert!(write(WriteMode::Create).unwrap().created);
    assert_eq!(kind(write(WriteMode::Create)), ErrorKind::AlreadyExists);
    write(WriteMode::Append).unwrap();
    assert_eq!(fs.read("f").unwrap().content, "xx");
    write(WriteMode::Overwrite).unwrap();
    assert_eq!(fs.read("f").unwrap().content, "x");
}

/// `FileNotFoundError: Parent directory missing and create_parents=False`
fn write_without_create_parents(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    let options = WriteOptions::default().create_parents(false);
    assert_eq!(kind(fs.write_with("d/f", "", &options)), ErrorKind::NotFound);
    assert!(!fs.exists("d"));
    fs.write("d/f", "").unwrap();
    assert!(fs.is_dir("d") && fs.is_file("d/f"));
}

/// `WriteResult(path, bytes_written, mode)`, `created`: "True if file was created"
fn write_result(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    let written = fs.write("f", "größe").unwrap();
    assert_eq!((written.path.to_string(), written.bytes_written), ("f".into(), 7));
    assert_eq!((written.mode, written.created), (WriteMode::Overwrite, true));
    assert!(!fs.write("f", "").unwrap().created);
}

/// `delete(path, recursive=False)`, "Returns count of deleted entries"
fn delete_is_not_recursive_by_default(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    fs.write("d/e/f", "").unwrap();
    assert_eq!(kind(fs.delete("d")), ErrorKind::NotEmpty);
    assert_eq!(kind(fs.delete("missing")), ErrorKind::NotFound);
    assert_eq!(fs.delete_all("d").unwrap(), Removed::new(1, 2));
    fs.mkdir("empty").unwrap();
    assert_eq!(fs.delete("empty").unwrap(), Removed::new(0, 1));
}

/// "directory deletion removes all nested files while leaving unrelated paths untouched"
fn directory_deletion_leaves_unrelated_paths(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    for path in ["src/a.py", "src/deep/b.py", "src2/c.py", "srcfile"] {
        fs.write(path, path).unwrap();
    }
    fs.delete_all("src").unwrap();
    assert!(!fs.exists("src/a.py") && !fs.exists("src/deep/b.py") && !fs.exists("src"));
    assert_eq!(fs.read("src2/c.py").unwrap().content, "src2/c.py");
    assert!(fs.exists("srcfile"));
}

/// `mkdir(path, parents=True, exist_ok=True)`
fn mkdir_defaults_and_refusals(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    assert!(fs.mkdir("a/b").unwrap());
    assert!(!fs.mkdir("a/b").unwrap());
    let strict = MkdirOptions::default().exist_ok(false);
    assert_eq!(kind(fs.mkdir_with("a/b", &strict)), ErrorKind::AlreadyExists);
    let lone = MkdirOptions::default().parents(false);
    assert_eq!(kind(fs.mkdir_with("x/y", &lone)), ErrorKind::NotFound);
}

/// `list(path=".")`: "Directory to list. Defaults to root."; "Empty path means root."
fn list_defaults_to_the_root(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    fs.write("b.txt", "").unwrap();
    fs.mkdir("a").unwrap();
    for root in ["", ".", "/"] {
        let entries = fs.list(root).unwrap();
        let shown: Vec<_> = entries.iter().map(|e| (e.name.as_str(), e.kind)).collect();
        assert_eq!(shown, [("a", Kind::Directory), ("b.txt", Kind::File)]);
    }
}

/// `NotADirectoryError: Path is a file`, `FileNotFoundError: Path does not exist`
fn list_of_a_file_raises(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    fs.write("f", "").unwrap();
    assert_eq!(kind(fs.list("f")), ErrorKind::NotADirectory);
    assert_eq!(kind(fs.list("missing")), ErrorKind::NotFound);
}

/// `FileStat(path, is_file, is_directory, size_bytes, created_at, modified_at)`
fn stat_of_files_and_directories(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    fs.write("d/f", "hello").unwrap();
    let (file, directory) = (fs.stat("d/f").unwrap(), fs.stat("d").unwrap());
    assert_eq!((file.kind, file.size_bytes), (Kind::File, 5));
    assert_eq!((directory.kind, directory.size_bytes), (Kind::Directory, 0));
    assert!(file.modified_at.is_some() && directory.modified_at.is_some());
    assert_eq!(kind(fs.stat("missing")), ErrorKind::NotFound);
}

/// "absolute paths like "/workspace/file.txt" are interpreted as "file.txt""
fn mount_point(backend: impl Backend + 'static) {
    let mount = MountPoint::parse("/workspace").unwrap();
    let fs = Workspace::builder(backend).mount_point(mount.clone()).build();
    assert_eq!(fs.properties().mount_point, Some(mount));
    fs.write("/workspace/file.txt", "hello").unwrap();
    assert_eq!(fs.read("file.txt").unwrap().content, "hello");
    assert_eq!(fs.list("/workspace").unwrap().len(), 1);
    assert_eq!(fs.list("/").unwrap().len(), 1);
    for outside in ["/etc/passwd", "/workspacex/file.txt", "/workspace/../etc"] {
        assert_eq!(kind(fs.read(outside)), ErrorKind::PermissionDenied, "{outside}");
        assert!(!fs.exists(outside));
    }
}

/// "None if no mount point is configured": a leading `/` means the root
fn without_a_mount_point(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    fs.write("/src/main.py", "").unwrap();
    assert!(fs.is_file("src/main.py"));
}

/// `read_only`: "True if write operations are disabled."
fn read_only(mut backend: impl Backend + 'static) {
    let path = wink_fs::TreePath::parse("f").unwrap();
    ops::write(&mut backend, &path, "kept", &WriteOptions::default()).unwrap();
    let fs = Workspace::builder(backend).read_only(true).build();
    assert!(fs.properties().read_only);
    assert_eq!(kind(fs.write("f", "new")), ErrorKind::ReadOnly);
    assert_eq!(kind(fs.write("d/new", "")), ErrorKind::ReadOnly);
    assert_eq!(kind(fs.delete("f")), ErrorKind::ReadOnly);
    assert_eq!(kind(fs.mkdir("d")), ErrorKind::ReadOnly);
    assert_eq!(fs.stage().unwrap_err().kind(), ErrorKind::ReadOnly, "not even beside the files");
    assert_eq!(kind(fs.rename("f", "g")), ErrorKind::ReadOnly);
    assert_eq!(kind(fs.as_agent("write", |fs| fs.create_dir(&path))), ErrorKind::ReadOnly);
    assert_eq!(fs.read("f").unwrap().content, "kept");
}

/// `PermissionError: If resolved path escapes root directory`
fn paths_that_escape(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    for path in ["..", "../secret", "a/../../secret", "/../secret"] {
        assert_eq!(kind(fs.read(path)), ErrorKind::PermissionDenied, "{path}");
        assert_eq!(kind(fs.write(path, "")), ErrorKind::PermissionDenied, "{path}");
        assert!(!fs.exists(path) && !fs.is_file(path) && !fs.is_dir(path));
    }
    assert_eq!(kind(fs.read("a\0b")), ErrorKind::InvalidPath);
}

/// `if not path or path in {".", "/"}: return root_path`
fn names_of_the_root(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    for root in ["", ".", "/", "./", "a/.."] {
        assert!(fs.is_dir(root), "`{root}`");
        assert_eq!(kind(fs.delete_all(root)), ErrorKind::PermissionDenied, "`{root}`");
    }
}

/// The table of recommended limits
fn recommended_limits(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    let write = |path: &str, content: &str| {
        let path = fs.path(path)?;
        fs.as_agent("write", |fs| ops::write(fs, &path, content, &WriteOptions::default()))
    };
    write("most", &"é".repeat(48_000)).unwrap();
    assert_eq!(kind(write("more", &"x".repeat(48_001))), ErrorKind::TooLarge);
    write(&["d"; 16].join("/"), "").unwrap();
    assert_eq!(kind(write(&["e"; 17].join("/"), "")), ErrorKind::TooLarge);
    write(&"n".repeat(80), "").unwrap();
    assert_eq!(kind(write(&"n".repeat(81), "")), ErrorKind::TooLarge);
    assert!(!fs.exists("more") && !fs.exists("e") && !fs.exists(&"n".repeat(81)));
}

/// "Path segments remain ASCII-only": an option of the limits
fn ascii_only_paths(backend: impl Backend + 'static) {
    let mut limits = Limits::default();
    limits.ascii_only = true;
    let fs = Workspace::builder(backend).limits(limits).build();
    let path = fs.path("größe").unwrap();
    let write =
        |fs: &mut dyn wink_fs::Filesystem| ops::write(fs, &path, "", &WriteOptions::default());
    assert_eq!(kind(fs.as_agent("write", write)), ErrorKind::InvalidPath);
    fs.as_owner("write", write).unwrap();
}

/// "Default read limit: 2,000 lines, pagination default"
fn default_read_limit(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    fs.write("long", &"line\n".repeat(2_001)).unwrap();
    let page = fs.read("long").unwrap();
    assert_eq!((page.limit, page.total_lines, page.truncated), (2_000, 2_001, true));
}

/// The table of exceptions
fn exception_mapping(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    fs.write("d/f", "").unwrap();
    assert_eq!(kind(fs.read("missing")), ErrorKind::NotFound);
    assert_eq!(kind(fs.read("d")), ErrorKind::IsADirectory);
    assert_eq!(kind(fs.list("d/f")), ErrorKind::NotADirectory);
    assert_eq!(kind(fs.read("../f")), ErrorKind::PermissionDenied);
    let create = WriteOptions::default().mode(WriteMode::Create);
    assert_eq!(kind(fs.write_with("d/f", "", &create)), ErrorKind::AlreadyExists);
}

/// "Backends publish `FileWritten(path, bytes_written)` after successful writes"
fn files_written_are_published(backend: impl Backend + 'static) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = seen.clone();
    let fs = Workspace::builder(backend)
        .observe(move |event| sink.lock().unwrap().push(event.clone()))
        .build();
    fs.write("f", "hello").unwrap();
    fs.write("../f", "hello").unwrap_err();
    let path = fs.path("f").unwrap();
    assert_eq!(*seen.lock().unwrap(), [Event::FileWritten { path, bytes_written: 5 }]);
}

/// `fs.write("scratch/notes.txt", "Working notes...")`
fn scratch_notes(backend: impl Backend + 'static) {
    let fs = workspace(backend);
    fs.write("scratch/notes.txt", "Working notes...").unwrap();
    assert!(fs.exists("scratch/notes.txt"));
}

/// `MockFilesystem(files)`, with its `read_calls` and `write_calls`
#[test]
fn mock_filesystem_records_calls() {
    let mock = MockFilesystem::with_files([("a.txt", "hello"), ("d/b.txt", "")]).unwrap();
    let recorder = mock.layer().clone();
    let fs = workspace(mock);
    assert_eq!(fs.read("a.txt").unwrap().content, "hello");
    assert_eq!(kind(fs.read("missing")), ErrorKind::NotFound);
    fs.write("d/c.txt", "new").unwrap();

    let calls = recorder.calls();
    let shown: Vec<_> = calls.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["open a.txt", "open missing", "put d/c.txt"]);
    assert_eq!(calls[2].content.as_deref(), Some(&b"new"[..]));
}

#[test]
fn mock_filesystem_fails_when_it_is_told_to() {
    let mock = MockFilesystem::with_files([("a.txt", "hello")]).unwrap();
    let recorder = mock.layer().clone();
    let fs = workspace(mock);
    recorder.fail_nth(2, ErrorKind::Io);
    fs.read("a.txt").unwrap();
    assert_eq!(kind(fs.read("a.txt")), ErrorKind::Io);
    fs.read("a.txt").unwrap();
    assert_eq!(recorder.calls().len(), 3);
}

/// `root`: "may be "/" for virtual filesystems"
#[test]
fn the_root_of_memory_is_a_slash() {
    assert_eq!(Workspace::memory().properties().root, "/");
    assert_eq!(Workspace::memory().properties().mount_point, None);
}

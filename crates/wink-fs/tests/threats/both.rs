//! What holds alike on every backend.

use std::time::{Duration, Instant};

use wink_fs::search::{GrepOptions, PathPattern};
use wink_fs::{
    Backend, ErrorKind, Kind, Limits, MountPoint, MoveOptions, Operation, PageLimit, PutOptions,
    ReadOptions, Staged, TreePath, Workspace, WriteMode, WriteOptions, ops,
};

use crate::common::on_both::on_both;
use crate::threats::operations::{CHANGING, LOOKING, NAMING, accepted};

on_both! {
    a1_01_paths_that_leave_the_root_are_refused_by_every_operation,
    a1_02_only_the_mount_point_is_an_absolute_prefix,
    a1_04_control_characters_from_a_caller_are_an_invalid_path,
    a1_05_a_name_that_is_not_utf8_is_listed_read_and_deleted,
    a1_07_long_and_deep_paths_are_refused_where_something_is_made,
    a1_08_a_link_to_an_outside_file_gives_nothing_away,
    a1_09_nothing_is_made_through_a_link_to_an_outside_directory,
    a1_11_loops_and_long_chains_of_links_end,
    a1_12_links_into_proc_and_dev_are_refused,
    a1_13_a_link_to_a_fifo_never_blocks,
    a1_15_a_copy_does_not_share_later_changes,
    a1_16_files_and_directories_in_each_others_place_are_the_same_errors,
    a1_22_regular_expressions_are_bounded_and_linear,
    a1_23_path_patterns_are_bounded_and_linear,
    a1_25_numbers_and_sizes_out_of_range_are_refused_or_harmless,
    a1_28_the_root_is_never_deleted,
    a1_29_a_recursive_delete_leaves_what_links_point_to,
}

fn workspace(backend: impl Backend + 'static) -> Workspace {
    let files = Workspace::builder(backend).build();
    files.write("present", "present").unwrap();
    files
}

fn names(files: &Workspace) -> Vec<String> {
    files.list("").unwrap().into_iter().map(|entry| entry.name).collect()
}

fn kind_of(result: wink_fs::Result<impl std::fmt::Debug>) -> ErrorKind {
    result.unwrap_err().kind()
}

fn a1_01_paths_that_leave_the_root_are_refused_by_every_operation(backend: impl Backend + 'static) {
    let files = workspace(backend);
    for path in ["../../etc/passwd", "a/../../x", "..", "/..", "./..", "present/../../x", "../"] {
        for operations in [&LOOKING[..], &CHANGING, &NAMING] {
            let wrong = accepted(&files, path, operations, |error| {
                error.kind() == ErrorKind::PermissionDenied
            });
            assert_eq!(wrong, [] as [String; 0]);
        }
        assert!(!files.exists(path) && !files.is_file(path) && !files.is_dir(path));
    }
    assert_eq!(names(&files), ["present"]);
}

fn a1_02_only_the_mount_point_is_an_absolute_prefix(backend: impl Backend + 'static) {
    let mount = MountPoint::parse("/workspace").unwrap();
    let files = Workspace::builder(backend).mount_point(mount).build();
    files.write("/workspace/x", "x").unwrap();
    assert_eq!(names(&files), ["x"]);
    assert_eq!(files.list("/").unwrap(), files.list("/workspace/").unwrap());
    for path in ["/etc/passwd", "/workspace/../etc", "/workspacex/y", "/x", "/../workspace/x"] {
        assert_eq!(kind_of(files.read(path)), ErrorKind::PermissionDenied, "{path}");
        assert_eq!(kind_of(files.write(path, "")), ErrorKind::PermissionDenied, "{path}");
    }
}

fn a1_04_control_characters_from_a_caller_are_an_invalid_path(backend: impl Backend + 'static) {
    let files = workspace(backend);
    for path in [
        "a\0b",
        "a\nb",
        "a\u{1b}[31m",
        "a\u{202e}b",
        "a\u{2066}b",
        "a\u{85}b",
        "\u{7f}",
        "a\u{200b}",
        "a\u{ad}",
    ] {
        for operations in [&LOOKING[..], &CHANGING, &NAMING] {
            let wrong = accepted(&files, path, operations, |e| e.kind() == ErrorKind::InvalidPath);
            assert_eq!(wrong, [] as [String; 0]);
        }
        let escaped = TreePath::from_disk(path.replace('\0', "\n").as_bytes()).unwrap();
        let made =
            files.as_agent("write", |fs| ops::write(fs, &escaped, "", &WriteOptions::default()));
        assert_eq!(kind_of(made), ErrorKind::InvalidPath, "an agent makes no such name either");
        let message = files.read(path).unwrap_err().to_string();
        assert!(!message.contains(|c: char| c.is_control() || c == '\u{202e}'), "{message:?}");
    }
    assert_eq!(names(&files), ["present"]);
}

fn a1_05_a_name_that_is_not_utf8_is_listed_read_and_deleted(mut backend: impl Backend + 'static) {
    let odd = TreePath::from_disk(b"caf\xe9\n").unwrap();
    backend.put(&odd, &mut Staged::from_bytes("kept"), &PutOptions::default()).unwrap();
    let files = Workspace::builder(backend).build();
    assert_eq!(names(&files), [r"caf\xe9\x0a"]);
    let listed = files.list("").unwrap()[0].path.to_string();
    assert_eq!(files.read(&listed).unwrap().content, "kept");
    files.write(&listed, "changed").unwrap();
    files.rename(&listed, r"caf\xe8").unwrap();
    assert_eq!(files.delete(r"caf\xe8").unwrap().files, 1);
    assert_eq!(names(&files), [] as [&str; 0]);
}

fn a1_07_long_and_deep_paths_are_refused_where_something_is_made(backend: impl Backend + 'static) {
    let files = workspace(backend);
    let write = |text: &str| {
        let path = files.path(text)?;
        files.as_agent("write", |fs| ops::write(fs, &path, "", &WriteOptions::default()))
    };
    let (long, deep) = ("n".repeat(81), "d/".repeat(17));
    for (path, limit) in [(&long, "max_segment"), (&deep, "max_depth")] {
        let error = write(path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.to_string().contains(limit), "{error}");
    }
    write(&"n".repeat(80)).unwrap();
    write(&"ü".repeat(80)).unwrap();
    write("1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16").unwrap();

    // What the program made deeper and longer is used as usual.
    files.write(&format!("{deep}{long}"), "old").unwrap();
    assert_eq!(files.read(&format!("{deep}{long}")).unwrap().content, "old");
    write(&format!("{deep}{long}")).unwrap();

    // A directory is not moved to where its entries would be too deep.
    files.write("tree/1/2/3", "").unwrap();
    files.mkdir("a/b/c/d/e/f/g/h/i/j/k/l/m").unwrap();
    let (from, to) =
        (files.path("tree").unwrap(), files.path("a/b/c/d/e/f/g/h/i/j/k/l/m/tree").unwrap());
    let moved = files.as_agent("write", |fs| ops::rename(fs, &from, &to, &MoveOptions::default()));
    assert_eq!(kind_of(moved), ErrorKind::TooLarge);

    // Files may be made in a directory that is deeper already, and below a name that is longer; directories may not.
    let deeper = format!("{deep}d");
    write(&format!("{deeper}/new")).unwrap_err();
    files.mkdir(&deeper).unwrap();
    write(&format!("{deeper}/new")).unwrap();
    assert_eq!(kind_of(write(&format!("{deeper}/dir/new"))), ErrorKind::TooLarge);
    files.mkdir(&long).unwrap();
    write(&format!("{long}/new")).unwrap();
    assert_eq!(kind_of(write(&format!("{long}/{long}"))), ErrorKind::TooLarge);
    let path = |text: &str| files.path(text).unwrap();
    let (from, to) = (path(&format!("{deeper}/new")), path(&format!("{deeper}/other")));
    files.as_agent("mv", |fs| ops::rename(fs, &from, &to, &MoveOptions::default())).unwrap();
    let (from, to) = (path(&long), path("short"));
    files.as_agent("mv", |fs| ops::rename(fs, &from, &to, &MoveOptions::default())).unwrap();
    assert!(files.is_file("short/new"));

    for path in ["x".repeat(256), "x/".repeat(2049)] {
        assert_eq!(kind_of(files.read(&path)), ErrorKind::InvalidPath);
        assert_eq!(kind_of(write(&path)), ErrorKind::InvalidPath);
    }
}

/// An outside directory with a secret in it, and what it held when it was made.
struct Outside(tempfile::TempDir);

impl Outside {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("child"), "secret").unwrap();
        Self(directory)
    }

    fn path(&self, name: &str) -> Vec<u8> {
        self.0.path().join(name).into_os_string().into_encoded_bytes()
    }

    fn assert_untouched(&self) {
        let entries: Vec<_> =
            std::fs::read_dir(self.0.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(entries, ["child"]);
        assert_eq!(std::fs::read_to_string(self.0.path().join("child")).unwrap(), "secret");
        let mode = std::fs::metadata(self.0.path().join("child")).unwrap().permissions();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o111, 0);
    }
}

fn refuses_the_link(error: &wink_fs::Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied
        && error.to_string().contains("symbolic link")
        && !error.to_string().contains("secret")
}

fn a1_08_a_link_to_an_outside_file_gives_nothing_away(backend: impl Backend + 'static) {
    let (files, outside) = (workspace(backend), Outside::new());
    files.symlink("link", &outside.path("child")).unwrap();
    files.symlink("dangling", &outside.path("nothing")).unwrap();
    for link in ["link", "dangling"] {
        let following = LOOKING.iter().filter(|(name, _)| *name != "copy from");
        let following: Vec<_> = following.copied().collect();
        assert_eq!(accepted(&files, link, &following, refuses_the_link), [] as [String; 0]);
        assert_eq!(accepted(&files, link, &CHANGING, refuses_the_link), [] as [String; 0]);
        assert_eq!(files.stat(link).unwrap().kind, Kind::Symlink);
        assert!(files.exists(link) && !files.is_file(link) && !files.is_dir(link));
        files.copy(link, "copied").unwrap();
        assert_eq!(files.stat("copied").unwrap().kind, Kind::Symlink);
        assert_eq!(files.delete("copied").unwrap().files, 1);
        assert_eq!(files.delete(link).unwrap().files, 1);
    }
    files.symlink("link", &outside.path("child")).unwrap();
    let found = files.grep("secret", "", &GrepOptions::default()).unwrap();
    assert_eq!((found.total_lines, found.skipped.not_files), (0, 1));
    assert_eq!(
        kind_of(files.grep("secret", "link", &GrepOptions::default())),
        ErrorKind::PermissionDenied
    );
    assert_eq!(files.glob("child", "").unwrap().paths, []);
    files.delete("link").unwrap();
    assert_eq!(names(&files), ["present"]);
    outside.assert_untouched();
}

fn a1_09_nothing_is_made_through_a_link_to_an_outside_directory(backend: impl Backend + 'static) {
    let (files, outside) = (workspace(backend), Outside::new());
    files.symlink("link", &outside.path("")).unwrap();
    files.symlink("own", b".").unwrap();
    for path in ["link/new", "link/new/deeper", "link/child", "own/new"] {
        for operations in [&LOOKING[..], &CHANGING, &NAMING] {
            let wrong = accepted(&files, path, operations, refuses_the_link);
            assert_eq!(wrong, [] as [String; 0]);
        }
        assert!(!files.exists(path));
    }
    outside.assert_untouched();
    assert_eq!(names(&files), ["link", "own", "present"]);
}

fn a1_11_loops_and_long_chains_of_links_end(backend: impl Backend + 'static) {
    let files = workspace(backend);
    files.symlink("loop-a", b"loop-b").unwrap();
    files.symlink("loop-b", b"loop-a").unwrap();
    files.symlink("chain-0", b"present").unwrap();
    for n in 1..=41 {
        files.symlink(&format!("chain-{n}"), format!("chain-{}", n - 1).as_bytes()).unwrap();
    }
    files.mkdir("directory").unwrap();
    files.symlink("directory/up", b"..").unwrap();
    for path in ["loop-a", "loop-b", "chain-41", "chain-0", "directory/up"] {
        assert_eq!(kind_of(files.read(path)), ErrorKind::PermissionDenied);
        assert_eq!(kind_of(files.list(path)), ErrorKind::PermissionDenied);
    }
    assert_eq!(files.copy("directory", "copied").unwrap().files, 1);
    assert_eq!(files.delete_all("directory").unwrap().files, 1);
}

fn a1_12_links_into_proc_and_dev_are_refused(backend: impl Backend + 'static) {
    let files = workspace(backend);
    let targets =
        ["/proc/self/root", "/proc/self/fd/3", "/proc/self/environ", "/dev/stdin", "/dev/zero"];
    for (n, target) in targets.iter().enumerate() {
        let link = format!("link-{n}");
        files.symlink(&link, target.as_bytes()).unwrap();
        let following: Vec<_> =
            LOOKING.iter().filter(|(name, _)| *name != "copy from").copied().collect();
        assert_eq!(accepted(&files, &link, &following, refuses_the_link), [] as [String; 0]);
        assert_eq!(accepted(&files, &link, &CHANGING, refuses_the_link), [] as [String; 0]);
        assert_eq!(kind_of(files.read(&format!("{link}/etc/passwd"))), ErrorKind::PermissionDenied);
    }
}

fn a1_13_a_link_to_a_fifo_never_blocks(backend: impl Backend + 'static) {
    let (files, outside) = (workspace(backend), tempfile::tempdir().unwrap());
    let fifo = outside.path().join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).unwrap();
    files.symlink("link", fifo.as_os_str().as_encoded_bytes()).unwrap();
    let started = Instant::now();
    assert_eq!(kind_of(files.read("link")), ErrorKind::PermissionDenied);
    assert_eq!(kind_of(files.write("link", "")), ErrorKind::PermissionDenied);
    assert!(started.elapsed() < Duration::from_secs(30));
}

fn a1_15_a_copy_does_not_share_later_changes(backend: impl Backend + 'static) {
    let files = workspace(backend);
    files.copy("present", "copy").unwrap();
    let append = WriteOptions::default().mode(WriteMode::Append);
    files.write_with("copy", " and more", &append).unwrap();
    files.set_mode("copy", wink_fs::FileMode::default().executable(true)).unwrap();
    assert_eq!(files.read("present").unwrap().content, "present");
    assert!(!files.stat("present").unwrap().mode.executable);
    assert_eq!(files.read("copy").unwrap().content, "present and more");
}

fn a1_16_files_and_directories_in_each_others_place_are_the_same_errors(
    backend: impl Backend + 'static,
) {
    let files = workspace(backend);
    files.mkdir("directory").unwrap();
    let create = WriteOptions::default().mode(WriteMode::Create);
    let append = WriteOptions::default().mode(WriteMode::Append);
    assert_eq!(kind_of(files.write("present/b", "")), ErrorKind::NotADirectory);
    assert_eq!(kind_of(files.write("present/b/c", "")), ErrorKind::NotADirectory);
    assert_eq!(kind_of(files.write_with("present/b", "", &append)), ErrorKind::NotADirectory);
    assert_eq!(kind_of(files.mkdir("present/b")), ErrorKind::NotADirectory);
    assert_eq!(kind_of(files.mkdir("present")), ErrorKind::AlreadyExists);
    assert_eq!(kind_of(files.write("directory", "")), ErrorKind::IsADirectory);
    assert_eq!(kind_of(files.write_with("directory", "", &append)), ErrorKind::IsADirectory);
    assert_eq!(kind_of(files.write_with("directory", "", &create)), ErrorKind::AlreadyExists);
    assert_eq!(kind_of(files.write("", "")), ErrorKind::IsADirectory);
    assert_eq!(kind_of(files.read("directory")), ErrorKind::IsADirectory);
    assert_eq!(kind_of(files.read("present/b")), ErrorKind::NotFound);
    assert_eq!(kind_of(files.list("present")), ErrorKind::NotADirectory);
    assert_eq!(kind_of(files.delete("present/b")), ErrorKind::NotFound);
    assert_eq!(names(&files), ["directory", "present"]);
}

fn a1_22_regular_expressions_are_bounded_and_linear(backend: impl Backend + 'static) {
    let files = workspace(backend);
    files.write("long", &format!("{}b", "a".repeat(200_000))).unwrap();
    let grep = |pattern: &str| files.grep(pattern, "", &GrepOptions::default());
    let started = Instant::now();
    assert_eq!(grep("(a+)+$").unwrap().total_lines, 0);
    assert_eq!(grep("(a|a)*c").unwrap().total_lines, 0);
    for pattern in [
        r"(?:(?:a{1000}){1000}){100}",
        r"(?:\p{L}{900}){900}",
        r"(a)\1",
        r"(?<=a)b",
        r"(?!a)b",
        &"(".repeat(500),
        &"a".repeat(1 << 20),
    ] {
        let error = grep(pattern).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidPattern, "{error}");
        assert!(error.to_string().len() < 500, "{error}");
    }
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

fn a1_23_path_patterns_are_bounded_and_linear(backend: impl Backend + 'static) {
    let files = workspace(backend);
    files.write(&format!("d/{}", "a".repeat(200)), "").unwrap();
    let started = Instant::now();
    assert_eq!(files.glob("**/**/**/*a*a*a*b", "").unwrap().paths, []);
    let bomb = "{a,b}".repeat(30);
    assert_eq!(files.glob(&bomb, "").unwrap().paths, []);
    let hard = PathPattern::parse("**/**/**/*a*a*a*b", &Limits::default()).unwrap();
    let name = TreePath::parse(&format!("d/e/{}", "a".repeat(60))).unwrap();
    assert!((0..100_000).all(|_| !hard.matches(&name)));
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    for pattern in ["[", "{a", "[z-a]", &"{a,b}".repeat(300)] {
        assert_eq!(kind_of(files.glob(pattern, "")), ErrorKind::InvalidPattern);
    }
}

fn a1_25_numbers_and_sizes_out_of_range_are_refused_or_harmless(backend: impl Backend + 'static) {
    let files = workspace(backend);
    for offset in [1, 1 << 63, u64::MAX] {
        for limit in [PageLimit::Usual, PageLimit::All, PageLimit::Count(u64::MAX)] {
            let options = ReadOptions::default().offset(offset).limit(limit);
            let page = files.read_with("present", &options).unwrap();
            assert_eq!((page.content.as_str(), page.limit, page.truncated), ("", 0, false));
            let past = options.offset(offset.max(7));
            assert!(files.read_bytes_with("present", &past).unwrap().content.is_empty());
        }
    }
    let path = files.path("present").unwrap();
    for size in [48_001, 100_000_000] {
        let content = "x".repeat(size);
        let text = files
            .as_agent("write", |fs| ops::write(fs, &path, &content, &WriteOptions::default()))
            .unwrap_err();
        let bytes = files
            .as_agent("write", |fs| ops::write_bytes(fs, &path, content, &WriteOptions::default()))
            .unwrap_err();
        for error in [text, bytes] {
            assert_eq!((error.kind(), error.operation()), (ErrorKind::TooLarge, Operation::Write));
            let message = error.to_string();
            assert!(message.contains("max_content") && message.contains(&size.to_string()));
        }
    }
    assert_eq!(files.read("present").unwrap().content, "present");
}

fn a1_28_the_root_is_never_deleted(backend: impl Backend + 'static) {
    let mount = MountPoint::parse("/workspace").unwrap();
    let files = Workspace::builder(backend).mount_point(mount).build();
    files.write("present", "").unwrap();
    for root in ["", ".", "/", "/workspace", "/workspace/", "present/.."] {
        assert_eq!(kind_of(files.delete(root)), ErrorKind::PermissionDenied);
        assert_eq!(kind_of(files.delete_all(root)), ErrorKind::PermissionDenied);
        assert_eq!(kind_of(files.rename(root, "elsewhere")), ErrorKind::PermissionDenied);
        assert_eq!(kind_of(files.rename("present", root)), ErrorKind::PermissionDenied);
    }
    assert_eq!(names(&files), ["present"]);
}

fn a1_29_a_recursive_delete_leaves_what_links_point_to(backend: impl Backend + 'static) {
    let (files, outside) = (workspace(backend), Outside::new());
    files.write("tree/a/b/file", "").unwrap();
    files.symlink("tree/a/out", &outside.path("")).unwrap();
    files.symlink("tree/a/b/file-out", &outside.path("child")).unwrap();
    let removed = files.delete_all("tree").unwrap();
    assert_eq!((removed.files, removed.directories), (3, 3));
    outside.assert_untouched();
}

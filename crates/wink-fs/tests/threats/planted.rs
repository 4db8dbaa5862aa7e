//! What another program put on the disk.

mod host {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::net::UnixListener;
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::time::{Duration, Instant};

    use crate::common::again;
    use rustix::fs::{CWD, FileType, Mode};
    use tempfile::TempDir;
    use wink_fs::{ErrorKind, FileMode, Kind, Workspace, WriteMode, WriteOptions};

    use crate::threats::operations::{CHANGING, LOOKING, NAMING, accepted};

    /// A workspace's root with something beside it.
    struct Planted {
        directory: TempDir,
        files: Workspace,
    }

    impl Planted {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            std::fs::create_dir(directory.path().join("root")).unwrap();
            let files = Workspace::host(directory.path().join("root")).unwrap();
            Self { directory, files }
        }

        fn inside(&self, name: impl AsRef<Path>) -> PathBuf {
            self.directory.path().join("root").join(name)
        }

        fn outside(&self, name: &str) -> PathBuf {
            self.directory.path().join(name)
        }
    }

    /// Runs a test of this program again under strace and returns the file calls it made.
    fn trace(test: &str) -> String {
        let log = tempfile::NamedTempFile::new().unwrap();
        let status = Command::new("strace")
            .args(["-f", "-s", "200", "-e", "trace=%file,openat2", "-o"])
            .arg(log.path())
            .args(again::only(module_path!(), test))
            .env("WINK_TRACED", "1")
            .output()
            .unwrap();
        assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stdout));
        std::fs::read_to_string(log.path()).unwrap()
    }

    #[test]
    #[ignore = "needs strace"]
    fn a1_01_a_path_that_leaves_the_root_never_reaches_the_kernel() {
        if std::env::var_os("WINK_TRACED").is_some() {
            let planted = Planted::new();
            planted.files.write("traced-inside", "").unwrap();
            for path in ["../traced-outside", "a/../../traced-outside", "/../traced-outside"] {
                for operations in [&LOOKING[..], &CHANGING, &NAMING] {
                    let denied = |e: &wink_fs::Error| e.kind() == ErrorKind::PermissionDenied;
                    assert_eq!(accepted(&planted.files, path, operations, denied), [""; 0]);
                }
            }
            return;
        }
        let test = "a1_01_a_path_that_leaves_the_root_never_reaches_the_kernel";
        let calls = trace(test);
        assert!(calls.contains("traced-inside"), "the trace sees file calls:\n{calls}");
        assert!(!calls.contains("traced-outside"), "{calls}");
    }

    #[test]
    fn a1_04_names_on_disk_with_control_characters_are_escaped_and_usable() {
        let planted = Planted::new();
        std::fs::write(planted.inside("new\nline"), "kept").unwrap();
        std::fs::write(planted.inside("\u{202e}bidi"), "kept").unwrap();
        let listed = planted.files.list("").unwrap();
        let names: Vec<_> = listed.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, [r"new\x0aline", r"\xe2\x80\xaebidi"]);
        for entry in &listed {
            let path = entry.path.to_string();
            assert_eq!(planted.files.read(&path).unwrap().content, "kept");
            planted.files.delete(&path).unwrap();
        }
        assert_eq!(std::fs::read_dir(planted.inside("")).unwrap().count(), 0);
    }

    #[test]
    fn a1_05_a_name_made_on_disk_that_is_not_utf8_round_trips() {
        let planted = Planted::new();
        let raw = OsStr::from_bytes(b"\xff\xfe name");
        std::fs::write(planted.inside(raw), "kept").unwrap();
        let path = planted.files.list("").unwrap()[0].path.clone();
        assert_eq!(path.as_bytes(), raw.as_bytes());
        assert_eq!(path.to_string(), r"\xff\xfe name");
        planted.files.copy(&path.to_string(), "plain").unwrap();
        planted.files.write(&path.to_string(), "changed").unwrap();
        assert_eq!(std::fs::read_to_string(planted.inside(raw)).unwrap(), "changed");
        assert_eq!(std::fs::read_to_string(planted.inside("plain")).unwrap(), "kept");
    }

    #[test]
    #[ignore = "needs root"]
    fn a1_13_fifos_sockets_and_devices_are_special_files_at_once() {
        let planted = Planted::new();
        rustix::fs::mkfifoat(CWD, planted.inside("fifo"), Mode::RWXU).unwrap();
        let _socket = UnixListener::bind(planted.inside("socket")).unwrap();
        rustix::fs::mknodat(
            CWD,
            planted.inside("device"),
            FileType::CharacterDevice,
            Mode::RWXU,
            rustix::fs::makedev(1, 5),
        )
        .expect("making a device needs root");
        let started = Instant::now();
        for name in ["fifo", "socket", "device"] {
            assert_eq!(planted.files.stat(name).unwrap().kind, Kind::Other);
            let special = |e: &wink_fs::Error| e.kind() == ErrorKind::SpecialFile;
            let content = |(name, _): &&(&str, _)| !name.contains("child") && *name != "list";
            let operations: Vec<_> =
                LOOKING.iter().chain(&CHANGING).filter(content).copied().collect();
            assert_eq!(accepted(&planted.files, name, &operations, special), [""; 0]);
            let error = planted.files.list(name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotADirectory);
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
        for name in ["fifo", "socket", "device"] {
            planted.files.rename(name, "renamed").unwrap();
            planted.files.delete("renamed").unwrap();
        }
    }

    #[test]
    fn a1_15_another_hard_link_of_a_file_keeps_its_content_and_mode() {
        let append = WriteOptions::default().mode(WriteMode::Append);
        let changes: [fn(&Workspace, &WriteOptions); 4] = [
            |files, _| drop(files.write("linked", "new").unwrap()),
            |files, append| drop(files.write_with("linked", "new", append).unwrap()),
            |files, _| {
                let expected = WriteOptions::default().expected(wink_fs::ContentHash::of(b"old"));
                files.write_with("linked", "new", &expected).unwrap();
            },
            |files, _| files.set_mode("linked", FileMode::default().executable(true)).unwrap(),
        ];
        for change in changes {
            let planted = Planted::new();
            std::fs::write(planted.outside("original"), "old").unwrap();
            std::fs::hard_link(planted.outside("original"), planted.inside("linked")).unwrap();
            let before = std::fs::metadata(planted.outside("original")).unwrap();
            change(&planted.files, &append);
            let after = std::fs::metadata(planted.outside("original")).unwrap();
            assert_eq!(std::fs::read_to_string(planted.outside("original")).unwrap(), "old");
            assert_eq!((after.mode(), after.mtime_nsec()), (before.mode(), before.mtime_nsec()));
            assert_eq!(after.nlink(), 1);
        }
    }
}

//! What goes into an archive comes out of it.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use wink_fs::archive::{self, ArchiveLimits, ArchiveTree, Method, PortabilityProblem};
use wink_fs::testkit::dump;
use wink_fs::{
    Backend, ErrorKind, FileMode, Filesystem, HostBackend, MemoryBackend, Operation, Tree,
    tree_hash,
};

use crate::archive::support::{
    Random, export, import, noise, noon, open, options, path, plant, plant_generated, planted, put,
    put_with,
};

#[test]
fn a_tree_in_memory_comes_back_from_its_archive() {
    let files = planted();
    assert_eq!(dump(&open(&export(&files)).unwrap()).unwrap(), dump(&files).unwrap());
}

#[test]
fn a_tree_on_the_host_comes_back_from_its_archive() {
    let mut files = HostBackend::temporary().unwrap();
    plant(&mut files);
    let bytes = export(&files);
    assert_eq!(bytes, export(&planted()), "nothing of the backend is in it");
    assert_eq!(dump(&open(&bytes).unwrap()).unwrap(), dump(&files).unwrap());
}

#[test]
fn a_private_directory_comes_back_as_one() {
    let place = tempfile::tempdir().unwrap();
    let keys = place.path().join("keys");
    std::fs::create_dir(&keys).unwrap();
    std::fs::write(keys.join("key"), "").unwrap();
    std::fs::set_permissions(&keys, PermissionsExt::from_mode(0o700)).unwrap();
    let files = HostBackend::open_ambient(place.path()).unwrap();
    let archive = open(&export(&files)).unwrap();
    assert!(archive.stat(&path(b"keys")).unwrap().mode.private);
    assert_eq!(tree_hash(&archive).unwrap(), tree_hash(&files).unwrap());
}

#[test]
fn content_that_looks_like_the_end_of_its_own_archive_comes_back() {
    let look_alike = |rest: u16| [&b"PK\x05\x06abcdefghijklmnop"[..], &rest.to_le_bytes()].concat();
    let mut files = MemoryBackend::new();
    put(&mut files, b"a", look_alike(0));
    let bytes = export(&files);
    let at = bytes.windows(4).position(|window| window == b"PK\x05\x06").unwrap();
    // As a record it would now have a comment that ends with the archive, as the real one's does.
    put(&mut files, b"a", look_alike((bytes.len() - at - 22) as u16));
    assert_eq!(dump(&open(&export(&files)).unwrap()).unwrap(), dump(&files).unwrap());
}

#[test]
fn generated_trees_come_back_from_their_archives() {
    for seed in 0..120 {
        let mut memory = MemoryBackend::new();
        plant_generated(&mut memory, &mut Random(seed));
        let bytes = export(&memory);
        let expected = dump(&memory).unwrap();
        assert_eq!(dump(&open(&bytes).unwrap()).unwrap(), expected, "seed {seed}");
        if seed % 10 == 0 {
            let mut host = HostBackend::temporary().unwrap();
            import(&mut host, &bytes).unwrap();
            assert_eq!(dump(&host).unwrap(), expected, "seed {seed}");
            assert_eq!(export(&host), bytes, "seed {seed}");
        }
    }
}

/// Takes so many bytes and then has no room.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        if taken == 0 { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_said_to_be_one() {
    let len = export(&planted()).len();
    for room in [0, 1, len / 2, len - 1] {
        let error = archive::write(&planted(), Full(room), &options()).unwrap_err();
        assert_eq!((error.kind(), error.operation()), (ErrorKind::NoSpace, Operation::Export));
    }
    archive::write(&planted(), Full(len), &options()).unwrap();
}

#[test]
fn an_import_brings_everything_to_every_backend() {
    let bytes = export(&planted());
    let mut memory = MemoryBackend::new();
    let mut host = HostBackend::temporary().unwrap();
    for files in [&mut memory as &mut dyn Backend, &mut host] {
        import(files, &bytes).unwrap();
        assert_eq!(dump(&*files.live()).unwrap(), dump(&planted()).unwrap());
    }
}

#[test]
fn an_archive_of_an_archive_is_the_same_bytes() {
    let bytes = export(&planted());
    assert_eq!(export(&open(&bytes).unwrap()), bytes);
}

#[test]
fn equal_trees_make_equal_bytes_but_for_the_time() {
    assert_eq!(export(&planted()), export(&planted()));
    let mut other = Vec::new();
    let later = options().created_at(noon() + std::time::Duration::from_millis(1_500));
    archive::write(&planted(), &mut other, &later).unwrap();
    assert_ne!(other, export(&planted()));
    assert_eq!(
        open(&other).unwrap().created_at(),
        noon() + std::time::Duration::from_millis(1_500)
    );
}

#[test]
fn an_empty_tree_is_an_archive_too() {
    let tree = open(&export(&MemoryBackend::new())).unwrap();
    assert_eq!((tree.file_count(), tree.total_bytes(), tree.created_at()), (0, 0, noon()));
    assert_eq!(dump(&tree).unwrap(), [""; 0]);
}

#[test]
fn counts_are_of_files_and_links() {
    let mut files = MemoryBackend::new();
    put(&mut files, b"a/b", "12345");
    files.symlink(&path(b"l"), b"target").unwrap();
    files.create_dir(&path(b"d")).unwrap();
    let mut bytes = Vec::new();
    let exported = archive::write(&files, &mut bytes, &options()).unwrap();
    assert_eq!((exported.file_count, exported.total_bytes), (2, 11));
    assert_eq!(exported.archive_bytes, bytes.len() as u64);
    let tree = open(&bytes).unwrap();
    assert_eq!((tree.file_count(), tree.total_bytes()), (2, 11));
}

#[test]
fn large_files_are_streamed_and_read_at_any_position() {
    for method in [Method::Deflate, Method::Stored] {
        let mut files = MemoryBackend::new();
        let text = b"a line that repeats itself and a number\n".repeat(300_000);
        put(&mut files, b"large.txt", text.clone());
        put(&mut files, b"large.bin", noise(9_000_000, 3));
        put(&mut files, b"small", "small");
        let mut bytes = Vec::new();
        archive::write(&files, &mut bytes, &options().method(method)).unwrap();
        let tree = open(&bytes).unwrap();
        assert_eq!(dump(&tree).unwrap(), dump(&files).unwrap());
        let content = tree.open(&path(b"large.txt")).unwrap();
        for at in [11_000_000, 5, 5_000_000, 5_000_100, 0, 11_999_990] {
            let expected = &text[at..(at + 1_000).min(text.len())];
            assert_eq!(content.read_range(at as u64, 1_000).unwrap(), expected, "at {at}");
        }
        assert_eq!(content.read_at(&mut [0; 10], 12_000_000).unwrap(), 0);
    }
}

#[test]
fn every_level_and_method_gives_the_same_tree() {
    let expected = dump(&planted()).unwrap();
    for options in [options().level(1), options().level(0), options().level(99)] {
        for method in [Method::Deflate, Method::Stored] {
            let mut bytes = Vec::new();
            archive::write(&planted(), &mut bytes, &options.method(method)).unwrap();
            assert_eq!(dump(&open(&bytes).unwrap()).unwrap(), expected);
        }
    }
}

#[test]
fn more_entries_than_sixteen_bits_count_need_zip64() {
    let mut files = MemoryBackend::new();
    for number in 0..65_600 {
        put(&mut files, format!("d{}/{number}", number % 100).as_bytes(), "");
    }
    let bytes = export(&files);
    assert!(bytes.windows(4).any(|window| window == b"PK\x06\x06"));
    let tree = open(&bytes).unwrap();
    assert_eq!(tree.file_count(), 65_600);
    let error =
        crate::archive::support::open_within(&bytes, &ArchiveLimits::default().max_entries(65_600));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::TooLarge, "the manifest counts");
}

#[test]
fn an_archive_keeps_the_contract_of_a_tree() {
    let tree = open(&export(&planted())).unwrap();
    let kind = |result: wink_fs::Result<_>| result.map(drop).unwrap_err().kind();
    assert_eq!(kind(tree.open(&path(b"src"))), ErrorKind::IsADirectory);
    assert_eq!(kind(tree.open(&path(b"link"))), ErrorKind::PermissionDenied);
    assert_eq!(kind(tree.open(&path(b"link/x"))), ErrorKind::PermissionDenied);
    assert_eq!(kind(tree.open(&path(b"empty/x"))), ErrorKind::NotFound);
    assert_eq!(kind(tree.open(&path(b"missing"))), ErrorKind::NotFound);
    assert_eq!(tree.list(&path(b"empty")).unwrap_err().kind(), ErrorKind::NotADirectory);
    assert_eq!(tree.list(&path(b"link")).unwrap_err().kind(), ErrorKind::PermissionDenied);
    assert_eq!(tree.read_link(&path(b"src")).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert!(tree.open(&path(b"empty")).unwrap().is_empty());
}

#[test]
fn a_special_file_is_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("d")).unwrap();
    let fifo = directory.path().join("d/fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, fifo, rustix::fs::Mode::RWXU).unwrap();
    let files = HostBackend::open_ambient(directory.path()).unwrap();
    let error = archive::write(&files, Vec::new(), &options()).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::SpecialFile, Some("d/fifo")));
    assert_eq!(error.operation(), Operation::Export);
}

#[test]
fn an_export_to_the_host_is_complete_or_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("work.fs.zip");
    let names = || -> Vec<_> {
        let entries = std::fs::read_dir(directory.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    archive::export_ambient(&planted(), &target, &options()).unwrap();
    assert_eq!(std::fs::read(&target).unwrap(), export(&planted()));
    assert_eq!(names(), ["work.fs.zip"]);

    let failing = wink_fs::testkit::MockFilesystem::with_files([("a", "a"), ("b", "b")]).unwrap();
    for nth in 1..=5 {
        failing.layer().fail_nth(nth, ErrorKind::Io);
        assert!(archive::export_ambient(&failing, &target, &options()).is_err(), "{nth}");
        assert_eq!(std::fs::read(&target).unwrap(), export(&planted()));
        assert_eq!(names(), ["work.fs.zip"]);
    }

    let tree = ArchiveTree::open_ambient(&target, &ArchiveLimits::default()).unwrap();
    assert_eq!(dump(&tree).unwrap(), dump(&planted()).unwrap());
}

/// A draft without a name is also one that a killed process does not leave behind.
#[test]
fn an_export_beside_the_files_it_holds_does_not_hold_its_own_draft() {
    let directory = tempfile::tempdir().unwrap();
    let mut files = HostBackend::open_ambient(directory.path()).unwrap();
    put(&mut files, b"a", "a");
    let target = directory.path().join("work.fs.zip");
    let exported = archive::export_ambient(&files, &target, &options()).unwrap();
    assert_eq!((exported.file_count, exported.total_bytes), (1, 1));
    assert_eq!(archive::export_ambient(&files, &target, &options()).unwrap().file_count, 2);
}

#[test]
fn a_directory_or_a_fifo_is_no_archive() {
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).unwrap();
    for path in [directory.path(), &fifo] {
        let error = ArchiveTree::open_ambient(path, &ArchiveLimits::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    }
    let missing = directory.path().join("secret-name.zip");
    let error = ArchiveTree::open_ambient(&missing, &ArchiveLimits::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(!error.to_string().contains("secret-name"), "{error}");
    let error = archive::export_ambient(&planted(), directory.path(), &options()).unwrap_err();
    assert!(!error.to_string().contains("/tmp"), "{error}");
}

#[test]
fn names_that_other_systems_cannot_hold_are_reported() {
    let mut bytes = Vec::new();
    let exported = archive::write(&planted(), &mut bytes, &options()).unwrap();
    let of = |problem| -> Vec<_> {
        let found = exported.portability.iter().filter(move |found| found.problem == problem);
        found.map(|found| found.path.to_string()).collect()
    };
    assert_eq!(of(PortabilityProblem::Escaped), [r"caf\xe9\x0a", r"looks\x5cx41like"]);
    let reserved = of(PortabilityProblem::ReservedCharacter);
    assert_eq!(reserved, [r"..\evil", "C:", r"a\b", r"looks\x5cx41like"]);
    assert_eq!(archive::portability(&open(&bytes).unwrap()).unwrap(), exported.portability);
}

#[test]
fn an_archive_is_read_from_several_threads() {
    let tree = Arc::new(open(&export(&planted())).unwrap());
    let expected = dump(&planted()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(dump(&*tree).unwrap(), expected));
        }
    });
}

#[test]
fn modes_survive_in_the_unix_attributes() {
    let mut files = MemoryBackend::new();
    let mode = FileMode::default();
    put_with(&mut files, b"p", "", mode.private(true));
    put_with(&mut files, b"x", "", mode.executable(true));
    let tree = open(&export(&files)).unwrap();
    assert_eq!(tree.stat(&path(b"p")).unwrap().mode, mode.private(true));
    assert_eq!(tree.stat(&path(b"x")).unwrap().mode, mode.executable(true));
}

//! Our archives in other programs.

use std::path::Path;
use std::process::Command;

use wink_fs::archive::{self, Method};

use crate::archive::support::{noise, options, planted, put};

/// Runs a program that must find nothing wrong, and returns what it said.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}{complained}");
    said
}

fn each_archive(check: impl Fn(&Path)) {
    let directory = tempfile::tempdir().unwrap();
    let mut files = planted();
    put(&mut files, b"large.bin", noise(9_000_000, 4));
    for method in [Method::Deflate, Method::Stored] {
        let target = directory.path().join(format!("{method:?}.fs.zip"));
        archive::export_ambient(&files, &target, &options().method(method)).unwrap();
        check(&target);
    }
}

#[test]
#[ignore = "needs Python"]
fn python_reads_ours() {
    each_archive(|target| {
        let script = "import json, sys, zipfile\n\
            archive = zipfile.ZipFile(sys.argv[1])\n\
            assert archive.testzip() is None\n\
            assert archive.comment == b''\n\
            names = archive.namelist()\n\
            assert names[-1] == 'manifest.json' and 'files/hollow/' in names\n\
            manifest = json.loads(archive.read('manifest.json'))\n\
            files = [i for i in archive.infolist() if i.filename[:6] == 'files/' and not i.is_dir()]\n\
            assert manifest['version'] == '1' and manifest['file_count'] == len(files)\n\
            assert manifest['total_bytes'] == sum(i.file_size for i in files)\n\
            assert archive.read('files/größe/日本語.txt') == b'text\\r\\nwith CRLF\\r\\n'\n\
            assert archive.getinfo('files/bin/run').external_attr >> 16 == 0o100755\n\
            assert archive.getinfo('files/link').external_attr >> 16 == 0o120777\n\
            assert {i.date_time for i in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}\n";
        run(Command::new("python3").args(["-c", script]).arg(target));
    });
}

#[test]
#[ignore = "needs unzip"]
fn info_zip_reads_ours() {
    each_archive(|target| {
        let said = run(Command::new("unzip").arg("-t").arg(target));
        assert!(said.contains("No errors detected"), "{said}");
    });
}

#[test]
#[ignore = "needs 7z"]
fn seven_zip_reads_ours() {
    each_archive(|target| {
        let said = run(Command::new("7z").args(["t", "-bd"]).arg(target));
        assert!(said.contains("Everything is Ok"), "{said}");
        assert!(!said.contains("Warning"), "{said}");
    });
}

#[test]
#[ignore = "needs unzip"]
fn info_zip_unpacks_what_we_packed() {
    let (directory, mut files) = (tempfile::tempdir().unwrap(), wink_fs::MemoryBackend::new());
    crate::archive::support::plant_small(&mut files);
    let target = directory.path().join("small.fs.zip");
    archive::export_ambient(&files, &target, &options()).unwrap();
    run(Command::new("unzip").arg("-q").arg(&target).arg("-d").arg(directory.path()));
    let unpacked = wink_fs::HostBackend::open_ambient(directory.path().join("files")).unwrap();
    let dump = |tree| wink_fs::testkit::dump(tree).unwrap();
    assert_eq!(dump(&unpacked), dump(&files));
}

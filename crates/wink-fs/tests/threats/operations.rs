//! Every operation of the protocol on one path, to see that all of them refuse it.

use wink_fs::{Error, FileMode, Result, Workspace, WriteMode, WriteOptions};

type Run = fn(&Workspace, &str) -> Result<()>;

/// The operations that only look.
pub(crate) const LOOKING: [(&str, Run); 7] = [
    ("read", |files, path| files.read(path).map(drop)),
    ("read_bytes", |files, path| files.read_bytes(path).map(drop)),
    ("open", |files, path| files.open(path).map(drop)),
    ("content_hash", |files, path| files.content_hash(path).map(drop)),
    ("list", |files, path| files.list(path).map(drop)),
    ("copy from", |files, path| files.copy(path, "copied").map(drop)),
    ("read of a child", |files, path| files.read(&format!("{path}/child")).map(drop)),
];

/// The operations that change what is at the path, or make something there.
pub(crate) const CHANGING: [(&str, Run); 9] = [
    ("write", |files, path| files.write(path, "new").map(drop)),
    ("write_bytes", |files, path| files.write_bytes(path, &b"new"[..]).map(drop)),
    ("append", |files, path| {
        files.write_with(path, "new", &WriteOptions::default().mode(WriteMode::Append)).map(drop)
    }),
    ("write expecting", |files, path| {
        let expected = wink_fs::ContentHash::of(b"secret");
        files.write_with(path, "new", &WriteOptions::default().expected(expected)).map(drop)
    }),
    ("set_mode", |files, path| files.set_mode(path, FileMode::default().executable(true))),
    ("write of a child", |files, path| files.write(&format!("{path}/child"), "new").map(drop)),
    ("mkdir of a child", |files, path| files.mkdir(&format!("{path}/child")).map(drop)),
    ("symlink of a child", |files, path| files.symlink(&format!("{path}/child"), b"target")),
    ("delete of a child", |files, path| files.delete(&format!("{path}/child")).map(drop)),
];

/// The operations that name the path and need not follow it.
pub(crate) const NAMING: [(&str, Run); 7] = [
    ("stat", |files, path| files.stat(path).map(drop)),
    ("read_link", |files, path| files.read_link(path).map(drop)),
    ("delete", |files, path| files.delete(path).map(drop)),
    ("delete_all", |files, path| files.delete_all(path).map(drop)),
    ("mkdir", |files, path| files.mkdir(path).map(drop)),
    ("rename from", |files, path| files.rename(path, "renamed")),
    ("rename to", |files, path| files.rename("present", path)),
];

/// Runs operations on a path and returns those that were not refused.
pub(crate) fn accepted(
    files: &Workspace,
    path: &str,
    operations: &[(&'static str, Run)],
    expected: impl Fn(&Error) -> bool,
) -> Vec<String> {
    let run = |(name, run): &(&str, Run)| match run(files, path) {
        Err(error) if expected(&error) => None,
        other => Some(format!("{name} of {path:?}: {other:?}")),
    };
    operations.iter().filter_map(run).collect()
}

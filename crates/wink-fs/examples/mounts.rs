//! Brings the documentation of a project into a workspace in memory, and nothing else.
//!
//! Run it with `cargo run -p wink-fs --example mounts`.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example shows what it does")]

use wink_fs::{HostMount, MemoryBackend, Result, Workspace, mount};

/// The project of this example: the directory it is built in.
const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn main() -> Result<()> {
    let mut backend = MemoryBackend::new();
    let mounts =
        [HostMount::new("docs").include("*.md").max_bytes(1_000_000), HostMount::new("README.md")];
    for report in mount(&mut backend, &mounts, &[PROJECT])? {
        let (path, files, bytes) = (&report.mount_path, report.files, report.bytes);
        println!("{path}: {files} files, {bytes} bytes, {} left out", report.skipped.len());
    }

    let files = Workspace::builder(backend).build();
    for path in files.glob("**", "")?.paths {
        println!("  {path}");
    }

    let outside = mount(&mut MemoryBackend::new(), &[HostMount::new("/etc/hostname")], &[PROJECT]);
    println!("{}", outside.unwrap_err());
    Ok(())
}

//! All files into one archive and out of it, against Python's zipfile and Info-ZIP.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use wink_fs::HostBackend;
use wink_fs::archive::{self, ArchiveLimits, ArchiveTree, ExportOptions};

use crate::case::{Case, Outcome, Peer};
use crate::context::{Context, output_of};
use crate::digest::{self, Digest};
use crate::measure::{Measured, side_by_side, timed_ms};

/// How many files the tree has where none is given.
const FILES: usize = 30_000;

pub(crate) const EXPORT_VS_ZIPFILE: Case =
    Case::new("export-vs-zipfile", "all files into one archive, deflated", 4.0, |context| {
        export(context, &ZIPFILE_WRITER)
    });

pub(crate) const EXPORT_VS_ZIP: Case =
    Case::new("export-vs-zip", "all files into one archive, deflated", 1.5, |context| {
        export(context, &INFO_ZIP)
    });

pub(crate) const IMPORT_VS_ZIPFILE: Case =
    Case::new("import-vs-zipfile", "the same archive, checked and unpacked, on tmpfs", 4.0, import);

/// Where files are unpacked: in memory, so that the disk has no say in it.
const MEMORY: &str = "/dev/shm";

/// Another program that makes an archive of the directory it runs in.
struct Packer {
    name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
}

const ZIPFILE_WRITER: Packer = Packer {
    name: "zipfile",
    program: "python3",
    arguments: &["-m", "zipfile", "-c", "{archive}", "."],
};

const INFO_ZIP: Packer =
    Packer { name: "zip", program: "zip", arguments: &["-q", "-r", "{archive}", "."] };

impl Packer {
    fn run(&self, tree: &Path, archive: &Path) -> Result<()> {
        let fill = |argument: &&str| argument.replace("{archive}", &archive.to_string_lossy());
        let mut command = Command::new(self.program);
        output_of(command.current_dir(tree).args(self.arguments.iter().map(fill)))?;
        Ok(())
    }
}

fn export(context: &Context, packer: &Packer) -> Result<Outcome> {
    let tree = context.source_tree(FILES)?;
    let directory = context.fresh_dir()?;
    let (ours, theirs) = side_by_side(
        || {
            let archive = directory.path().join("ours.fs.zip");
            pack(&archive, || {
                let backend = HostBackend::open_ambient(&tree)?;
                archive::export_ambient(&backend, &archive, &ExportOptions::default())?;
                Ok(())
            })
        },
        || {
            let archive = directory.path().join("theirs.zip");
            pack(&archive, || packer.run(&tree, &archive))
        },
    )?;
    Ok(Outcome {
        peer: Peer::Measured {
            name: packer.name,
            command: format!("{} {}", packer.program, packer.arguments.join(" ")),
            samples: theirs,
        },
        ours,
        unit: "ms",
        place: context.warm(directory.path())?,
        note: "ours is synced to the disk, in one deterministic order, with modes and links; both \
               archives are unpacked by unzip and compared"
            .to_owned(),
    })
}

/// Times the making of an archive; the result is what unzip finds in it.
fn pack(archive: &Path, work: impl FnOnce() -> Result<()>) -> Result<Measured<Digest>> {
    let timed = timed_ms(work)?;
    let unpacked = tempfile::tempdir_in(MEMORY)?;
    let mut unzip = Command::new("unzip");
    output_of(unzip.arg("-q").arg(archive).arg("-d").arg(unpacked.path()))?;
    fs::remove_file(archive)?;
    // Ours has a manifest beside the files.
    let files = unpacked.path().join("files");
    let root = if files.is_dir() { files } else { unpacked.path().to_owned() };
    Ok(timed.with_result(digest::of_disk(&root)?))
}

fn import(context: &Context) -> Result<Outcome> {
    let tree = context.source_tree(FILES)?;
    let memory = tempfile::tempdir_in(MEMORY)?;
    let archive = memory.path().join("tree.fs.zip");
    let backend = HostBackend::open_ambient(&tree)?;
    archive::export_ambient(&backend, &archive, &ExportOptions::default())?;
    let ours = |place: &Path| unpack(place, |root| import_ours(&archive, root));
    let theirs = |place: &Path| unpack(place, |root| import_theirs(&archive, root));
    let (our_times, their_times) = side_by_side(|| ours(memory.path()), || theirs(memory.path()))?;
    let disk = (ours(context.scratch())?.value, theirs(context.scratch())?.value);
    Ok(Outcome {
        peer: Peer::Measured {
            name: "zipfile",
            command: "python3 -m zipfile -e tree.fs.zip DIR".to_owned(),
            samples: their_times,
        },
        ours: our_times,
        unit: "ms",
        place: context.warm(memory.path())?,
        note: format!(
            "ours checks every name, header, size and checksum before the first file is in view; \
             once on the disk, not judged: ours {:.0} ms, theirs {:.0} ms",
            disk.0, disk.1
        ),
    })
}

/// Times the unpacking into a fresh directory; the result is what is there afterwards.
fn unpack(place: &Path, work: impl FnOnce(&Path) -> Result<PathBuf>) -> Result<Measured<Digest>> {
    let fresh = tempfile::tempdir_in(place)?;
    let root = fresh.path().join("root");
    fs::create_dir(&root)?;
    let timed = timed_ms(|| work(&root))?;
    let digest = digest::of_disk(&timed.result)?;
    Ok(timed.with_result(digest))
}

fn import_ours(archive: &Path, root: &Path) -> Result<PathBuf> {
    let archive = ArchiveTree::open_ambient(archive, &ArchiveLimits::default())?;
    archive::import(&mut HostBackend::open_ambient(root)?, &archive)?;
    Ok(root.to_owned())
}

fn import_theirs(archive: &Path, root: &Path) -> Result<PathBuf> {
    let mut python = Command::new("python3");
    output_of(python.args(["-m", "zipfile", "-e"]).arg(archive).arg(root))?;
    Ok(root.join("files"))
}

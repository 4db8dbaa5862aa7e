//! The file that marks a directory as a store, with strategy and version.

use std::io::{self, Write};

use uuid::Uuid;

use super::disk::Disk;
use super::failure;
use super::temporary::Temporary;
use crate::error::{Error, ErrorKind, Operation, Result, damaged};

pub(super) const NAME: &str = "format";
const MAX_BYTES: u64 = 4096;
const VERSION: &str = "1";

/// Writes the file, after everything else in a new store.
pub(crate) fn write(disk: &Disk, strategy: &str) -> io::Result<()> {
    let mut file = Temporary::new(disk, ".", NAME.into())?;
    file.write_all(text(strategy, &Uuid::new_v4().to_string()).as_bytes())?;
    file.sync()?;
    file.publish()?;
    file.keep();
    Ok(())
}

/// Writes the file again if it is missing or damaged, and returns whether it was.
///
/// An unknown version is left alone.
pub(crate) fn repair(disk: &Disk, strategy: &str) -> Result<bool> {
    match read(disk) {
        Ok(_) => return Ok(false),
        Err(error) if error.kind() == ErrorKind::SnapshotIncompatible => return Err(error),
        Err(_) => {}
    }
    let mended = || {
        let mut file = Temporary::over(disk, ".", NAME.into())?;
        file.write_all(text(strategy, &Uuid::new_v4().to_string()).as_bytes())?;
        file.sync()?;
        file.replace()
    };
    mended().map(|()| true).map_err(|error| failure::of(Operation::Repair, error))
}

fn text(strategy: &str, id: &str) -> String {
    let body = format!("wink {strategy} {VERSION}\nid {id}\n");
    format!("{body}blake3 {}\n", blake3::hash(body.as_bytes()).to_hex())
}

/// The content of the file.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Format {
    pub(crate) strategy: String,
    pub(crate) id: String,
}

/// Checks the file's strategy, and returns the store's id.
pub(crate) fn check(disk: &Disk, strategy: &str) -> Result<String> {
    match read(disk)? {
        found if found.strategy == strategy => Ok(found.id),
        found => Err(other_strategy(&found.strategy)),
    }
}

fn other_strategy(found: &str) -> Error {
    Error::new(Operation::OpenStore, ErrorKind::SnapshotIncompatible).with_detail(format!(
        "the snapshots there are kept by the strategy `{found}`; open them with that, or name another place"
    ))
}

/// Reads the file; an unknown version is SnapshotIncompatible.
pub(crate) fn read(disk: &Disk) -> Result<Format> {
    let bytes = disk.read(NAME, MAX_BYTES).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => missing(),
        _ => failure::of(Operation::OpenStore, error),
    })?;
    parse(&bytes).map_err(|error| error.during(Operation::OpenStore))
}

/// Returns the error for a missing store. A new one is not made: on a mount point it would hide the real one.
fn missing() -> Error {
    Error::new(Operation::OpenStore, ErrorKind::NotFound).with_detail(
        "no store of snapshots is there; see that its disk is mounted, or create one on purpose",
    )
}

fn parse(bytes: &[u8]) -> Result<Format> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let mut lines = text.lines();
    let head = lines.next().and_then(|line| line.strip_prefix("wink ")).unwrap_or_default();
    let (strategy, version) = head.split_once(' ').unwrap_or_default();
    if !version.is_empty() && version != VERSION && version.bytes().all(|b| b.is_ascii_digit()) {
        return Err(incompatible(version));
    }
    let id = lines.next().and_then(|line| line.strip_prefix("id ")).unwrap_or_default();
    if self::text(strategy, id) == text {
        Ok(Format { strategy: strategy.to_owned(), id: id.to_owned() })
    } else {
        Err(Error::system(
            Operation::OpenStore,
            damaged("the store's file `format` is damaged; write it again"),
        ))
    }
}

fn incompatible(version: &str) -> Error {
    let version: String = version.chars().take(20).collect();
    Error::new(Operation::OpenStore, ErrorKind::SnapshotIncompatible).with_detail(format!(
        "the store has format {version} and only {VERSION} is known; use the version that made it"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_text_is_a_store() {
        let whole = text("store", "id-of-the-store");
        let parsed = parse(whole.as_bytes()).unwrap();
        assert_eq!((&*parsed.strategy, &*parsed.id), ("store", "id-of-the-store"));
        let kind = |text: &str| parse(text.as_bytes()).unwrap_err().kind();
        assert_eq!(kind(&whole.replace("store 1", "store 2")), ErrorKind::SnapshotIncompatible);
        assert_eq!(kind("wink store 12\nanything"), ErrorKind::SnapshotIncompatible);
        for damage in
            ["", "wink store 1\n", "wink", &whole.to_uppercase(), &whole[..whole.len() - 1]]
        {
            assert_eq!(kind(damage), ErrorKind::Corrupt, "{damage}");
        }
    }
}

//! The file that says that a directory is a store, and of which version.

use std::io::{self, Write};

use uuid::Uuid;

use super::disk::Disk;
use super::failure;
use super::temporary::Temporary;
use crate::error::{Error, ErrorKind, Operation, Result, damaged};

pub(super) const NAME: &str = "format";
const MAX_BYTES: u64 = 4096;
const KIND: &str = "wink store ";
const VERSION: &str = "1";

/// Writes the file, last of all that makes a store.
pub(super) fn write(disk: &Disk) -> io::Result<()> {
    let mut file = Temporary::new(disk, ".", NAME.into())?;
    file.write_all(text(&Uuid::new_v4().to_string()).as_bytes())?;
    file.sync()?;
    file.publish()?;
    file.keep();
    Ok(())
}

fn text(id: &str) -> String {
    let body = format!("{KIND}{VERSION}\nid {id}\n");
    format!("{body}blake3 {}\n", blake3::hash(body.as_bytes()).to_hex())
}

/// Reads the file and returns the store's id; a version that is not known is SnapshotIncompatible.
pub(super) fn check(disk: &Disk) -> Result<String> {
    let bytes = disk.read(NAME, MAX_BYTES).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => missing(),
        _ => failure::of(Operation::OpenStore, error),
    })?;
    parse(&bytes).map_err(|error| error.during(Operation::OpenStore))
}

/// An empty store over a mount point would hide the one that is to be mounted there.
fn missing() -> Error {
    Error::new(Operation::OpenStore, ErrorKind::NotFound).with_detail(
        "no store of snapshots is there; see that its disk is mounted, or create one on purpose",
    )
}

fn parse(bytes: &[u8]) -> Result<String> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let mut lines = text.lines();
    let version = lines.next().and_then(|line| line.strip_prefix(KIND));
    match version {
        Some(version) if version != VERSION && version.bytes().all(|b| b.is_ascii_digit()) => {
            return Err(incompatible(version));
        }
        _ => {}
    }
    let id = lines.next().and_then(|line| line.strip_prefix("id ")).unwrap_or_default();
    match self::text(id) == text {
        true => Ok(id.to_string()),
        false => Err(Error::system(
            Operation::OpenStore,
            damaged("the store's file `format` is damaged; restore it from a copy"),
        )),
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
        let whole = text("id-of-the-store");
        assert_eq!(parse(whole.as_bytes()).unwrap(), "id-of-the-store");
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

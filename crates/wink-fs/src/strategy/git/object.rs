//! Git objects: bytes of a kind, identified by their SHA-1 hash.

use std::io::{self, Write as _};

use sha1::{Digest, Sha1};

use crate::error::damaged;
use crate::hash::ContentHash;
use crate::path::Name;
use crate::snapshot::Snapshot;
use crate::strategy::manifest::Node;
use crate::tree::content::Content;

pub(super) const ID_BYTES: usize = 20;

/// The id of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct ObjectId(pub(super) [u8; ID_BYTES]);

impl ObjectId {
    pub(super) fn from_place(place: &[u8]) -> io::Result<Self> {
        let bytes = place.try_into();
        bytes.map(Self).map_err(|_| damaged("a manifest names no object of a repository"))
    }

    pub(super) fn from_hex(text: &str) -> Option<Self> {
        let bytes = (0..ID_BYTES).map(|at| {
            let digits = text.get(2 * at..2 * at + 2)?;
            u8::from_str_radix(digits, 16).ok()
        });
        let bytes: Option<Vec<u8>> = bytes.collect();
        bytes?.try_into().ok().map(Self).filter(|id: &Self| id.to_hex() == text)
    }

    pub(super) fn to_hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The kind of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ObjectKind {
    Commit,
    Tree,
    Blob,
}

impl ObjectKind {
    /// Returns its number in a pack.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Commit => 1,
            Self::Tree => 2,
            Self::Blob => 3,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
            Self::Blob => "blob",
        }
    }

    pub(super) fn id_of(self, bytes: &[u8]) -> ObjectId {
        let hasher = Sha1::new_with_prefix(self.head(bytes.len() as u64));
        ObjectId(hasher.chain_update(bytes).finalize().into())
    }

    fn head(self, size: u64) -> String {
        format!("{} {size}\0", self.name())
    }
}

/// Reads content once, for its git id and its content hash.
pub(super) fn identify(content: &Content) -> io::Result<(ObjectId, ContentHash)> {
    let mut git = Sha1::new_with_prefix(ObjectKind::Blob.head(content.len()));
    let mut own = blake3::Hasher::new();
    content.for_each_chunk(|chunk| {
        git.update(chunk);
        own.update(chunk);
        Ok(())
    })?;
    Ok((ObjectId(git.finalize().into()), ContentHash::from_bytes(own.finalize().into())))
}

/// Encodes a tree with exact names, even those that git's own tools refuse.
pub(super) fn tree(entries: &[(Name, Node)]) -> Vec<u8> {
    let mut rows: Vec<(Vec<u8>, &str, &[u8], ObjectId)> = entries.iter().map(row).collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    let mut bytes = Vec::new();
    for (_, mode, name, id) in rows {
        bytes.extend_from_slice(mode.as_bytes());
        bytes.push(b' ');
        bytes.extend_from_slice(name);
        bytes.push(0);
        bytes.extend_from_slice(&id.0);
    }
    bytes
}

/// Returns the sort key and the fields of an entry.
fn row((name, node): &(Name, Node)) -> (Vec<u8>, &'static str, &[u8], ObjectId) {
    let (mode, place) = match node {
        Node::File(file) if file.mode.executable => ("100755", &file.place[..]),
        Node::File(file) => ("100644", &file.place[..]),
        Node::Directory(directory) => ("40000", &directory.place[..]),
        Node::Link(target) => {
            let id = ObjectKind::Blob.id_of(target);
            return (name.as_bytes().to_vec(), "120000", name.as_bytes(), id);
        }
    };
    // Git sorts a directory as if its name ended with a slash.
    let end: &[u8] = if mode == "40000" { b"/" } else { b"" };
    let id = ObjectId(place.try_into().unwrap_or_default());
    ([name.as_bytes(), end].concat(), mode, name.as_bytes(), id)
}

/// Encodes the commit of a snapshot.
pub(super) fn commit(snapshot: &Snapshot, tree: ObjectId, parent: Option<String>) -> Vec<u8> {
    let seconds = jiff::Timestamp::try_from(snapshot.created_at).map_or(0, |at| at.as_second());
    let who = format!("wink <wink@localhost> {} +0000", seconds.max(0));
    let title = snapshot.tag.clone().unwrap_or_else(|| format!("snapshot {}", snapshot.id));
    let mut bytes = Vec::new();
    // Writing to a vector cannot fail.
    let _ = writeln!(bytes, "tree {}", tree.to_hex());
    if let Some(parent) = parent {
        let _ = writeln!(bytes, "parent {parent}");
    }
    let _ = write!(bytes, "author {who}\ncommitter {who}\n\n{title}\n");
    if let Some(message) = snapshot.message.as_ref().map(|message| message.replace('\0', "")) {
        let _ = writeln!(bytes, "\n{message}");
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_the_names_that_git_gives_them() {
        let id = |kind: ObjectKind, bytes: &[u8]| kind.id_of(bytes).to_hex();
        assert_eq!(id(ObjectKind::Blob, b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(id(ObjectKind::Tree, b""), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
        let content = Content::from(&b"hello\n"[..]);
        let (git, own) = identify(&content).unwrap();
        assert_eq!(git.to_hex(), "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(own, ContentHash::of(b"hello\n"));
    }
}

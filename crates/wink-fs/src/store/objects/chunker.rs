//! Splits large files at content-defined boundaries, so that an edit changes only the parts around it.

use std::io::{self, Read};

use fastcdc::v2020::{ChunkData, StreamCDC};

use super::object::ObjectId;
use crate::hash::ContentHash;
use crate::store::objects::part_list::{self, Part};
use crate::tree::content::Content;
use crate::util::parallel;

/// Larger files are stored in parts.
pub(crate) const LARGE_FILE_BYTES: u64 = 1024 * 1024;

const MIN_BYTES: usize = 256 * 1024;
const AVERAGE_BYTES: usize = 1024 * 1024;
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// How many parts are in memory at once, for as many threads.
const TOGETHER: usize = 4;

/// Stores the parts of a large file and their list, and returns the hash of the file.
pub(crate) fn keep(
    content: &Content,
    keep: impl Fn(ObjectId, u64, &[u8]) -> io::Result<()> + Sync,
) -> io::Result<ContentHash> {
    let source = content.reader().take(content.len());
    let mut chunks = StreamCDC::new(source, MIN_BYTES, AVERAGE_BYTES, MAX_BYTES);
    let mut hasher = blake3::Hasher::new();
    let mut parts = Vec::new();
    loop {
        let together = chunks.by_ref().take(TOGETHER).collect::<Result<Vec<_>, _>>()?;
        if together.is_empty() {
            break;
        }
        let keep_part = |chunk: &ChunkData| keep_part(&chunk.data, &keep);
        let (kept, ()) = parallel::run(|| {
            rayon::join(
                || parallel::try_map(&together, keep_part),
                || hash_all(&mut hasher, &together),
            )
        });
        parts.extend(kept?);
    }
    let hash = ContentHash::from_bytes(hasher.finalize().into());
    // A file of one part has that part's hash, and needs no list.
    if parts.len() > 1 {
        keep(ObjectId::list(&hash), part_list::size(&parts), &part_list::encode(&parts))?;
    }
    Ok(hash)
}

fn hash_all(hasher: &mut blake3::Hasher, chunks: &[ChunkData]) {
    for chunk in chunks {
        hasher.update(&chunk.data);
    }
}

fn keep_part(
    bytes: &[u8],
    keep: &impl Fn(ObjectId, u64, &[u8]) -> io::Result<()>,
) -> io::Result<Part> {
    let hash = ContentHash::of(bytes);
    keep(ObjectId::blob(&hash), bytes.len() as u64, bytes)?;
    Ok(Part { hash, len: bytes.len() as u32 })
}

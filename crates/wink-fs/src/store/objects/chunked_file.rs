//! Reads the content of a large file, part by part.

use std::io;
use std::ops::Deref;

use bytes::Bytes;
use parking_lot::Mutex;

use super::index::ObjectIndex;
use super::object::ObjectId;
use crate::error::damaged;
use crate::hash::ContentHash;
use crate::store::objects::part_list::Part;
use crate::tree::content::ReadAt;

/// Reads a large file at any position.
///
/// Every part is checked by its own hash. A read from start to end also checks the file's hash, before it returns the
/// last bytes.
pub(crate) struct LargeFile<L> {
    objects: L,
    hash: ContentHash,
    parts: Vec<Placed>,
    state: Mutex<State>,
}

struct Placed {
    part: Part,
    start: u64,
}

#[derive(Default)]
struct State {
    /// The part that was read last.
    last: Option<(usize, Bytes)>,
    /// The hash up to a position, if everything was read in order.
    hasher: blake3::Hasher,
    hashed: u64,
}

impl<L: Deref<Target = ObjectIndex>> LargeFile<L> {
    pub(crate) fn new(objects: L, hash: ContentHash, parts: &[Part]) -> Self {
        let mut start = 0;
        let place = |part: &Part| {
            let placed = Placed { part: *part, start };
            start += u64::from(part.len);
            placed
        };
        let parts = parts.iter().map(place).collect();
        Self { objects, hash, parts, state: Mutex::default() }
    }

    /// Reads and checks the whole file.
    pub(crate) fn check(&self) -> io::Result<()> {
        let mut state = State::default();
        for at in 0..self.parts.len() {
            let bytes = self.part(at, &mut state)?;
            self.see(&mut state, self.parts[at].start, &bytes)?;
        }
        Ok(())
    }

    fn size(&self) -> u64 {
        self.parts.last().map_or(0, |last| last.start + u64::from(last.part.len))
    }

    fn part(&self, at: usize, state: &mut State) -> io::Result<Bytes> {
        match &state.last {
            Some((last, bytes)) if *last == at => return Ok(bytes.clone()),
            _ => {}
        }
        let Part { hash, len } = self.parts[at].part;
        let bytes = self.objects.get(&ObjectId::blob(&hash))?;
        if bytes.len() != len as usize {
            return Err(self.broken());
        }
        state.last = Some((at, bytes.clone()));
        Ok(bytes)
    }

    /// Hashes bytes that follow those read before, and checks the hash at the end.
    fn see(&self, state: &mut State, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if offset == 0 {
            (state.hasher, state.hashed) = (blake3::Hasher::new(), 0);
        }
        if offset != state.hashed {
            return Ok(());
        }
        state.hasher.update(bytes);
        state.hashed += bytes.len() as u64;
        let whole = state.hashed == self.size();
        if whole && state.hasher.finalize() != *self.hash.as_bytes() {
            Err(self.broken())
        } else {
            Ok(())
        }
    }

    fn broken(&self) -> io::Error {
        let id = ObjectId::list(&self.hash);
        damaged(format!("the {id} is not that of its file; verify the store"))
    }
}

impl<L: Deref<Target = ObjectIndex> + Send + Sync> ReadAt for LargeFile<L> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset >= self.size() {
            return Ok(0);
        }
        let at = self.parts.partition_point(|placed| placed.start <= offset) - 1;
        let mut state = self.state.lock();
        let bytes = self.part(at, &mut state)?;
        let rest = &bytes[(offset - self.parts[at].start) as usize..];
        let count = rest.len().min(buffer.len());
        self.see(&mut state, offset, &rest[..count])?;
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

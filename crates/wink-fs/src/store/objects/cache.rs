//! A cache of blocks.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

use super::pack::Pack;

/// How many bytes of blocks are cached: enough for all threads of a walk in the order of paths.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// Caches the blocks used last, the newest in front.
#[derive(Debug, Default)]
pub(crate) struct BlockCache(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    blocks: VecDeque<Block>,
    bytes: usize,
}

#[derive(Debug)]
struct Block {
    pack: Arc<Pack>,
    number: u32,
    bytes: Bytes,
}

impl BlockCache {
    /// Returns a block, from the cache or from disk.
    pub(crate) fn get(
        &self,
        pack: &Arc<Pack>,
        number: u32,
        read: impl FnOnce() -> io::Result<Bytes>,
    ) -> io::Result<Bytes> {
        if let Some(kept) = self.0.lock().take(pack, number) {
            return Ok(kept);
        }
        let bytes = read()?;
        self.0.lock().put(Block { pack: Arc::clone(pack), number, bytes: bytes.clone() });
        Ok(bytes)
    }
}

impl Kept {
    fn take(&mut self, pack: &Arc<Pack>, number: u32) -> Option<Bytes> {
        let is_wanted = |block: &Block| block.number == number && Arc::ptr_eq(&block.pack, pack);
        let at = self.blocks.iter().position(is_wanted)?;
        let block = self.blocks.remove(at)?;
        let bytes = block.bytes.clone();
        self.blocks.push_front(block);
        Some(bytes)
    }

    fn put(&mut self, block: Block) {
        self.bytes += block.bytes.len();
        self.blocks.push_front(block);
        while self.bytes > MAX_BYTES {
            let Some(oldest) = self.blocks.pop_back() else { return };
            self.bytes -= oldest.bytes.len();
        }
    }
}

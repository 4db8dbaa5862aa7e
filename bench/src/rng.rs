//! Numbers that look random and are the same in every run, on every machine.

/// SplitMix64: small, fast, and good enough for shuffles and file contents.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// Starts the `stream`-th independent sequence of a seed.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut mixer = Self(seed ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93));
        Self(mixer.next())
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`, which is not zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // The bias of a remainder is far below anything that is measured here.
        (self.next() % end as u64) as usize
    }

    /// Returns one of `items`, which are not none.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Tells whether something happens that does so once in `odds` times.
    pub(crate) fn one_in(&mut self, odds: usize) -> bool {
        self.below(odds) == 0
    }

    /// Brings `count` items drawn from all of them to the front, in random order, and drops the rest.
    pub(crate) fn draw<T>(&mut self, items: &mut Vec<T>, count: usize) {
        for at in 0..count.min(items.len()) {
            let other = at + self.below(items.len() - at);
            items.swap(at, other);
        }
        items.truncate(count);
    }

    pub(crate) fn fill(&mut self, buffer: &mut [u8]) {
        for part in buffer.chunks_mut(8) {
            part.copy_from_slice(&self.next().to_le_bytes()[..part.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_never_changes() {
        let mut rng = Rng::new(1, 2);
        let first = [rng.next(), rng.next()];
        let mut again = Rng::new(1, 2);
        assert_eq!(first, [again.next(), again.next()]);
        assert_ne!(first[0], Rng::new(1, 3).next());
    }

    #[test]
    fn a_draw_takes_each_item_at_most_once() {
        let mut items: Vec<_> = (0..100).collect();
        Rng::new(1, 1).draw(&mut items, 50);
        assert_eq!(items.len(), 50);
        items.sort_unstable();
        items.dedup();
        assert_eq!(items.len(), 50);
    }
}

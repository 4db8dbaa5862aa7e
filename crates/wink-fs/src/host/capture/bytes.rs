//! Reading a flat format from its start to its end.

/// Takes bytes from the front; `None` where there are too few.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a>(pub(in crate::host) &'a [u8]);

impl<'a> Reader<'a> {
    pub(in crate::host) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    pub(in crate::host) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(in crate::host) fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    pub(in crate::host) fn number(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }
}

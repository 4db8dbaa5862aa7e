//! Tar headers, in the GNU format that every tar reads.

use std::io::Write as _;

use crate::tree::FileMode;

pub(super) const BLOCK: usize = 512;

const SHORT_NAME: usize = 100;
const LONG: &[u8] = b"././@LongLink";

/// The kind of an entry.
#[derive(Clone, Copy)]
pub(super) enum Member<'a> {
    File { mode: FileMode, size: u64 },
    Directory,
    Link { target: &'a [u8] },
}

/// Appends a header; times and owners are constant.
pub(super) fn put_header(into: &mut Vec<u8>, name: &[u8], member: Member<'_>) {
    let (kind, permissions, size, target) = match member {
        Member::File { mode, size } => (b'0', permissions(mode), size, &[][..]),
        Member::Directory => (b'5', 0o755, 0, &[][..]),
        Member::Link { target } => (b'2', 0o777, 0, target),
    };
    put_long(into, b'K', target);
    put_long(into, b'L', name);
    put_block(into, kind, name, target, permissions, size);
}

/// Pads to a whole block.
pub(super) fn put_padding(into: &mut Vec<u8>, size: u64) {
    let over = (size % BLOCK as u64) as usize;
    into.resize(into.len() + (BLOCK - over) % BLOCK, 0);
}

/// Appends the end of an archive.
pub(super) fn put_end(into: &mut Vec<u8>) {
    into.resize(into.len() + 2 * BLOCK, 0);
}

fn permissions(mode: FileMode) -> u32 {
    let all = if mode.executable { 0o755 } else { 0o644 };
    if mode.private { all & 0o700 } else { all }
}

/// Appends a long name as an entry of its own.
fn put_long(into: &mut Vec<u8>, kind: u8, name: &[u8]) {
    if name.len() > SHORT_NAME {
        let size = name.len() as u64 + 1;
        put_block(into, kind, LONG, &[], 0o644, size);
        into.extend_from_slice(name);
        into.push(0);
        put_padding(into, size);
    }
}

fn put_block(into: &mut Vec<u8>, kind: u8, name: &[u8], target: &[u8], mode: u32, size: u64) {
    let mut block = [0; BLOCK];
    put_bytes(&mut block[..SHORT_NAME], name);
    put_number(&mut block[100..108], mode.into());
    put_number(&mut block[108..116], 0);
    put_number(&mut block[116..124], 0);
    put_number(&mut block[124..136], size);
    put_number(&mut block[136..148], 0);
    block[156] = kind;
    put_bytes(&mut block[157..257], target);
    put_bytes(&mut block[257..265], b"ustar  \0");
    block[148..156].fill(b' ');
    let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
    put_number(&mut block[148..155], sum);
    into.extend_from_slice(&block);
}

/// Puts the bytes that fit; longer names were added before.
fn put_bytes(field: &mut [u8], bytes: &[u8]) {
    let len = field.len().min(bytes.len());
    field[..len].copy_from_slice(&bytes[..len]);
}

/// Puts a number in octal digits, or binary if it does not fit.
fn put_number(field: &mut [u8], number: u64) {
    let digits = field.len() - 1;
    if number >> (3 * digits).min(63) == 0 {
        let _ = write!(&mut field[..digits], "{number:0digits$o}");
        return;
    }
    let start = field.len() - 8;
    field[start..].copy_from_slice(&number.to_be_bytes());
    field[0] = 0x80;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_octal_until_they_are_too_large() {
        let written = |number| {
            let mut field = [0; 12];
            put_number(&mut field, number);
            field
        };
        assert_eq!(&written(8), b"00000000010\0");
        assert_eq!(&written((1 << 33) - 1), b"77777777777\0");
        assert_eq!(written(1 << 33), [0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]);
    }
}

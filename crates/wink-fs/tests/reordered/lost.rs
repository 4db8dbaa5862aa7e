//! What a disk may hold after a loss of power, by the log of what was written to it.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::common::trees::Random;

const HEADER: usize = 16;
const SECTOR: usize = 512;
const FLUSH: u64 = u64::MAX;

/// The superblock of ext4 is two sectors under one checksum: it relies on disks to write it whole.
const SUPERBLOCK: (u64, usize) = (1024, 1024);

/// Something that was done to the disk.
pub(crate) enum Step {
    Write { offset: u64, bytes: Vec<u8> },
    Flush,
}

/// Reads a log; also returns where in it each step ends.
pub(crate) fn read_log(log: &[u8]) -> (Vec<Step>, Vec<usize>) {
    let (mut steps, mut ends, mut at) = (Vec::new(), Vec::new(), 0);
    let number = |at: usize| u64::from_le_bytes(log[at..at + 8].try_into().unwrap());
    while at < log.len() {
        let (offset, len) = (number(at), number(at + 8) as usize);
        let bytes = log[at + HEADER..at + HEADER + len].to_vec();
        steps.push(if offset == FLUSH { Step::Flush } else { Step::Write { offset, bytes } });
        at += HEADER + len;
        ends.push(at);
    }
    (steps, ends)
}

/// Writes to an image what was flushed, and of all later writes any part in any order.
pub(crate) fn write_lossy(image: &Path, steps: &[Step], random: &mut Random) {
    let image = fs::OpenOptions::new().write(true).open(image).unwrap();
    let is_flush = |step: &Step| matches!(step, Step::Flush);
    let flushed = steps.iter().rposition(is_flush).unwrap_or(0);
    let all = |bytes: &[u8], offset| image.write_all_at(bytes, offset).unwrap();
    for step in &steps[..flushed] {
        if let Step::Write { offset, bytes } = step {
            all(bytes, *offset);
        }
    }
    let mut later: Vec<_> = steps[flushed..].iter().collect();
    shuffle(&mut later, random);
    let survival = random.below(5);
    for step in later {
        let Step::Write { offset, bytes } = step else { continue };
        match random.below(4) {
            chance if chance < survival => all(bytes, *offset),
            3 if (*offset, bytes.len()) != SUPERBLOCK => torn(&image, *offset, bytes, random),
            _ => {}
        }
    }
}

fn torn(image: &fs::File, offset: u64, bytes: &[u8], random: &mut Random) {
    for (number, sector) in bytes.chunks(SECTOR).enumerate() {
        if random.below(2) == 0 {
            image.write_all_at(sector, offset + (number * SECTOR) as u64).unwrap();
        }
    }
}

fn shuffle<T>(steps: &mut [T], random: &mut Random) {
    for last in (1..steps.len()).rev() {
        steps.swap(last, random.below(last + 1));
    }
}

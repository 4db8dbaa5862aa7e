//! Content of files, and how long an opened file keeps it.

use std::io::{Read as _, Write as _};

use super::support::*;
use crate::filesystem::{Backend, PutOptions, Recursion, Replacement};
use crate::hash::ContentHash;
use crate::tree::content::Content;

/// Opens a file with known content.
fn opened(fs: &mut dyn Backend) -> Content {
    make(fs, "d/f", "before");
    fs.open(&at("d/f")).unwrap()
}

#[track_caller]
fn is_as_before(content: &Content) {
    assert_eq!(&content.read_all().unwrap()[..], b"before");
    assert_eq!(content.hash().unwrap(), ContentHash::of(b"before"));
}

pub(super) fn an_opened_file_stays_readable_after_it_is_deleted(fs: &mut dyn Backend) {
    let content = opened(fs);
    fs.remove(&at("d/f"), Recursion::OnlyEmpty).unwrap();
    is_as_before(&content);
}

pub(super) fn an_opened_file_stays_readable_after_its_directory_is_deleted(fs: &mut dyn Backend) {
    let content = opened(fs);
    fs.remove(&at("d"), Recursion::Recursive).unwrap();
    is_as_before(&content);
}

pub(super) fn an_opened_file_stays_as_it_was_when_it_is_replaced(fs: &mut dyn Backend) {
    let content = opened(fs);
    make(fs, "d/f", "after, and longer");
    is_as_before(&content);
    assert_eq!(&bytes(fs, "d/f")[..], b"after, and longer");
}

pub(super) fn an_opened_file_stays_readable_after_it_is_renamed(fs: &mut dyn Backend) {
    let content = opened(fs);
    fs.rename(&at("d/f"), &at("g"), Replacement::Refuse).unwrap();
    make(fs, "d/f", "another");
    is_as_before(&content);
}

pub(super) fn content_is_read_at_any_position(fs: &mut dyn Backend) {
    make(fs, "f", "0123456789");
    let content = fs.open(&at("f")).unwrap();
    let mut buffer = [0; 3];
    assert_eq!(content.read_at(&mut buffer, 4).unwrap(), 3);
    assert_eq!(&buffer, b"456");
    assert_eq!(&content.read_range(8, 5).unwrap()[..], b"89");
    assert_eq!(content.len(), 10);
}

pub(super) fn there_is_nothing_past_the_end(fs: &mut dyn Backend) {
    make(fs, "f", "0123456789");
    let content = fs.open(&at("f")).unwrap();
    for offset in [10, 11, u64::from(u32::MAX), i64::MAX as u64] {
        assert_eq!(content.read_at(&mut [0; 4], offset).unwrap(), 0, "{offset}");
        assert!(content.read_range(offset, 4).unwrap().is_empty(), "{offset}");
    }
}

pub(super) fn content_is_read_from_several_threads_at_once(fs: &mut dyn Backend) {
    let expected: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    make(fs, "f", &expected);
    let content = fs.open(&at("f")).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let content = content.clone();
            let expected = &expected;
            scope.spawn(move || {
                let mut read = Vec::new();
                content.reader().read_to_end(&mut read).unwrap();
                assert!(read == *expected);
            });
        }
    });
}

pub(super) fn text_and_bytes_round_trip_untouched(fs: &mut dyn Backend) {
    let contents: [&[u8]; 10] = [
        b"unix\nlines\n",
        b"dos\r\nlines\r\n",
        b"mixed\r\nand\n\r\nlone \r here",
        b"\xef\xbb\xbfa byte order mark\n",
        b"no final newline",
        b"\n\n\n",
        b"invalid \xff\xfe\x80 UTF-8",
        b"\0\0\0",
        b"\x1a ends text on some systems\x1a",
        "größe 𝄞\u{2028}".as_bytes(),
    ];
    for content in contents {
        make(fs, "f", content);
        assert_eq!(&bytes(fs, "f")[..], content);
    }
}

pub(super) fn an_empty_file_is_a_file(fs: &mut dyn Backend) {
    make(fs, "f", "");
    assert_eq!(kind(fs, "f"), crate::Kind::File);
    assert!(fs.open(&at("f")).unwrap().is_empty());
    assert!(bytes(fs, "f").is_empty());
}

pub(super) fn a_large_file_is_streamed_in_and_out(fs: &mut dyn Backend) {
    const PART: usize = 100_003;
    let parts = || (0..84_u8).map(|n| vec![n; PART]);
    let mut staging = fs.stage().unwrap();
    parts().for_each(|part| staging.write_all(&part).unwrap());
    let mut staged = staging.finish().unwrap();
    fs.put(&at("f"), &mut staged, &PutOptions::default()).unwrap();

    let content = fs.open(&at("f")).unwrap();
    assert_eq!(content.len(), 84 * PART as u64);
    let mut reader = content.reader();
    for expected in parts() {
        let mut part = vec![0; PART];
        reader.read_exact(&mut part).unwrap();
        assert!(part == expected);
    }
    assert_eq!(reader.read(&mut [0; 1]).unwrap(), 0);
}

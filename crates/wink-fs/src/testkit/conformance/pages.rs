//! Reading pages of text and ranges of bytes.

use super::support::*;
use crate::error::{ErrorKind, Result};
use crate::filesystem::Backend;
use crate::hash::ContentHash;
use crate::limits::Limits;
use crate::ops::{self, BytePage, LineOptions, LinePart, PageLimit, ReadOptions, TextPage};
use crate::tree::Tree;

/// Pages small enough to see where they end.
fn small() -> Limits {
    Limits { page_lines: 3, max_read_bytes: 16, ..Limits::default() }
}

fn from(offset: u64) -> ReadOptions {
    ReadOptions::default().offset(offset)
}

fn count(offset: u64, count: u64) -> ReadOptions {
    from(offset).limit(PageLimit::Count(count))
}

fn read(tree: &dyn Tree, options: ReadOptions) -> Result<TextPage> {
    ops::read(tree, &at("f"), &options, &small())
}

fn read_bytes(tree: &dyn Tree, options: ReadOptions) -> Result<BytePage> {
    ops::read_bytes(tree, &at("f"), &options, &small())
}

/// Asserts a page's content, offset, number of lines, and whether lines remain.
#[track_caller]
fn is_page(page: TextPage, content: &str, offset: u64, lines: u64, truncated: bool) {
    assert_eq!(page.content, content);
    assert_eq!((page.offset, page.limit, page.truncated), (offset, lines, truncated));
    assert_eq!(page.path, at("f"));
}

pub(super) fn a_page_has_the_wanted_lines(fs: &mut dyn Backend) {
    make(fs, "f", "0\n1\n2\n3\n");
    is_page(read(fs, count(1, 2)).unwrap(), "1\n2\n", 1, 2, true);
    is_page(read(fs, count(2, 2)).unwrap(), "2\n3\n", 2, 2, false);
    is_page(read(fs, count(3, 9)).unwrap(), "3\n", 3, 1, false);
}

pub(super) fn a_page_has_the_usual_lines_when_nothing_is_said(fs: &mut dyn Backend) {
    make(fs, "f", "0\n1\n2\n3\n");
    is_page(read(fs, from(0)).unwrap(), "0\n1\n2\n", 0, 3, true);
    is_page(read(fs, from(3)).unwrap(), "3\n", 3, 1, false);
}

pub(super) fn a_page_of_everything_knows_no_limit(fs: &mut dyn Backend) {
    let text = "a line longer than a page may be\n".repeat(9);
    make(fs, "f", &text);
    is_page(read(fs, from(0).limit(PageLimit::All)).unwrap(), &text, 0, 9, false);
    is_page(read(fs, from(8).limit(PageLimit::All)).unwrap(), &text[33 * 8..], 8, 1, false);
}

pub(super) fn a_page_of_no_lines_is_empty(fs: &mut dyn Backend) {
    make(fs, "f", "0\n1\n");
    is_page(read(fs, count(1, 0)).unwrap(), "", 1, 0, true);
}

pub(super) fn a_page_past_the_end_is_empty(fs: &mut dyn Backend) {
    for (text, lines) in [("0\n1\n", 2), ("0\n1", 2), ("", 0)] {
        make(fs, "f", text);
        for offset in [lines, lines + 1, u64::MAX] {
            let page = read(fs, from(offset)).unwrap();
            assert_eq!(page.total_lines, lines);
            is_page(page, "", offset, 0, false);
        }
    }
}

pub(super) fn an_empty_file_has_no_lines(fs: &mut dyn Backend) {
    make(fs, "f", "");
    let page = read(fs, from(0)).unwrap();
    assert_eq!(page.total_lines, 0);
    is_page(page, "", 0, 0, false);
}

pub(super) fn a_last_line_without_a_newline_is_a_line(fs: &mut dyn Backend) {
    make(fs, "f", "0\n1");
    let page = read(fs, count(1, 1)).unwrap();
    assert_eq!(page.total_lines, 2);
    is_page(page, "1", 1, 1, false);
}

pub(super) fn a_page_keeps_line_endings_and_byte_order_marks(fs: &mut dyn Backend) {
    make(fs, "f", "\u{feff}a\r\nb\rc\r\n\n");
    let page = read(fs, from(0)).unwrap();
    assert_eq!(page.total_lines, 3);
    is_page(page, "\u{feff}a\r\nb\rc\r\n\n", 0, 3, false);
}

pub(super) fn a_page_is_cut_after_whole_lines(fs: &mut dyn Backend) {
    make(fs, "f", "1234567\n1234567\n1234567\n");
    is_page(read(fs, from(0)).unwrap(), "1234567\n1234567\n", 0, 2, true);
    make(fs, "f", "1234567\n12345678\n");
    is_page(read(fs, count(0, 2)).unwrap(), "1234567\n", 0, 1, true);
    make(fs, "f", "1234567\n123456789");
    is_page(read(fs, count(0, 2)).unwrap(), "1234567\n", 0, 1, true);
}

pub(super) fn a_line_larger_than_a_page_is_too_large(fs: &mut dyn Backend) {
    make(fs, "f", "short\n1234567890123456\nshort\n");
    let error = read(fs, from(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert!(error.to_string().contains("offset 6"), "it says where the line starts: {error}");
    is_page(read(fs, from(0)).unwrap(), "short\n", 0, 1, true);
    is_page(read(fs, from(2)).unwrap(), "short\n", 2, 1, false);
}

pub(super) fn whether_it_is_text_is_judged_on_the_page_alone(fs: &mut dyn Backend) {
    make(fs, "f", b"text\n\xff\nmore\n");
    is_page(read(fs, count(0, 1)).unwrap(), "text\n", 0, 1, true);
    assert_eq!(failure(read(fs, count(1, 1))), ErrorKind::NotText);
    assert_eq!(failure(read(fs, from(0))), ErrorKind::NotText);
    is_page(read(fs, count(2, 1)).unwrap(), "more\n", 2, 1, false);
}

pub(super) fn the_total_of_lines_is_always_true(fs: &mut dyn Backend) {
    let text = "line\n".repeat(100_000);
    make(fs, "f", &text);
    for options in [from(0), count(50_000, 1), from(99_999), from(u64::MAX), count(0, 0)] {
        assert_eq!(read(fs, options).unwrap().total_lines, 100_000);
    }
}

pub(super) fn a_page_far_inside_a_large_file_is_the_right_one(fs: &mut dyn Backend) {
    let text: String = (0..100_000).map(|n| format!("{n}\n")).collect();
    make(fs, "f", &text);
    is_page(read(fs, count(77_777, 2)).unwrap(), "77777\n77778\n", 77_777, 2, true);
}

pub(super) fn pages_in_a_row_are_the_whole_file(fs: &mut dyn Backend) {
    let text: String = (0..30_000).map(|n| format!("{n:>30}\r\n")).collect();
    make(fs, "f", &text);
    let limits = Limits { page_lines: 7_001, ..Limits::default() };
    let mut all = String::new();
    let mut offset = 0;
    loop {
        let page = ops::read(fs, &at("f"), &from(offset), &limits).unwrap();
        all.push_str(&page.content);
        offset += page.limit;
        if !page.truncated {
            break;
        }
    }
    assert!(all == text);
}

pub(super) fn a_line_of_any_size_is_found_and_skipped(fs: &mut dyn Backend) {
    let limits = Limits::default();
    let text = format!("short\n{}\nshort\n", "x".repeat(1_000_000));
    make(fs, "f", &text);
    let read = |options: ReadOptions| ops::read(fs, &at("f"), &options, &limits);
    let error = read(from(1)).unwrap_err();
    assert!(error.to_string().contains("offset 6"), "it says where the line starts: {error}");
    is_page(read(from(0)).unwrap(), "short\n", 0, 1, true);
    is_page(read(from(2)).unwrap(), "short\n", 2, 1, false);
    is_page(read(from(0).limit(PageLimit::All)).unwrap(), &text, 0, 3, false);
}

pub(super) fn only_utf_8_is_read_as_text(fs: &mut dyn Backend) {
    make(fs, "f", "text");
    assert_eq!(failure(read(fs, from(0).encoding("latin-1"))), ErrorKind::Unsupported);
    is_page(read(fs, from(0).encoding("UTF-8")).unwrap(), "text", 0, 1, false);
}

pub(super) fn a_page_gives_the_hash_of_the_whole_file_on_request(fs: &mut dyn Backend) {
    make(fs, "f", "0\n1\n");
    let whole = ContentHash::of(b"0\n1\n");
    assert_eq!(read(fs, count(1, 1).hash(true)).unwrap().content_hash, Some(whole));
    assert_eq!(read_bytes(fs, count(1, 1).hash(true)).unwrap().content_hash, Some(whole));
    assert_eq!(read(fs, from(0)).unwrap().content_hash, None);
}

pub(super) fn only_a_file_has_pages(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make_link(fs, "l", "d/f");
    let kinds = |path| {
        let path = at(path);
        let options = ReadOptions::default();
        let limits = Limits::default();
        let text = failure(ops::read(fs, &path, &options, &limits));
        assert_eq!(failure(ops::read_bytes(fs, &path, &options, &limits)), text);
        text
    };
    assert_eq!(kinds("x"), ErrorKind::NotFound);
    assert_eq!(kinds("d/f/x"), ErrorKind::NotFound);
    assert_eq!(kinds("d"), ErrorKind::IsADirectory);
    assert_eq!(kinds(""), ErrorKind::IsADirectory);
    assert_eq!(kinds("l"), ErrorKind::PermissionDenied);
}

pub(super) fn a_range_has_the_wanted_bytes(fs: &mut dyn Backend) {
    make(fs, "f", b"0123\xff56789");
    let page = read_bytes(fs, count(3, 3)).unwrap();
    assert_eq!((&page.content[..], page.total_bytes), (&b"3\xff5"[..], 10));
    assert_eq!((page.offset, page.truncated, page.path), (3, true, at("f")));
    assert!(!read_bytes(fs, count(7, 3)).unwrap().truncated);
}

pub(super) fn a_range_has_the_usual_bytes_when_nothing_is_said(fs: &mut dyn Backend) {
    make(fs, "f", [b'x'; 20]);
    let page = read_bytes(fs, from(0)).unwrap();
    assert_eq!((page.content.len(), page.truncated), (16, true));
    let all = read_bytes(fs, from(0).limit(PageLimit::All)).unwrap();
    assert_eq!((all.content.len(), all.truncated), (20, false));
}

pub(super) fn a_range_past_the_end_is_empty(fs: &mut dyn Backend) {
    make(fs, "f", "0123");
    for offset in [4, 5, u64::MAX] {
        let page = read_bytes(fs, from(offset)).unwrap();
        assert_eq!((page.content.len(), page.total_bytes, page.truncated), (0, 4, false));
    }
}

fn part(tree: &dyn Tree, line: u64, column: u64) -> Result<LinePart> {
    let options = LineOptions::default().line(line).column(column).hash(true);
    ops::read_line(tree, &at("f"), &options, &small())
}

pub(super) fn parts_in_a_row_are_the_whole_line(fs: &mut dyn Backend) {
    let long = "wörter, 漢字 😀 und mehr ".repeat(20_000);
    let text = format!("short\n{long}\r\nlast");
    make(fs, "f", &text);
    let mut line = String::new();
    let mut column = 0;
    loop {
        // Larger than usual, so that it does not take minutes.
        let limits = Limits { max_read_bytes: 10_001, ..Limits::default() };
        let options = LineOptions::default().line(1).column(column);
        let part = ops::read_line(fs, &at("f"), &options, &limits).unwrap();
        assert_eq!((part.total_lines, part.line_bytes), (3, long.len() as u64 + 1));
        line.push_str(&part.content);
        column += part.content.len() as u64;
        assert!(part.has_newline && part.content.len() <= 10_001);
        if !part.truncated {
            break;
        }
    }
    assert!(line == format!("{long}\r"));
    let last = part(fs, 2, 1).unwrap();
    assert_eq!((&*last.content, last.has_newline), ("ast", false));
    assert_eq!(last.content_hash, Some(ContentHash::of(text.as_bytes())));
}

pub(super) fn a_part_begins_and_ends_between_characters(fs: &mut dyn Backend) {
    make(fs, "f", "ab漢字漢字漢字漢字\n");
    let first = part(fs, 0, 0).unwrap();
    assert_eq!((&*first.content, first.truncated), ("ab漢字漢字", true));
    assert_eq!(&part(fs, 0, 14).unwrap().content, "漢字漢字");
    assert_eq!(failure(part(fs, 0, 3)), ErrorKind::InvalidArgument);
    make(fs, "f", b"ab\xff\n");
    assert_eq!(failure(part(fs, 0, 0)), ErrorKind::NotText);
}

pub(super) fn a_part_past_the_end_is_empty(fs: &mut dyn Backend) {
    make(fs, "f", "abc\n");
    for (line, column) in [(0, 3), (0, 4), (0, u64::MAX), (1, 0), (9, 9), (u64::MAX, u64::MAX)] {
        let part = part(fs, line, column).unwrap();
        assert_eq!((&*part.content, part.truncated, part.total_lines), ("", false, 1));
    }
}

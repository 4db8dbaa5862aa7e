//! Archives made to do harm, numbered as in the threat model; none may touch the backend.

use wink_fs::archive::{self, ArchiveLimits, PortabilityProblem};
use wink_fs::testkit::dump;
use wink_fs::{Backend, Error, ErrorKind, Tree};

use crate::archive::support::{
    Random, export, import, import_within, noise, open, open_unverified, open_within, options,
    path, planted, put,
};
use crate::archive::zip::{End, Item, archive, extra, put16, put32, put64, raw};
use crate::common::on_both::on_both;

on_both! {
    a2_34_names_that_leave_the_tree_are_refused,
    a2_34_a_plain_backslash_round_trips,
    a2_35_a_link_is_data_and_nothing_passes_through_it,
    a2_37_a_name_is_there_once_and_nothing_lies_below_a_file,
    a2_38_names_that_fold_to_one_are_accepted_with_a_warning,
    a2_40_what_inflates_without_end_is_stopped,
    a2_40_overlapping_entries_are_refused,
    a2_40_an_archive_in_an_archive_is_a_file,
    a2_42_numbers_are_checked_before_room_is_made,
    a2_42_directories_that_names_imply_are_counted,
    a2_43_a_manifest_that_is_not_right_is_refused,
    a2_45_names_in_doubt_are_refused,
    a2_46_other_features_of_zip_are_unsupported,
    a2_46_headers_that_disagree_are_refused,
    a2_47_a_cut_or_changed_archive_is_refused_or_the_same,
    a2_47_content_that_is_not_what_it_says_is_never_returned,
    bytes_after_the_end_of_packed_content_are_refused,
    a2_49_deep_and_long_names_are_refused,
    a2_51_names_of_one_system_only_are_reported_and_come_back,
}

/// Imports into a backend that has a file already, and checks that a refusal left it alone.
#[track_caller]
fn refused(files: &mut dyn Backend, bytes: &[u8]) -> Error {
    refused_within(files, bytes, &ArchiveLimits::default())
}

#[track_caller]
fn refused_within(files: &mut dyn Backend, bytes: &[u8], limits: &ArchiveLimits) -> Error {
    put(files, b"present", "present");
    let before = dump(&*files.live()).unwrap();
    let error = import_within(files, bytes, limits).expect_err("it was accepted");
    assert_eq!(dump(&*files.live()).unwrap(), before);
    let message = error.to_string();
    assert!(message.len() < 500 && !message.contains(char::is_control), "{message:?}");
    error
}

#[track_caller]
fn assert_corrupt(files: &mut dyn Backend, what: &str, bytes: &[u8]) {
    let error = refused(files, bytes);
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {error}");
}

#[track_caller]
fn assert_unsupported(files: &mut dyn Backend, what: &str, bytes: &[u8]) {
    let error = refused(files, bytes);
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{what}: {error}");
}

fn a2_34_names_that_leave_the_tree_are_refused(mut files: impl Backend) {
    for name in [
        "files/../../evil",
        "files/../evil",
        "files/a/../../evil",
        "files/a/../b",
        "files//etc/x",
        "files/./x",
        "files/a//b",
        "files/.",
        "files/..",
        "files/../",
        "/etc/passwd",
        "../evil",
        "evil",
        "files",
        "Files/a",
        r"files\a",
        r"files/..\evil",
        r"files/a\..\..\evil",
        r"files/a/..\..\evil",
        r"files/\etc\x",
        r"files/\\server\share",
        "files/.wink-staging/evil",
        "files/C:/evil",
        r"files/c:\evil",
        r"files/\x2e\x2e/evil",
        r"files/\x2e\x2e\x2fevil",
        r"files/\x2fetc",
        r"files/a\x00",
    ] {
        assert_corrupt(&mut files, name, &archive([Item::stored(name, "evil")]));
    }
    assert_corrupt(&mut files, "directory", &archive([Item::directory("files/../evil/")]));
}

fn a2_34_a_plain_backslash_round_trips(mut files: impl Backend) {
    import(&mut files, &archive([Item::stored(r"files/a\b", "kept")])).unwrap();
    assert_eq!(dump(&*files.live()).unwrap(), [r#"a\b "kept""#]);
    let bytes = export(&*files.live());
    assert_eq!(dump(&open(&bytes).unwrap()).unwrap(), [r#"a\b "kept""#]);
}

fn a2_35_a_link_is_data_and_nothing_passes_through_it(mut files: impl Backend) {
    let link = || Item::link("files/l", "../..");
    let through = Item::stored("files/l/x", "evil");
    assert_corrupt(&mut files, "after it", &archive([link(), through.clone()]));
    assert_corrupt(&mut files, "before it", &archive([through, link()]));
    assert_corrupt(&mut files, "deep", &archive([link(), Item::stored("files/l/a/b", "")]));
    assert_corrupt(&mut files, "directory", &archive([link(), Item::directory("files/l/")]));
    for target in ["", "a\0b", &"t".repeat(4096), &"t".repeat(100_000)] {
        assert_corrupt(&mut files, "target", &archive([Item::link("files/l", target)]));
    }
    import(&mut files, &archive([link(), Item::link("files/abs", "/etc/passwd")])).unwrap();
    let lines = [r#"abs -> "/etc/passwd""#, r#"l -> "../..""#];
    assert_eq!(dump(&*files.live()).unwrap(), lines);
}

fn a2_37_a_name_is_there_once_and_nothing_lies_below_a_file(mut files: impl Backend) {
    let file = |name: &str| Item::stored(name, "x");
    let bad: [&[Item]; 7] = [
        &[file("files/a"), file("files/a")],
        &[file("files/a"), file("files/a/b")],
        &[file("files/a/b"), file("files/a")],
        &[file("files/a"), Item::directory("files/a/")],
        &[Item::directory("files/a/"), file("files/a")],
        &[Item::directory("files/a/"), Item::directory("files/a/")],
        &[Item::directory("files/"), Item::directory("files/")],
    ];
    for (number, items) in bad.iter().enumerate() {
        assert_corrupt(&mut files, &number.to_string(), &archive(items.to_vec()));
    }
    let dir = |name| Item::directory(name);
    open(&archive([dir("files/"), file("files/a/b"), dir("files/a/"), dir("files/c/")])).unwrap();
}

fn a2_38_names_that_fold_to_one_are_accepted_with_a_warning(mut files: impl Backend) {
    let names = ["files/README", "files/ReadMe", "files/caf\u{e9}", "files/cafe\u{301}"];
    let bytes = archive(names.map(|name| Item::stored(name, name)));
    let folding = ArchiveLimits::default().refuse_folding_names(true);
    assert_eq!(refused_within(&mut files, &bytes, &folding).kind(), ErrorKind::Unsupported);
    import(&mut files, &bytes).unwrap();
    let found = archive::portability(&*files.live()).unwrap();
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|found| found.problem == PortabilityProblem::SameWhenFolded));
}

fn a2_40_what_inflates_without_end_is_stopped(mut files: impl Backend) {
    let one = Item::deflated("files/bomb", vec![0; 50_000_000]);
    let (bomb, bytes) = (|| one.clone(), archive([one.clone()]));
    assert!(bytes.len() < 100_000);
    let small = ArchiveLimits::default().max_file_bytes(1_000_000);
    let error = refused_within(&mut files, &bytes, &small);
    assert_eq!((error.kind(), error.path()), (ErrorKind::TooLarge, Some("files/bomb")));
    assert!(error.to_string().contains("max_file_bytes"), "{error}");
    let total = ArchiveLimits::default().max_total_bytes(60_000_000);
    let two = archive([bomb(), bomb().both(|header| header.name = b"files/bomb2".to_vec())]);
    let error = refused_within(&mut files, &two, &total);
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert!(error.to_string().contains("max_total_bytes"), "{error}");
    // What is said is not believed: neither less than there is, nor more.
    for size in [0, 1, 1_000, 9_000_000, 49_999_999, 50_000_001, 1 << 30] {
        let liar = bomb().both(|header| header.size = size);
        assert_corrupt(&mut files, &size.to_string(), &archive([liar]));
    }
    let huge = bomb().both(|header| header.size = u32::MAX - 1);
    assert_eq!(refused(&mut files, &archive([huge])).kind(), ErrorKind::TooLarge);
}

fn a2_40_overlapping_entries_are_refused(mut files: impl Backend) {
    let one = Item::deflated("files/a", vec![0; 1_000_000]);
    let mut same = one.clone().central(|header| header.name = b"files/b".to_vec());
    same.start = Some(0);
    assert_corrupt(&mut files, "one body, two entries", &archive([one.clone(), same]));
    let mut inside = Item::stored("files/b", "");
    inside.start = Some(10);
    assert_corrupt(&mut files, "inside another", &archive([one.clone(), inside]));
    let long = one.clone().both(|header| header.packed += 1);
    assert_corrupt(&mut files, "into the next", &archive([long, Item::stored("files/b", "b")]));
    let mut gap = one;
    gap.trailer = b"hidden".to_vec();
    assert_corrupt(&mut files, "a gap", &archive([gap]));
    let mut shifted = b"#!/bin/sh\n".to_vec();
    shifted.extend_from_slice(&archive([Item::stored("files/a", "a")]));
    assert_corrupt(&mut files, "something before", &shifted);
}

fn a2_40_an_archive_in_an_archive_is_a_file(mut files: impl Backend) {
    let inner = archive([Item::deflated("files/bomb", vec![0; 5_000_000])]);
    let bytes = archive([Item::stored("files/inner.zip", &inner)]);
    import(&mut files, &bytes).unwrap();
    let content = files.live().open(&path(b"inner.zip")).unwrap();
    assert_eq!(content.read_all().unwrap(), inner);
}

fn a2_42_numbers_are_checked_before_room_is_made(mut files: impl Backend) {
    let item = Item::stored("files/a", "a");
    let items = [item.clone(), Item::manifest(1, 1)];
    let with = |end: End| raw(&items, &end);
    assert_corrupt(&mut files, "entries", &with(End { entries: Some(65_535), ..End::default() }));
    assert_corrupt(&mut files, "fewer", &with(End { entries: Some(1), ..End::default() }));
    assert_corrupt(&mut files, "none", &with(End { entries: Some(0), ..End::default() }));
    let size = End { size: Some(2_000_000_000), ..End::default() };
    assert_eq!(refused(&mut files, &with(size)).kind(), ErrorKind::TooLarge);
    assert_corrupt(&mut files, "size", &with(End { size: Some(200_000_000), ..End::default() }));
    assert_corrupt(&mut files, "offset", &with(End { offset: Some(1 << 30), ..End::default() }));

    let error = refused(&mut files, &zip64(&items, 10_000_000, None));
    assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
    assert!(error.to_string().contains("max_entries"), "{error}");
    let error = refused(&mut files, &zip64(&items, 1_000_000, Some(u64::MAX)));
    assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
    assert_corrupt(&mut files, "zip64", &zip64(&items, 1_000_000, None));
    open(&zip64(&items, 2, None)).unwrap();

    // 65,536 entries wrap to none where sixteen bits count them.
    let many: Vec<_> = (0..65_536).map(|n| Item::stored(format!("files/{n}"), "")).collect();
    assert_corrupt(&mut files, "wrapped", &raw(&many, &End::default()));

    let comment = vec![b'c'; 65_535];
    let commented = item.clone().central(|header| header.comment = comment.clone());
    open(&archive([commented])).unwrap();
    open(&with(End { comment: comment.clone(), ..End::default() })).unwrap();
    // A comment that looks like an end would let another program see other entries.
    let inner = raw(&items, &End::default());
    assert_corrupt(&mut files, "comment", &with(End { comment: inner, ..End::default() }));
    let entries = ArchiveLimits::default().max_entries(1);
    let error = refused_within(&mut files, &with(End::default()), &entries);
    assert_eq!(error.kind(), ErrorKind::TooLarge);
}

fn a2_42_directories_that_names_imply_are_counted(mut files: impl Backend) {
    // Two bytes of a name make a directory of a hundred times the size.
    let deep = |n: u8| Item::stored(format!("files/{n}/{}x", "d/".repeat(99)), "");
    let within = |max| ArchiveLimits::default().max_entries(max);
    let error = refused_within(&mut files, &archive([deep(1), deep(2)]), &within(199));
    assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
    open_within(&archive([deep(1), deep(2)]), &within(200)).unwrap();
}

/// Returns an archive whose end has 64 bits.
fn zip64(items: &[Item], entries: u64, size: Option<u64>) -> Vec<u8> {
    let mut bytes = raw(items, &End::default());
    let end = bytes.split_off(bytes.len() - 22);
    let offset = u32::from_le_bytes(end[16..20].try_into().unwrap()).into();
    let at = bytes.len() as u64;
    bytes.extend_from_slice(b"PK\x06\x06");
    put64(&mut bytes, &[44]);
    put16(&mut bytes, &[45, 45]);
    put32(&mut bytes, &[0, 0]);
    put64(&mut bytes, &[entries, entries, size.unwrap_or(at - offset), offset]);
    bytes.extend_from_slice(b"PK\x06\x07");
    put32(&mut bytes, &[0]);
    put64(&mut bytes, &[at]);
    put32(&mut bytes, &[1]);
    bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    put16(&mut bytes, &[u16::MAX; 2]);
    put32(&mut bytes, &[u32::MAX; 2]);
    put16(&mut bytes, &[0]);
    bytes
}

fn a2_43_a_manifest_that_is_not_right_is_refused(mut files: impl Backend) {
    let file = || Item::stored("files/a", "a");
    let with = |items: &[Item]| raw(items, &End::default());
    assert_corrupt(&mut files, "absent", &with(&[file()]));
    let twice = [file(), Item::manifest(1, 1), Item::manifest(1, 1)];
    assert_corrupt(&mut files, "twice", &with(&twice));
    let json = |json: &str| Item::stored("manifest.json", json);
    let version_2 = r#"{"version":"2","created_at":"2026-11-15T12:00:00Z"}"#;
    assert_unsupported(&mut files, "version 2", &with(&[file(), json(version_2)]));
    for (count, bytes) in [(0, 1), (2, 1), (1, 0), (1, 2), (u64::MAX, 1)] {
        assert_corrupt(&mut files, "counts", &with(&[file(), Item::manifest(count, bytes)]));
    }
    for text in ["", "{", "null", "[]", "\"1\"", &"[".repeat(60_000)] {
        assert_corrupt(&mut files, text, &with(&[file(), json(text)]));
    }
    let padded = format!("{}{}", " ".repeat(100_000), "{}");
    assert_corrupt(&mut files, "large", &with(&[file(), json(&padded)]));
    let large = Item::manifest(1, 1).both(|header| header.size = 1_000_000_000);
    assert_corrupt(&mut files, "1 GB", &with(&[file(), large]));
    let link = Item::manifest(1, 1).both(|header| header.mode = 0o120_777);
    assert_corrupt(&mut files, "a link", &with(&[file(), link]));
    assert_corrupt(&mut files, "other top", &archive([Item::stored("other.json", "{}")]));
    assert_corrupt(&mut files, "not an archive", b"hello");
    assert_corrupt(&mut files, "nothing", b"");
}

fn a2_45_names_in_doubt_are_refused(mut files: impl Backend) {
    let named = |name: &[u8], flags| Item::stored(name, "x").both(move |h| h.flags = flags);
    let elsewhere = |item: Item| archive([item.central(|header| header.made_by = 20)]);
    let unmarked = || named("files/é".as_bytes(), 0);
    assert_unsupported(&mut files, "unmarked", &elsewhere(unmarked()));
    assert_unsupported(&mut files, "CP437", &elsewhere(named(b"files/caf\x82", 0)));
    assert_corrupt(&mut files, "CP437 from Unix", &archive([named(b"files/caf\x82", 0)]));
    let tree = open(&archive([unmarked()])).unwrap();
    assert_eq!(dump(&tree).unwrap(), [r#"é "x""#], "as Info-ZIP and macOS write it");
    assert_corrupt(&mut files, "not UTF-8", &archive([named(b"files/caf\xe9", 1 << 11)]));
    for name in [&b"files/a\0b"[..], b"files/a\nb", b"files/\x1b[31m", "files/\u{202e}".as_bytes()]
    {
        assert_corrupt(&mut files, "control", &archive([named(name, 1 << 11)]));
    }
    let unicode = |header: &[u8], name: &str| {
        let mut field = vec![1];
        put32(&mut field, &[crc32fast::hash(header)]);
        field.extend_from_slice(name.as_bytes());
        extra(0x7075, &field)
    };
    let with = |name: &'static str, other: &'static str, flags: u16| {
        let field = unicode(name.as_bytes(), other);
        let item = Item::stored(name, "x");
        archive([item.both(move |h| (h.flags, h.extra) = (flags, field.clone()))])
    };
    assert_corrupt(&mut files, "two names", &with("files/a", "files/b", 1 << 11));
    assert_corrupt(&mut files, "two names, unmarked", &with("files/a", "files/../b", 0));
    open(&with("files/é", "files/é", 0)).unwrap();
    let in_local_only =
        Item::stored("files/a", "x").local(|header| header.extra = unicode(b"files/a", "files/b"));
    assert_corrupt(&mut files, "two names, local", &archive([in_local_only]));
}

fn a2_46_other_features_of_zip_are_unsupported(mut files: impl Backend) {
    for method in [1, 6, 9, 12, 14, 93, 95, 98, 99, 65_535] {
        let item = Item::stored("files/a", "a").both(|header| header.method = method);
        assert_unsupported(&mut files, &format!("method {method}"), &archive([item]));
    }
    for bit in [0, 4, 5, 6, 7, 12, 13, 15] {
        let item = Item::stored("files/a", "a").both(|header| header.flags |= 1 << bit);
        assert_unsupported(&mut files, &format!("flag {bit}"), &archive([item]));
    }
    let newer = Item::stored("files/a", "a").both(|header| header.needed = 63);
    assert_unsupported(&mut files, "version", &archive([newer]));
    let elsewhere = Item::stored("files/a", "a").central(|header| header.disk = 1);
    assert_unsupported(&mut files, "another disk", &archive([elsewhere]));
    let items = [Item::manifest(0, 0)];
    assert_unsupported(&mut files, "disks", &raw(&items, &End { disk: 1, ..End::default() }));
    for kind in [0o010_000, 0o020_000, 0o060_000, 0o140_000] {
        let special = Item::stored("files/a", "a").both(|header| header.mode = kind | 0o644);
        assert_unsupported(&mut files, &format!("{kind:o}"), &archive([special]));
    }
}

fn a2_46_headers_that_disagree_are_refused(mut files: impl Backend) {
    let item = || Item::stored("files/a", "a");
    let disagreeing = [
        ("name", item().local(|header| header.name = b"files/b".to_vec())),
        ("shorter name", item().local(|header| header.name = b"files/".to_vec())),
        ("method", Item::deflated("files/a", "aaaa").local(|header| header.method = 0)),
        ("flags", item().local(|header| header.flags = 0)),
        ("encrypted", item().local(|header| header.flags |= 1)),
        ("checksum", item().local(|header| header.crc ^= 1)),
        ("size", item().local(|header| header.size += 1)),
        ("packed size", item().local(|header| header.packed += 1)),
        ("no 64-bit size", item().both(|header| header.size = u32::MAX)),
        ("extra", item().both(|header| header.extra = vec![1, 0, 255, 255, 0])),
        ("descriptor", item().both(|header| header.flags |= 1 << 3)),
        ("file as directory", item().both(|header| header.mode = 0o040_755)),
        ("directory as file", Item::directory("files/a/").both(|header| header.mode = 0o100_644)),
        ("directory with content", Item::stored("files/a/", "content")),
    ];
    for (what, item) in disagreeing {
        assert_corrupt(&mut files, what, &archive([item]));
    }
    let mut wrong = item().both(|header| header.flags |= 1 << 3);
    wrong.trailer = b"PK\x07\x08".to_vec();
    put32(&mut wrong.trailer, &[wrong.central.crc, 1, 2]);
    assert_corrupt(&mut files, "sizes after the content", &archive([wrong]));
}

fn a2_47_a_cut_or_changed_archive_is_refused_or_the_same(mut files: impl Backend) {
    let bytes = export(&planted());
    let expected = dump(&planted()).unwrap();
    for len in (0..bytes.len()).step_by(512).chain([bytes.len() - 1]) {
        assert!(open(&bytes[..len]).is_err(), "cut at {len}");
    }
    assert_corrupt(&mut files, "half", &bytes[..bytes.len() / 2]);
    let small = archive([Item::deflated("files/a", "aaaa"), Item::directory("files/d/")]);
    let small_dump = dump(&open(&small).unwrap()).unwrap();
    let mut flipped = small.clone();
    for at in 0..small.len() * 8 {
        flipped[at / 8] ^= 1 << (at % 8);
        if let Ok(tree) = open(&flipped) {
            assert_same_content(&dump(&tree).unwrap(), &small_dump, at);
        }
        flipped[at / 8] ^= 1 << (at % 8);
    }
    let (mut random, mut flipped) = (Random(47), bytes.clone());
    for _ in 0..40 {
        let at = random.below(bytes.len());
        flipped[at] ^= 1 << random.below(8);
        if let Ok(tree) = open(&flipped) {
            assert_same_content(&dump(&tree).unwrap(), &expected, at);
        }
        flipped[at] = bytes[at];
    }
}

fn a2_47_content_that_is_not_what_it_says_is_never_returned(mut files: impl Backend) {
    let large = noise(9_000_000, 47);
    for item in [
        Item::stored("files/bad", "small"),
        Item::deflated("files/bad", "small, small, small, small"),
        Item::stored("files/bad", &large),
        Item::deflated("files/bad", &large),
    ] {
        let bad = item.both(|header| header.crc ^= 1);
        let bytes = archive([bad, Item::stored("files/good", "good")]);
        assert_corrupt(&mut files, "checksum", &bytes);
        let tree = open_unverified(&bytes).unwrap();
        for _ in 0..2 {
            let error = tree.open(&path(b"bad")).unwrap_err();
            assert_eq!((error.kind(), error.path()), (ErrorKind::Corrupt, Some("bad")));
        }
        assert_eq!(&tree.open(&path(b"good")).unwrap().read_all().unwrap()[..], b"good");
        assert_eq!(tree.verify().unwrap_err().path(), Some("files/bad"));
    }
}

fn bytes_after_the_end_of_packed_content_are_refused(mut files: impl Backend) {
    for content in [&b"small, small, small, small"[..], &noise(9_000_000, 48)] {
        let mut item = Item::deflated("files/bad", content).both(|header| header.packed += 6);
        item.body.extend(b"hidden");
        let bytes = archive([item, Item::stored("files/good", "good")]);
        assert_corrupt(&mut files, "bytes after the end of its packed content", &bytes);
    }
}

/// Attributes have no checksum: a mode may change, or a file become a link, but no content or name.
#[track_caller]
fn assert_same_content(found: &[String], expected: &[String], at: usize) {
    let plain = |line: &String| {
        let line = line.replace(" executable", "").replace(" private", "").replace(" ->", "");
        line.replace(['/', ' '], "")
    };
    let found: Vec<_> = found.iter().map(plain).collect();
    let expected: Vec<_> = expected.iter().map(plain).collect();
    assert_eq!(found, expected, "changed at {at}");
}

fn a2_49_deep_and_long_names_are_refused(mut files: impl Backend) {
    let deep = format!("files/{}x", "d/".repeat(10_000));
    assert_corrupt(&mut files, "deep", &archive([Item::stored(deep, "")]));
    for len in [256, 4_097, 65_000] {
        let long = format!("files/{}", "n".repeat(len));
        assert_corrupt(&mut files, "long", &archive([Item::stored(long, "")]));
    }
    let deepest = format!("files/{}x", "d/".repeat(2_047));
    open(&archive([Item::stored(deepest, "")])).unwrap();
    let longest = format!("files/{}", "n".repeat(255));
    import(&mut files, &archive([Item::stored(longest, "")])).unwrap();
}

fn a2_51_names_of_one_system_only_are_reported_and_come_back(mut files: impl Backend) {
    let names: [&[u8]; 9] =
        [br"a\b", b"CON", b"x.", b"C:", b"line\nbreak", b"\xff", br"..\up", br"\root", b"D:/x"];
    for name in names {
        put(&mut files, name, noise(10, 51));
    }
    let mut bytes = Vec::new();
    let exported = archive::write(&*files.live(), &mut bytes, &options()).unwrap();
    let reported: Vec<_> =
        exported.portability.iter().map(|found| found.path.as_bytes().to_vec()).collect();
    for name in names {
        let reported_as = if name == b"D:/x" { b"D:" } else { name };
        assert!(reported.iter().any(|path| path == reported_as), "{}", name.escape_ascii());
    }
    let names = bytes.windows(4).filter(|window| *window == b"PK\x01\x02").count();
    assert_eq!(names as u64, exported.file_count + 1);
    let tree = open_within(&bytes, &ArchiveLimits::default()).unwrap();
    assert_eq!(dump(&tree).unwrap(), dump(&*files.live()).unwrap());
}

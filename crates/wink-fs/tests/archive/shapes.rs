//! Archives of other shapes that are as good as ours.

use wink_fs::testkit::dump;

use crate::archive::support::open;
use crate::archive::zip::{Item, archive, extra, put32, put64};

/// Returns an item whose sizes follow its content.
fn with_descriptor(signature: bool, wide: bool) -> Item {
    let mut item = Item::deflated("files/a", "aaaaaaaaaaaaaaaa").both(|h| h.flags |= 1 << 3);
    let (crc, packed, size) = (item.central.crc, item.central.packed, item.central.size);
    if signature {
        item.trailer.extend_from_slice(b"PK\x07\x08");
    }
    put32(&mut item.trailer, &[crc]);
    if wide {
        put64(&mut item.trailer, &[packed.into(), size.into()])
    } else {
        put32(&mut item.trailer, &[packed, size])
    }
    item.local(|header| (header.crc, header.packed, header.size) = (0, 0, 0))
}

#[test]
fn sizes_may_follow_the_content_in_every_form_there_is() {
    for (signature, wide) in [(false, false), (false, true), (true, false), (true, true)] {
        let item = with_descriptor(signature, wide);
        let second = Item::stored("files/b", "b");
        let tree = open(&archive([item.clone(), second])).unwrap();
        assert_eq!(dump(&tree).unwrap(), [r#"a "aaaaaaaaaaaaaaaa""#, r#"b "b""#]);
        let mut cut = item;
        cut.trailer.pop();
        open(&archive([cut])).unwrap_err();
    }
}

#[test]
fn sizes_may_stand_in_64_bits_in_either_header() {
    let wide = |header: &mut crate::archive::zip::Header| {
        let mut data = Vec::new();
        put64(&mut data, &[header.size.into(), header.packed.into()]);
        header.extra = extra(1, &data);
        (header.size, header.packed) = (u32::MAX, u32::MAX);
    };
    let item = || Item::stored("files/a", "abc");
    let expected = [r#"a "abc""#];
    // `archive` sums the sizes of the directory's headers, which say nothing here.
    let manifest = || Item::manifest(1, 3);
    for item in [item().local(wide), item().central(wide), item().both(wide)] {
        let bytes =
            crate::archive::zip::raw(&[item, manifest()], &crate::archive::zip::End::default());
        assert_eq!(dump(&open(&bytes).unwrap()).unwrap(), expected);
    }
}

#[test]
fn the_directory_may_have_another_order_than_the_entries() {
    let mut items = vec![Item::stored("files/a", "a"), Item::stored("files/b", "b")];
    items.push(Item::manifest(2, 2));
    let bytes = crate::archive::zip::raw(&items, &crate::archive::zip::End::default());
    let start = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    let one = 46 + "files/a".len();
    let mut swapped = bytes.clone();
    swapped[start..start + one].copy_from_slice(&bytes[start + one..start + 2 * one]);
    swapped[start + one..start + 2 * one].copy_from_slice(&bytes[start..start + one]);
    assert_eq!(dump(&open(&swapped).unwrap()).unwrap(), [r#"a "a""#, r#"b "b""#]);
}

#[test]
fn permissions_without_a_type_are_not_private() {
    let file = |name: &str, mode| Item::stored(name, "").both(move |header| header.mode = mode);
    let dos = Item::stored("files/dos", "").both(|h| (h.made_by, h.mode) = (20, 0o120_777));
    let tree = open(&archive([
        dos,
        file("files/private", 0o100_600),
        file("files/python", 0o600),
        file("files/run", 0o755),
    ]));
    let lines = [r#"dos """#, r#"private private """#, r#"python """#, r#"run executable """#];
    assert_eq!(dump(&tree.unwrap()).unwrap(), lines);
}

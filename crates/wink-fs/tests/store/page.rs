//! The page that describes the format is right.

use wink_fs::MemoryBackend;

use crate::store::golden::golden;
use crate::store::support::{Scene, names, put};

fn page() -> String {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/store-format.md");
    std::fs::read_to_string(page).unwrap()
}

#[test]
fn the_page_shows_the_bytes_of_a_pack() {
    let scene = Scene::new();
    let mut files = MemoryBackend::new();
    put(&mut files, b"a", "hello");
    let bytes = std::fs::read(scene.pack(&scene.save(&files))).unwrap();
    let lines: Vec<String> = bytes
        .chunks(32)
        .map(|line| line.iter().map(|byte| format!("{byte:02x}")).collect())
        .collect();
    let shown = format!("```\n{}\n```", lines.join("\n"));
    assert!(page().contains(&shown), "docs/store-format.md should have:\n{shown}");
}

#[test]
fn the_page_shows_the_texts_of_the_golden_store() {
    let records = golden().join("snapshots");
    let texts = names(&records).into_iter().map(|name| records.join(name));
    let texts: Vec<_> = texts.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let first = texts.iter().find(|text| text.contains("\"sequence\":1")).unwrap();
    for text in [&std::fs::read_to_string(golden().join("format")).unwrap(), first] {
        assert!(
            page().contains(&format!("```\n{text}```")),
            "docs/store-format.md should have:\n{text}"
        );
    }
}

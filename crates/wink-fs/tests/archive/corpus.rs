//! Replays the kept fuzz corpus through the properties that the fuzz target checks.

#[path = "../../../../fuzz/properties/archive_reader.rs"]
mod properties;

use std::path::PathBuf;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/archive_reader");

fn corpus() -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(CORPUS).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    files.map(|file| (file.clone(), std::fs::read(file).unwrap())).collect()
}

#[test]
fn every_input_keeps_the_properties() {
    let corpus = corpus();
    assert!(corpus.len() >= 35, "only {} inputs in {CORPUS}", corpus.len());
    for (file, data) in corpus {
        println!("{}", file.display());
        properties::check(&data);
    }
}

#[test]
fn changed_inputs_keep_the_properties() {
    let mut random = crate::archive::support::Random(7);
    for (file, data) in corpus().into_iter().filter(|(_, data)| !data.is_empty()) {
        println!("{}", file.display());
        for _ in 0..30 {
            let mut changed = data.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(changed.len());
                changed[at] = random.next() as u8;
            }
            properties::check(&changed);
        }
    }
}

//! Replays the kept fuzz corpus of `TreePath` through the properties that the fuzz target checks.

#[path = "../../../fuzz/properties/tree_path.rs"]
mod properties;

use std::path::PathBuf;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/tree_path");

fn corpus() -> std::io::Result<Vec<(PathBuf, Vec<u8>)>> {
    std::fs::read_dir(CORPUS)?
        .map(|entry| {
            let file = entry?.path();
            let data = std::fs::read(&file)?;
            Ok((file, data))
        })
        .collect()
}

#[test]
fn every_input_keeps_the_properties() {
    let corpus = corpus().unwrap();
    assert!(corpus.len() >= 40, "only {} inputs in {CORPUS}", corpus.len());
    for (file, data) in corpus {
        println!("{}", file.display());
        properties::check(&data);
    }
}

#[test]
fn the_paths_of_all_inputs_are_ordered_by_segment() {
    let paths: Vec<_> =
        corpus().unwrap().iter().flat_map(|(_, data)| properties::paths(data)).collect();
    properties::check_all(&paths);
}

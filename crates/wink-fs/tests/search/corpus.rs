//! Replays the kept fuzz corpus of patterns through the properties that the fuzz target checks.

#[path = "../../../../fuzz/properties/patterns.rs"]
mod properties;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/patterns");

#[test]
fn every_input_keeps_the_properties() {
    let inputs: Vec<_> = std::fs::read_dir(CORPUS).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(inputs.len() >= 40, "only {} inputs in {CORPUS}", inputs.len());
    for input in inputs {
        println!("{}", input.display());
        properties::check(&std::fs::read(input).unwrap());
    }
}

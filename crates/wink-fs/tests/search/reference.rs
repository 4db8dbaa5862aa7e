//! Random files against a search that anybody can check by reading it.

use proptest::prelude::*;
use wink_fs::search::GrepOptions;
use wink_fs::{HostBackend, Limits, MemoryBackend, TreePath, WriteOptions, ops, search};

/// Lines made of few letters, so that matches are common, with every kind of ending.
fn text() -> impl Strategy<Value = String> {
    let line = proptest::sample::select(vec!["", "a", "ab", "ba", "aab", "b b", "ü", "aüb", "\r"]);
    let ending = proptest::sample::select(vec!["\n", "\r\n", "\n\n"]);
    let lines = proptest::collection::vec((line, ending), 0..12);
    (lines, any::<bool>()).prop_map(|(lines, cut)| {
        let mut text: String = lines.iter().flat_map(|(line, end)| [*line, *end]).collect();
        if cut {
            text.pop();
        }
        text
    })
}

/// The lines of a text that contain a word: number, content, first match, number of matches.
fn expected(text: &str, word: &str) -> Vec<(u64, String, usize, u64)> {
    let line = |(at, line): (usize, &str)| {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let first = line.find(word)?;
        Some((at as u64 + 1, line.to_owned(), first, line.matches(word).count() as u64))
    };
    text.split_inclusive('\n').enumerate().filter_map(line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn grep_finds_what_reading_the_lines_finds(
        texts in proptest::collection::vec(text(), 1..5),
        word in proptest::sample::select(vec!["a", "ab", "b", "ü", " "]),
    ) {
        let mut memory = MemoryBackend::new();
        let mut host = HostBackend::temporary().unwrap();
        let mut all = Vec::new();
        for (n, text) in texts.iter().enumerate() {
            let path = TreePath::parse(&format!("d{}/f{n}", n % 2)).unwrap();
            ops::write(&mut memory, &path, text, &WriteOptions::default()).unwrap();
            ops::write(&mut host, &path, text, &WriteOptions::default()).unwrap();
            all.extend(expected(text, word).into_iter().map(|found| (path.clone(), found)));
        }
        all.sort();
        let options = GrepOptions::default().literal(true);
        let root = TreePath::root();
        let in_memory = search::grep(&memory, word, &root, &options, &Limits::default()).unwrap();
        let on_host = search::grep(&host, word, &root, &options, &Limits::default()).unwrap();
        prop_assert_eq!(&in_memory, &on_host);
        let found: Vec<_> = in_memory.matches.into_iter().map(|m| {
            (m.path, (m.line_number, m.line_content, m.match_start, m.match_count))
        }).collect();
        prop_assert_eq!(found, all);
    }
}

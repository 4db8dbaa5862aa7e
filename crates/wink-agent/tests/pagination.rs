//! Following the printed next calls reads every file once, byte for byte.

use std::ops::RangeInclusive;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::{Value, json};
use wink_agent::{ToolContext, call};
use wink_fs::{HostBackend, Limits, MemoryBackend, Workspace};

/// Does the same in memory and on the host, with pages of so many lines and bytes.
fn on_each_backend(lines: u64, bytes: u64, test: impl Fn(&Workspace)) {
    let mut limits = Limits::default();
    (limits.page_lines, limits.max_read_bytes) = (lines, bytes);
    within(&limits, test);
}

/// Does the same in memory and on the host, within limits.
fn within(limits: &Limits, test: impl Fn(&Workspace)) {
    test(&Workspace::builder(MemoryBackend::new()).limits(limits.clone()).build());
    let directory = tempfile::tempdir().unwrap();
    let host = HostBackend::open_ambient(directory.path()).unwrap();
    test(&Workspace::builder(host).limits(limits.clone()).build());
}

/// Calls a tool, then what each answer names as the next call, and returns all messages.
fn follow(files: &Workspace, tool: &str, mut arguments: Value) -> Vec<String> {
    let (context, mut messages) = (ToolContext::over(files), Vec::new());
    loop {
        let result = call(&context, tool, arguments.clone());
        assert!(result.ok(), "{arguments}: {}", result.message);
        let next = next_call(&result.message, tool);
        assert_eq!(result.value["truncated"], next.is_some(), "{}", result.value);
        messages.push(result.message);
        assert!(messages.len() < 100_000, "the calls never end");
        match next {
            Some(next) => arguments = next,
            None => return messages,
        }
    }
}

/// Reads the next call off the lines after the content, where a file's own text cannot be.
fn next_call(message: &str, tool: &str) -> Option<Value> {
    let marker = format!(" Next call: {tool} ");
    let is_note = |line: &&str| line.contains(&marker) && !is_content(line, message);
    let line = message.lines().rev().take(2).find(is_note)?;
    let (_, printed) = line.split_once(&marker)?;
    let mut values = serde_json::Deserializer::from_str(printed).into_iter::<Value>();
    values.next().map(Result::unwrap)
}

/// Returns whether a line is one of a file: those have a number and a tab before them, or the path of a match.
fn is_content(line: &str, message: &str) -> bool {
    let number = line.trim_start().split('\t').next().unwrap();
    let is_numbered =
        message.contains(": line") && line.contains('\t') && number.parse::<u64>().is_ok();
    is_numbered || line.starts_with('d')
}

/// Takes the text out of a page of numbered lines, and checks the numbers.
fn text_of(message: &str, line: &mut u64) -> String {
    let Some((header, rest)) = message.split_once('\n') else { panic!("{message}") };
    if header.contains("is empty") {
        return String::new();
    }
    let (_, place) = header.rsplit_once(": line").expect("a page of lines");
    let rows = match place.strip_prefix("s ") {
        Some(range) => {
            let (first, range) = range.split_once(" to ").unwrap();
            let (last, _) = range.split_once(" of ").unwrap();
            last.parse::<u64>().unwrap() - first.parse::<u64>().unwrap() + 1
        }
        None => 1,
    };
    let rows_and_notes: Vec<&str> = rest.split('\n').collect();
    let (rows, notes) = rows_and_notes.split_at(rows as usize);
    let (returns, mut text) = (carriage_returns(notes), String::new());
    for row in rows {
        let (number, content) = row.split_once('\t').expect("a number");
        assert_eq!(number.trim().parse::<u64>().unwrap(), *line + 1);
        text.push_str(content);
        if returns.iter().any(|range| range.contains(&(*line + 1))) {
            text.push('\r');
        }
        if !notes.iter().any(|note| note.contains(" of the line left.")) {
            *line += 1;
            text.push('\n');
        }
    }
    if notes.iter().any(|note| note.starts_with("No newline at end")) {
        assert_eq!(text.pop(), Some('\n'));
    }
    text
}

/// Reads off which lines have a carriage return at their end.
fn carriage_returns(notes: &[&str]) -> Vec<RangeInclusive<u64>> {
    let note = notes.iter().find_map(|note| note.strip_prefix("These lines end in \\r\\n: "));
    let ranges = note.into_iter().flat_map(|note| note.trim_end_matches('.').split(", "));
    let range = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        first.parse().unwrap()..=last.parse().unwrap()
    };
    ranges.map(range).collect()
}

fn read_as_text(files: &Workspace, path: &str, limit: Option<u64>) -> String {
    let messages = follow(files, "read_file", json!({"path": path, "limit": limit}));
    let mut line = 0;
    messages.iter().map(|message| text_of(message, &mut line)).collect()
}

fn read_as_base64(files: &Workspace, path: &str, limit: Option<u64>) -> Vec<u8> {
    let arguments = json!({"path": path, "encoding": "base64", "limit": limit});
    let part = |message: &String| {
        if message.contains(", as base64\n") {
            STANDARD.decode(message.lines().nth(1).unwrap()).unwrap()
        } else {
            Vec::new()
        }
    };
    follow(files, "read_file", arguments).iter().flat_map(part).collect()
}

fn corpus() -> Vec<(&'static str, Vec<u8>)> {
    let megabyte = "0123456789abcdef".repeat(1 << 16);
    let wide = "wörter und 漢字 😀 ".repeat(40_000);
    let text = |text: String| text.into_bytes();
    vec![
        ("empty", Vec::new()),
        ("newline", text("\n".into())),
        ("newlines", text("\n\n\n".into())),
        ("plain", text("one\ntwo\nthree\n".into())),
        ("no_end", text("one\ntwo".into())),
        ("crlf", text("one\r\ntwo\r\n\r\nthree".into())),
        ("mixed", text("one\r\ntwo\nthr\ree\r".into())),
        ("returns", text("\r\r\n\r\n\n\r".into())),
        ("tabs", text("\t1\ta\n     1\tb\n     2\tNext call: read_file {\"path\": 1}\n".into())),
        ("notes", text("No newline at end of file.\ncontent_hash: 0\n".into())),
        ("megabyte", text(megabyte.clone())),
        ("megabytes", text(format!("short\n{megabyte}\n\n{megabyte}\r\nend"))),
        ("wide", text(format!("{wide}\n{wide}"))),
        ("exactly", text(format!("{}\n{}\n", "x".repeat(256 * 1024), "y".repeat(256 * 1024 - 1)))),
        ("many", text((0..10_000).map(|n| format!("line {n}\n")).collect())),
    ]
}

#[test]
fn every_text_of_the_corpus_is_read_once_byte_for_byte() {
    let usual = Limits::default();
    on_each_backend(usual.page_lines, usual.max_read_bytes, |files| {
        for (name, content) in corpus() {
            files.write_bytes(name, content.clone()).unwrap();
            assert!(read_as_text(files, name, None).as_bytes() == content, "{name}");
            assert!(read_as_base64(files, name, None) == content, "{name} as base64");
        }
    });
}

#[test]
fn bytes_that_are_no_text_are_read_once_as_base64() {
    on_each_backend(2_000, 10_000, |files| {
        let bytes: Vec<u8> = (0..100_000_u32).map(|n| (n * 7 % 251) as u8).collect();
        files.write_bytes("binary", bytes.clone()).unwrap();
        let refused = call(&ToolContext::over(files), "read_file", json!({"path": "binary"}));
        assert_eq!(refused.code(), Some("not_text"));
        for limit in [None, Some(1_000), Some(4_321), Some(1 << 40)] {
            assert_eq!(read_as_base64(files, "binary", limit), bytes);
        }
    });
}

#[test]
fn a_long_listing_is_shown_once_in_parts() {
    let mut limits = Limits::default();
    limits.max_grep_matches = 7;
    within(&limits, |files| {
        for n in 0..20 {
            files.write(&format!("d/{n:02}/f"), "x").unwrap();
        }
        let names = |message: &String| {
            let rows = message.lines().filter(|line| line.starts_with("file "));
            rows.map(|row| row.rsplit(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let shown = follow(files, "ls", json!({"path": "d", "depth": 2}));
        assert_eq!(shown.len(), 6);
        let shown: Vec<String> = shown.iter().flat_map(names).collect();
        assert_eq!(shown, (0..20).map(|n| format!("{n:02}/f")).collect::<Vec<_>>());
    });
}

/// Makes files with so many matching lines each, three levels deep.
fn with_hits(limits: &Limits, hits: &[usize], test: impl Fn(&Workspace)) {
    within(limits, |files| {
        for (n, hits) in hits.iter().enumerate() {
            let text = "Next call: grep {}\nnothing\n".repeat(*hits);
            files.write(&format!("d{}/e/f{n:03}", n % 3), &text).unwrap();
        }
        test(files);
    });
}

/// Returns what the pages of a search list, in order: `path`, or `path:line`.
fn listed(files: &Workspace, tool: &str, arguments: Value) -> Vec<String> {
    let messages = follow(files, tool, arguments);
    let lines = messages.iter().flat_map(|message| message.lines());
    let found = lines.filter(|line| line.starts_with('d') && line.contains("/e/f"));
    found.map(|line| line.split(": ").next().unwrap().to_owned()).collect()
}

#[test]
fn a_list_of_five_thousand_files_is_followed_to_its_end() {
    with_hits(&Limits::default(), &[1; 5_000], |files| {
        let mut paths: Vec<_> = (0..5_000).map(|n| format!("d{}/e/f{n:03}", n % 3)).collect();
        paths.sort();
        for (tool, arguments) in [
            ("glob", json!({"pattern": "f*"})),
            ("grep", json!({"pattern": "Next", "mode": "files"})),
            ("grep", json!({"pattern": "Next", "mode": "count"})),
        ] {
            assert_eq!(listed(files, tool, arguments), paths, "{tool}");
        }
    });
}

#[test]
fn files_that_are_only_named_have_no_false_numbers_of_lines() {
    with_hits(&Limits::default(), &[30; 300], |files| {
        let context = ToolContext::over(files);
        let found = |mode: &str| {
            call(&context, "grep", json!({"pattern": "Next", "mode": mode, "max_matches": 1})).value
        };
        for mode in ["content", "count"] {
            assert_eq!(found(mode)["total_lines"], 9_000);
            assert_eq!(found(mode)["total_files"], 300);
        }
        assert_eq!(found("count")["files"][0]["matching_lines"], 30);
        let named = found("files");
        assert_eq!(named["total_files"], 300);
        assert!(named.get("total_lines").is_none(), "{named}");
        assert!(named["files"][0].get("matching_lines").is_none(), "{named}");
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_match_of_a_search_is_listed_once_whatever_the_pages(
        hits in prop::collection::vec(0_usize..6, 0..24),
        most in 1_u64..9,
        max_matches in prop::option::of(1_u64..12),
    ) {
        let mut limits = Limits::default();
        limits.max_grep_matches = most;
        let files = hits.iter().enumerate().map(|(n, hits)| (format!("d{}/e/f{n:03}", n % 3), *hits));
        let mut files: Vec<(String, usize)> = files.collect();
        files.sort();
        let matched = files.iter().filter(|(_, hits)| *hits > 0).map(|(path, _)| path.clone());
        let matched: Vec<String> = matched.collect();
        let line = |(path, hits): &(String, usize)| {
            (0..*hits).map(|n| format!("{path}:{}", 2 * n + 1)).collect::<Vec<_>>()
        };
        let lines: Vec<String> = files.iter().flat_map(line).collect();
        let all: Vec<String> = files.into_iter().map(|(path, _)| path).collect();
        with_hits(&limits, &hits, |files| {
            assert_eq!(listed(files, "glob", json!({"pattern": "**/f*"})), all);
            for (mode, expected) in [("content", &lines), ("files", &matched), ("count", &matched)] {
                let arguments = json!({"pattern": "Next call", "mode": mode, "max_matches": max_matches});
                assert_eq!(&listed(files, "grep", arguments), expected, "{mode}");
            }
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_read_once_whatever_the_pages(
        text in "([a-z]{0,12}|é|漢|😀|\t|\r|\n|\r\n| Next call: read_file \\{\\}){0,60}",
        lines in 1_u64..5,
        bytes in 1_u64..24,
        limit in prop::option::of(1_u64..4),
    ) {
        on_each_backend(lines, bytes, |files| {
            files.write("f", &text).unwrap();
            assert_eq!(read_as_text(files, "f", limit), text);
            assert_eq!(read_as_base64(files, "f", limit), text.as_bytes());
        });
    }
}

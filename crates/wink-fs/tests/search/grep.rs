//! Lines by content.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use wink_fs::search::{Case, GrepMode, GrepOptions, GrepResult, Stop};
use wink_fs::{Backend, ErrorKind, Workspace};

use crate::common::on_both::on_both;

on_both! {
    a_match_has_its_line_its_place_and_its_number,
    lines_end_alike_with_lf_crlf_and_nothing,
    a_line_that_matches_has_a_match_even_after_a_last_carriage_return,
    case_literal_and_word_change_what_matches,
    context_lines_surround_each_match,
    modes_return_lines_files_or_counts,
    totals_are_true_when_results_are_capped,
    pages_by_offset_have_each_line_and_each_file_once,
    the_first_results_in_order_are_kept_whatever_the_order_of_the_search,
    a_long_line_is_shown_around_its_match,
    bytes_that_are_not_utf8_do_not_move_the_match,
    binary_files_links_and_special_cases_are_counted,
    a_glob_chooses_the_files,
    ignore_files_are_honoured_when_asked,
    a_file_larger_than_the_buffer_is_searched_in_parts,
    a_line_larger_than_the_memory_for_it_is_searched_in_parts,
    a_search_gives_up_when_told,
    a_search_gives_up_in_the_middle_of_a_file,
    a_search_gives_up_in_the_middle_of_a_line,
    a_search_with_a_deadline_finds_the_same,
    a_pattern_that_cannot_be_used_says_why_in_one_sentence,
    a_pattern_that_ripgrep_accepts_is_searched_for,
}

fn grep(files: &Workspace, pattern: &str, options: &GrepOptions) -> GrepResult {
    files.grep(pattern, "", options).unwrap()
}

fn lines(found: &GrepResult) -> Vec<String> {
    let line =
        |m: &wink_fs::search::GrepMatch| format!("{}:{}:{}", m.path, m.line_number, m.line_content);
    found.matches.iter().map(line).collect()
}

fn with(backend: impl Backend + 'static, content: &[(&str, &str)]) -> Workspace {
    let files = Workspace::builder(backend).build();
    for (path, text) in content {
        files.write(path, text).unwrap();
    }
    files
}

fn a_match_has_its_line_its_place_and_its_number(backend: impl Backend + 'static) {
    let files = with(backend, &[("b", "none\n  über foo, foo\n"), ("a/a", "foo")]);
    let found = grep(&files, "fo+", &GrepOptions::default());
    assert_eq!(lines(&found), ["a/a:1:foo", "b:2:  über foo, foo"]);
    let line = &found.matches[1];
    assert_eq!(&line.line_content[line.match_start..line.match_end], "foo");
    assert_eq!((line.match_start, line.match_count, line.clamped), (8, 2, false));
    assert_eq!((found.total_lines, found.total_files, found.searched), (2, 2, 2));
    assert!(!found.truncated);
    assert_eq!(files.grep("foo", "b", &GrepOptions::default()).unwrap().total_lines, 1);
    let missing = files.grep("foo", "c", &GrepOptions::default()).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}

fn lines_end_alike_with_lf_crlf_and_nothing(backend: impl Backend + 'static) {
    let files = with(backend, &[("f", "end\r\nend\nthe end\r\nend")]);
    let found = grep(&files, "end$", &GrepOptions::default());
    assert_eq!(lines(&found), ["f:1:end", "f:2:end", "f:3:the end", "f:4:end"]);
    assert_eq!(grep(&files, "^end", &GrepOptions::default()).total_lines, 3);
    let ending = files.grep(r"end\r", "", &GrepOptions::default()).unwrap_err();
    assert_eq!(ending.kind(), ErrorKind::InvalidPattern, "a line's ending is not part of it");
    files.write("empty", "").unwrap();
    assert_eq!(grep(&files, "^", &GrepOptions::default()).total_files, 1);
}

fn a_line_that_matches_has_a_match_even_after_a_last_carriage_return(
    backend: impl Backend + 'static,
) {
    let files = with(backend, &[("f", "end\r")]);
    let found = grep(&files, "^$", &GrepOptions::default());
    let line = &found.matches[0];
    assert_eq!((line.line_content.as_str(), line.match_start, line.match_count), ("end", 3, 1));
}

fn case_literal_and_word_change_what_matches(backend: impl Backend + 'static) {
    let files = with(backend, &[("f", "Foo\nfoo\nfood\nf.o\n")]);
    let count = |pattern: &str, options: GrepOptions| grep(&files, pattern, &options).total_lines;
    assert_eq!(count("foo", GrepOptions::default()), 2);
    assert_eq!(count("foo", GrepOptions::default().case(Case::Insensitive)), 3);
    assert_eq!(count("foo", GrepOptions::default().case(Case::Smart)), 3);
    assert_eq!(count("Foo", GrepOptions::default().case(Case::Smart)), 1);
    assert_eq!(count("foo", GrepOptions::default().word(true)), 1);
    assert_eq!(count("f.o", GrepOptions::default()), 3);
    assert_eq!(count("f.o", GrepOptions::default().literal(true)), 1);
    assert_eq!(count("(", GrepOptions::default().literal(true)), 0);
}

fn context_lines_surround_each_match(backend: impl Backend + 'static) {
    let files = with(backend, &[("f", "1\n2\nx3\n4\n5\nx6\nx7\n8\n")]);
    let found = grep(&files, "x", &GrepOptions::default().context(1));
    let around: Vec<_> =
        found.matches.iter().map(|m| (m.before.join(","), m.after.join(","))).collect();
    let expected = [("2", "4"), ("5", ""), ("", "8")];
    assert_eq!(around, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert_eq!(found.total_lines, 3);
    let capped = grep(&files, "x", &GrepOptions::default().context(1).max_matches(1));
    assert_eq!(capped.matches.len(), 1);
    assert_eq!(capped.matches[0].after, ["4"]);
    let later = grep(&files, "x", &GrepOptions::default().context(1).offset(1).max_matches(1));
    assert_eq!((later.matches.len(), later.total_lines, later.truncated), (1, 3, true));
    assert_eq!((later.matches[0].before.join(","), later.matches[0].line_number), ("5".into(), 6));
}

fn modes_return_lines_files_or_counts(backend: impl Backend + 'static) {
    let files = with(backend, &[("a", "x\nx\n"), ("b", "y\n"), ("c", "x\n")]);
    let found = grep(&files, "x", &GrepOptions::default().mode(GrepMode::Count));
    let counts: Vec<_> =
        found.files.iter().map(|f| (f.path.to_string(), f.matching_lines)).collect();
    assert_eq!(counts, [("a".to_owned(), 2), ("c".to_owned(), 1)]);
    assert_eq!((found.total_lines, found.matches.len()), (3, 0));
    let found = grep(&files, "x", &GrepOptions::default().mode(GrepMode::Files).max_matches(1));
    assert_eq!((found.files.len(), found.total_files, found.truncated), (1, 2, true));
    assert_eq!(found.files[0].path.to_string(), "a");
}

fn pages_by_offset_have_each_line_and_each_file_once(backend: impl Backend + 'static) {
    let content: Vec<_> =
        (0..40).map(|n| (format!("d{}/f{n:02}", n % 3), "hit\nno\n".repeat(n % 7))).collect();
    let content: Vec<_> = content.iter().map(|(path, text)| (&**path, &**text)).collect();
    let files = with(backend, &content);
    for (mode, per_file) in [
        (GrepMode::Content, u64::MAX),
        (GrepMode::Content, 2),
        (GrepMode::Files, u64::MAX),
        (GrepMode::Count, u64::MAX),
    ] {
        let options = GrepOptions::default().mode(mode).context(1).max_per_file(per_file);
        let all = grep(&files, "hit", &options);
        for size in [1, 5, 7, 1_000] {
            let mut pages = GrepResult::default();
            loop {
                let offset = (pages.matches.len() + pages.files.len()) as u64;
                let page = grep(&files, "hit", &options.clone().offset(offset).max_matches(size));
                assert_eq!(
                    (page.total_lines, page.total_files),
                    (all.total_lines, all.total_files)
                );
                if page.matches.is_empty() && page.files.is_empty() {
                    break;
                }
                pages.matches.extend(page.matches);
                pages.files.extend(page.files);
            }
            assert_eq!((lines(&pages), &pages.files), (lines(&all), &all.files), "{mode:?} {size}");
        }
    }
}

fn totals_are_true_when_results_are_capped(backend: impl Backend + 'static) {
    let text = "hit\n".repeat(700);
    let files = with(backend, &[("a", &text), ("b", &text), ("c", &text)]);
    let found = grep(&files, "hit", &GrepOptions::default());
    assert_eq!((found.matches.len(), found.total_lines, found.truncated), (1_000, 2_100, true));
    assert_eq!(found.matches[999].path.to_string(), "b");
    assert_eq!(found.matches[999].line_number, 300);
    let found = grep(&files, "hit", &GrepOptions::default().max_per_file(2));
    assert_eq!((found.matches.len(), found.total_lines), (6, 2_100));
    let found = grep(&files, "hit", &GrepOptions::default().max_matches(0));
    assert_eq!((found.matches.len(), found.total_lines, found.truncated), (0, 2_100, true));
}

fn the_first_results_in_order_are_kept_whatever_the_order_of_the_search(
    backend: impl Backend + 'static,
) {
    let files = Workspace::builder(backend).build();
    for n in 0..300 {
        files.write(&format!("{}/{n:03}", n % 7), "x\n\nx\n").unwrap();
    }
    let all = grep(&files, "x", &GrepOptions::default());
    assert_eq!(all.matches.len(), 600);
    assert!(all.matches.is_sorted_by_key(|m| (m.path.clone(), m.line_number)));
    for max in [1, 2, 3, 17, 599] {
        let found = grep(&files, "x", &GrepOptions::default().max_matches(max as u64));
        assert_eq!(found.matches, all.matches[..max]);
        assert_eq!(found.total_lines, 600);
    }
}

fn a_long_line_is_shown_around_its_match(backend: impl Backend + 'static) {
    let long = format!("{}needle{}", "ü".repeat(5_000), "é".repeat(5_000));
    let text = format!(
        "{long}\nneedle{}\n{}needle\n{}",
        "x".repeat(5_000),
        "y".repeat(5_000),
        "needle".repeat(900)
    );
    let files = with(backend, &[("f", &text)]);
    let found = grep(&files, "needle", &GrepOptions::default());
    assert_eq!(found.matches.len(), 4);
    for line in &found.matches {
        assert_eq!(&line.line_content[line.match_start..line.match_end], "needle");
        assert!(line.clamped && line.line_content.len() <= 1_010, "{}", line.line_content.len());
        assert!(!line.line_content.contains('\u{fffd}'));
    }
    assert!(found.matches[1].line_content.starts_with("needle"));
    assert!(found.matches[2].line_content.ends_with("needle"));
    assert_eq!(found.matches[3].match_count, 900);
}

fn bytes_that_are_not_utf8_do_not_move_the_match(backend: impl Backend + 'static) {
    let files = Workspace::builder(backend).build();
    files.write_bytes("f", &b"\xff\xfe key \xff value\n"[..]).unwrap();
    let found = grep(&files, "key", &GrepOptions::default());
    let line = &found.matches[0];
    assert_eq!(line.line_content, "\u{fffd}\u{fffd} key \u{fffd} value");
    assert_eq!(&line.line_content[line.match_start..line.match_end], "key");
}

fn binary_files_links_and_special_cases_are_counted(backend: impl Backend + 'static) {
    let files = with(backend, &[("text", "x\n")]);
    files.write_bytes("binary", &b"x\n\0x\n"[..]).unwrap();
    files.write("late-nul", &format!("{}x\0", "a\n".repeat(5_000))).unwrap();
    files.symlink("link", b"text").unwrap();
    let found = grep(&files, "x", &GrepOptions::default());
    assert_eq!(lines(&found), ["late-nul:5001:x\0", "text:1:x"]);
    assert_eq!((found.skipped.binary, found.skipped.not_files), (1, 1));
    assert_eq!(found.searched, 3);
}

fn a_glob_chooses_the_files(backend: impl Backend + 'static) {
    let files = with(backend, &[("a.py", "x"), ("b.rs", "x"), ("d/c.py", "x")]);
    let count = |glob: &str, base: &str| {
        files.grep("x", base, &GrepOptions::default().glob(glob)).unwrap().total_lines
    };
    assert_eq!((count("*.py", ""), count("*.py", "d"), count("d/*.py", "")), (2, 1, 1));
    let error = files.grep("x", "", &GrepOptions::default().glob("[")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidPattern);
}

fn ignore_files_are_honoured_when_asked(backend: impl Backend + 'static) {
    let files = with(backend, &[(".gitignore", "out/\n"), ("out/a", "x"), ("b", "x")]);
    assert_eq!(grep(&files, "x", &GrepOptions::default()).total_lines, 2);
    let found = grep(&files, "x", &GrepOptions::default().ignore_files(true));
    assert_eq!((found.total_lines, found.skipped.ignored), (1, 1));
}

fn a_file_larger_than_the_buffer_is_searched_in_parts(backend: impl Backend + 'static) {
    let mut text = "some line of text\n".repeat(1_000_000);
    text.push_str("needle in the last line");
    let files = with(backend, &[("large", &text)]);
    let found = grep(&files, "needle", &GrepOptions::default());
    assert_eq!(lines(&found), ["large:1000001:needle in the last line"]);
}

fn a_search_gives_up_when_told(backend: impl Backend + 'static) {
    let files = with(backend, &[("a", "x")]);
    let flag = Arc::new(AtomicBool::new(false));
    let options = GrepOptions::default().stop(Stop::default().or_when(flag.clone()));
    assert_eq!(grep(&files, "x", &options).total_lines, 1);
    flag.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(files.grep("x", "", &options).unwrap_err().kind(), ErrorKind::Cancelled);
}

/// Checks that a search which would take very long ends soon after its deadline.
fn assert_gives_up(files: &Workspace, pattern: &str) {
    let options = GrepOptions::default().stop(Stop::after(Duration::from_millis(50)));
    let started = Instant::now();
    let error = files.grep(pattern, "", &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Deadline);
    // A search without a deadline of its own has half a minute.
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

fn a_search_gives_up_in_the_middle_of_a_file(backend: impl Backend + 'static) {
    let mut state = 1_u64;
    let mut letter = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if state >> 40 & 1 == 0 { 'a' } else { 'b' }
    };
    let line: String = (0..4_000).map(&mut letter).chain(['\n']).collect();
    let files = with(backend, &[("f", &line.repeat(1_000))]);
    assert_gives_up(&files, "a[ab]{300}x");
}

fn a_search_gives_up_in_the_middle_of_a_line(backend: impl Backend + 'static) {
    let files = with(backend, &[("f", &"A".repeat(100_000))]);
    assert_gives_up(&files, ".*[^A-Z]|[A-Z]");
}

fn a_search_with_a_deadline_finds_the_same(backend: impl Backend + 'static) {
    let text = "one\r\ntwo\n\n".repeat(9_000) + &"long ".repeat(20_000) + "\nend";
    let files = with(backend, &[("f", &text)]);
    let patient = GrepOptions::default().stop(Stop::after(Duration::from_secs(600)));
    for pattern in ["two", "^$", "long", "end$", ""] {
        let options = |base: &GrepOptions| base.clone().context(2).max_matches(100_000);
        let found = grep(&files, pattern, &options(&patient));
        assert_eq!(found, grep(&files, pattern, &options(&GrepOptions::default())));
    }
}

/// Once, the compiled expression could have 1 MiB, and ordinary patterns were refused without naming the limit.
fn a_pattern_that_ripgrep_accepts_is_searched_for(backend: impl Backend + 'static) {
    let files = with(backend, &[("f", "mail to agent@example.com\n")]);
    let address = r"[\w.+-]{1,64}@[\w-]{1,63}(\.[\w-]{1,63}){1,8}";
    for pattern in [r"\w{1,40}", address] {
        assert_eq!(grep(&files, pattern, &GrepOptions::default()).total_lines, 1, "{pattern}");
    }
    let error = files.grep(r"\w{1000}{1000}", "", &GrepOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidPattern);
    assert!(error.to_string().contains("(limit max_regex_bytes)"), "{error}");
}

fn a_pattern_that_cannot_be_used_says_why_in_one_sentence(backend: impl Backend + 'static) {
    let files = with(backend, &[]);
    for pattern in ["(", "a{2", r"(a)\1", "(?=a)", "[z-a]", "a\nb", "*"] {
        let error = files.grep(pattern, "", &GrepOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidPattern, "{pattern}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

/// The memory of this process at its highest, in MiB.
fn highest() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

/// A search once held the longest line of a file in memory: 1.24 GB for a line of 1 GiB.
#[test]
fn a_search_needs_no_memory_for_the_length_of_a_line() {
    let place = tempfile::tempdir().unwrap();
    let mut file = std::fs::File::create(place.path().join("long")).unwrap();
    for _ in 0..192 {
        file.write_all(&[b'a'; 1024 * 1024]).unwrap();
    }
    file.write_all(b"needle\nshort needle\n").unwrap();
    let files = Workspace::host(place.path()).unwrap();
    let before = highest();
    let found = grep(&files, "needle$", &GrepOptions::default());
    assert!(highest() - before < 96, "{} MiB", highest() - before);
    assert_eq!((found.total_lines, found.matches[0].line_number), (2, 1));
    assert!(found.matches[0].clamped && found.matches[0].line_content.ends_with("aneedle"));
    assert_eq!(found.matches[1].line_content, "short needle");
}

fn a_line_larger_than_the_memory_for_it_is_searched_in_parts(backend: impl Backend + 'static) {
    const PART: usize = 8 * 1024 * 1024;
    let mut text = "first\n".to_owned();
    // Matches in the first window, across its end, and in the last.
    text.push_str(&"a".repeat(PART - 8));
    text.push_str("needle");
    text.push_str(&"b".repeat(PART));
    text.push_str(" needle\r\nafter\nneedle");
    let options = GrepOptions::default().context(1).stop(Stop::after(Duration::from_secs(600)));
    let files = with(backend, &[("long", &text)]);
    let found = grep(&files, "needle", &options);
    assert_eq!((found.total_lines, found.matches.len()), (2, 2));
    let long = &found.matches[0];
    assert_eq!((long.line_number, long.match_count, long.clamped), (2, 2, true));
    assert_eq!(&long.line_content[long.match_start..long.match_end], "needle");
    assert_eq!((&long.before, &long.after), (&vec!["first".to_owned()], &vec!["after".to_owned()]));
    let last = &found.matches[1];
    assert_eq!((last.line_number, last.line_content.as_str(), last.clamped), (4, "needle", false));
    for (pattern, lines) in [("^needle", 1), ("needle$", 2), ("^a", 2), ("b$", 0), ("^b", 0)] {
        assert_eq!(grep(&files, pattern, &options).total_lines, lines, "{pattern}");
    }
}

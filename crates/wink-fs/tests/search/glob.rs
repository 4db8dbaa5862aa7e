//! Files by name.

use wink_fs::search::GlobOptions;
use wink_fs::{Backend, ErrorKind, TreePath, Workspace};

use crate::common::on_both::on_both;

on_both! {
    each_part_of_the_dialect_matches_what_it_says,
    a_question_mark_or_a_set_matches_one_character_whatever_its_bytes,
    a_set_stays_within_a_segment,
    a_base_narrows_the_search_and_patterns_are_relative_to_it,
    links_are_found_and_not_followed,
    names_that_are_not_text_are_matched_as_listings_show_them,
    paths_come_in_order_of_segments,
    ignore_files_hide_only_when_asked_and_are_counted,
    ignore_files_mean_what_they_mean_to_git,
    a_pattern_that_does_not_parse_is_an_invalid_pattern,
    a_pattern_can_escape_and_the_path_of_a_file_finds_it,
    a_class_of_characters_is_one_of_ascii,
    an_empty_pattern_or_one_that_leaves_the_base_is_refused,
    git_directories_are_skipped_when_asked_and_not_named,
}

const FILES: [&str; 12] = [
    ".env",
    "README.md",
    "main.py",
    "src/.hidden.py",
    "src/a.py",
    "src/app/b.py",
    "src/app/b.pyc",
    "src/app/deep/c.py",
    "src/lib.rs",
    "tests/test_a.py",
    "tests/test_b.py",
    "tests/x[1].py",
];

fn workspace(backend: impl Backend + 'static) -> Workspace {
    let files = Workspace::builder(backend).build();
    for path in FILES {
        files.write(path, "").unwrap();
    }
    files.mkdir("empty.py").unwrap();
    files
}

fn found(files: &Workspace, pattern: &str, base: &str) -> Vec<String> {
    let found = files.glob(pattern, base).unwrap();
    found.paths.iter().map(ToString::to_string).collect()
}

fn each_part_of_the_dialect_matches_what_it_says(backend: impl Backend + 'static) {
    let files = workspace(backend);
    let all_python = [
        "main.py",
        "src/.hidden.py",
        "src/a.py",
        "src/app/b.py",
        "src/app/deep/c.py",
        "tests/test_a.py",
        "tests/test_b.py",
        "tests/x[1].py",
    ];
    let expected: [(&str, &[&str]); 17] = [
        ("*.py", &all_python),
        ("**/*.py", &all_python),
        ("**", &FILES),
        ("*", &FILES),
        ("/*.py", &["main.py"]),
        ("./*.py", &["main.py"]),
        ("src/*.py", &["src/.hidden.py", "src/a.py"]),
        ("src/**/*.py", &["src/.hidden.py", "src/a.py", "src/app/b.py", "src/app/deep/c.py"]),
        ("src/**/c.py", &["src/app/deep/c.py"]),
        ("src/*/*.py", &["src/app/b.py"]),
        ("src/app/**", &["src/app/b.py", "src/app/b.pyc", "src/app/deep/c.py"]),
        ("?.py", &["src/a.py", "src/app/b.py", "src/app/deep/c.py"]),
        ("[ab].py", &["src/a.py", "src/app/b.py"]),
        ("[!ab].py", &["src/app/deep/c.py"]),
        ("*.{rs,md}", &["README.md", "src/lib.rs"]),
        (".*", &[".env", "src/.hidden.py"]),
        ("x[[]1[]].py", &["tests/x[1].py"]),
    ];
    for (pattern, paths) in expected {
        assert_eq!(found(&files, pattern, ""), paths, "{pattern}");
    }
}

fn a_question_mark_or_a_set_matches_one_character_whatever_its_bytes(
    backend: impl Backend + 'static,
) {
    let files = Workspace::builder(backend).build();
    for path in ["ab.py", "e.py", "é.py", "日.py", "😀.py", "[^]&&.py"] {
        files.write_bytes(path, "").unwrap();
    }
    let expected: [(&str, &[&str]); 10] = [
        ("?.py", &["e.py", "é.py", "日.py", "😀.py"]),
        ("??.py", &["ab.py"]),
        ("[é].py", &["é.py"]),
        ("[!e].py", &["é.py", "日.py", "😀.py"]),
        ("[à-ü].py", &["é.py"]),
        ("[e日].py", &["e.py", "日.py"]),
        ("{é,😀}.py", &["é.py", "😀.py"]),
        ("*é*", &["é.py"]),
        ("[[][&^][]][&]&.py", &["[^]&&.py"]),
        ("[]&[]^*[&]&.py", &["[^]&&.py"]),
    ];
    for (pattern, paths) in expected {
        assert_eq!(found(&files, pattern, ""), paths, "{pattern}");
    }
}

fn a_set_stays_within_a_segment(backend: impl Backend + 'static) {
    let files = workspace(backend);
    for pattern in ["src[!x]a.py", "src/app[!x]b.py", "src/app[--0]b.py", "src/app[/]b.py"] {
        assert_eq!(found(&files, pattern, ""), [""; 0], "{pattern}");
    }
    assert_eq!(found(&files, "src/[!b].py", ""), ["src/a.py"]);
}

fn a_base_narrows_the_search_and_patterns_are_relative_to_it(backend: impl Backend + 'static) {
    let files = workspace(backend);
    assert_eq!(found(&files, "*.py", "tests").len(), 3);
    assert_eq!(found(&files, "app/*.py", "src"), ["src/app/b.py"]);
    assert_eq!(found(&files, "src/*.py", "src"), [""; 0]);
    assert_eq!(found(&files, "*.py", "src/a.py"), ["src/a.py"], "a file is searched by itself");
    assert_eq!(found(&files, "*.rs", "src/a.py"), [""; 0]);
    assert_eq!(found(&files, "*", "empty.py"), [""; 0]);
    assert_eq!(files.glob("*", "missing").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(files.glob("*", "..").unwrap_err().kind(), ErrorKind::PermissionDenied);
}

fn links_are_found_and_not_followed(backend: impl Backend + 'static) {
    let files = workspace(backend);
    files.symlink("link.py", b"main.py").unwrap();
    files.symlink("loop", b".").unwrap();
    assert_eq!(found(&files, "link*", ""), ["link.py"]);
    assert_eq!(found(&files, "loop/**", ""), [""; 0]);
    assert_eq!(files.glob("*", "loop").unwrap_err().kind(), ErrorKind::PermissionDenied);
}

fn names_that_are_not_text_are_matched_as_listings_show_them(mut backend: impl Backend + 'static) {
    for name in [&b"caf\xe9.py"[..], b"new\nline.py", br"back\slash.py"] {
        let path = TreePath::from_disk(name).unwrap();
        let options = wink_fs::PutOptions::default();
        backend.put(&path, &mut wink_fs::Staged::from_bytes(""), &options).unwrap();
    }
    let files = Workspace::builder(backend).build();
    assert_eq!(found(&files, "*.py", ""), [r"back\slash.py", r"caf\xe9.py", r"new\x0aline.py"]);
    assert_eq!(found(&files, r"caf\xe9.py", ""), [r"caf\xe9.py"]);
    assert_eq!(found(&files, r"back\\slash*", ""), [r"back\slash.py"]);
    assert_eq!(found(&files, r"back\slash.py", ""), [r"back\slash.py"], "it reads the same");
}

fn paths_come_in_order_of_segments(backend: impl Backend + 'static) {
    let files = Workspace::builder(backend).build();
    for path in ["a-b", "a/z", "a/b/c", "a.txt", "b"] {
        files.write(path, "").unwrap();
    }
    assert_eq!(found(&files, "*", ""), ["a/b/c", "a/z", "a-b", "a.txt", "b"]);
}

fn ignore_files_hide_only_when_asked_and_are_counted(backend: impl Backend + 'static) {
    let files = workspace(backend);
    files.write(".gitignore", "*.pyc\n/tests/\n!test_a.py\n").unwrap();
    files.write("src/.ignore", "deep\n").unwrap();
    assert_eq!(found(&files, "*.py*", "").len(), 9);
    let options = GlobOptions::default().ignore_files(true);
    let result = files.glob_with("*.py*", "", &options).unwrap();
    let paths: Vec<_> = result.paths.iter().map(ToString::to_string).collect();
    assert_eq!(paths, ["main.py", "src/.hidden.py", "src/a.py", "src/app/b.py"]);
    assert_eq!(result.skipped.ignored, 5, "three tests, one .pyc, one in deep");
    let below = files.glob_with("*", "src/app", &options).unwrap();
    assert_eq!((below.paths.len(), below.skipped.ignored), (1, 2), "rules above the base apply");
}

fn ignore_files_mean_what_they_mean_to_git(backend: impl Backend + 'static) {
    let files = Workspace::builder(backend).build();
    for path in ["a", "b", "x1", "{a,b}", "x{1,2}", "open{", "[{]", "{", r"\{a}"] {
        files.write(path, "").unwrap();
    }
    // What is hidden is what `git ls-files --others --exclude-standard` does not show.
    for (rules, hidden) in [
        ("\u{feff}a\n", "a"),
        ("{a,b}\n", "{a,b}"),
        ("x{1,2}\r\n", "x{1,2}"),
        ("open{\n", "open{"),
        ("[{]\n", "{"),
        ("\\{\n", "{"),
        ("\\\\{a}\n", r"\{a}"),
    ] {
        files.write(".gitignore", rules).unwrap();
        let all = found(&files, "*", "");
        let shown = files.glob_with("*", "", &GlobOptions::default().ignore_files(true)).unwrap();
        let shown: Vec<_> = shown.paths.iter().map(ToString::to_string).collect();
        let missing: Vec<_> = all.into_iter().filter(|path| !shown.contains(path)).collect();
        assert_eq!(missing, [hidden], "{rules:?}");
    }
}

fn a_pattern_that_does_not_parse_is_an_invalid_pattern(backend: impl Backend + 'static) {
    let files = workspace(backend);
    let nested = format!("{}a{}", "{".repeat(300), "}".repeat(300));
    for pattern in ["[", "a[b", "{a", "[z-a]", &"a".repeat(1025), &nested] {
        let error = files.glob(pattern, "").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidPattern, "{pattern}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

/// Frameworks name files so: once, no pattern found `app/[id].tsx`.
fn a_pattern_can_escape_and_the_path_of_a_file_finds_it(backend: impl Backend + 'static) {
    let files = Workspace::builder(backend).build();
    let all =
        ["app/[id].tsx", "app/i.tsx", "app/[open.tsx", "app/{slug}.tsx", "app/slug.tsx", "a*b"];
    for path in all.into_iter().chain(["axb"]) {
        files.write(path, "").unwrap();
    }
    let expected: [(&str, &[&str]); 9] = [
        ("app/[id].tsx", &["app/[id].tsx", "app/i.tsx"]),
        ("[id].tsx", &["app/[id].tsx", "app/i.tsx"]),
        (r"app/\[id\].tsx", &["app/[id].tsx"]),
        (r"**/\[*", &["app/[id].tsx", "app/[open.tsx"]),
        ("{slug}.tsx", &["app/slug.tsx", "app/{slug}.tsx"]),
        (r"\{slug\}.tsx", &["app/{slug}.tsx"]),
        ("app/[open.tsx", &["app/[open.tsx"]),
        (r"a\*b", &["a*b"]),
        ("a*b", &["a*b", "axb"]),
    ];
    for (pattern, paths) in expected {
        assert_eq!(found(&files, pattern, ""), paths, "{pattern}");
    }
    assert_eq!(found(&files, "[open.tsx", "app"), ["app/[open.tsx"]);
    files.write("app/[id].tsx", "needle").unwrap();
    let options = wink_fs::search::GrepOptions::default().glob("app/[id].tsx");
    assert_eq!(files.grep("needle", "", &options).unwrap().total_lines, 1);
}

/// Once, `[[:alpha:]]` was a set of `[`, `:` and letters, followed by `]`.
fn a_class_of_characters_is_one_of_ascii(backend: impl Backend + 'static) {
    let files = Workspace::builder(backend).build();
    for path in ["a1.txt", "B1.txt", "11.txt", "_1.txt", "!1.txt", "é1.txt"] {
        files.write(path, "").unwrap();
    }
    let expected: [(&str, &[&str]); 5] = [
        ("[[:alpha:]]1.txt", &["B1.txt", "a1.txt"]),
        ("[[:digit:]_]1.txt", &["11.txt", "_1.txt"]),
        ("[![:alnum:]]1.txt", &["!1.txt", "_1.txt", "é1.txt"]),
        ("[[:punct:]]1.txt", &["!1.txt", "_1.txt"]),
        ("[[:upper:]][[:digit:]].txt", &["B1.txt"]),
    ];
    for (pattern, paths) in expected {
        assert_eq!(found(&files, pattern, ""), paths, "{pattern}");
    }
    assert_eq!(files.glob("[[:letter:]]", "").unwrap_err().kind(), ErrorKind::InvalidPattern);
}

/// Once, these matched nothing, and nothing was said.
fn an_empty_pattern_or_one_that_leaves_the_base_is_refused(backend: impl Backend + 'static) {
    let files = workspace(backend);
    for pattern in ["", "./", "/", "../*.py", "src/../*.py", ".."] {
        let error = files.glob(pattern, "src").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidPattern, "{pattern:?}");
        let options = wink_fs::search::GrepOptions::default().glob(pattern);
        let error = files.grep("x", "src", &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidPattern, "{pattern:?}");
    }
    assert_eq!(found(&files, "..?*", ""), [""; 0], "a name may begin so");
}

fn git_directories_are_skipped_when_asked_and_not_named(backend: impl Backend + 'static) {
    let files = Workspace::builder(backend).build();
    for path in [".git/config", "sub/.git/config", "sub/config", ".gitignore", "gone/.git"] {
        files.write(path, "").unwrap();
    }
    let all = [".git/config", "sub/.git/config", "sub/config"];
    assert_eq!(found(&files, "config", ""), all);
    let skipping = |pattern: &str, base: &str| {
        let found = files.glob_with(pattern, base, &GlobOptions::default().skip_git(true)).unwrap();
        let paths: Vec<_> = found.paths.iter().map(ToString::to_string).collect();
        (paths, found.skipped.git_directories)
    };
    assert_eq!(skipping("config", ""), (vec!["sub/config".to_owned()], 2));
    assert_eq!(skipping(".git*", "").0, [".gitignore", "gone/.git"], "a file is no directory");
    assert_eq!(skipping("config", ".git"), (vec![".git/config".to_owned()], 0));
    assert_eq!(skipping("**/.git/config", "").0, all[..2]);
}

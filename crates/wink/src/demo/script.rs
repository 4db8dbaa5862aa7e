//! The script of the demo: a small project, a patch that does not apply, a fork, and mistakes that are undone.

use serde_json::json;

use super::player::Player;
use crate::error::CliError;

const README: &str = "# count\n\nCounts words in text files.\n";

const COUNT: &str = "def words(text):\n    return text.split()\n\n\ndef count(text):\n    counts = {}\n    \
                     for word in words(text):\n        counts[word] = counts.get(word, 0) + 1\n    \
                     return counts\n";

const MAIN: &str = "import sys\n\nfrom count import count\n\n\ndef main():\n    \
                    text = open(sys.argv[1]).read()\n    print(count(text))\n\n\nmain()\n";

const TESTS: &str = "from count import count\n\n\ndef test_counts_each_word():\n    \
                     assert count(\"a b a\") == {\"a\": 2, \"b\": 1}\n";

const SAMPLE: &str = "The cat sat on the mat. The end.\n";

const REPORT: &str = "def report(counts):\n    most = sorted(counts.items(), key=lambda it: -it[1])\n    \
                      return \"\\n\".join(f\"{n:5} {word}\" for word, n in most)\n";

/// Runs the script.
pub(super) fn play(player: &mut Player) -> Result<(), CliError> {
    first_version(player)?;
    change(player)?;
    patch_that_does_not_fit(player)?;
    fork(player)?;
    mistakes(player)?;
    player.say(&format!("\n{} calls; every change can be undone.", player.calls()));
    Ok(())
}

fn first_version(player: &mut Player) -> Result<(), CliError> {
    player.heading("A first version");
    let files = [
        ("README.md", README),
        ("src/count.py", COUNT),
        ("src/main.py", MAIN),
        ("tests/test_count.py", TESTS),
        ("data/sample.txt", SAMPLE),
    ];
    for (path, content) in files {
        player.call("write_file", json!({"path": player.path(path), "content": content}))?;
    }
    player.show("ls", json!({"path": player.path(""), "depth": 2}))?;
    player.show("snapshot", json!({"tag": player.name("first")}))
}

fn change(player: &mut Player) -> Result<(), CliError> {
    player.heading("Understand, then change");
    let (count, main, tests) = (
        player.path("src/count.py"),
        player.path("src/main.py"),
        player.path("tests/test_count.py"),
    );
    player.call("glob", json!({"pattern": "**/*.py", "path": player.path("")}))?;
    player.show("grep", json!({"pattern": "def ", "path": player.path("src")}))?;
    player.show("read_file", json!({"path": count}))?;
    player.call(
        "edit_file",
        json!({"path": count, "old_string": "text.split()", "new_string": "text.lower().split()"}),
    )?;
    player.call("read_file", json!({"path": tests}))?;
    player.call(
        "write_file",
        json!({"path": tests, "mode": "append", "content":
            "\n\ndef test_ignores_case():\n    assert count(\"The the\") == {\"the\": 2}\n"}),
    )?;
    player.call(
        "multi_edit",
        json!({"path": main, "edits": [
            {"old_string": "import sys", "new_string": "import pathlib\nimport sys"},
            {"old_string": "open(sys.argv[1]).read()",
             "new_string": "pathlib.Path(sys.argv[1]).read_text()"}]}),
    )?;
    player.show("diff", json!({"from": player.name("first"), "path": player.path("")}))?;
    player.show("snapshot", json!({"tag": player.name("any-case")}))
}

fn patch_that_does_not_fit(player: &mut Player) -> Result<(), CliError> {
    player.heading("A patch for two files, one of which does not apply: neither changes");
    let (count, main) = (player.path("src/count.py"), player.path("src/main.py"));
    let fits = format!(
        "*** Update File: {count}\n@@ def words(text):\n-    return text.lower().split()\n\
         +    return [word.strip(\".,\") for word in text.lower().split()]\n"
    );
    let does_not =
        format!("*** Update File: {main}\n@@\n-    show(counts)\n+    show(counts, 10)\n");
    let patch = |parts: &str| json!({"patch": format!("*** Begin Patch\n{parts}*** End Patch\n")});
    player.refused("apply_patch", patch(&format!("{fits}{does_not}")))?;
    player.show("diff", json!({"from": player.name("any-case"), "path": player.path("")}))?;
    player.say("  so it reads the file again, and sends what applies");
    player.call("read_file", json!({"path": main}))?;
    player.call("apply_patch", patch(&fits))?;
    player.show("diff", json!({"from": player.name("any-case"), "path": player.path("")}))
}

fn fork(player: &mut Player) -> Result<(), CliError> {
    player.heading("Another idea in a fork, while work goes on here");
    let fork = player.name("report");
    let (report, main, readme) =
        (player.path("src/report.py"), player.path("src/main.py"), player.path("README.md"));
    player.call("fork", json!({"name": fork}))?;
    player.call("write_file", json!({"fork": fork, "path": report, "content": REPORT}))?;
    player.call("read_file", json!({"fork": fork, "path": main}))?;
    player.call(
        "multi_edit",
        json!({"fork": fork, "path": main, "edits": [
            {"old_string": "from count import count",
             "new_string": "from count import count\nfrom report import report"},
            {"old_string": "print(count(text))", "new_string": "print(report(count(text)))"}]}),
    )?;
    player.call("grep", json!({"fork": fork, "pattern": "report", "path": player.path("src")}))?;
    player.call(
        "edit_file",
        json!({"path": readme, "old_string": "Counts words",
               "new_string": "Counts words, whatever their case,"}),
    )?;
    player.call("ls", json!({"path": player.path("src")}))?;
    player.show("diff", json!({"fork": fork}))?;
    player.call("merge", json!({"name": fork, "dry_run": true}))?;
    player.show("merge", json!({"name": fork}))?;
    player.call("ls", json!({"path": player.path("src")}))?;
    player.show("snapshot", json!({"tag": player.name("with-report")}))
}

fn mistakes(player: &mut Player) -> Result<(), CliError> {
    player.heading("Mistakes, undone");
    player.call("rm", json!({"path": player.path("src")}))?;
    player.refused("ls", json!({"path": player.path("src")}))?;
    player.show("undo", json!({}))?;
    player.call("ls", json!({"path": player.path("src")}))?;
    let readme = player.path("README.md");
    player.call("read_file", json!({"path": readme}))?;
    player.call("write_file", json!({"path": readme, "content": "todo\n"}))?;
    player.show("diff", json!({"from": player.name("with-report"), "path": player.path("")}))?;
    player.show("restore", json!({"snapshot": player.name("with-report"), "path": readme}))?;
    player.call("diff", json!({"from": player.name("with-report"), "path": player.path("")}))?;
    player.show("history", json!({"limit": 10}))
}

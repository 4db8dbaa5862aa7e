//! A workspace in a minute: write, read, search, keep a state, go back to it.
//!
//! `cargo run -p wink-agent --example hello_workspace`

use std::error::Error;
use std::io::{self, Write};

use wink_fs::Workspace;
use wink_fs::search::GrepOptions;

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}

pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let files = Workspace::memory(); // or `Workspace::host("some/directory")?`
    files.write("config.py", "DEBUG = True\n")?;
    files.write("app.py", "from config import DEBUG\n")?;
    let initial = files.snapshot("initial")?;

    files.write("config.py", "DEBUG = False\n")?;
    files.write("tests.py", "import pytest\n")?;
    let names: Vec<_> = files.list("")?.into_iter().map(|entry| entry.name.to_string()).collect();
    writeln!(out, "files: {}", names.join(", "))?;
    for found in files.grep("DEBUG", "", &GrepOptions::default())?.matches {
        writeln!(out, "{}:{}: {}", found.path, found.line_number, found.line_content)?;
    }

    let tested = files.snapshot("with-tests")?;
    let diff = files.diff(&initial, &tested)?;
    for (change, files) in [("added", diff.added), ("modified", diff.modified)] {
        for file in files {
            writeln!(out, "{change}: {}", file.path)?;
        }
    }

    files.restore(&initial)?;
    write!(out, "after going back: {}", files.read("config.py")?.content)?;
    writeln!(out, "tests.py is {}", if files.exists("tests.py") { "there" } else { "gone" })?;
    Ok(())
}

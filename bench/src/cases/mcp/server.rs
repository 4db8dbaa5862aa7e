//! What servers are called, how they are started, and how each wants to be asked.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

/// A call: the tool's name and its arguments.
pub(super) type Call = (&'static str, Value);

/// A server of files.
pub(super) trait Server {
    fn name(&self) -> &'static str;

    /// Returns the command that serves a directory; what else it keeps goes into `beside`.
    fn command(&self, root: &Path, beside: &Path) -> Result<Command>;

    fn read(&self, root: &Path, path: &str) -> Call;

    fn write(&self, root: &Path, path: &str, content: &str) -> Call;

    fn edit(&self, root: &Path, path: &str, old: &str, new: &str) -> Call;

    fn search(&self, root: &Path, pattern: &str) -> Call;
}

/// The server that is built beside this program.
pub(super) struct Wink;

pub(super) fn wink() -> Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("wink");
    ensure!(program.exists(), "{} is not there; bench/run builds it", program.display());
    Ok(program)
}

impl Server for Wink {
    fn name(&self) -> &'static str {
        "wink"
    }

    fn command(&self, root: &Path, beside: &Path) -> Result<Command> {
        let mut command = Command::new(wink()?);
        command.env("XDG_DATA_HOME", beside).arg("mcp").arg("--root").arg(root);
        Ok(command)
    }

    fn read(&self, _root: &Path, path: &str) -> Call {
        ("read_file", json!({ "path": path }))
    }

    fn write(&self, _root: &Path, path: &str, content: &str) -> Call {
        ("write_file", json!({"path": path, "content": content}))
    }

    fn edit(&self, _root: &Path, path: &str, old: &str, new: &str) -> Call {
        ("edit_file", json!({"path": path, "old_string": old, "new_string": new}))
    }

    fn search(&self, _root: &Path, pattern: &str) -> Call {
        ("glob", json!({ "pattern": pattern }))
    }
}

/// A server that speaks as the reference server does, with absolute paths.
pub(super) struct Other {
    name: &'static str,
    command: fn() -> Result<Command>,
}

/// The reference server, which runs on Node.
pub(super) const REFERENCE: Other = Other {
    name: "server-filesystem",
    command: || {
        let package = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";
        let mut command = Command::new("node");
        command.arg(peer(package)?);
        Ok(command)
    },
};

/// Another server in Rust, from the crate registry.
pub(super) const RUST: Other = Other {
    name: "rust-mcp-filesystem",
    command: || {
        let mut command = Command::new(peer("bin/rust-mcp-filesystem")?);
        command.arg("--allow-write");
        Ok(command)
    },
};

impl Server for Other {
    fn name(&self) -> &'static str {
        self.name
    }

    fn command(&self, root: &Path, _beside: &Path) -> Result<Command> {
        let mut command = (self.command)()?;
        command.arg(root);
        Ok(command)
    }

    fn read(&self, root: &Path, path: &str) -> Call {
        ("read_text_file", json!({ "path": root.join(path) }))
    }

    fn write(&self, root: &Path, path: &str, content: &str) -> Call {
        ("write_file", json!({"path": root.join(path), "content": content}))
    }

    fn edit(&self, root: &Path, path: &str, old: &str, new: &str) -> Call {
        let edits = json!([{"oldText": old, "newText": new}]);
        ("edit_file", json!({"path": root.join(path), "edits": edits}))
    }

    fn search(&self, root: &Path, pattern: &str) -> Call {
        ("search_files", json!({"path": root, "pattern": pattern}))
    }
}

/// Returns where something is that `bench/install-peers` installs.
fn peer(path: &str) -> Result<PathBuf> {
    let build = std::env::current_exe()?;
    let peers = build.ancestors().nth(2).unwrap_or(Path::new("/")).join("bench-peers");
    let found = peers.join(path);
    ensure!(found.exists(), "{} is not there; bench/install-peers installs it", found.display());
    Ok(found)
}

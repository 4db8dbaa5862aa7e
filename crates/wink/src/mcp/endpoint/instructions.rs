//! The instructions that a model gets before its first call.

use super::Endpoint;

const READING: &str = "List with ls, find with glob and grep, read with read_file. Paths are relative to the workspace root.";

const WRITING: &str = "Write with write_file, change parts of a file with edit_file. Read a file before you \
    overwrite it, and pass its content_hash as expected_hash, or the same `session` name with every call.";

const WRITING_IN_A_SESSION: &str = "Write with write_file, change parts of a file with edit_file. Read a file before you overwrite it.";

const HISTORY: &str = "Every change can be undone: snapshot takes a checkpoint of all files, history lists \
    them, diff compares, restore goes back to one, and undo reverses the last change.";

const NO_HISTORY: &str = "No history is kept: changes and deletions are final.";

const RUNNING: &str = "Run commands with shell_execute, in a container that has the files in /workspace, and no network.";

const FORKING: &str = "fork creates a copy to try something in: pass its name as `fork` to the file tools, then \
    merge it. It lasts as long as this server, ";

const KEEPING_FORKS: &str = "which keeps unmerged work for a person to merge.";

const LOSING_FORKS: &str = "and unmerged work is lost with it.";

impl Endpoint {
    /// Returns the instructions for a model, about the tools that are offered and no others.
    pub(in super::super) fn instructions(&self) -> String {
        let has = |name: &str| self.offered().any(|tool| tool.name == name);
        let forks = if self.persisted.is_some() { KEEPING_FORKS } else { LOSING_FORKS };
        let forking = format!("{FORKING}{forks}");
        let sentences = [
            ("ls", READING),
            ("write_file", if self.is_session() { WRITING_IN_A_SESSION } else { WRITING }),
            ("snapshot", HISTORY),
            ("shell_execute", RUNNING),
            ("fork", if has("write_file") { &forking } else { "" }),
        ];
        let said = sentences.into_iter().filter(|(tool, text)| has(tool) && !text.is_empty());
        let said = said.map(|(_, text)| text);
        let unprotected = self.is_unprotected().then_some(NO_HISTORY);
        let all = ["A workspace of files."].into_iter().chain(said).chain(unprotected);
        all.collect::<Vec<_>>().join(" ")
    }
}

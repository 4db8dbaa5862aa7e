//! What a model is told of an endpoint before its first call.

use super::Endpoint;

const LOOKING: &str = "List with ls, find with glob and grep, read with read_file. Paths are relative to \
    the workspace root.";

const WRITING: &str = "Write with write_file, change parts of a file with edit_file. Read a file before you \
    overwrite it: then give its content_hash as expected_hash, or the same name as `session` with every call.";

const WRITING_IN_A_SESSION: &str = "Write with write_file, change parts of a file with edit_file. Read a file \
    before you overwrite it.";

const GOING_BACK: &str = "snapshot keeps all files as they are, restore brings them back, and undo takes back \
    the last change.";

const FORKING: &str = "fork makes a copy to try something in: give its name as `fork` to the tools for files, \
    then merge it. It lasts as long as this server, ";

const KEEPING_FORKS: &str = "which keeps what was not merged for a person to merge.";

const LOSING_FORKS: &str = "and what was not merged is gone with it.";

impl Endpoint {
    /// Says to a model what it can do here, with the tools that are offered and no others.
    pub(in super::super) fn instructions(&self) -> String {
        let has = |name: &str| self.offered().any(|tool| tool.name == name);
        let forks = if self.kept_forks.is_some() { KEEPING_FORKS } else { LOSING_FORKS };
        let forking = format!("{FORKING}{forks}");
        let sentences = [
            ("ls", LOOKING),
            ("write_file", if self.is_session() { WRITING_IN_A_SESSION } else { WRITING }),
            ("snapshot", GOING_BACK),
            ("fork", if has("write_file") { &forking } else { "" }),
        ];
        let said = sentences.into_iter().filter(|(tool, text)| has(tool) && !text.is_empty());
        let said = said.map(|(_, text)| text);
        ["A workspace of files."].into_iter().chain(said).collect::<Vec<_>>().join(" ")
    }
}

//! Answers that show no path of the host.

use std::path::Path;

use wink_agent::ToolResult;
use wink_fs::Workspace;

/// Checks that an answer does not say where the files and their history are; in memory they are nowhere.
pub(crate) fn assert_none(files: &Workspace, answer: &ToolResult) {
    if let Some(place) = Path::new(&files.properties().root).parent() {
        let text = format!("{} {}", answer.message, answer.value);
        assert!(!text.contains(place.to_str().unwrap()), "{text}");
    }
}

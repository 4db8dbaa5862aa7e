//! What a client may tell a person of a tool before it is called.

use rmcp::model::ToolAnnotations;
use wink_agent::{Effect, Tool};

/// Tools that change files and yet take nothing away.
const ONLY_ADDS: [&str; 3] = ["mkdir", "snapshot", "export"];

/// Tools that change files and do no more when they are called again with the same arguments.
const REPEATABLE: [&str; 4] = ["mkdir", "rm", "import", "restore"];

/// Says what a tool may do, in the words of the protocol.
pub(crate) fn annotations(tool: &Tool) -> ToolAnnotations {
    let reads = tool.effect == Effect::Reads;
    ToolAnnotations::with_title(tool.title)
        .read_only(reads)
        .destructive(!reads && !ONLY_ADDS.contains(&tool.name))
        .idempotent(reads || REPEATABLE.contains(&tool.name))
        .open_world(tool.effect == Effect::Executes)
}

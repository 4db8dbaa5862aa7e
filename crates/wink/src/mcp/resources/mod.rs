//! Files and snapshots as resources that a client lists and reads.

mod list;
mod mime;
mod read;
mod uri;

use rmcp::ErrorData;
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::json;
use wink_agent::{ToolContext, ToolError, ToolResult};
use wink_fs::{Error, ErrorKind, StateRef};

pub(super) use self::list::list;
pub(super) use self::read::read;

use self::uri::Place;

/// Returns how a client makes the name of a resource.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let file = ResourceTemplate::new(format!("{}{{+path}}", uri::WORKSPACE), "file")
        .with_title("A file of the workspace")
        .with_description("The file as it is now; a directory gives the names in it.");
    let kept = ResourceTemplate::new(format!("{}{{id}}/{{+path}}", uri::SNAPSHOT), "kept-file")
        .with_title("A file of a snapshot")
        .with_description(
            "The file as it was; `id` is a snapshot's id or tag, as history shows it.",
        );
    vec![file, kept]
}

/// Returns a link to a file that is larger than a page; files of forks are no resources.
pub(super) fn link_to_large(context: &ToolContext, path: &str) -> Option<Resource> {
    let workspace = context.workspace.as_ref().filter(|files| files.forked_from().is_none())?;
    let path = workspace.path(path).ok()?;
    let size = context.look(StateRef::Live).ok()?.stat(&path).ok()?.size_bytes;
    let is_large = size > workspace.properties().limits.max_read_bytes;
    is_large.then(|| list::file(&Place::Live, &path, Some(size)))
}

/// Words a refusal for the client that asked for a resource.
fn refused(refusal: ToolError) -> ErrorData {
    let kind = refusal.kind();
    let message = ToolResult::from(refusal).message;
    match kind {
        ErrorKind::NotFound | ErrorKind::SnapshotNotFound => {
            ErrorData::resource_not_found(message, None)
        }
        _ => ErrorData::invalid_params(message, None),
    }
}

/// Adds the name of the resource that was asked for.
fn about(mut error: ErrorData, uri: &str) -> ErrorData {
    let shown: String = uri.chars().take(1_000).collect();
    error.data = Some(json!({"uri": shown}));
    error
}

fn failed(error: Error) -> ErrorData {
    refused(error.into())
}

#[cfg(test)]
mod tests {
    use wink_agent::PathRules;
    use wink_fs::Workspace;

    use super::*;

    #[test]
    fn what_the_rules_deny_is_not_there() {
        let files = Workspace::memory();
        files.write("keys/prod.env", "KEY=1").expect("written");
        files.write("a.txt", "open").expect("written");
        files.snapshot("kept").expect("kept");
        let rules = PathRules::new().deny(["*.env"]).expect("rules");
        let context = ToolContext::over(&files).rules(rules);
        let listed = list(&context, None).expect("a list");
        let names: Vec<_> = listed.resources.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["a.txt", "kept"]);
        for uri in ["wink://workspace/keys/prod.env", "wink://snap/kept/keys/prod.env"] {
            let refused = read(&context, uri).expect_err("denied");
            assert!(!refused.message.contains("KEY=1"), "{refused:?}");
            assert_eq!(refused.code, rmcp::model::ErrorCode::INVALID_PARAMS, "{refused:?}");
        }
        assert!(read(&context, "wink://snap/kept/a.txt").is_ok());
    }
}

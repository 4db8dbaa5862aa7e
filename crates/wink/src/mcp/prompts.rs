//! Prompts, which clients offer to the user as commands: `/undo`, `/what-changed`, `/checkpoint`.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage,
    Role,
};
use serde_json::{Value, json};

use super::endpoint::Endpoint;

/// A prompt: what the user sees, and what the model is told.
struct Offered {
    name: &'static str,
    about: &'static str,
    /// The tool without which it is not offered.
    tool: &'static str,
    argument: &'static str,
    about_argument: &'static str,
    text: fn(Option<&str>) -> String,
}

const ALL: [Offered; 3] = [
    Offered {
        name: "undo",
        about: "Undo the last change to the files, or the last few",
        tool: "undo",
        argument: "count",
        about_argument: "How many changes [default: 1]",
        text: undo,
    },
    Offered {
        name: "what-changed",
        about: "Say what changed in the files since a state",
        tool: "diff",
        argument: "since",
        about_argument: "A tag, the id of a snapshot, @-2 or 10m ago [default: the last snapshot]",
        text: what_changed,
    },
    Offered {
        name: "checkpoint",
        about: "Take a snapshot of all files, to go back to later",
        tool: "snapshot",
        argument: "tag",
        about_argument: "A name for it",
        text: checkpoint,
    },
];

fn undo(count: Option<&str>) -> String {
    let count = count.unwrap_or("1");
    format!(
        "Undo the last changes to the files of the workspace, this many: {count}. Call the tool undo once for each, and \
         stop when one fails. Then say in a few words which files are back as they were, and which were left alone."
    )
}

fn what_changed(since: Option<&str>) -> String {
    let call = match since {
        Some(since) => json!({"from": since, "lines": true}),
        None => json!({"lines": true}),
    };
    format!(
        "Call the tool diff with {call} and say what changed in the files, the most important first. Change nothing. If \
         there is no such state, call history and name the ones there are."
    )
}

fn checkpoint(tag: Option<&str>) -> String {
    let call = tag.map_or_else(|| json!({}), |tag| json!({"tag": tag}));
    format!("Call the tool snapshot with {call}, and say by which name to go back to it.")
}

fn offered(endpoint: &Endpoint) -> impl Iterator<Item = &'static Offered> {
    ALL.iter().filter(|it| endpoint.has_tool(it.tool))
}

/// Lists the prompts whose tools are offered.
pub(super) fn list(endpoint: &Endpoint) -> Vec<Prompt> {
    let prompt = |it: &Offered| {
        let argument = PromptArgument::new(it.argument).with_description(it.about_argument);
        Prompt::new(it.name, Some(it.about), Some(vec![argument.with_required(false)]))
    };
    offered(endpoint).map(prompt).collect()
}

/// Gets a prompt with its argument filled in.
pub(super) fn get(
    endpoint: &Endpoint,
    request: &GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let unknown = || {
        let names: Vec<_> = offered(endpoint).map(|it| it.name).collect();
        let shown: String = request.name.chars().take(100).collect();
        let message = format!("There is no prompt `{shown}`; there are: {}.", names.join(", "));
        ErrorData::invalid_params(message, None)
    };
    let prompt = offered(endpoint).find(|it| it.name == request.name).ok_or_else(unknown)?;
    let given = argument(request.arguments.as_ref(), prompt.argument)?;
    let message = PromptMessage::new_text(Role::User, (prompt.text)(given));
    Ok(GetPromptResult::new(vec![message]).with_description(prompt.about))
}

/// Returns an argument; clients send an empty one for one that the user left out.
fn argument<'a>(given: Option<&'a JsonObject>, name: &str) -> Result<Option<&'a str>, ErrorData> {
    match given.and_then(|all| all.get(name)) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
        Some(_) => {
            let message = format!("The argument `{name}` must be a text.");
            Err(ErrorData::invalid_params(message, None))
        }
    }
}

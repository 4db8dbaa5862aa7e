//! What comes in: a message, or something that is refused in the words of the protocol.

use std::borrow::Cow;

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use serde::Deserialize;
use serde_json::Value;

/// Reads a message.
pub(super) fn parse(bytes: &[u8]) -> Result<ClientJsonRpcMessage, Box<ServerJsonRpcMessage>> {
    serde_json::from_slice(bytes).map_err(|_| Box::new(refusal(bytes)))
}

/// Returns whether a message is `initialize`.
///
/// Of any other only the method is read: rmcp parses the message, which may have megabytes of content.
pub(super) fn is_initialize(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct OnlyMethod<'m> {
        #[serde(borrow)]
        method: Cow<'m, str>,
    }
    if !serde_json::from_slice(bytes).is_ok_and(|it: OnlyMethod<'_>| it.method == "initialize") {
        return false;
    }
    match parse(bytes) {
        Ok(JsonRpcMessage::Request(it)) => {
            matches!(it.request, ClientRequest::InitializeRequest(_))
        }
        _ => false,
    }
}

/// Why a text is no message, with the id of the request if it has one.
pub(super) fn refusal(bytes: &[u8]) -> ServerJsonRpcMessage {
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => {
            let message = format!("This is not JSON: {error}.");
            return ServerJsonRpcMessage::error(
                ErrorData::parse_error(message, None),
                only_id(bytes),
            );
        }
    };
    let message = match &value {
        Value::Array(_) => "Batches are not part of the protocol; send one message at a time.",
        _ => "This is JSON, but no JSON-RPC message; see the protocol's schema.",
    };
    let id = value.get("id").cloned().and_then(|id| serde_json::from_value::<RequestId>(id).ok());
    ServerJsonRpcMessage::error(ErrorData::invalid_request(message, None), id)
}

/// Finds the id where the rest cannot be read: half of a surrogate pair, as JavaScript writes it, or values
/// nested too deep. A client whose request is refused without it waits until its time is over.
fn only_id(bytes: &[u8]) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct OnlyId {
        id: RequestId,
    }
    // What has no field is skipped without a look at what its strings mean.
    serde_json::from_slice(bytes).ok().map(|OnlyId { id }| id)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(text: &str) -> Value {
        let refusal = parse(text.as_bytes()).expect_err("no message");
        serde_json::to_value(&*refusal).expect("JSON")
    }

    #[test]
    fn a_request_with_half_of_a_surrogate_pair_is_refused_by_its_id() {
        let call = |id: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"ls","arguments":{{"path":"\ud800","\udc00":1}}}}}}"#
            )
        };
        for id in [json!(7), json!("seven")] {
            let refusal = refused(&call(&id.to_string()));
            assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&id, &json!(-32700)));
        }
    }

    #[test]
    fn a_request_that_is_nested_too_deep_is_refused_by_its_id() {
        let open = "[".repeat(200);
        let close = "]".repeat(200);
        let text = format!(r#"{{"jsonrpc":"2.0","method":"ping","params":{open}{close},"id":7}}"#);
        assert_eq!(refused(&text)["id"], json!(7));
    }

    #[test]
    fn only_a_whole_initialize_begins_a_session() {
        let info = json!({"name": "test", "version": "1"});
        let whole =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        for (method, params, begins) in [
            ("initialize", whole.clone(), true),
            ("initialize", json!({}), false),
            ("tools/list", whole, false),
        ] {
            let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            assert_eq!(is_initialize(message.to_string().as_bytes()), begins, "{message}");
        }
        assert!(!is_initialize(b"[]") && !is_initialize(b"initialize"));
    }

    #[test]
    fn what_is_cut_off_has_no_id() {
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":7,"method":"#).get("id"), None);
    }
}

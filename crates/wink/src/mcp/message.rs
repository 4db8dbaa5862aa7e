//! What comes in: a message, or something that is refused in the words of the protocol.

use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
use serde::Deserialize;
use serde_json::Value;

/// Reads a message.
pub(super) fn parse(bytes: &[u8]) -> Result<ClientJsonRpcMessage, Box<ServerJsonRpcMessage>> {
    serde_json::from_slice(bytes).map_err(|_| Box::new(refusal(bytes)))
}

/// Says why something is no message, with the id of the request if it has one.
fn refusal(bytes: &[u8]) -> ServerJsonRpcMessage {
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
        let (open, close) = ("[".repeat(200), "]".repeat(200));
        let text = format!(r#"{{"jsonrpc":"2.0","method":"ping","params":{open}{close},"id":7}}"#);
        assert_eq!(refused(&text)["id"], json!(7));
    }

    #[test]
    fn what_is_cut_off_has_no_id() {
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":7,"method":"#).get("id"), None);
    }
}

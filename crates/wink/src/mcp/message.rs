//! What comes in: a message, or something that is refused in the words of the protocol.

use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
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
            return ServerJsonRpcMessage::error(ErrorData::parse_error(message, None), None);
        }
    };
    let message = match &value {
        Value::Array(_) => "Batches are not part of the protocol; send one message at a time.",
        _ => "This is JSON, but no JSON-RPC message; see the protocol's schema.",
    };
    let id = value.get("id").cloned().and_then(|id| serde_json::from_value::<RequestId>(id).ok());
    ServerJsonRpcMessage::error(ErrorData::invalid_request(message, None), id)
}

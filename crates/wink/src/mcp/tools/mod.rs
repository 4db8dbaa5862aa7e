//! How the tools are announced to MCP clients: schemas, annotations and the names of their fields.

pub(crate) mod annotations;
pub(crate) mod declared;
pub(crate) mod outputs;
pub(crate) mod shape;

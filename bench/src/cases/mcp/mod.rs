//! The server as clients meet it, against other servers of files. Driven by a client of our own, so that
//! no client's time hides a server's.

mod http;
mod many;
mod server;
mod start;
mod stdio;
mod work;

pub(super) use self::many::CASE as MANY;
pub(super) use self::start::CASE as START;
pub(super) use self::work::{
    EDIT_VS_REFERENCE, EDIT_VS_RUST, READ_VS_REFERENCE, READ_VS_RUST, SEARCH_VS_REFERENCE,
    SEARCH_VS_RUST, WRITE_VS_REFERENCE, WRITE_VS_RUST,
};

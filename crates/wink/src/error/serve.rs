//! Failures to serve, and to talk to a server.

use std::io;
use std::path::Path;

use wink_fs::ErrorKind;

use super::{CliError, shown};

impl CliError {
    /// A server that does not answer.
    pub(crate) fn server(url: &str, error: &io::Error) -> Self {
        Self::of(ErrorKind::Unavailable, format!("cannot talk to {url}"))
            .cause(error)
            .hint("start one with `wink serve` in another terminal, and try again")
    }

    /// A demonstration that did not go as it is written.
    pub(crate) fn demo(tool: &str, answer: &str) -> Self {
        Self::new("demo", 1, format!("the demo went another way at `{tool}`: {}", shown(answer)))
            .hint("another process may work in the same workspace; try again")
    }

    /// Something that is planned and not built.
    pub(crate) fn not_yet(what: &str) -> Self {
        Self::of(ErrorKind::Unsupported, format!("{what} cannot be had yet"))
            .hint("`wink mcp --help` lists what can")
    }

    /// A directory of the host that is said to be in memory.
    pub(crate) fn root_in_memory() -> Self {
        let message = "--root names a directory of the host, which is not in memory";
        Self::of(ErrorKind::InvalidArgument, message)
            .hint("leave out --backend memory, or bring files into memory with --mount")
    }

    /// A mount into a directory of the host.
    pub(crate) fn mount_on_host() -> Self {
        let message = "--mount brings files into memory, not into a directory of the host";
        Self::of(ErrorKind::InvalidArgument, message).hint("use it with --backend memory")
    }

    /// A server that other computers reach, without a token that its users were given.
    pub(crate) fn open_to_others(host: std::net::IpAddr) -> Self {
        let message = format!("other computers reach {host}, and no token was given for them");
        Self::of(ErrorKind::InvalidArgument, message)
            .hint("give one with --token-file, or serve this computer only: --host 127.0.0.1")
    }

    /// A token that could be guessed, or not be sent.
    pub(crate) fn weak_token(path: &Path, shortest: usize) -> Self {
        let message = format!("the token in `{}` cannot be used", path.display());
        Self::of(ErrorKind::InvalidArgument, message)
            .hint(format!("write {shortest} or more letters and digits: openssl rand -hex 32"))
    }

    /// Two workspaces of one name.
    pub(crate) fn workspace_twice(name: &str) -> Self {
        Self::of(ErrorKind::InvalidArgument, format!("two workspaces are named `{name}`"))
            .hint("give each a name of its own: --workspace NAME=DIR")
    }

    /// A home directory that the user did not ask to serve.
    pub(crate) fn too_broad_to_serve(root: &Path) -> Self {
        let message = format!("`{}` holds a home directory or a whole system", root.display());
        Self::of(ErrorKind::InvalidArgument, message)
            .hint("name a project's directory with --root, or use --backend memory")
    }
}

//! Errors of servers and their clients.

use std::io;
use std::path::Path;

use wink_fs::ErrorKind;

use super::{CliError, FAILED, sanitized};

impl CliError {
    /// A server that does not answer.
    pub(crate) fn server(url: &str, error: &io::Error) -> Self {
        Self::of(ErrorKind::Unavailable, format!("cannot connect to {url}"))
            .cause(error)
            .hint("start one with `wink serve` in another terminal, and try again")
    }

    /// A call of the demo with another result than the script expects.
    pub(crate) fn demo(tool: &str, answer: &str) -> Self {
        Self::new("demo", FAILED, format!("the demo failed at `{tool}`: {}", sanitized(answer)))
            .hint("another process may work in the same workspace; try again")
    }

    /// `--image` without `--backend podman`.
    pub(crate) fn image_without_podman() -> Self {
        Self::of(ErrorKind::InvalidArgument, "--image is for containers, and none is used")
            .hint("use it with --backend podman")
    }

    /// A container that cannot be started.
    pub(crate) fn container(why: &str) -> Self {
        Self::of(ErrorKind::Unavailable, format!("no container can be started: {why}"))
            .hint("`wink doctor` checks Podman; without --backend podman the files are served without programs")
    }

    /// `--root` with `--backend memory`.
    pub(crate) fn root_in_memory() -> Self {
        let message = "--root is a directory of the host, which cannot be in memory";
        Self::of(ErrorKind::InvalidArgument, message)
            .hint("omit --backend memory, or copy files into memory with --mount")
    }

    /// `--mount` without `--backend memory`.
    pub(crate) fn mount_on_host() -> Self {
        let message = "--mount copies files into memory, not into a directory of the host";
        Self::of(ErrorKind::InvalidArgument, message).hint("use it with --backend memory")
    }

    /// A path that does not exist, for `wink debug`.
    pub(crate) fn nothing_to_show(path: &Path) -> Self {
        let message = format!("`{}` does not exist", path.display());
        Self::of(ErrorKind::NotFound, message)
            .hint("name a session (.jsonl), an archive (.fs.zip), a history, or a workspace")
    }

    /// A file in which no session was found.
    pub(crate) fn not_a_dump(path: &Path, notes: &[String]) -> Self {
        let why = notes.first().map_or("", String::as_str);
        let message = format!("`{}` is no session: {}", path.display(), sanitized(why));
        Self::of(ErrorKind::InvalidArgument, message).hint("`wink session list` finds sessions")
    }

    /// `wink debug` on a public address.
    pub(crate) fn only_loopback(host: std::net::IpAddr) -> Self {
        let message =
            format!("{host} is reachable from other computers; this page is for you alone");
        Self::of(ErrorKind::InvalidArgument, message).hint("leave --host out, or use `wink serve`")
    }

    /// A server on a public address without a token file.
    pub(crate) fn open_to_others(host: std::net::IpAddr) -> Self {
        let message = format!("{host} is reachable from other computers, and no token is set");
        Self::of(ErrorKind::InvalidArgument, message)
            .hint("set one with --token-file, or listen on this computer only: --host 127.0.0.1")
    }

    /// A token that is too short, or cannot be sent in a header.
    pub(crate) fn weak_token(path: &Path, shortest: usize) -> Self {
        let message = format!("the token in `{}` cannot be used", path.display());
        Self::of(ErrorKind::InvalidArgument, message)
            .hint(format!("write {shortest} or more letters and digits: openssl rand -hex 32"))
    }

    /// Two workspaces with the same name.
    pub(crate) fn workspace_twice(name: &str) -> Self {
        Self::of(ErrorKind::InvalidArgument, format!("two workspaces are named `{name}`"))
            .hint("give each its own name: --workspace NAME=DIR")
    }

    /// A home directory, or one above it.
    pub(crate) fn too_broad_to_serve(root: &Path) -> Self {
        let message = format!("`{}` contains a home directory or a whole system", root.display());
        Self::of(ErrorKind::InvalidArgument, message).hint(
            "choose a project directory with --root, use --backend memory, or allow it with --force",
        )
    }

    /// `--no-history` without a directory of the host.
    pub(crate) fn no_history_in_memory() -> Self {
        let message = "--no-history is for a directory of the host; files in memory have a history";
        Self::of(ErrorKind::InvalidArgument, message)
            .hint("omit it, or name a directory with --root")
    }

    /// A directory whose history cannot be started, for this reason.
    pub(crate) fn without_history(mut self, root: &Path) -> Self {
        let message =
            format!("cannot keep a history of `{}`, so nothing could be undone", root.display());
        let why = std::mem::replace(&mut self.0.message, message);
        self.0.cause = Some(match &self.0.cause {
            Some(cause) => format!("{why}: {cause}"),
            None => why,
        });
        self.hint("choose a directory for the history with --store DIR, or serve without undo: --no-history")
    }
}

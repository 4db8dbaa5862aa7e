//! Errors of the command line: exit code, message, cause and hint.

mod config;
mod forks;
mod names;
mod run;
mod serve;
mod sessions;
mod table;
mod tools;

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use wink_fs::{Error, ErrorKind, Exclusions, Operation, Snapshot, TreePath};

use table::{FAILED, NO_REF, NO_STORE, USAGE};
pub(crate) use table::{PARTIAL, exit_code, http_status};

use crate::project::orphaned;
use crate::project::{self, Project};
use crate::sys::disk;
use crate::ui::{format, style};

/// The error code for a directory outside of every workspace.
const NO_WORKSPACE: &str = "no_workspace";

/// The hint if only small metadata files are missing or damaged.
const WRITES_AGAIN: &str = "`wink repair` rebuilds it from the rest of the history";

/// The hint if there is no better one.
const TRY_AGAIN: &str = "try again with `-v` to see what happened before the error";

/// An error: what failed, why, and what to type next.
#[derive(Debug)]
pub(crate) struct CliError(Box<Words>);

#[derive(Debug, Serialize)]
struct Words {
    #[serde(rename = "type")]
    kind: &'static str,
    code: &'static str,
    exit: u8,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    hint: Option<String>,
    /// The value of a failed tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<Candidate>,
}

/// A snapshot that an ambiguous name may mean.
#[derive(Debug, Serialize)]
struct Candidate {
    short: String,
    tag: Option<String>,
    created_at: String,
    #[serde(skip)]
    line: String,
}

impl CliError {
    fn new(code: &'static str, exit: u8, message: impl Into<String>) -> Self {
        let (kind, cause, hint, value, candidates) = ("error", None, None, None, Vec::new());
        let message = message.into();
        Self(Box::new(Words { kind, code, exit, message, cause, hint, value, candidates }))
    }

    fn of(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::new(kind.code(), exit_code(kind), message)
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    fn cause(mut self, cause: &dyn StdError) -> Self {
        self.0.cause = Some(cause.to_string());
        self
    }

    /// Sets the cause as text, if there is no source error.
    fn because(mut self, why: &str) -> Self {
        self.0.cause = Some(why.to_owned());
        self
    }

    /// Returns the message without cause and hint.
    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns whether the only problem is that there is no workspace.
    pub(crate) fn is_no_workspace(&self) -> bool {
        self.0.code == NO_WORKSPACE
    }

    /// Returns the exit code.
    pub(crate) fn exit(&self) -> u8 {
        self.0.exit
    }

    /// Returns the text for a terminal.
    pub(crate) fn text(&self) -> String {
        let Words { message, cause, hint, candidates, .. } = &*self.0;
        let mut text = format!("error: {message}");
        for candidate in candidates {
            let _ = write!(text, "\n  {}", candidate.line);
        }
        if let Some(cause) = cause {
            let _ = write!(text, "\ncause: {cause}");
        }
        if let Some(hint) = hint {
            let _ = write!(text, "\nhelp: {hint}");
        }
        text
    }

    /// Returns the error as one line of JSON.
    pub(crate) fn json(&self) -> String {
        let json = serde_json::to_string(&self.0);
        json.map_or_else(|_| r#"{"type":"error"}"#.to_owned(), |json| style::harmless_json(&json))
    }
}

/// The message of a library error is "what failed; what to do next".
impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        // Without a path, the operation is clear from the command that was typed.
        let text = text.strip_prefix(&format!("{}: ", error.operation())).unwrap_or(&text);
        let failure = match text.rsplit_once("; ") {
            Some((message, hint)) if is_of_snapshot(&error) => {
                let hint = error.path().and_then(leaving_out).unwrap_or_else(|| hint.to_owned());
                Self::of(error.kind(), message).hint(hint)
            }
            Some((message, _)) if is_of_change(&error) => {
                let hint = error.path().map_or_else(String::new, making_writable);
                Self::of(error.kind(), message).hint(hint)
            }
            Some((message, hint)) => Self::of(error.kind(), message).hint(with_command(hint)),
            None => Self::of(error.kind(), text),
        };
        match error.source() {
            Some(cause) if !text.contains(&cause.to_string()) => failure.cause(cause),
            _ => failure,
        }
    }
}

/// Errors of the command line itself.
impl CliError {
    /// Arguments that do not parse.
    pub(crate) fn usage(error: &clap::Error) -> Self {
        let text = error.to_string();
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let first = first.strip_prefix("error: ").unwrap_or(first);
        // Missing arguments are on the lines below.
        let listed = lines.map_while(|line| line.strip_prefix("  ")).map(str::trim);
        let message = if first.ends_with(':') {
            format!("{first} {}", listed.collect::<Vec<_>>().join(", "))
        } else {
            first.to_owned()
        };
        Self::new("usage", USAGE, message).hint("wink --help")
    }

    /// An error without a kind.
    pub(crate) fn other(error: &(dyn StdError + 'static)) -> Self {
        Self::new("failed", FAILED, error.to_string()).hint(TRY_AGAIN)
    }

    /// An archive that could not be written.
    pub(crate) fn export(target: &Path, error: Error) -> Self {
        match error.kind() {
            ErrorKind::AlreadyExists => {
                Self::of(error.kind(), format!("`{}` already exists", target.display()))
                    .hint("choose another file, or replace it with `--force`")
            }
            ErrorKind::NotFound if error.path().is_none() => {
                let place = target.parent().unwrap_or(target);
                Self::of(error.kind(), format!("`{}` does not exist", place.display()))
                    .hint("choose an existing directory, or create it first")
            }
            _ => error.into(),
        }
    }

    /// An archive that could not be read.
    pub(crate) fn import(source: &Path, error: Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound if error.path().is_none() => {
                Self::of(error.kind(), format!("`{}` does not exist", source.display()))
                    .hint("`wink export` writes an archive")
            }
            ErrorKind::Corrupt if !disk::beginning(source).starts_with(b"PK") => {
                let message = format!("`{}` is not an archive", source.display());
                Self::new("failed", FAILED, message).hint("`wink export` writes one")
            }
            _ => error.into(),
        }
    }

    /// The first snapshot, which has no parent.
    pub(crate) fn first_snapshot(text: &str) -> Self {
        let message = format!("`{text}` is the first snapshot, so it changed nothing");
        Self::of(ErrorKind::InvalidArgument, message).hint("give a range, such as `A..B`")
    }

    /// Data that could not be written to standard output.
    pub(crate) fn output(error: &io::Error) -> Self {
        Self::of(ErrorKind::Io, "cannot write the output")
            .cause(error)
            .hint("free space at the destination, or write elsewhere")
    }

    /// A lock that another process does not release.
    pub(crate) fn locked(lock: &Path) -> Self {
        Self::of(
            ErrorKind::Locked,
            "another process is changing the forks, tags or settings of this workspace",
        )
        .because(&format!("it holds the lock `{}`", lock.display()))
        .hint("try again when it is done")
    }

    /// A file or directory that the command itself needs.
    pub(crate) fn host(doing: &str, path: &Path, error: io::Error) -> Self {
        let cause = error.to_string();
        let kind = Error::system(Operation::Open, error).kind();
        let message = format!("{doing} `{}`", path.display());
        Self::of(kind, message).because(&cause).hint(match kind {
            ErrorKind::NotFound => "choose one that exists, or create it first",
            ErrorKind::AlreadyExists | ErrorKind::NotEmpty => "choose another one, or move it away",
            ErrorKind::NotADirectory => "name a directory",
            ErrorKind::IsADirectory => "name a file",
            ErrorKind::PermissionDenied => "ask its owner for access, or choose another place",
            ErrorKind::ReadOnly => "choose a writable place",
            ErrorKind::NoSpace => "free space on its disk, and try again",
            _ => TRY_AGAIN,
        })
    }
}

/// Errors about finding or making a workspace.
impl CliError {
    /// Neither the directory nor one above it is a workspace.
    pub(crate) fn no_workspace(directory: &Path, lost: &[Project]) -> Self {
        let message =
            format!("`{}` is not protected: it is not in a workspace", directory.display());
        Self::new(NO_WORKSPACE, NO_STORE, message).hint(match lost {
            [] => {
                let one = "`wink init` makes this directory a workspace";
                orphaned::any().map_or(one.to_owned(), |any| format!("{one}; {any}"))
            }
            lost => {
                format!("{}; `wink init` starts a new history", orphaned::advice(directory, lost))
            }
        })
    }

    /// A directory without a history.
    pub(crate) fn no_store(directory: &Path) -> Self {
        let shown = directory.display();
        if disk::is_gone(&project::store_in(directory)) {
            Self::new("no_store", NO_STORE, format!("there is no history in `{shown}`")).hint(
                "if it is on another disk, mount it; `wink init --store DIR` starts a new one, in another \
                 directory",
            )
        } else {
            let message = format!("the history in `{shown}` is damaged");
            Self::new("no_store", NO_STORE, message).hint(WRITES_AGAIN)
        }
    }

    /// A history whose store was replaced by another one.
    pub(crate) fn another_store(directory: &Path) -> Self {
        let store = project::store_in(directory);
        let message = format!("the store in `{}` is not the one of this history", store.display());
        Self::new("another_store", NO_STORE, message).hint(
            "put back the store that was there; `wink init --store DIR` starts a new history, in another directory",
        )
    }

    /// A history without its settings.
    pub(crate) fn no_settings(root: &Path) -> Self {
        let message = format!("the history of `{}` has lost its settings", root.display());
        Self::of(ErrorKind::Corrupt, message).hint(WRITES_AGAIN)
    }

    /// The directory of a workspace cannot be opened.
    pub(crate) fn root(project: &Project, error: Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Self::gone(project),
            _ => error.into(),
        }
    }

    /// The directory of a workspace is missing; its history is kept.
    pub(crate) fn gone(project: &Project) -> Self {
        let message = format!(
            "the workspace directory `{}` is missing; its history is kept",
            project.root.display()
        );
        let [root, kept] =
            [&project.root, &project.directory].map(|it| format::shell_quote_path(it));
        Self::of(ErrorKind::Unavailable, message).hint(format!(
            "if it was deleted: mkdir -p {root} && cd {root} && wink restore @-; if it was moved, in its new \
             place: wink init --store {kept}"
        ))
    }

    /// The directory that the command was started in was replaced by another one.
    pub(crate) fn replaced(place: &Path) -> Self {
        let message = format!("`{}` was replaced by another directory", place.display());
        let place = format::shell_quote_path(place);
        Self::of(ErrorKind::NotFound, message).hint(format!("enter it again: cd {place}"))
    }

    /// Neither `XDG_DATA_HOME` nor `HOME` is set.
    pub(crate) fn no_data_home() -> Self {
        Self::new(
            "no_store",
            NO_STORE,
            "no place for the history: neither XDG_DATA_HOME nor HOME is set",
        )
        .hint("set one of them, or name a directory with --store")
    }

    /// The settings are damaged.
    pub(crate) fn unreadable_settings(path: &Path) -> Self {
        let message = format!("cannot parse the settings in `{}`", path.display());
        let store = path.parent().map(project::store_in);
        Self::of(ErrorKind::Corrupt, message).hint(match store {
            Some(store) if !disk::is_gone(&store) => {
                "`wink repair` rebuilds them from the rest of the history"
            }
            _ => "move the file away, and name the history with --store",
        })
    }

    /// The settings are complete, but of another version.
    pub(crate) fn settings_of_another_version(path: &Path) -> Self {
        let message =
            format!("the settings in `{}` were written by another version of wink", path.display());
        Self::of(ErrorKind::SnapshotIncompatible, message).hint(
            "use that version; if you edited them, correct them, or move them away and run `wink repair`",
        )
    }

    /// Returns whether the settings are of another version, and so must not be changed.
    pub(crate) fn is_of_another_version(&self) -> bool {
        self.0.code == ErrorKind::SnapshotIncompatible.code()
    }

    /// The directory is already a workspace.
    pub(crate) fn already_protected(root: &Path, history: &Path) -> Self {
        let (root, history) = (root.display(), history.display());
        Self::of(ErrorKind::AlreadyExists, format!("`{root}` is already a workspace"))
            .hint(format!("its history is in `{history}`; see `wink status`"))
    }

    /// A name of an archive that says that it is of another format.
    pub(crate) fn not_a_zip(file: &Path) -> Self {
        let name = file.display();
        Self::of(ErrorKind::InvalidArgument, format!("`{name}` is not the name of a ZIP archive"))
            .because("archives are ZIP files, whatever their name")
            .hint("choose a name that ends in .zip, such as `work.fs.zip`")
    }

    /// A history whose directory still exists.
    pub(crate) fn history_of_another(root: &Path) -> Self {
        let message = format!("`{}` is already a workspace", root.display());
        let root = format::shell_quote_path(root);
        Self::of(ErrorKind::AlreadyExists, message).hint(format!(
            "its history stays with it; if it was moved here, and something else is there now: \
             wink init --moved-from {root}"
        ))
    }

    /// A directory that never was a workspace.
    pub(crate) fn never_protected(directory: &Path) -> Self {
        let message = format!("`{}` has no history", directory.display());
        Self::new("no_store", NO_STORE, message).hint(
            "give the old path of the directory, or name its history with `wink init --store DIR`",
        )
    }

    /// A directory that has no history to forget.
    pub(crate) fn no_history(directory: &Path) -> Self {
        let message = format!("`{}` has no history", directory.display());
        Self::new("no_store", NO_STORE, message).hint("`wink workspaces` lists all histories")
    }

    /// Files that do not match the history of another, existing directory.
    pub(crate) fn not_its_files(root: &Path, project: &Project) -> Self {
        let (here, there) = (root.display(), project.root.display());
        let kept = format::shell_quote_path(&project.directory);
        let message = format!("the files in `{here}` do not match the last snapshot of `{there}`");
        Self::of(ErrorKind::Conflict, message).hint(format!(
            "if this is its history anyway, move `{there}` away, and here: wink init --store {kept}"
        ))
    }

    /// The directory for a history is in use.
    pub(crate) fn place_taken(place: &Path) -> Self {
        let hint = if disk::is_gone(&project::store_in(place)) {
            "choose a new directory for the history"
        } else {
            "it holds a history without settings: `wink repair` rebuilds them; or choose a new directory"
        };
        Self::of(ErrorKind::AlreadyExists, format!("`{}` is not empty", place.display())).hint(hint)
    }

    /// A directory that is far more than a project.
    pub(crate) fn too_broad(root: &Path) -> Self {
        let message = format!("`{}` contains a home directory or a whole system", root.display());
        Self::of(ErrorKind::InvalidArgument, message)
            .hint("choose a project directory, or use --force")
    }

    /// A history inside its workspace: deleting the files would delete it too.
    pub(crate) fn store_inside(root: &Path, project: &Path) -> Self {
        let message = format!(
            "the history `{}` would be inside the workspace `{}`",
            project.display(),
            root.display()
        );
        Self::of(ErrorKind::InvalidArgument, message)
            .hint("choose a directory outside of it with --store")
    }
}

/// Errors about names of states and paths.
impl CliError {
    /// No state has this name.
    pub(crate) fn unknown_ref(text: &str) -> Self {
        Self::new("ref_unknown", NO_REF, format!("no snapshot is named `{}`", sanitized(text)))
            .hint(if text.trim_end().ends_with(" ago") {
                "an age is a number and a unit, such as `10m ago` or `2 hours ago`"
            } else {
                "`wink log` lists the snapshots"
            })
    }

    /// `@-N` goes back further than the history.
    pub(crate) fn no_ancestor(text: &str, known: usize) -> Self {
        let snapshots = format::counted(known as u64, "snapshot", "snapshots");
        let message = format!(
            "`{}` goes back too far: the current files have {snapshots} behind them",
            sanitized(text)
        );
        Self::new("ref_unknown", NO_REF, message).hint("`wink log` lists the snapshots")
    }

    /// Several snapshots match the name.
    pub(crate) fn ambiguous_ref(text: &str, all: &[Snapshot]) -> Self {
        let message = format!("snapshot `{}` is ambiguous", sanitized(text));
        let mut failure = Self::new("ref_ambiguous", NO_REF, message);
        let candidate = |it: &Snapshot| Candidate {
            short: it.id.short(),
            tag: it.tag.clone(),
            created_at: format::utc(it.created_at),
            line: format::snapshot_line(it),
        };
        failure.0.candidates = all.iter().map(candidate).collect();
        failure.hint("type one more character, or use a tag")
    }

    /// `@` instead of a snapshot.
    pub(crate) fn live_ref() -> Self {
        let message = "`@` means the current files, not a snapshot";
        Self::of(ErrorKind::InvalidArgument, message).hint("name a snapshot, such as `@-`")
    }

    /// A path outside the workspace.
    pub(crate) fn outside(path: &Path, root: &Path) -> Self {
        let message = format!("`{}` is outside the workspace", path.display());
        Self::of(ErrorKind::PermissionDenied, message)
            .hint(format!("name a path in `{}`", root.display()))
    }

    /// A path that is neither in the workspace nor in the snapshot.
    pub(crate) fn nowhere(path: &TreePath) -> Self {
        let message = format!("`{path}` is neither in the workspace nor in the snapshot");
        Self::of(ErrorKind::NotFound, message).hint("`wink diff --name-status` lists what changed")
    }

    /// A path that is in none of the searched states.
    pub(crate) fn in_no_state(path: &TreePath) -> Self {
        let message = format!("`{path}` is neither in the workspace nor in these snapshots");
        Self::of(ErrorKind::NotFound, message)
            .hint("paths are relative to the current directory; `wink fs ls` lists them")
    }

    /// An excluded path.
    pub(crate) fn excluded(path: &TreePath) -> Self {
        Self::of(ErrorKind::InvalidArgument, format!("`{path}` is excluded from every snapshot"))
            .hint("`wink status` lists what is excluded")
    }

    /// An undo of a path that was changed after the operation.
    pub(crate) fn changed_since(error: Error) -> Self {
        let path = format::shell_quote(&sanitized(error.path().unwrap_or_default()));
        Self::from(error).hint(format!(
            "`wink undo --skip` skips it, and the next undo undoes what came before; \
             `wink restore REF -- {path}` restores another version"
        ))
    }

    /// An undo of an operation whose paths all changed later, or whose pre-images did.
    pub(crate) fn built_upon(error: Error) -> Self {
        // There is no later operation to undo first: the library's hint applies.
        if error.to_string().contains("still had it open") {
            return error.into();
        }
        let path = format::shell_quote(&sanitized(error.path().unwrap_or_default()));
        Self::from(error).hint(format!(
            "undo the later operations first with `wink undo`; `wink restore REF -- {path}` restores another version"
        ))
    }

    /// No operation to undo, but changes by other programs since the last snapshot.
    pub(crate) fn only_external_changes(offer: &str, has_older: bool) -> Self {
        let hint = if has_older {
            "`wink restore @-` restores the last snapshot; `wink undo 1` undoes the last operation before it"
        } else {
            "`wink restore @-` restores the last snapshot"
        };
        Self::of(ErrorKind::NotFound, offer).hint(hint)
    }

    /// A restore if there is no snapshot yet.
    pub(crate) fn nothing_to_restore() -> Self {
        Self::of(ErrorKind::NotFound, "nothing to restore: there is no snapshot yet")
            .hint("`wink snapshot` takes one")
    }

    /// Nothing to undo, redo, skip or show.
    pub(crate) fn nothing_to(action: &str) -> Self {
        let hint = match action {
            "undo" => "`wink restore` lists the states to go back to",
            "skip" => "`wink op log` lists the operations",
            "show" => {
                "wink has changed no file here yet; `wink diff` shows what other programs did"
            }
            _ => "only what was undone last can be redone",
        };
        Self::of(ErrorKind::NotFound, format!("nothing to {action}")).hint(hint)
    }
}

/// Returns whether a snapshot failed because of an unreadable file.
fn is_of_snapshot(error: &Error) -> bool {
    use Operation::{Capture, Diff, Snapshot};
    error.kind() == ErrorKind::PermissionDenied
        && matches!(error.operation(), Capture | Diff | Snapshot)
}

/// Returns whether a replacement or undo failed because of an unwritable file.
fn is_of_change(error: &Error) -> bool {
    use Operation::{Merge, Restore, Revert, Undo};
    is_of_modes(error)
        && error.path().is_some()
        && matches!(error.operation(), Merge | Restore | Revert | Undo)
}

/// Returns whether permission bits are the reason, and not a link or another file system.
pub(crate) fn is_of_modes(error: &Error) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(|source| source.kind() == io::ErrorKind::PermissionDenied)
}

/// Returns the hint for an unwritable path: a rename needs its directory to be writable.
fn making_writable(path: &str) -> String {
    let parent = TreePath::parse(path).ok().and_then(|path| path.parent());
    match parent.filter(|parent| !parent.is_root()) {
        Some(parent) => format!(
            "make its directory writable, as with `chmod u+w {}`, and try again",
            format::shell_quote(&parent.to_string())
        ),
        None => "make it and the workspace directory writable; if another user owns them, only that user can"
            .to_owned(),
    }
}

/// Returns the hint for an unreadable path.
pub(crate) fn leaving_out(path: &str) -> Option<String> {
    let path = TreePath::parse(path).ok().filter(|path| !path.is_root())?;
    let pattern = format::shell_quote(&Exclusions::pattern_of(&path));
    Some(format!("make it readable, or exclude it: `wink config add exclude {pattern}`"))
}

/// Replaces a library's hint by the command for it.
fn with_command(hint: &str) -> &str {
    match hint {
        "verify the store" | "verify the snapshots" => {
            "`wink verify --data` lists what is damaged, and `wink repair` moves it into quarantine"
        }
        "repair the store" | "repair the store first" => {
            "`wink repair` moves damaged files into quarantine"
        }
        "write it again" => WRITES_AGAIN,
        hint => hint,
    }
}

/// Returns the beginning of the user's text, without control characters.
fn sanitized(text: &str) -> String {
    text.chars().take(100).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once, errors of the host and errors without a kind had no hint.
    #[test]
    fn a_failure_says_what_why_and_what_to_do_next() {
        let kinds = [
            io::ErrorKind::NotFound,
            io::ErrorKind::AlreadyExists,
            io::ErrorKind::DirectoryNotEmpty,
            io::ErrorKind::NotADirectory,
            io::ErrorKind::PermissionDenied,
            io::ErrorKind::ReadOnlyFilesystem,
            io::ErrorKind::StorageFull,
            io::ErrorKind::TimedOut,
        ];
        let host = kinds.map(|kind| CliError::host("cannot use", Path::new("/x"), kind.into()));
        let broken = io::Error::other("broken");
        let others = [CliError::output(&broken), CliError::input(&broken)];
        for failure in host.into_iter().chain(others) {
            let text = failure.text();
            let parts: Vec<_> = text.lines().filter_map(|it| it.split_once(": ")).collect();
            let names: Vec<_> = parts.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, ["error", "cause", "help"], "{text}");
        }
        assert!(CliError::other(&broken).text().contains("help: try again"));
    }

    /// Once, the hint for another file system was to make it writable.
    #[test]
    fn another_file_system_is_denied_by_no_modes() {
        let path = TreePath::parse("d/f").expect("a path");
        let failed = |kind: io::ErrorKind| Error::system(Operation::Restore, kind).with_path(&path);
        let (denied, mounted) =
            (failed(io::ErrorKind::PermissionDenied), failed(io::ErrorKind::CrossesDevices));
        assert_eq!(denied.kind(), mounted.kind());
        assert!(is_of_modes(&denied) && !is_of_modes(&mounted));
        assert!(CliError::from(denied).text().contains("`chmod u+w d`"));
        assert!(!CliError::from(mounted).text().contains("chmod"));
    }
}

//! How a command fails: its exit code, its message, and what to type next.

mod config;
mod forks;
mod names;
mod serve;
mod sessions;
mod tools;

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use wink_fs::{Error, ErrorKind, Exclusions, Operation, Snapshot, TreePath};

use crate::project::orphaned;
use crate::project::{self, Project};
use crate::sys::disk;
use crate::ui::{format, style};

/// The code where a directory is in no workspace.
const NO_WORKSPACE: &str = "no_workspace";

/// The exit code where no store is found.
const NO_STORE: u8 = 10;

/// The exit code where a state that was named is not there.
const NO_REF: u8 = 12;

/// The exit code where a part of what was asked for is done.
pub(crate) const PARTIAL: u8 = 3;

/// What is said where only small files are missing or damaged.
const WRITES_AGAIN: &str = "`wink repair` writes it again from the rest of the history";

/// The hint where the command knows no better one.
const TRY_AGAIN: &str = "try again; with `-v` it says what it did before it failed";

/// The exit code of arguments that cannot be meant.
const USAGE: u8 = 2;

/// Says why a command failed and what to do next.
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
    /// What a tool says of its failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<Candidate>,
}

/// A snapshot that may have been meant.
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
        Self::new(kind.code(), kind.exit_code(), message)
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    fn cause(mut self, cause: &dyn StdError) -> Self {
        self.0.cause = Some(cause.to_string());
        self
    }

    /// Says why it is so, where no other failure does.
    fn because(mut self, why: &str) -> Self {
        self.0.cause = Some(why.to_owned());
        self
    }

    /// Returns what went wrong, without what to do next.
    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    /// Tells whether it is only that there is no workspace.
    pub(crate) fn is_no_workspace(&self) -> bool {
        self.0.code == NO_WORKSPACE
    }

    /// Returns the code that the process ends with.
    pub(crate) fn exit(&self) -> u8 {
        self.0.exit
    }

    /// Returns what a person reads.
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

    /// Returns what a program reads: one line.
    pub(crate) fn json(&self) -> String {
        let json = serde_json::to_string(&self.0);
        json.map_or_else(|_| r#"{"type":"error"}"#.to_owned(), |json| style::harmless_json(&json))
    }
}

/// A library's error says what and what next in one sentence.
impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        // Without a path, the command that was typed says which operation it was.
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

/// Failures of the command line itself.
impl CliError {
    /// Arguments that do not parse.
    pub(crate) fn usage(error: &clap::Error) -> Self {
        let text = error.to_string();
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let first = first.strip_prefix("error: ").unwrap_or(first);
        // What is missing is listed below.
        let listed = lines.map_while(|line| line.strip_prefix("  ")).map(str::trim);
        let message = if first.ends_with(':') {
            format!("{first} {}", listed.collect::<Vec<_>>().join(", "))
        } else {
            first.to_owned()
        };
        Self::new("usage", USAGE, message).hint("wink --help")
    }

    /// Anything that has no kind.
    pub(crate) fn other(error: &(dyn StdError + 'static)) -> Self {
        Self::new("failed", 1, error.to_string()).hint(TRY_AGAIN)
    }

    /// An archive that could not be written.
    pub(crate) fn export(target: &Path, error: Error) -> Self {
        match error.kind() {
            ErrorKind::AlreadyExists => {
                Self::of(error.kind(), format!("`{}` is there already", target.display()))
                    .hint("name another file, or take its place with `--force`")
            }
            ErrorKind::NotFound if error.path().is_none() => {
                let place = target.parent().unwrap_or(target);
                Self::of(error.kind(), format!("`{}` is not there", place.display()))
                    .hint("name a directory that is there, or make it first")
            }
            _ => error.into(),
        }
    }

    /// An archive that could not be read.
    pub(crate) fn import(source: &Path, error: Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound if error.path().is_none() => {
                Self::of(error.kind(), format!("`{}` is not there", source.display()))
                    .hint("`wink export` makes an archive")
            }
            ErrorKind::Corrupt if !disk::beginning(source).starts_with(b"PK") => {
                let message = format!("`{}` is no archive", source.display());
                Self::new("failed", 1, message).hint("`wink export` makes one")
            }
            _ => error.into(),
        }
    }

    /// A snapshot that nothing came before.
    pub(crate) fn first_snapshot(text: &str) -> Self {
        let message = format!("`{text}` is the first snapshot: there is nothing it changed");
        Self::of(ErrorKind::InvalidArgument, message).hint("name a step, such as `A..B`")
    }

    /// Data that could not be written to standard output.
    pub(crate) fn output(error: &io::Error) -> Self {
        Self::of(ErrorKind::Io, "the output could not be written")
            .cause(error)
            .hint("make room where it goes, or write it somewhere else")
    }

    /// A lock that another process does not let go of.
    pub(crate) fn locked(lock: &Path) -> Self {
        Self::of(
            ErrorKind::Locked,
            "another process changes the names or settings of this workspace",
        )
        .because(&format!("it holds `{}`", lock.display()))
        .hint("wait until it is done, and try again")
    }

    /// A file or directory of the host that the command itself needs.
    pub(crate) fn host(doing: &str, path: &Path, error: io::Error) -> Self {
        let cause = error.to_string();
        let kind = Error::system(Operation::Open, error).kind();
        let message = format!("{doing} `{}`", path.display());
        Self::of(kind, message).because(&cause).hint(match kind {
            ErrorKind::NotFound => "name one that is there, or make it first",
            ErrorKind::AlreadyExists | ErrorKind::NotEmpty => "name another one, or move it away",
            ErrorKind::NotADirectory => "name a directory",
            ErrorKind::IsADirectory => "name a file",
            ErrorKind::PermissionDenied => "ask its owner for access, or name another place",
            ErrorKind::ReadOnly => "name a place that can be written to",
            ErrorKind::NoSpace => "make room on its disk, and try again",
            _ => TRY_AGAIN,
        })
    }
}

/// Failures to find a workspace, or to make one.
impl CliError {
    /// No directory from here upwards was made a workspace.
    pub(crate) fn no_workspace(directory: &Path, lost: &[Project]) -> Self {
        let message = format!("`{}` is not protected: it is in no workspace", directory.display());
        Self::new(NO_WORKSPACE, NO_STORE, message).hint(match lost {
            [] => {
                let one = "`wink init` makes this directory one";
                orphaned::any().map_or(one.to_owned(), |any| format!("{one}; {any}"))
            }
            lost => format!("{}; `wink init` begins a new one", orphaned::advice(directory, lost)),
        })
    }

    /// A directory was named that holds no history.
    pub(crate) fn no_store(directory: &Path) -> Self {
        let message = format!("there is no history in `{}`", directory.display());
        if disk::is_gone(&project::store_in(directory)) {
            Self::new("no_store", NO_STORE, message)
                .hint("if it is on another disk, mount it; `wink init --store DIR` makes a new one")
        } else {
            Self::new("no_store", NO_STORE, format!("{message} that is whole")).hint(WRITES_AGAIN)
        }
    }

    /// A history has lost the file that says whose it is.
    pub(crate) fn no_settings(root: &Path) -> Self {
        let message = format!("the history of `{}` has lost its settings", root.display());
        Self::of(ErrorKind::Corrupt, message).hint(WRITES_AGAIN)
    }

    /// The directory of a workspace cannot be opened; where it is gone, its history is not.
    pub(crate) fn root(project: &Project, error: Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Self::gone(project),
            _ => error.into(),
        }
    }

    /// The directory of a workspace is gone; its history is not.
    pub(crate) fn gone(project: &Project) -> Self {
        let message =
            format!("the workspace `{}` is gone; its history is not", project.root.display());
        let [root, kept] = [&project.root, &project.directory].map(|it| format::path_for_shell(it));
        Self::of(ErrorKind::Unavailable, message).hint(format!(
            "if it was deleted: mkdir -p {root} && cd {root} && wink restore @-; if it was moved, in its new \
             place: wink init --store {kept}"
        ))
    }

    /// The directory that the command was started in is gone, and another one has its path.
    pub(crate) fn replaced(place: &Path) -> Self {
        let message = format!(
            "`{}` is another directory by now than the one this was started in",
            place.display()
        );
        let place = format::path_for_shell(place);
        Self::of(ErrorKind::NotFound, message).hint(format!("go there again: cd {place}"))
    }

    /// Nothing says where data of this person is kept.
    pub(crate) fn no_data_home() -> Self {
        Self::new("no_store", NO_STORE, "neither XDG_DATA_HOME nor HOME says where to keep history")
            .hint("set one of them, or name a directory with --store")
    }

    /// The settings are damaged.
    pub(crate) fn unreadable_settings(path: &Path) -> Self {
        let message = format!("the settings in `{}` cannot be understood", path.display());
        let store = path.parent().map(project::store_in);
        Self::of(ErrorKind::Corrupt, message).hint(match store {
            Some(store) if !disk::is_gone(&store) => {
                "`wink repair` writes them again from the rest of the history"
            }
            _ => "move them away, and name the history with --store",
        })
    }

    /// The settings are whole, and not what this version writes.
    pub(crate) fn settings_of_another_version(path: &Path) -> Self {
        let message =
            format!("the settings in `{}` are those of another version of wink", path.display());
        Self::of(ErrorKind::SnapshotIncompatible, message).hint(
            "use that version; if they were written by hand, correct them, or move them away, and \
             `wink repair` writes others",
        )
    }

    /// Tells whether settings are those of another version, which this one leaves alone.
    pub(crate) fn is_of_another_version(&self) -> bool {
        self.0.code == ErrorKind::SnapshotIncompatible.code()
    }

    /// The directory is a workspace already.
    pub(crate) fn already_protected(root: &Path, history: &Path) -> Self {
        let (root, history) = (root.display(), history.display());
        Self::of(ErrorKind::AlreadyExists, format!("`{root}` is a workspace already"))
            .hint(format!("its history is in `{history}`; `wink status` says more"))
    }

    /// A history that was named is that of a directory which is there.
    pub(crate) fn history_of_another(root: &Path) -> Self {
        let message = format!("`{}` is a workspace already", root.display());
        let root = format::path_for_shell(root);
        Self::of(ErrorKind::AlreadyExists, message).hint(format!(
            "its history stays with it; if it was moved here and something else is there now: \
             wink init --moved-from {root}"
        ))
    }

    /// A directory that no history is of.
    pub(crate) fn never_protected(directory: &Path) -> Self {
        let message = format!("there is no history of `{}`", directory.display());
        Self::new("no_store", NO_STORE, message)
            .hint("name the directory as it was; `wink init --store DIR` names the history itself")
    }

    /// Files that are not those of a history whose directory is there.
    pub(crate) fn not_its_files(root: &Path, project: &Project) -> Self {
        let (here, there) = (root.display(), project.root.display());
        let kept = format::path_for_shell(&project.directory);
        let message = format!("`{here}` does not hold what the history of `{there}` kept last");
        Self::of(ErrorKind::Conflict, message).hint(format!(
            "if it is its history nevertheless, move `{there}` away, and here: wink init --store {kept}"
        ))
    }

    /// The place for a history is taken by something else.
    pub(crate) fn place_taken(place: &Path) -> Self {
        let hint = if disk::is_gone(&project::store_in(place)) {
            "name a new directory for the history"
        } else {
            "it holds a history that has lost its settings: `wink repair` writes them again, or \
             name a new directory"
        };
        Self::of(ErrorKind::AlreadyExists, format!("`{}` is not empty", place.display())).hint(hint)
    }

    /// The directory holds far more than a project.
    pub(crate) fn too_broad(root: &Path) -> Self {
        let message = format!("`{}` holds a home directory or a whole system", root.display());
        Self::of(ErrorKind::InvalidArgument, message)
            .hint("name a project's directory, or insist with --force")
    }

    /// Who can delete the files could delete their history with them.
    pub(crate) fn store_inside(root: &Path, project: &Path) -> Self {
        let message = format!(
            "the history in `{}` would lie inside the workspace `{}`",
            project.display(),
            root.display()
        );
        Self::of(ErrorKind::InvalidArgument, message)
            .hint("name a directory outside of it with --store")
    }
}

/// Failures to understand what was named.
impl CliError {
    /// No state has this name.
    pub(crate) fn unknown_ref(text: &str) -> Self {
        Self::new("ref_unknown", NO_REF, format!("no snapshot is named `{}`", shown(text))).hint(
            if text.trim_end().ends_with(" ago") {
                "an age is a number and a unit, such as `10m ago` or `2 hours ago`"
            } else {
                "`wink log` lists the snapshots"
            },
        )
    }

    /// There are not so many states.
    pub(crate) fn no_ancestor(text: &str, known: usize) -> Self {
        let leads = format::counted(known as u64, "snapshot leads", "snapshots lead");
        let message = format!("`{}` is not there: {leads} to the files of now", shown(text));
        Self::new("ref_unknown", NO_REF, message).hint("`wink log` lists the snapshots")
    }

    /// Several states have this name.
    pub(crate) fn ambiguous_ref(text: &str, all: &[Snapshot]) -> Self {
        let message = format!("snapshot `{}` is ambiguous", shown(text));
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

    /// The files of now cannot be gone back to.
    pub(crate) fn live_ref() -> Self {
        let message = "`@` is the files as they are now";
        Self::of(ErrorKind::InvalidArgument, message).hint("name a snapshot, such as `@-`")
    }

    /// A path that is no part of the workspace.
    pub(crate) fn outside(path: &Path, root: &Path) -> Self {
        let message = format!("`{}` is outside the workspace", path.display());
        Self::of(ErrorKind::PermissionDenied, message)
            .hint(format!("name a path in `{}`", root.display()))
    }

    /// A path that is neither here nor there.
    pub(crate) fn nowhere(path: &TreePath) -> Self {
        let message = format!("`{path}` is neither in the workspace nor in the snapshot");
        Self::of(ErrorKind::NotFound, message).hint("`wink diff --name-status` lists what changed")
    }

    /// A path that was never there.
    pub(crate) fn in_no_state(path: &TreePath) -> Self {
        let message = format!("`{path}` is neither in the workspace nor in any state looked at");
        Self::of(ErrorKind::NotFound, message)
            .hint("paths are relative to where the command works; `wink fs ls` lists them")
    }

    /// A path that snapshots do not hold.
    pub(crate) fn excluded(path: &TreePath) -> Self {
        Self::of(ErrorKind::InvalidArgument, format!("`{path}` is excluded from every snapshot"))
            .hint("`wink status` lists what is excluded")
    }

    /// The user or another program changed what the last operation left.
    pub(crate) fn changed_since(error: Error) -> Self {
        let path = format::for_shell(&shown(error.path().unwrap_or_default()));
        Self::from(error).hint(format!(
            "`wink undo --skip` leaves it as it is, and the next undo takes back what came before; \
             `wink restore REF -- {path}` brings another version back"
        ))
    }

    /// All that one operation changed was changed since, or what was kept of it was.
    pub(crate) fn built_upon(error: Error) -> Self {
        // Nothing came since that could be taken back first: the library knows what can be done.
        if error.to_string().contains("still had it open") {
            return error.into();
        }
        let path = format::for_shell(&shown(error.path().unwrap_or_default()));
        Self::from(error).hint(format!(
            "`wink undo` takes back what came since first; `wink restore REF -- {path}` brings another version back"
        ))
    }

    /// Nothing was done that could be taken back, or taken back that could be done again.
    pub(crate) fn nothing_to(action: &str) -> Self {
        let hint = match action {
            "undo" => "changes by other programs are not undone; `wink restore @-` goes back",
            "skip" => "`wink op log` lists what was done",
            "show" => {
                "wink has changed no file here yet; `wink diff` shows what other programs did"
            }
            _ => "only what was undone last can be done again",
        };
        Self::of(ErrorKind::NotFound, format!("there is nothing to {action}")).hint(hint)
    }
}

/// Tells whether something could not be read that a snapshot would have to hold.
fn is_of_snapshot(error: &Error) -> bool {
    use Operation::{Capture, Diff, Snapshot};
    error.kind() == ErrorKind::PermissionDenied
        && matches!(error.operation(), Capture | Diff | Snapshot)
}

/// Tells whether something could not be changed that was named, and no other path will do.
fn is_of_change(error: &Error) -> bool {
    use Operation::{Merge, Restore, Revert, Undo};
    is_of_modes(error)
        && error.path().is_some()
        && matches!(error.operation(), Merge | Restore | Revert | Undo)
}

/// Tells whether it is the modes of files that deny it, and not a link or another file system.
pub(crate) fn is_of_modes(error: &Error) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(|source| source.kind() == io::ErrorKind::PermissionDenied)
}

/// Says how something can be changed; it is its directory that is written to.
fn making_writable(path: &str) -> String {
    let parent = TreePath::parse(path).ok().and_then(|path| path.parent());
    match parent.filter(|parent| !parent.is_root()) {
        Some(parent) => format!(
            "make its directory writable, as with `chmod u+w {}`, and try again",
            format::for_shell(&parent.to_string())
        ),
        None => "make it, and the directory of the workspace, writable; where it belongs to another user, only that \
                 user can"
            .to_owned(),
    }
}

/// Says how snapshots are taken without what cannot be read.
pub(crate) fn leaving_out(path: &str) -> Option<String> {
    let path = TreePath::parse(path).ok().filter(|path| !path.is_root())?;
    let pattern = format::for_shell(&Exclusions::pattern_of(&path));
    Some(format!("make it readable, or leave it out: `wink config add exclude {pattern}`"))
}

/// Names the command for what a library advises.
fn with_command(hint: &str) -> &str {
    match hint {
        "verify the store" | "verify the snapshots" => {
            "`wink verify` lists what is damaged, and `wink repair` puts it aside"
        }
        "repair the store" | "repair the store first" => "`wink repair` puts aside what is damaged",
        "write it again" => WRITES_AGAIN,
        hint => hint,
    }
}

/// Cleans what the user typed before it is shown.
fn shown(text: &str) -> String {
    text.chars().take(100).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once, those of the host, and what has no kind, said nothing of what to do next.
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

    /// Once, it would have been called unreadable, and made writable.
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

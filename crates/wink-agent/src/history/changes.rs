//! Lists of changes between states, and the errors of the history tools.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wink_fs::{
    Changed, ConflictKind, Diff, Error, ErrorKind, Kind, MergeOptions, Merged, OnConflict,
    OperationChange, Skipped, Snapshot, SnapshotId, TreePath, Workspace,
};

use crate::tool::error::ToolError;
use crate::tool::unknown_name::shorten_name;
use crate::util::counted;

/// How many paths an answer names.
const MOST: usize = 50;

/// How many patterns of what is excluded an answer names.
const MOST_PATTERNS: usize = 10;

/// The name of the current files.
pub(crate) const LIVE: &str = "@";

/// Rewords an error for a model, with the next step.
pub(crate) fn refusal(error: Error) -> ToolError {
    let name = shorten_name(error.path().unwrap_or_default());
    let refusal = ToolError::from(error);
    match refusal.kind() {
        ErrorKind::SnapshotNotFound => refusal.reworded(format!(
            "There is no snapshot `{name}`; call history to see which there are."
        )),
        ErrorKind::Unsupported if refusal.says("keeps no history") => refusal.reworded(
            "This workspace keeps no history, so there are no snapshots and no undo; use the file tools.",
        ),
        _ => refusal,
    }
}

/// Names a snapshot by its short id, with its tag if it has one.
pub(crate) fn named(snapshot: &Snapshot) -> String {
    match &snapshot.tag {
        Some(tag) => format!("{} ({tag})", snapshot.id.short()),
        None => snapshot.id.short(),
    }
}

/// A path with a letter: A for added, M for modified, D for deleted, R for renamed.
pub(crate) type Row = (char, String);

/// Returns the row of a changed entry.
pub(crate) fn row(changed: &Changed) -> Row {
    (letter(changed.before, changed.after), changed.path.to_string())
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ChangeAnswer {
    #[schemars(with = "String")]
    change: char,
    path: String,
}

/// Paths with a letter each.
#[derive(Default)]
pub(crate) struct Changes(Vec<Row>);

impl Changes {
    pub(crate) fn of(changes: &[OperationChange]) -> Self {
        let letter = |it: &OperationChange| letter(it.before, it.after);
        Self(changes.iter().map(|it| (letter(it), it.path.to_string())).collect())
    }

    pub(crate) fn of_diff(diff: &Diff) -> Self {
        let all = diff.added.iter().chain(&diff.modified).chain(&diff.deleted);
        let mut changes: Vec<_> = all.map(row).collect();
        let renamed = diff.renamed.iter().map(|it| ('R', format!("{} -> {}", it.from, it.to)));
        changes.extend(renamed);
        changes.sort_by(|(_, a), (_, b)| a.cmp(b));
        Self(changes)
    }

    pub(crate) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// Lists the first ones, a line each, and how many more there are, with the call of diff that shows them.
    pub(crate) fn listed(&self, diff: Option<Value>) -> String {
        self.listed_from(0, |_| diff)
    }

    /// Lists those after some others; the call of diff that shows more gets the number of those before it.
    pub(crate) fn listed_from(
        &self,
        offset: usize,
        diff: impl FnOnce(usize) -> Option<Value>,
    ) -> String {
        let page = self.page(offset);
        let shown: String =
            page.iter().map(|(letter, path)| format!("\n{letter} {path}")).collect();
        let end = offset.saturating_add(page.len());
        match (self.0.len().saturating_sub(end), page.is_empty()) {
            (0, _) | (_, true) => shown,
            (more, false) => {
                let next = diff(end).map(|diff| format!(" Next call: diff {diff}"));
                format!("{shown}\n… and {more} more.{}", next.unwrap_or_default())
            }
        }
    }

    /// Returns those that one answer lists.
    pub(crate) fn page(&self, offset: usize) -> &[Row] {
        let rest = self.0.get(offset..).unwrap_or_default();
        &rest[..rest.len().min(MOST)]
    }

    /// Returns those that one answer lists, as data.
    pub(crate) fn answer_from(&self, offset: usize) -> Vec<ChangeAnswer> {
        let answer = |(letter, path): &Row| ChangeAnswer { change: *letter, path: path.clone() };
        self.page(offset).iter().map(answer).collect()
    }
}

/// Returns the arguments of diff that show what changed since a snapshot that was saved.
pub(crate) fn since(saved: Option<SnapshotId>) -> Option<Value> {
    saved.map(|id| json!({"from": id.short(), "lines": false}))
}

fn letter(before: Option<Kind>, after: Option<Kind>) -> char {
    match (before, after) {
        (None, _) => 'A',
        (_, None) => 'D',
        _ => 'M',
    }
}

/// What to do on conflicts.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Conflicts {
    #[default]
    Stop,
    Ours,
    Theirs,
    Markers,
}

impl Conflicts {
    pub(crate) fn options(self, dry_run: bool) -> MergeOptions {
        MergeOptions::default().dry_run(dry_run).on_conflict(match self {
            Self::Stop => OnConflict::Stop,
            Self::Ours => OnConflict::Ours,
            Self::Theirs => OnConflict::Theirs,
            Self::Markers => OnConflict::Markers,
        })
    }
}

/// Describes a merge or a revert; undecided conflicts are an error.
pub(crate) fn merged(
    merged: &Merged,
    dry_run: bool,
    did: &str,
    would: &str,
) -> Result<String, ToolError> {
    let changes = Changes::of(&merged.changes);
    let conflicts = conflicts(merged);
    if !merged.applied && !dry_run {
        let is_marked = merged.conflicts.iter().any(|it| it.kind == ConflictKind::Lines);
        let ways = if is_marked { "ours, theirs or markers" } else { "ours or theirs" };
        return Err(ToolError::new(
            ErrorKind::Conflict,
            format!(
                "Nothing was changed: both sides changed the same lines or files.{conflicts}\nSet on_conflict to \
                 {ways}, or edit the files first."
            ),
        ));
    }
    let paths = counted(changes.len(), "path");
    let head = match (dry_run, changes.len()) {
        (_, 0) => "There is nothing to change.".to_owned(),
        (true, _) => format!("Dry run, nothing was changed. {would} {paths}:"),
        (false, _) => format!("{did} {paths}:"),
    };
    let kept = kept(merged.saved);
    let conflicts =
        if conflicts.is_empty() { conflicts } else { format!("\nConflicts:{conflicts}") };
    let left = match merged.unresolved().count() {
        0 => String::new(),
        _ if dry_run => String::new(),
        left => format!(
            "\nMarkers need lines of text, so {} left to merge: call again with on_conflict ours or theirs.",
            if left == 1 { "1 conflict is".to_owned() } else { format!("{left} conflicts are") }
        ),
    };
    Ok(format!("{head}{}{conflicts}{left}{kept}", changes.listed(since(merged.saved))))
}

/// Names the safety snapshot.
pub(crate) fn kept(saved: Option<SnapshotId>) -> String {
    saved.map_or(String::new(), |id| {
        format!("\nThe previous state is snapshot {}; undo reverses this.", id.short())
    })
}

/// Names what is missing, with the reason.
pub(crate) fn missing<'a>(head: &str, all: impl Iterator<Item = &'a Skipped>) -> String {
    let all: Vec<_> = all.collect();
    let shown: String =
        all.iter().take(MOST).map(|it| format!("\n{}: {}", it.path, it.why)).collect();
    match all.len().saturating_sub(MOST) {
        _ if all.is_empty() => String::new(),
        0 => format!("\n{head}:{shown}"),
        more => format!("\n{head}:{shown}\n… and {more} more."),
    }
}

/// The exclusion that every workspace in which there may be a Git repository has.
const GIT: &str = "/.git";

/// Lists the exclusions, so that a model does not take what they match for unchanged; `.git` only if it is there.
pub(crate) fn excluded<'p>(
    files: &Workspace,
    patterns: impl IntoIterator<Item = &'p str>,
) -> String {
    let has_git = TreePath::parse(GIT).is_ok_and(|git| files.tree().stat(&git).is_ok());
    let patterns = patterns.into_iter().filter(|pattern| has_git || *pattern != GIT);
    excluded_list(patterns).map_or(String::new(), |list| format!("\nExcluded by setting: {list}."))
}

/// Lists the exclusions, if there are any.
pub(crate) fn excluded_list<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Option<String> {
    let all: BTreeSet<_> = patterns.into_iter().collect();
    let named: Vec<_> = all.iter().take(MOST_PATTERNS).copied().collect();
    match (all.len(), all.len().saturating_sub(MOST_PATTERNS)) {
        (0, _) => None,
        (_, 0) => Some(named.join(", ")),
        (_, more) => Some(format!("{} and {more} more", named.join(", "))),
    }
}

/// Lists paths, a line each, and how many are left out.
pub(crate) fn listed(all: &[TreePath]) -> String {
    let shown: String = paths(all).iter().map(|path| format!("\n{path}")).collect();
    match all.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown}\n… and {more} more."),
    }
}

/// Returns the first paths as text.
pub(crate) fn paths(all: &[TreePath]) -> Vec<String> {
    all.iter().take(MOST).map(ToString::to_string).collect()
}

fn conflicts(merged: &Merged) -> String {
    let line = |it: &wink_fs::MergeConflict| format!("\nC {}: {}", it.path, it.kind);
    let shown: String = merged.conflicts.iter().take(MOST).map(line).collect();
    match merged.conflicts.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown}\n… and {more} more."),
    }
}

/// What a merge or a revert did, as data.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MergedAnswer {
    applied: bool,
    changes: Vec<ChangeAnswer>,
    change_count: usize,
    conflicts: Vec<ConflictAnswer>,
    saved: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ConflictAnswer {
    path: String,
    why: String,
    resolved: bool,
}

impl MergedAnswer {
    pub(crate) fn of(merged: &Merged) -> Self {
        let conflict = |it: &wink_fs::MergeConflict| ConflictAnswer {
            path: it.path.to_string(),
            why: it.kind.to_string(),
            resolved: it.is_resolved,
        };
        Self {
            applied: merged.applied,
            changes: Changes::of(&merged.changes).answer_from(0),
            change_count: merged.changes.len(),
            conflicts: merged.conflicts.iter().take(MOST).map(conflict).collect(),
            saved: merged.saved.map(|id| id.to_string()),
        }
    }
}

//! States of all files: how a model names them, and how it is told what changed.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use wink_fs::{
    Changed, Diff, Error, ErrorKind, Kind, MergeOptions, Merged, OnConflict, OperationChange,
    Snapshot, SnapshotId, TreePath,
};

use crate::tool::error::ToolError;
use crate::tool::unknown_name::shown;
use crate::util::words::counted;

/// How many paths an answer names.
const MOST: usize = 50;

/// How many patterns of what is excluded an answer names.
const MOST_PATTERNS: usize = 10;

/// The name of the files as they are now.
pub(crate) const LIVE: &str = "@";

/// Words what the next step of a model is.
pub(crate) fn refusal(error: Error) -> ToolError {
    let name = shown(error.path().unwrap_or_default());
    let refusal = ToolError::from(error);
    match refusal.kind() {
        ErrorKind::SnapshotNotFound if refusal.says("several snapshots") => refusal.reworded(
            format!("Several snapshots have ids that begin with `{name}`; give more of the id."),
        ),
        ErrorKind::SnapshotNotFound => refusal.reworded(format!(
            "There is no snapshot `{name}`; call history to see which there are."
        )),
        ErrorKind::Unsupported if refusal.says("keeps no history") => refusal.reworded(
            "This workspace keeps no history, so nothing can be kept, restored or undone in it; \
             use the tools for files.",
        ),
        _ => refusal,
    }
}

/// Names a snapshot as people type it, with its tag where it has one.
pub(crate) fn named(snapshot: &Snapshot) -> String {
    match &snapshot.tag {
        Some(tag) => format!("{} ({tag})", snapshot.id.short()),
        None => snapshot.id.short(),
    }
}

/// A path with a letter: A for added, M for modified, D for deleted, R for renamed.
pub(crate) type Row = (char, String);

/// Returns how an entry that is different is listed.
pub(crate) fn row(changed: &Changed) -> Row {
    (letter(changed.before, changed.after), changed.path.to_string())
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

    /// Lists the first ones, a line each; where some are left out, says how many, and which call of diff
    /// shows them.
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

    pub(crate) fn value(&self) -> Value {
        self.value_from(0)
    }

    pub(crate) fn value_from(&self, offset: usize) -> Value {
        let value = |(letter, path): &Row| json!({"change": letter, "path": path});
        self.page(offset).iter().map(value).collect()
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

/// What is done where both sides changed the same.
#[derive(Clone, Copy, Default, serde::Deserialize, schemars::JsonSchema)]
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

/// Words what a merge or a revert did; conflicts that the model left undecided are a refusal.
pub(crate) fn merged(
    merged: &Merged,
    dry_run: bool,
    did: &str,
    would: &str,
) -> Result<String, ToolError> {
    let (changes, conflicts) = (Changes::of(&merged.changes), conflicts(merged));
    if !merged.applied && !dry_run {
        return Err(ToolError::new(
            ErrorKind::Conflict,
            format!(
                "Nothing was changed: both sides changed the same.{conflicts}\nSet on_conflict to \
                 ours, theirs or markers, or edit the files first."
            ),
        ));
    }
    let paths = counted(changes.len(), "path");
    let head = match (dry_run, changes.len()) {
        (_, 0) => "There is nothing to change; the files stay as they are.".to_owned(),
        (true, _) => format!("Nothing was changed (dry_run); {would} {paths}:"),
        (false, _) => format!("{did} {paths}:"),
    };
    let kept = kept(merged.saved);
    let conflicts =
        if conflicts.is_empty() { conflicts } else { format!("\nConflicts:{conflicts}") };
    Ok(format!("{head}{}{conflicts}{kept}", changes.listed(since(merged.saved))))
}

/// Says where to find what was there before.
pub(crate) fn kept(saved: Option<SnapshotId>) -> String {
    saved.map_or(String::new(), |id| {
        format!("\nWhat was there before is snapshot {}; undo takes this back.", id.short())
    })
}

/// Says what is excluded, in a line of its own, so that the model does not take it for unchanged.
pub(crate) fn excluded<'p>(patterns: impl IntoIterator<Item = &'p str>) -> String {
    excluded_list(patterns).map_or(String::new(), |list| format!("\nExcluded by setting: {list}."))
}

/// Lists what is excluded, where anything is.
pub(crate) fn excluded_list<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Option<String> {
    let all: BTreeSet<_> = patterns.into_iter().collect();
    let named: Vec<_> = all.iter().take(MOST_PATTERNS).copied().collect();
    match (all.len(), all.len().saturating_sub(MOST_PATTERNS)) {
        (0, _) => None,
        (_, 0) => Some(named.join(", ")),
        (_, more) => Some(format!("{} and {more} more", named.join(", "))),
    }
}

/// Lists paths, a line each, and says how many are left out.
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

pub(crate) fn merged_value(merged: &Merged) -> Value {
    let conflicts = merged.conflicts.iter().take(MOST);
    let conflicts =
        conflicts.map(|it| json!({"path": it.path.to_string(), "why": it.kind.to_string()}));
    json!({
        "applied": merged.applied,
        "changes": Changes::of(&merged.changes).value(),
        "change_count": merged.changes.len(),
        "conflicts": conflicts.collect::<Vec<_>>(),
        "saved": merged.saved.map(|id| id.to_string()),
    })
}

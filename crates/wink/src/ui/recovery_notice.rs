//! Warnings about the recovery of interrupted work.

use wink_fs::{Event, TreePath};

use crate::ui::{format, output};

/// How many paths are named.
const NAMED: usize = 3;

/// Prints what recovery rolled back or finished, and what it left alone.
pub(crate) fn print(event: &Event) {
    warnings(event).iter().for_each(|warning| warn(warning));
}

/// Prints a warning.
pub(crate) fn warn(warning: &str) {
    tracing::warn!("{warning}");
    output::say(&format!("warning: {warning}"));
}

fn warnings(event: &Event) -> Vec<String> {
    match event {
        Event::Recovered { taken_back, left } => taken_back_warnings(taken_back, left),
        Event::ReplacementFinished { name, finished, left } => {
            finished_warnings(name, finished, left)
        }
        Event::ReplacementUnfinished { name } => vec![format!(
            "`{name}` was interrupted, and the files are not writable now: some have the old content, others the new; \
             the next command that can write finishes it"
        )],
        Event::HousekeepingFailed { name, reason } => vec![format!(
            "`{name}` was done, but the history could not be tidied after it ({reason}); a later command does that"
        )],
        Event::EntryWaits { path, place } => vec![format!(
            "a program wrote into {path} after it was replaced or removed; that content is in `{}`, because {path} exists \
             again, and returns when {path} is removed",
            place.display()
        )],
        Event::EntryReturned { path } => vec![format!(
            "{path} is back: a program wrote into it after it was replaced or removed"
        )],
        _ => Vec::new(),
    }
}

fn finished_warnings(name: &str, finished: &[TreePath], left: &[TreePath]) -> Vec<String> {
    let finished = named(finished).map(|paths| {
        format!("`{name}` was interrupted, and is finished now: {paths}; see `wink op log`")
    });
    let left = named(left).map(|paths| {
        format!(
            "`{name}` was interrupted, and could not be finished for paths that changed since then or whose new content \
             is missing; they are left alone: {paths}"
        )
    });
    finished.into_iter().chain(left).collect()
}

fn taken_back_warnings(taken_back: &[TreePath], left: &[TreePath]) -> Vec<String> {
    let taken_back = named(taken_back)
        .map(|paths| format!("a call was interrupted, and its changes were rolled back: {paths}"));
    let left = named(left).map(|paths| {
        format!(
            "other programs may have written into these files after a call was interrupted, so they are left alone: {paths}; \
             `wink op log` shows the operation that keeps the old content"
        )
    });
    taken_back.into_iter().chain(left).collect()
}

fn named(paths: &[TreePath]) -> Option<String> {
    let first: Vec<_> = paths.iter().take(NAMED).map(ToString::to_string).collect();
    let more = match paths.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {} more", format::counted(more as u64, "path", "paths")),
    };
    (!paths.is_empty()).then(|| format!("{}{more}", first.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rolled_back_and_unfinished_paths_are_named() {
        let paths = |names: &[&str]| names.iter().map(|it| TreePath::parse(it).unwrap()).collect();
        let (taken_back, left) = (paths(&["a", "b", "c", "d", "e"]), paths(&["f"]));
        assert_eq!(
            warnings(&Event::Recovered { taken_back, left }),
            [
                "a call was interrupted, and its changes were rolled back: \
                 a, b, c and 2 paths more",
                "other programs may have written into these files after a call was interrupted, so they are left alone: f; \
                 `wink op log` shows the operation that keeps the old content",
            ]
        );
        let (finished, left) = (paths(&["a", "b"]), paths(&["zz"]));
        assert_eq!(
            warnings(&Event::ReplacementFinished { name: "restore".into(), finished, left }),
            [
                "`restore` was interrupted, and is finished now: a, b; see `wink op log`",
                "`restore` was interrupted, and could not be finished for paths that changed since then or whose new \
                 content is missing; they are left alone: zz",
            ]
        );
        assert!(warnings(&Event::SnapshotsPruned { ids: Vec::new() }).is_empty());
        let (path, place) = (TreePath::parse("a").unwrap(), "/p/.wink-staging/1-2-3-4/7".into());
        assert_eq!(
            warnings(&Event::EntryWaits { path: path.clone(), place }),
            ["a program wrote into a after it was replaced or removed; that content is in \
                 `/p/.wink-staging/1-2-3-4/7`, because a exists again, and returns when a is removed"]
        );
        assert_eq!(
            warnings(&Event::EntryReturned { path }),
            ["a is back: a program wrote into it after it was replaced or removed"]
        );
    }
}

//! What was put right after a process that died, which a person should know.

use wink_fs::{Event, TreePath};

use crate::ui::{format, output};

/// How many paths are named.
const NAMED: usize = 3;

/// Says on standard error what was taken back of a call that died, and what was not.
pub(crate) fn tell(event: &Event) {
    for warning in warnings(event) {
        tracing::warn!("{warning}");
        output::say(&format!("warning: {warning}"));
    }
}

fn warnings(event: &Event) -> Vec<String> {
    match event {
        Event::Recovered { taken_back, left } => taken_back_warnings(taken_back, left),
        Event::ReplacementFinished { name, finished, left } => {
            finished_warnings(name, finished, left)
        }
        Event::ReplacementUnfinished { name } => vec![format!(
            "`{name}` was cut off before it was done, and the files cannot be written to now: some are as they were \
             before it, others as they are to be; the next command that can write finishes it"
        )],
        Event::EntryWaits { path, place } => vec![format!(
            "what a program wrote into {path} after it was replaced or removed is in `{}`, because something else is \
             at {path} now; it comes back when that is gone",
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
        format!(
            "`{name}` was cut off before it was done, and was finished now: {paths}; `wink op log` shows it"
        )
    });
    let left = named(left).map(|paths| {
        format!(
            "`{name}` was cut off and could not be finished everywhere: these paths were changed since, or what \
             was to come there is not beside the files any more, so they stay as they are: {paths}"
        )
    });
    finished.into_iter().chain(left).collect()
}

fn taken_back_warnings(taken_back: &[TreePath], left: &[TreePath]) -> Vec<String> {
    let taken_back = named(taken_back).map(|paths| {
        format!(
            "a call was cut off before it was done, and what it had changed was taken back: {paths}"
        )
    });
    let left = named(left).map(|paths| {
        format!(
            "other programs may have written into files since a call was cut off, so they stay as they are: {paths}; \
             `wink op log` names the operation that keeps what was there before"
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
    fn what_was_taken_back_and_what_was_not_are_said() {
        let paths = |names: &[&str]| names.iter().map(|it| TreePath::parse(it).unwrap()).collect();
        let (taken_back, left) = (paths(&["a", "b", "c", "d", "e"]), paths(&["f"]));
        assert_eq!(
            warnings(&Event::Recovered { taken_back, left }),
            [
                "a call was cut off before it was done, and what it had changed was taken back: \
                 a, b, c and 2 paths more",
                "other programs may have written into files since a call was cut off, so they stay as they are: f; \
                 `wink op log` names the operation that keeps what was there before",
            ]
        );
        let (finished, left) = (paths(&["a", "b"]), paths(&["zz"]));
        assert_eq!(
            warnings(&Event::ReplacementFinished { name: "restore".into(), finished, left }),
            [
                "`restore` was cut off before it was done, and was finished now: a, b; `wink op log` shows it",
                "`restore` was cut off and could not be finished everywhere: these paths were changed since, or \
                 what was to come there is not beside the files any more, so they stay as they are: zz",
            ]
        );
        assert!(warnings(&Event::SnapshotsPruned { ids: Vec::new() }).is_empty());
        let (path, place) = (TreePath::parse("a").unwrap(), "/p/.wink-staging/1-2-3-4/7".into());
        assert_eq!(
            warnings(&Event::EntryWaits { path: path.clone(), place }),
            [
                "what a program wrote into a after it was replaced or removed is in `/p/.wink-staging/1-2-3-4/7`, \
              because something else is at a now; it comes back when that is gone"
            ]
        );
        assert_eq!(
            warnings(&Event::EntryReturned { path }),
            ["a is back: a program wrote into it after it was replaced or removed"]
        );
    }
}

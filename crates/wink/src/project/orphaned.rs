//! Orphaned histories: their directory was moved, renamed or deleted.

use std::path::Path;

use crate::project::content_match;
use crate::project::{self, Project};
use crate::sys::disk;
use crate::ui::format;

/// How many histories are examined; with more, the user must name the right one.
const LOOKED_AT: usize = 1000;

/// How many are named in a message.
const NAMED: usize = 3;

/// How many with another name are compared by content.
const LOOKED_INTO: usize = 8;

/// Returns the orphaned histories that a directory may have had under another path: those of directories with
/// its name, or the name of one above it, and those with matching content.
pub(crate) fn of(directory: &Path) -> Vec<Project> {
    let (mut found, others): (Vec<_>, Vec<_>) =
        all().into_iter().partition(|project| namesake(directory, project).is_some());
    let others = others.into_iter().take(LOOKED_INTO);
    found.extend(others.filter(|project| content_match::is_of(directory, project)));
    found.truncate(NAMED);
    found
}

/// Reads a history, there or where that place says, if its directory is gone; `status` shows its store.
pub(crate) fn at(place: &Path) -> Option<Project> {
    let above = || place.parent().filter(|above| project::store_in(above) == place);
    let read = |place: &Path| project::at_place(place).ok().flatten();
    let project = read(place).or_else(|| read(above()?))?;
    disk::is_gone(&project.root).then_some(project)
}

/// Returns whether a history may belong to the directory itself, and not to one above it.
pub(crate) fn may_have_been(directory: &Path, lost: &Project) -> bool {
    namesake(directory, lost).is_none_or(|place| place == directory)
}

/// Returns the hint for continuing these histories.
pub(crate) fn advice(directory: &Path, lost: &[Project]) -> String {
    let each = lost.iter().map(|project| {
        let place = namesake(directory, project).filter(|place| *place != directory);
        let place =
            place.map_or(String::new(), |place| format!("{} ", format::shell_quote_path(place)));
        let (root, kept) = (project.root.display(), format::shell_quote_path(&project.directory));
        format!("if it was `{root}`, `wink init {place}--store {kept}` continues its history")
    });
    each.collect::<Vec<_>>().join("; ")
}

/// Returns a note about orphaned histories for a user who starts a new one.
pub(crate) fn mentioned(directory: &Path, lost: &[Project]) -> Option<String> {
    match lost {
        [] => any(),
        lost => Some(advice(directory, lost)),
    }
}

/// Returns the hint that names orphaned histories, if none matches by name or content.
pub(crate) fn any() -> Option<String> {
    let all = all();
    let named: Vec<_> =
        all.iter().take(NAMED).map(|project| format!("`{}`", project.root.display())).collect();
    let more = match all.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!all.is_empty()).then(|| {
        let named = named.join(", ");
        format!(
            "if it was moved or renamed, `wink init --moved-from OLD` continues its history; missing \
             directories: {named}{more}"
        )
    })
}

fn all() -> Vec<Project> {
    let Ok(places) = project::all_places() else { return Vec::new() };
    let names = disk::names(&places).unwrap_or_default();
    let mut all: Vec<_> =
        names.iter().take(LOOKED_AT).filter_map(|name| at(&places.join(name))).collect();
    all.sort_by(|a, b| a.directory.cmp(&b.directory));
    all.dedup_by(|a, b| a.directory == b.directory);
    all
}

/// Returns the directory, or the one above it, with the same name as the missing one.
fn namesake<'d>(directory: &'d Path, project: &Project) -> Option<&'d Path> {
    let name = project.root.file_name()?;
    directory.ancestors().find(|above| above.file_name() == Some(name))
}

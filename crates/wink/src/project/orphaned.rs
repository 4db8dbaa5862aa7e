//! Histories whose directory is gone: it was moved, renamed or deleted.

use std::path::Path;

use crate::project::content_match;
use crate::project::{self, Project};
use crate::sys::disk;
use crate::ui::format;

/// Who has more histories than are looked at names the one that is meant.
const LOOKED_AT: usize = 1000;

/// How many are named to a person.
const NAMED: usize = 3;

/// How many that have other names are looked into, for what they hold.
const LOOKED_INTO: usize = 8;

/// Returns the histories that a directory may have had under another path: those of directories of its
/// name, or of one above it, and those that kept what it holds.
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
    let read = |place: &Path| Project::read(place).ok().flatten();
    let project = read(place).or_else(|| read(above()?))?;
    let project = match project.settings.kept_in().ok()? {
        Some(other) => Project::read(&other).ok()??,
        None => project,
    };
    disk::is_gone(&project.root).then_some(project)
}

/// Tells whether a history may be that of a directory itself, and not rather that of one above it.
pub(crate) fn may_have_been(directory: &Path, lost: &Project) -> bool {
    namesake(directory, lost).is_none_or(|place| place == directory)
}

/// Says how to go on with histories that a directory may have had.
pub(crate) fn advice(directory: &Path, lost: &[Project]) -> String {
    let each = lost.iter().map(|project| {
        let place = namesake(directory, project).filter(|place| *place != directory);
        let place =
            place.map_or(String::new(), |place| format!("{} ", format::path_for_shell(place)));
        let (root, kept) = (project.root.display(), format::path_for_shell(&project.directory));
        format!("if it was `{root}`, `wink init {place}--store {kept}` goes on with its history")
    });
    each.collect::<Vec<_>>().join("; ")
}

/// Returns what to tell a user who begins a new history about those whose directory is gone.
pub(crate) fn mentioned(directory: &Path, lost: &[Project]) -> Option<String> {
    match lost {
        [] => any(),
        lost => Some(advice(directory, lost)),
    }
}

/// Says which histories have no directory any more, where neither name nor files tell whose a directory's was.
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
            "if it was moved or renamed, `wink init --moved-from OLD` takes its history along; gone are \
             {named}{more}"
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

/// Returns the directory, or the one above it, that has the name of the one that is gone.
fn namesake<'d>(directory: &'d Path, project: &Project) -> Option<&'d Path> {
    let name = project.root.file_name()?;
    directory.ancestors().find(|above| above.file_name() == Some(name))
}

//! What a session knows of its files: a listing, derived from what changed.

use std::sync::Arc;
use std::time::SystemTime;

use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wink_fs::TreePath;

use super::changed::{FileChange, FilesChanged};
use super::listed_file::VirtualFile;
use crate::session::slices::items::Items;
use crate::session::slices::slice::Slice;
use crate::session::slices::view::View;

/// Lists the files of a session's workspace, sorted by the segments of their paths.
///
/// It is a value: a change gives a new one, which shares with the old one what is the same. A session
/// has one for each of its workspaces, kept up to date by [`FilesChanged`], and a rollback takes them back.
///
/// ```
/// use std::time::SystemTime;
/// use wink_agent::session::{FileChange, FilesChanged, VirtualFileSystem};
/// use wink_fs::TreePath;
///
/// let write = |path| Ok::<_, wink_fs::Error>(FileChange::written(TreePath::parse(path)?, 1, None));
/// let changes = [write("b.txt")?, write("a/x")?, write("a-b")?, write("b.txt")?];
/// let files = VirtualFileSystem::default().after(&FilesChanged::new(SystemTime::now(), changes));
/// let listed: Vec<_> = files.files().map(|file| (file.path.to_string(), file.version)).collect();
/// assert_eq!(listed, [("a/x".into(), 1), ("a-b".into(), 1), ("b.txt".into(), 2)]);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Listing", into = "Listing")]
pub struct VirtualFileSystem {
    filesystem_key: Option<Arc<str>>,
    files: OrdMap<TreePath, VirtualFile>,
    rest: Map<String, Value>,
}

/// The listing as it stands in a dump.
#[derive(Serialize, Deserialize)]
struct Listing {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    filesystem_key: Option<String>,
    files: Vec<VirtualFile>,
    /// What this version has no use for.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Slice for VirtualFileSystem {
    const NAME: &'static str = "virtual_file_system";
}

impl VirtualFileSystem {
    /// Returns the key of the section that owns the files, if known.
    pub fn filesystem_key(&self) -> Option<&str> {
        self.filesystem_key.as_deref()
    }

    /// Returns the listing as one of a section's files.
    pub(crate) fn owned_by(&self, filesystem_key: Option<Arc<str>>) -> Self {
        Self { filesystem_key, ..self.clone() }
    }

    /// Returns the files in order.
    pub fn files(&self) -> impl DoubleEndedIterator<Item = &VirtualFile> {
        self.files.values()
    }

    /// Returns the file at a path.
    pub fn get(&self, path: &TreePath) -> Option<&VirtualFile> {
        self.files.get(path)
    }

    /// Returns how many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns what must be told to make this listing name the files of another one.
    ///
    /// A file that is something else there was written since.
    pub(crate) fn changes_to(&self, other: &Self) -> Vec<FileChange> {
        let written = |file: &VirtualFile| {
            FileChange::written(file.path.clone(), file.size_bytes, file.encoding.clone())
        };
        let differences = self.files.diff(&other.files);
        let changes = differences.map(|difference| match difference {
            DiffItem::Add(_, file) | DiffItem::Update { new: (_, file), .. } => written(file),
            DiffItem::Remove(path, _) => FileChange::removed(path.clone()),
        });
        changes.collect()
    }

    /// Returns the listing after changes; it costs the changes, not the files.
    #[must_use]
    pub fn after(&self, event: &FilesChanged) -> Self {
        let mut files = self.clone();
        for change in &event.changes {
            files.apply(change, event.at);
        }
        files
    }

    fn apply(&mut self, change: &FileChange, at: SystemTime) {
        match change {
            FileChange::Written { path, size_bytes, encoding } => {
                let mut file = match self.files.get(path) {
                    Some(file) => file.written_again(at),
                    None => VirtualFile::made(path.clone(), at),
                };
                (file.size_bytes, file.encoding) = (*size_bytes, encoding.clone());
                self.files.insert(path.clone(), file);
            }
            FileChange::Removed { path } => drop(self.take(path)),
            FileChange::Renamed { from, to } => self.rename(from, to),
        }
    }

    /// Moves files, which are not written by that.
    fn rename(&mut self, from: &TreePath, to: &TreePath) {
        let moved = self.take(from);
        self.take(to);
        for mut file in moved {
            // A path that has become too long cannot be that of a file.
            if let Some(Ok(path)) = file.path.rebase(from, to) {
                file.path = path.clone();
                self.files.insert(path, file);
            }
        }
    }

    /// Takes out the file at a path, or all below it.
    fn take(&mut self, path: &TreePath) -> Vec<VirtualFile> {
        let below = self.files.range(path.clone()..).map(|(other, _)| other);
        let below: Vec<_> = below.take_while(|other| other.starts_with(path)).cloned().collect();
        below.iter().filter_map(|path| self.files.remove(path)).collect()
    }
}

impl TryFrom<Listing> for VirtualFileSystem {
    type Error = String;

    fn try_from(listing: Listing) -> Result<Self, String> {
        let mut files = OrdMap::new();
        for file in listing.files {
            if file.version == 0 {
                return Err(format!("the version of {} is 0, and versions start at 1", file.path));
            }
            if let Some(twice) = files.insert(file.path.clone(), file) {
                return Err(format!("{} is listed twice", twice.path));
            }
        }
        let filesystem_key = listing.filesystem_key.map(Arc::from);
        Ok(Self { filesystem_key, files, rest: listing.rest })
    }
}

impl From<VirtualFileSystem> for Listing {
    fn from(files: VirtualFileSystem) -> Self {
        let filesystem_key = files.filesystem_key().map(str::to_owned);
        Self { filesystem_key, files: files.files().cloned().collect(), rest: files.rest }
    }
}

/// Keeps a session's listings up to date.
pub(crate) fn follow(
    view: &View<'_, VirtualFileSystem>,
    event: &Arc<FilesChanged>,
) -> Items<VirtualFileSystem> {
    let listings = view.items().clone();
    let key = &event.filesystem_key;
    let place = place_of(&listings, key.as_deref());
    let before = place.and_then(|place| listings.get(place).cloned()).unwrap_or_default();
    let after = before.owned_by(key.clone()).after(event);
    match place {
        Some(place) => listings.with_at(place, after),
        None => listings.with(after),
    }
}

/// Finds the listing of a section's files among those of a session.
///
/// One without a key, as earlier versions wrote it, is that of the first section that looks for its own.
pub(crate) fn place_of(listings: &Items<VirtualFileSystem>, key: Option<&str>) -> Option<usize> {
    let find = |key: Option<&str>| listings.all().position(|it| it.filesystem_key() == key);
    find(key).or_else(|| find(None))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::session::Encoding;

    fn path(text: &str) -> TreePath {
        TreePath::parse(text).unwrap()
    }

    fn at(millis: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(millis)
    }

    fn write(text: &str, size_bytes: u64) -> FileChange {
        FileChange::written(path(text), size_bytes, Some(Encoding::Utf8))
    }

    fn after(events: &[(u64, Vec<FileChange>)]) -> VirtualFileSystem {
        events.iter().fold(VirtualFileSystem::default(), |files, (millis, changes)| {
            files.after(&FilesChanged::new(at(*millis), changes.clone()))
        })
    }

    fn versions(files: &VirtualFileSystem) -> Vec<(String, u64)> {
        files.files().map(|file| (file.path.to_string(), file.version)).collect()
    }

    #[test]
    fn making_a_file_sets_both_times_and_version_one() {
        let files = after(&[(7, vec![write("a", 3)])]);
        let file = files.get(&path("a")).unwrap();
        assert_eq!((file.version, file.size_bytes), (1, 3));
        assert_eq!((file.created_at, file.updated_at), (at(7), at(7)));
    }

    #[test]
    fn each_write_adds_one_to_the_version_and_sets_only_the_later_time() {
        let files =
            after(&[(7, vec![write("a", 3)]), (8, vec![write("a", 5)]), (9, vec![write("a", 4)])]);
        let file = files.get(&path("a")).unwrap();
        assert_eq!((file.version, file.size_bytes), (3, 4));
        assert_eq!((file.created_at, file.updated_at), (at(7), at(9)));
    }

    #[test]
    fn the_old_listing_is_left_as_it_was() {
        let before = after(&[(1, vec![write("a", 1)])]);
        let later = before.after(&FilesChanged::new(at(2), [write("a", 2), write("b", 1)]));
        assert_eq!((before.len(), later.len()), (1, 2));
        assert_eq!(before.get(&path("a")).unwrap().version, 1);
    }

    #[test]
    fn times_are_cut_to_the_millisecond() {
        let time = at(5) + Duration::from_micros(999);
        let files = VirtualFileSystem::default().after(&FilesChanged::new(time, [write("a", 1)]));
        assert_eq!(files.get(&path("a")).unwrap().created_at, at(5));
    }

    #[test]
    fn removing_a_directory_takes_all_below_it_and_nothing_beside_it() {
        let made = vec![
            write("d/x", 1),
            write("d/e/y", 1),
            write("d-e", 1),
            write("d.txt", 1),
            write("c", 1),
        ];
        let files = after(&[(1, made), (2, vec![FileChange::removed(path("d"))])]);
        assert_eq!(versions(&files), [("c".into(), 1), ("d-e".into(), 1), ("d.txt".into(), 1)]);
    }

    #[test]
    fn a_file_that_comes_again_starts_again() {
        let again = after(&[
            (1, vec![write("a", 1), write("a", 1)]),
            (2, vec![FileChange::removed(path("a")), write("a", 1)]),
        ]);
        assert_eq!(versions(&again), [("a".into(), 1)]);
        assert_eq!(again.get(&path("a")).unwrap().created_at, at(2));
    }

    #[test]
    fn a_rename_moves_files_with_their_versions_over_what_was_there() {
        let files = after(&[
            (1, vec![write("d/x", 1), write("d/x", 2), write("e/x", 9), write("e/y", 9)]),
            (2, vec![FileChange::renamed(path("d"), path("e"))]),
        ]);
        assert_eq!(versions(&files), [("e/x".into(), 2)]);
        assert_eq!(files.get(&path("e/x")).unwrap().updated_at, at(1));
    }

    #[test]
    fn files_come_sorted_by_segment_whatever_their_order_was() {
        let files = after(&[(1, ["b", "a-b", "a/b", "a.b"].map(|path| write(path, 0)).to_vec())]);
        let paths: Vec<_> = files.files().map(|file| file.path.to_string()).collect();
        assert_eq!(paths, ["a/b", "a-b", "a.b", "b"]);
    }

    #[test]
    fn a_listing_that_no_session_could_have_is_refused() {
        let json = |version: u64, twice: bool| {
            let file = format!(
                r#"{{"path":"a","size_bytes":1,"version":{version},"encoding":null,"created_at":"2026-11-16T00:00:00Z","updated_at":"2026-11-16T00:00:00Z"}}"#
            );
            let files = if twice { format!("{file},{file}") } else { file };
            serde_json::from_str::<VirtualFileSystem>(&format!(r#"{{"files":[{files}]}}"#))
        };
        assert!(json(1, false).is_ok());
        assert!(json(0, false).unwrap_err().to_string().contains("start at 1"));
        assert!(json(1, true).unwrap_err().to_string().contains("listed twice"));
    }
}

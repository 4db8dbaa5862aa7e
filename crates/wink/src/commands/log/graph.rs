//! `wink log --graph`.

use wink_fs::{Snapshot, SnapshotId};

/// Draws snapshots, newest first, below the current files.
pub(super) fn draw(
    head: &str,
    current: Option<SnapshotId>,
    snapshots: &[Snapshot],
    mark: impl Fn(&Snapshot) -> char,
    label: impl Fn(&Snapshot) -> String,
) -> String {
    let mut columns = Columns(current.into_iter().collect());
    let mut text = format!("@  {head}\n");
    for snapshot in snapshots {
        let at = columns.take_in(snapshot.id, &mut text);
        text += &columns.row(at, mark(snapshot));
        text += &format!(" {}\n", label(snapshot));
        let parent = snapshot.parent.filter(|id| snapshots.iter().any(|it| it.id == *id));
        columns.go_on(at, parent);
    }
    text
}

/// Writes the names of the forks that are at a snapshot.
pub(super) fn fork_names(snapshot: &Snapshot, forks: &[(String, SnapshotId)]) -> String {
    let names = forks.iter().filter(|(_, id)| *id == snapshot.id);
    names.map(|(name, _)| format!("  [{name}]")).collect()
}

/// The lines that are being drawn, each with the snapshot that it leads to.
struct Columns(Vec<SnapshotId>);

impl Columns {
    /// Brings the lines together that lead to a snapshot, and returns where it is.
    fn take_in(&mut self, id: SnapshotId, text: &mut String) -> usize {
        let Some(at) = self.0.iter().position(|it| *it == id) else {
            self.0.push(id);
            return self.0.len() - 1;
        };
        while let Some(other) = self.0.iter().rposition(|it| *it == id).filter(|it| *it > at) {
            *text += &self.join(at, other);
            self.0.remove(other);
        }
        at
    }

    /// Draws a line that ends in another one.
    fn join(&self, at: usize, other: usize) -> String {
        let cell = |column: usize| match column {
            column if column == at => "├─",
            column if column == other => "╯ ",
            column if column > at && column < other => "┼─",
            _ => "│ ",
        };
        let row: String = (0..self.0.len()).map(cell).collect();
        format!("{}\n", row.trim_end())
    }

    /// Draws the lines beside a snapshot's mark.
    fn row(&self, at: usize, mark: char) -> String {
        let cell = |column: usize| if column == at { mark } else { '│' };
        (0..self.0.len()).map(|column| format!("{} ", cell(column))).collect()
    }

    fn go_on(&mut self, at: usize, parent: Option<SnapshotId>) {
        match parent {
            Some(parent) => self.0[at] = parent,
            None => drop(self.0.remove(at)),
        }
    }
}

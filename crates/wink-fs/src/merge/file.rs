//! Merges a file that both sides changed.

use bytes::Bytes;

use super::lines::{self, Favour};
use super::patch::{Edit, Source};
use super::three_way::Sides;
use super::{ConflictKind, OnConflict};
use crate::error::{Error, Operation, Result};
use crate::ops;
use crate::path::TreePath;
use crate::tree::{FileMode, Kind, Tree};

/// Larger files are not merged by lines.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A NUL in so many first bytes makes a file binary, as in git.
const LOOKED_AT: usize = 8_000;

/// The new content, or `None` to keep ours; and the conflict, if there is one.
pub(super) type MergedFile = (Option<Edit>, Option<ConflictKind>);

/// Merges a file that exists on both sides.
pub(super) fn merge(
    sides: &Sides<'_>,
    path: &TreePath,
    was: Option<Kind>,
    on_conflict: OnConflict,
) -> Result<MergedFile> {
    let base = (was == Some(Kind::File)).then_some(sides.base);
    let both = Both { sides, base, path, on_conflict };
    let (mode, mode_conflict) = both.mode()?;
    let (content, conflict) = both.content()?;
    let is_ours = matches!(content, Source::Ours(_)) && sides.ours.stat(path)?.mode == mode;
    let edit = (!is_ours).then_some(Edit::File { content, mode });
    Ok((edit, conflict.or(mode_conflict)))
}

struct Both<'a> {
    sides: &'a Sides<'a>,
    /// The file before, if it existed.
    base: Option<&'a dyn Tree>,
    path: &'a TreePath,
    on_conflict: OnConflict,
}

impl Both<'_> {
    /// Merges modes: a bit that one side changed is changed.
    fn mode(&self) -> Result<(FileMode, Option<ConflictKind>)> {
        let mode = |tree: &dyn Tree| tree.stat(self.path).map(|stat| stat.mode);
        let ours = mode(self.sides.ours)?;
        let theirs = mode(self.sides.theirs)?;
        let Some(base) = self.base.map(mode).transpose()? else {
            let is_theirs = self.on_conflict == OnConflict::Theirs;
            let conflict = (ours != theirs).then_some(ConflictKind::Mode);
            return Ok((if is_theirs { theirs } else { ours }, conflict));
        };
        let pick = |base: bool, ours: bool, theirs: bool| if ours == base { theirs } else { ours };
        let merged = FileMode::default()
            .executable(pick(base.executable, ours.executable, theirs.executable))
            .private(pick(base.private, ours.private, theirs.private));
        Ok((merged, None))
    }

    fn content(&self) -> Result<(Source, Option<ConflictKind>)> {
        let hash = |tree: &dyn Tree| ops::content_hash(tree, self.path);
        let ours = hash(self.sides.ours)?;
        let theirs = hash(self.sides.theirs)?;
        let base = self.base.map(hash).transpose()?;
        if ours == theirs || base == Some(theirs) {
            return Ok((Source::Ours(self.path.clone()), None));
        }
        if base == Some(ours) {
            return Ok((Source::Theirs(self.path.clone()), None));
        }
        match self.texts()? {
            Some([base, ours, theirs]) => Ok(self.lines(&base, &ours, &theirs)),
            None => Ok((self.favoured(), Some(ConflictKind::Binary))),
        }
    }

    fn lines(&self, base: &[u8], ours: &[u8], theirs: &[u8]) -> (Source, Option<ConflictKind>) {
        let favour = match self.on_conflict {
            OnConflict::Ours => Favour::Ours,
            OnConflict::Theirs => Favour::Theirs,
            OnConflict::Stop | OnConflict::Markers => Favour::Both,
        };
        let merged = lines::merge(base, ours, theirs, favour);
        let conflict = merged.conflicted.then_some(ConflictKind::Lines);
        (Source::Bytes(merged.bytes.into()), conflict)
    }

    fn favoured(&self) -> Source {
        match self.on_conflict {
            OnConflict::Theirs => Source::Theirs(self.path.clone()),
            _ => Source::Ours(self.path.clone()),
        }
    }

    /// Reads all three texts; `None` if one is binary.
    fn texts(&self) -> Result<Option<[Bytes; 3]>> {
        let base = match self.base {
            Some(base) => text(base, self.path)?,
            None => Some(Bytes::new()),
        };
        let ours = text(self.sides.ours, self.path)?;
        let theirs = text(self.sides.theirs, self.path)?;
        Ok(base.zip(ours).zip(theirs).map(|((base, ours), theirs)| [base, ours, theirs]))
    }
}

fn text(tree: &dyn Tree, path: &TreePath) -> Result<Option<Bytes>> {
    let content = tree.open(path)?;
    if content.len() > MAX_BYTES {
        return Ok(None);
    }
    let bytes = content.read_all();
    let bytes = bytes.map_err(|error| Error::system(Operation::Merge, error).with_path(path))?;
    let is_text = !bytes[..bytes.len().min(LOOKED_AT)].contains(&0);
    Ok(Some(bytes).filter(|_| is_text))
}

//! Taking back the changes of an operation, the last one first.
//!
//! This is the one place that decides what becomes of a path. It is used when a call failed (roll-back), when its
//! process died (recovery), and for undo and redo. `docs/undo.md` is the page that it follows: a path is as it was
//! *before* the change, as it is *after* it, or *neither*, and what is neither belongs to another program. That is
//! never replaced or removed, but left alone and named.

use std::collections::BTreeSet;
use std::io::Write as _;

use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::event::Event;
use crate::filesystem::layer::Source;
use crate::filesystem::{Backend, EntryIdentity, PutCondition, PutOptions, Recursion, Replacement};
use crate::hash::ContentHash;
use crate::oplog::{KeptEntry, Left, Recorded, Step};
use crate::path::TreePath;
use crate::tree::compare::kind_at;
use crate::tree::descend::descend;
use crate::tree::merkle::Identity;
use crate::tree::scope::Scope;
use crate::tree::{FileMode, Kind};
use crate::workspace::history::History;

/// What became of the paths of an operation.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Those that are as they were, and were not before.
    pub(crate) back: BTreeSet<TreePath>,
    /// Those that another program changed or made, which were left alone.
    pub(crate) left: BTreeSet<TreePath>,
    /// The directories that were made and stay, because of what others put into them.
    stayed: BTreeSet<TreePath>,
}

impl Outcome {
    /// Makes the outcome of what was decided elsewhere.
    pub(crate) fn new(back: &[TreePath], left: Vec<TreePath>) -> Self {
        let (back, left) = (back.iter().cloned().collect(), left.into_iter().collect());
        Self { back, left, stayed: BTreeSet::new() }
    }
}

/// How many entries of a directory are named that stays for them; more are named by the directory.
const MOST_NAMED: usize = 100;

impl History {
    /// Takes back what changes did; see [`take_back`]. Observers are told of it as of one replacement.
    pub(crate) fn take_back(
        &self,
        files: &mut dyn Backend,
        recorded: &Recorded,
        is_left: fn(&Error) -> bool,
        kept: Kept,
    ) -> Result<Outcome> {
        let outcome = self.observers.quietly(|| take_back(files, recorded, is_left, kept));
        let paths = match &outcome {
            Ok(outcome) => Scope::paths(outcome.back.iter().cloned()),
            Err(_) => Scope::paths(recorded.paths().cloned()),
        };
        if !paths.starts().is_empty() {
            self.observers.tell(&Event::Replaced { paths: paths.starts().to_vec() });
        }
        outcome
    }
}

/// What becomes of what an operation kept when it is brought back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It is copied: the operation may be taken back once more.
    Stays,
    /// It moves where it can: the operation is given up.
    Goes,
}

/// What a change's path is now.
enum State {
    /// As it was before the change.
    Before,
    /// The same, since this call.
    Back,
    Neither,
}

/// Takes back what changes did, the last one first; nothing that another program did is touched.
///
/// It can be done again, or go on after it was interrupted: what is as it was stays so. A path is left alone where
/// `is_left` says so of an error; any other error ends it.
fn take_back(
    files: &mut dyn Backend,
    recorded: &Recorded,
    is_left: fn(&Error) -> bool,
    fate: Kept,
) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let made = &recorded.steps[..recorded.steps.len() - recorded.rescued.len()];
    for (number, (line, step)) in made.iter().enumerate().rev() {
        let over = number.checked_sub(1).map(|before| &recorded.steps[before]);
        let over = over.filter(|(_, it)| matches!(it, Step::Remove { .. }));
        let over = over.map_or(Ok(None), |(line, _)| recorded.kept(*line));
        let taken_back = recorded.kept(*line).and_then(|kept| {
            TakeBack { files: &mut *files, kept, over: over?, left: Vec::new(), fate }.step(step)
        });
        match taken_back {
            Ok((State::Before, _)) => {}
            Ok((State::Back, left)) => {
                outcome.back.extend(step.paths().cloned());
                outcome.left.extend(left);
            }
            Ok((State::Neither, _)) => outcome.leave(files, step),
            Err(error) if is_left(&error) => outcome.left.extend(step.paths().cloned()),
            Err(error) => return Err(error),
        }
    }
    let Outcome { back, left, stayed } = &mut outcome;
    back.retain(|path| !left.contains(path) && !stayed.contains(path));
    Ok(outcome)
}

impl Outcome {
    /// Names what is left alone for a change: its paths, or what others put into a directory that it made.
    fn leave(&mut self, files: &dyn Backend, step: &Step) {
        let Step::MakeDir { path } = step else { return self.left.extend(step.paths().cloned()) };
        let entries = files.list(path).unwrap_or_default();
        if entries.is_empty() || entries.len() > MOST_NAMED {
            self.left.insert(path.clone());
            return;
        }
        let theirs = entries.iter().filter_map(|entry| path.join(&entry.name).ok());
        let theirs = theirs.filter(|it| !self.stayed.contains(it)).collect::<Vec<_>>();
        self.left.extend(theirs);
        self.stayed.insert(path.clone());
    }
}

/// Tells whether an error says what is at a path, and not that the backend or the history cannot go on.
pub(crate) fn is_of_the_path(error: &Error) -> bool {
    let of_the_disk = matches!(
        error.kind(),
        ErrorKind::Io | ErrorKind::NoSpace | ErrorKind::Corrupt | ErrorKind::ReadOnly
    );
    is_lasting(error) && !of_the_disk
}

/// Tells whether an error may stay: to wait for it to go would keep all other calls waiting too.
pub(crate) fn is_lasting(error: &Error) -> bool {
    let passes = matches!(
        error.kind(),
        ErrorKind::Unavailable | ErrorKind::Locked | ErrorKind::Deadline | ErrorKind::Cancelled
    );
    !passes && !error.is_shortage()
}

struct TakeBack<'a> {
    files: &'a mut dyn Backend,
    /// What the change displaced.
    kept: Option<KeptEntry>,
    /// What the change before it displaced, where that was to make room for it.
    over: Option<KeptEntry>,
    /// What was left alone although the rest is as it was.
    left: Vec<TreePath>,
    fate: Kept,
}

impl TakeBack<'_> {
    fn step(mut self, step: &Step) -> Result<(State, Vec<TreePath>)> {
        let state = match step {
            Step::Put { path, content } => self.put(path, *content),
            Step::Place { path, left } => self.place(path, left),
            Step::MakeDir { path } => self.make_dir(path),
            Step::SetMode { path, was, is } => self.set_mode(path, *was, *is),
            Step::Remove { path } => self.remove(path),
            Step::Move { from, to, moved } => self.moved(from, to, moved),
        }?;
        Ok((state, self.left))
    }

    fn at(&self, path: &TreePath) -> Result<Option<Left>> {
        Left::at(self.files, path)
    }

    /// Returns what the change displaced, by its identity.
    fn displaced(&self) -> Result<Option<Left>> {
        identity(self.kept.as_ref())
    }

    fn put(&mut self, path: &TreePath, content: ContentHash) -> Result<State> {
        let (found, displaced) = (self.at(path)?, self.displaced()?);
        let has_content = |left: &Option<Left>| matches!(left, Some(Left::Entry(Identity::File { hash, .. })) if *hash == content);
        // The new content waits where what it displaces is to be kept until both change places.
        if found == displaced || has_content(&displaced) {
            return Ok(State::Before);
        }
        match (found, self.kept.clone()) {
            (Some(Left::Entry(found)), kept) if has_content(&Some(Left::Entry(found))) => {
                self.exchange(path, found, kept)
            }
            _ => Ok(State::Neither),
        }
    }

    fn place(&mut self, path: &TreePath, left: &Left) -> Result<State> {
        let (found, displaced) = (self.at(path)?, self.displaced()?);
        match (found, left) {
            (found, _) if found == displaced => Ok(State::Before),
            (Some(Left::Entry(found)), Left::Entry(left)) if found == *left => {
                self.exchange(path, found, self.kept.clone())
            }
            _ => Ok(State::Neither),
        }
    }

    /// Puts what was displaced in the place of what is there, if that is still this entry.
    fn exchange(
        &mut self,
        path: &TreePath,
        found: Identity,
        kept: Option<KeptEntry>,
    ) -> Result<State> {
        let unchanged = Recursion::Unchanged(EntryIdentity(found));
        let Some(kept) = kept else {
            self.files.remove(path, unchanged)?;
            return Ok(State::Back);
        };
        let stat = kept.tree.stat(&kept.at)?;
        match (found, stat.kind) {
            (Identity::File { hash, .. }, Kind::File) if self.fate == Kept::Stays => {
                let options = PutOptions::default().condition(PutCondition::Unchanged(hash));
                self.put_file(path, &kept, &options.mode(stat.mode))
            }
            _ => {
                self.files.remove(path, unchanged)?;
                self.bring(path, &kept)
            }
        }
    }

    fn put_file(
        &mut self,
        path: &TreePath,
        kept: &KeptEntry,
        options: &PutOptions,
    ) -> Result<State> {
        let content = kept.tree.open(&kept.at)?;
        let mut staging = self.files.stage()?;
        let failed = |error| Error::system(Operation::Undo, error).with_path(path);
        content.for_each_chunk(|chunk| staging.write_all(chunk)).map_err(failed)?;
        let mut staged = staging.finish().map_err(failed)?;
        self.files.put(path, &mut staged, options)?;
        Ok(State::Back)
    }

    /// Brings in what was displaced, where nothing is.
    fn bring(&mut self, path: &TreePath, kept: &KeptEntry) -> Result<State> {
        if self.fate == Kept::Goes && self.files.give_back(path, kept)? {
            return Ok(State::Back);
        }
        let stat = kept.tree.stat(&kept.at)?;
        match stat.kind {
            Kind::File => {
                let options = PutOptions::default().condition(PutCondition::Absent);
                return self.put_file(path, kept, &options.mode(stat.mode));
            }
            Kind::Symlink => self.files.symlink(path, &kept.tree.read_link(&kept.at)?)?,
            Kind::Directory | Kind::Other => {
                self.files.install(path, Source { tree: &*kept.tree, at: &kept.at })?;
            }
        }
        Ok(State::Back)
    }

    fn make_dir(&mut self, path: &TreePath) -> Result<State> {
        match kind_at(self.files, path)? {
            None => Ok(State::Before),
            // Not with what others put into it.
            Some(Kind::Directory) => match self.files.remove(path, Recursion::OnlyEmpty) {
                Err(error) if error.kind() == ErrorKind::NotEmpty => Ok(State::Neither),
                removed => removed.map(|_| State::Back),
            },
            Some(_) => Ok(State::Neither),
        }
    }

    fn set_mode(&mut self, path: &TreePath, was: FileMode, is: FileMode) -> Result<State> {
        match self.files.stat(path) {
            Ok(stat) if stat.kind == Kind::File && stat.mode == was => Ok(State::Before),
            Ok(stat) if stat.kind == Kind::File && stat.mode == is => {
                self.files.set_mode(path, was)?;
                Ok(State::Back)
            }
            _ => Ok(State::Neither),
        }
    }

    fn remove(&mut self, path: &TreePath) -> Result<State> {
        let Some(kept) = self.kept.clone() else { return Ok(State::Before) };
        match kind_at(self.files, path)? {
            None => self.bring(path, &kept),
            Some(Kind::Directory) if kept.tree.stat(&kept.at)?.kind == Kind::Directory => {
                self.merge(path, &kept)
            }
            Some(_) if self.at(path)? == self.displaced()? => Ok(State::Before),
            Some(_) => Ok(State::Neither),
        }
    }

    /// Brings in what is missing of a directory that is there again, or was removed in part.
    fn merge(&mut self, path: &TreePath, kept: &KeptEntry) -> Result<State> {
        for entry in kept.tree.list(&kept.at)? {
            let (path, at) = (path.join(&entry.name)?, kept.at.join(&entry.name)?);
            let kept = KeptEntry { tree: kept.tree.clone(), at };
            match kind_at(self.files, &path)? {
                None => {
                    self.bring(&path, &kept)?;
                }
                Some(Kind::Directory) if entry.kind == Kind::Directory => {
                    descend(|| self.merge(&path, &kept))?;
                }
                Some(_) if self.at(&path)? == Left::at(&*kept.tree, &kept.at)? => {}
                Some(_) => self.left.push(path),
            }
        }
        Ok(State::Back)
    }

    fn moved(&mut self, from: &TreePath, to: &TreePath, moved: &Left) -> Result<State> {
        let (at_from, at_to) = (self.at(from)?, self.at(to)?);
        match (&at_from, &at_to) {
            (Some(at_from), _) if at_from == moved && at_to.as_ref() != Some(moved) => {
                Ok(State::Before)
            }
            (None, Some(at_to)) if at_to == moved => {
                self.files.rename(to, from, Replacement::Refuse)?;
                Ok(State::Back)
            }
            // The process died when both had changed places, and what was displaced was still in view.
            (Some(Left::Entry(found)), Some(at_to))
                if at_to == moved && at_from == identity(self.over.as_ref())? =>
            {
                self.files.remove(from, Recursion::Unchanged(EntryIdentity(*found)))?;
                self.files.rename(to, from, Replacement::Refuse)?;
                Ok(State::Back)
            }
            // The process died, or gave up, when it waited where what it displaces is to be kept.
            (None, _) if identity(self.over.as_ref())?.as_ref() == Some(moved) => {
                match self.over.clone() {
                    Some(waiting) => self.bring(from, &waiting),
                    None => Ok(State::Neither),
                }
            }
            // Another program wrote into the file where it is now; here is what it was.
            (None, Some(_)) => match self.kept.clone() {
                Some(kept) if self.displaced()?.as_ref() == Some(moved) => {
                    let state = self.bring(from, &kept)?;
                    self.left.push(to.clone());
                    Ok(state)
                }
                _ => Ok(State::Neither),
            },
            _ => Ok(State::Neither),
        }
    }
}

fn identity(kept: Option<&KeptEntry>) -> Result<Option<Left>> {
    kept.map_or(Ok(None), |kept| Left::at(&*kept.tree, &kept.at))
}

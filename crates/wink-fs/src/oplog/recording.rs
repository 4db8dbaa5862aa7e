//! The layer that logs every change of an operation before it is made.

use std::fmt;

use parking_lot::Mutex;

use super::content_id::ContentId;
use super::hashes::Hashes;
use super::image::{BeforeImage, Nothing};
use super::recorded::Recorded;
use super::step::{Line, Step};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::filesystem::layer::{Call, Layer};
use crate::filesystem::{PutCondition, Removed, Replacement};
use crate::ops;
use crate::path::TreePath;
use crate::store::failure::of_history;
use crate::tree::descend;
use crate::tree::merkle::Identity;
use crate::tree::{Kind, Tree};

/// Records one operation at a time.
#[derive(Default)]
pub(crate) struct Recording(Mutex<Option<Record>>);

/// The steps of an operation so far.
pub(crate) struct Record {
    image: Box<dyn BeforeImage>,
    lines: usize,
    /// The steps that were made, with their line numbers, and those of the call in progress.
    steps: Vec<(usize, Step)>,
    /// How many were made.
    done: usize,
    /// Abandoned steps for which another program's work is kept.
    rescued: Vec<(usize, Step)>,
    /// Hashes of replaced content, as given by the caller, so that it need not be read.
    replaced: Hashes,
    /// Hashes of content that was put and is still there, so that it need not be read.
    put: Hashes,
}

impl Record {
    fn new(image: Box<dyn BeforeImage>) -> Self {
        let replaced = Hashes::default();
        let put = Hashes::default();
        let steps = Vec::new();
        let rescued = Vec::new();
        Self { image, lines: 0, steps, done: 0, rescued, replaced, put }
    }
}

impl Recording {
    /// Runs `work` and records its changes.
    pub(crate) fn during<T>(
        &self,
        image: Box<dyn BeforeImage>,
        work: impl FnOnce() -> T,
    ) -> (T, Record) {
        // This also replaces what a panic left.
        *self.0.lock() = Some(Record::new(image));
        let done = work();
        (done, self.0.lock().take().unwrap_or_else(|| Record::new(Box::new(Nothing))))
    }
}

impl Record {
    /// Returns the steps that were made, with their pre-images.
    pub(crate) fn recorded(&self) -> Recorded {
        let steps = self.steps[..self.done].to_vec();
        Recorded::new(steps, self.image.kept())
    }

    /// Returns abandoned steps that have a pre-image all the same: another program wrote into the new file while it was
    /// in view, or replaced it.
    pub(crate) fn rescued(&self) -> Result<Recorded> {
        let mut steps = self.rescued.clone();
        steps.extend(self.given_up()?);
        Ok(Recorded::new(steps, self.image.kept()))
    }

    /// Like [`rescued`](Self::rescued), with the steps whose pre-image a program may still write into.
    pub(crate) fn unsettled(&self) -> Result<Recorded> {
        let mut unsettled = self.rescued()?;
        let made = self.steps[..self.done].iter();
        unsettled.steps.extend(made.filter(|it| self.image.may_be_written(it.0)).cloned());
        Ok(Recorded::new(Vec::new(), self.image.kept()).and(unsettled))
    }

    /// Returns those of the call in progress.
    fn given_up(&self) -> Result<Vec<(usize, Step)>> {
        let kept = self.image.kept();
        let mut steps = Vec::new();
        let given_up = &self.steps[self.done..];
        for (line, step) in given_up.iter().filter(|_| self.image.keeps_by_the_change()) {
            let Some(entry) = kept.entry(*line)? else { continue };
            let is_ours = match step {
                Step::Put { content, .. } => {
                    !self.image.may_be_written(*line)
                        && ops::content_hash(&*entry.tree, &entry.at)? == *content
                }
                // An abandoned removal puts back what it displaced, so a pre-image that is still there could not go
                // back.
                Step::Remove { .. } => false,
                _ => true,
            };
            if !is_ours {
                steps.push((*line, step.clone()));
            }
        }
        Ok(steps)
    }

    /// Returns the known hashes of replaced content.
    pub(crate) fn replaced(&self) -> &Hashes {
        &self.replaced
    }

    /// Returns the hashes of content that was put and is still there.
    pub(crate) fn put(&self) -> &Hashes {
        &self.put
    }

    /// Logs the steps of a call.
    fn begin(&mut self, tree: &dyn Tree, call: &Call<'_>) -> Result<()> {
        self.void()?;
        for step in steps_of(tree, call)? {
            self.announce(step)?;
        }
        Ok(())
    }

    fn announce(&mut self, step: Step) -> Result<()> {
        let displaced = match &step {
            Step::Put { path, .. } | Step::Remove { path } => Some(path),
            _ => None,
        };
        let line = Line::Step(step.clone()).encode();
        let begun = self.image.begin(&line, displaced);
        begun.map_err(|error| of_history(error.with_path(step.path())))?;
        if let Step::Move { from, moved: ContentId::Entry(Identity::File { .. }), .. } = &step {
            self.image.keep_copy(from).map_err(of_history)?;
        }
        self.steps.push((self.lines, step));
        self.lines += 1;
        Ok(())
    }

    /// Logs that the last call failed and changed nothing.
    fn void(&mut self) -> Result<()> {
        // The failed call's lines stay in the file, because it is only appended to. A void line tells recovery to skip
        // them.
        let Some((from, _)) = self.steps.get(self.done) else { return Ok(()) };
        let line = Line::Void { from: *from }.encode();
        self.image.note(&line).map_err(of_history)?;
        self.lines += 1;
        let given_up = self.given_up()?;
        self.rescued.extend(given_up);
        self.steps.truncate(self.done);
        Ok(())
    }

    fn done(&mut self, call: &Call<'_>) {
        for (_, step) in &self.steps[self.done..] {
            step.paths().for_each(|path| self.put.forget(path));
            match step {
                Step::Put { path, content } => {
                    let condition = match call {
                        Call::Put { options, .. } => options.condition,
                        _ => PutCondition::AbsentOrFile,
                    };
                    // Only for the first step: after it, the file may be one that this operation put itself.
                    if let (PutCondition::Unchanged(hash), 0) = (condition, self.done) {
                        self.replaced.note(path, hash);
                    }
                    self.put.note(path, *content);
                }
                Step::Move { to, moved, .. } => self.put.note_moved(to, moved),
                _ => {}
            }
        }
        self.done = self.steps.len();
    }
}

/// Returns the steps that a call is about to make; none if it is sure to fail.
fn steps_of(tree: &dyn Tree, call: &Call<'_>) -> Result<Vec<Step>> {
    let path = call.path().filter(|path| !path.is_root()).cloned();
    let Some(path) = path else { return Ok(Vec::new()) };
    let is_free = |path: &TreePath| tree.stat(path).is_err();
    Ok(match *call {
        Call::Put { staged, .. } => vec![Step::Put { path, content: staged.hash() }],
        Call::CreateDir { .. } if is_free(&path) => vec![Step::MakeDir { path }],
        Call::Symlink { target, .. } if is_free(&path) => {
            vec![Step::Place { path, left: ContentId::Entry(Identity::of_link(target)) }]
        }
        Call::Install { source, .. } if is_free(&path) => {
            match ContentId::at(source.tree, source.at)? {
                Some(left) => vec![Step::Place { path, left }],
                None => Vec::new(),
            }
        }
        Call::SetMode { mode, .. } => match tree.stat(&path) {
            Ok(stat) if stat.kind == Kind::File => {
                vec![Step::SetMode { path, was: stat.mode, is: mode }]
            }
            _ => Vec::new(),
        },
        Call::Remove { .. } => vec![Step::Remove { path }],
        Call::Rename { to, replacement, .. } if !to.is_root() && path != *to => {
            // Computed before the move: what other programs create in the directory during the move is not part of it.
            let missing = || Error::new(Operation::Rename, ErrorKind::NotFound).with_path(&path);
            // If this fails, so does the call: without a logged step it would keep no pre-image.
            let moved = ContentId::at(tree, &path)?.ok_or_else(missing)?;
            if let ContentId::Entry(Identity::Directory(_)) = moved {
                check_names_below(tree, &path, to)?;
            }
            // Even if nothing is there now: another program may create the target before the rename.
            let may_displace = replacement == Replacement::Replace;
            let displaced = may_displace.then(|| Step::Remove { path: to.clone() });
            let step = Step::Move { from: path, to: to.clone(), moved };
            displaced.into_iter().chain([step]).collect()
        }
        _ => Vec::new(),
    })
}

/// Refuses a move after which an entry would be too deep to have a path, because it could not be moved back.
fn check_names_below(tree: &dyn Tree, directory: &TreePath, to: &TreePath) -> Result<()> {
    if to.as_bytes().len() <= directory.as_bytes().len() {
        return Ok(());
    }
    for entry in tree.list(directory)? {
        let too_long = || checks::not_all_nameable(to);
        let moved = to.join(&entry.name).map_err(|_| too_long())?;
        if entry.kind == Kind::Directory {
            descend(|| check_names_below(tree, &directory.join(&entry.name)?, &moved))?;
        }
    }
    Ok(())
}

impl Layer for Recording {
    fn before(&self, tree: &dyn Tree, call: &Call<'_>) -> Result<()> {
        if !call.is_change() {
            return Ok(());
        }
        match &mut *self.0.lock() {
            Some(record) => record.begin(tree, call),
            None => Ok(()),
        }
    }

    fn after(&self, call: &Call<'_>, _: Removed) {
        if !call.is_change() {
            return;
        }
        if let Some(record) = &mut *self.0.lock() {
            record.done(call);
        }
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recording({})", if self.0.lock().is_some() { "on" } else { "off" })
    }
}

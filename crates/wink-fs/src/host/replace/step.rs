//! One rename that brings an entry in, or takes one out, or both.

use std::path::Path;

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::RenameFlags;
use rustix::io::{Errno, Result};

use super::Action;
use crate::error::{Error, Operation};
use crate::host::capture::stamp::{self, Stamp};
use crate::host::copy::transfer::{self, Place};
use crate::host::displace::{self, Looked};
use crate::host::lease;
use crate::host::preimage::fingerprint::Fingerprint;
use crate::host::preimage::read;
use crate::host::purge::{self, Stamps};
use crate::host::root::Root;
use crate::oplog::Left;
use crate::path::TreePath;
use crate::tree::compare::kind_at;
use crate::tree::descend::descend;
use crate::tree::{Kind, Tree};

/// What a rename does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::host) enum Move {
    /// The entry in view goes to the staging directory.
    Out,
    /// The entry in the staging directory comes into view.
    In,
    /// They change places.
    Exchange,
    /// The entry in the staging directory stays there as long as a program may write into it.
    Keep,
    /// The entry in the staging directory comes back; where a directory is there, what is missing in it.
    Return,
    /// The directory in the staging directory goes, but for what programs that work in it made or changed.
    Purge,
}

impl Move {
    pub(super) fn of(action: Action) -> Self {
        match action {
            Action::Remove => Self::Out,
            Action::Add(_) | Action::AddParent => Self::In,
            Action::Exchange(_) => Self::Exchange,
        }
    }

    fn back(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
            Self::Exchange => Self::Exchange,
            Self::Keep | Self::Return | Self::Purge => self,
        }
    }
}

/// What is in the staging directory of what went out of view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Displaced {
    Nothing,
    /// What it was, and no program can write into it any more.
    Settled,
    /// A program may write into it, or it cannot be told.
    Open,
    /// A program wrote into it.
    Written,
}

/// A rename, with the stamps of what it moves as they are before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::host) struct Step {
    pub(super) what: Move,
    pub(super) path: TreePath,
    /// The name in the staging directory.
    pub(super) name: String,
    pub(super) standing: Option<Stamp>,
    pub(super) waiting: Option<Stamp>,
    /// What is in the directory that goes out of view.
    pub(super) inside: Option<Fingerprint>,
    /// The content of what goes out of view, as it is kept elsewhere, where a program had it open: what it stores through
    /// a mapping may change no time.
    pub(super) content: Option<Left>,
}

impl Step {
    /// Says that what is in the staging directory comes back.
    pub(super) fn returning(path: &TreePath, name: &str) -> Self {
        let (what, path, name) = (Move::Return, path.clone(), name.to_owned());
        Self { what, path, name, standing: None, waiting: None, inside: None, content: None }
    }

    /// Says that what was looked at stays in the staging directory as long as a program may write into it.
    pub(super) fn keeping(path: &TreePath, name: &str, looked: &Looked) -> Self {
        let (standing, inside) = (Some(looked.stamp), looked.inside);
        Self { what: Move::Keep, standing, inside, ..Self::returning(path, name) }
    }

    /// Says that what went out of view stays in the staging directory as long as a program may write into it.
    pub(super) fn kept(self) -> Self {
        Self { what: Move::Keep, waiting: None, ..self }
    }

    /// Says that a directory goes which is out of view; its stamp is of before it was looked at.
    pub(super) fn purging(&self, out: Stamp) -> Self {
        let standing = Some(out);
        Self { what: Move::Purge, standing, ..Self::returning(&self.path, &self.name) }
    }

    /// Tells whether a stamp is that of what comes into view.
    pub(super) fn is_new(&self, found: Option<Stamp>) -> bool {
        matches!((found, self.waiting), (Some(found), Some(new)) if found.is_same_but_renamed(&new))
    }
}

/// The two places of a step.
pub(super) struct Places<'a> {
    pub(super) root: &'a Root,
    pub(super) staging: BorrowedFd<'a>,
}

impl Places<'_> {
    /// Looks at both places of a step.
    pub(super) fn look(
        &self,
        path: &TreePath,
        name: &str,
    ) -> Result<(Option<Stamp>, Option<Stamp>)> {
        let slot = match self.root.open_parent(path) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => None,
            slot => slot?,
        };
        let standing = match slot {
            None => None,
            Some(slot) => stamp_of(slot.directory.as_fd(), slot.name)?,
        };
        Ok((standing, stamp_of(self.staging, name.as_bytes())?))
    }

    /// Does a step; where it took out what is not what was looked at, that comes back.
    pub(super) fn forward(&self, step: &mut Step) -> Result<()> {
        let is_directory = step.standing.is_some_and(|it| it.kind() == Kind::Directory);
        match self.rename(step, step.what) {
            Err(Errno::XDEV) if is_directory => return self.forward_by_parts(step),
            renamed => renamed?,
        }
        if !self.displaced_another(step) {
            Ok(())
        } else {
            // Another program changed it since it was inspected: its work stays where it is.
            match step.waiting {
                // It was in view only for a moment.
                Some(new) if new.kind() == Kind::Directory => self.rename(step, step.what)?,
                _ => self.put_back(step)?,
            }
            Err(Errno::STALE)
        }
    }

    /// Does a step with a directory that the file system does not rename, entry by entry: all of them get other stamps,
    /// which the step has from then on.
    fn forward_by_parts(&self, step: &mut Step) -> Result<()> {
        let slot = self.root.open_parent(&step.path)?.ok_or(Errno::EXIST)?;
        let (standing, name) = (Place::of(&slot), step.name.as_bytes());
        let contents = |at: Place<'_>| Fingerprint::of_contents(self.root, at.0, at.1);
        if Some(Fingerprint::of(self.root, standing.0, standing.1)?) != step.inside {
            return Err(Errno::STALE);
        }
        let (before, out) = (contents(standing)?, aside_name(step));
        let out = Place(self.staging, out.as_bytes());
        transfer::transfer(standing, out)?;
        let is_same = contents(out).is_ok_and(|found| found == before);
        let moved = match (is_same, step.what) {
            (false, _) => Err(Errno::STALE),
            (true, Move::Exchange) => transfer::transfer(Place(self.staging, name), standing),
            (true, _) => Ok(()),
        };
        let moved = moved.and_then(|()| transfer::transfer(out, Place(self.staging, name)));
        moved.inspect_err(|_| _ = transfer::merge(out, standing))?;
        let inside = Fingerprint::of(self.root, self.staging, name)?;
        (step.standing, step.inside) = (stamp_of(self.staging, name)?, Some(inside));
        Ok(())
    }

    /// Goes on where a process died in the middle of such a step: the directory comes back, unless something else
    /// has its place already.
    pub(super) fn settle_parts(&self, step: &Step) -> Result<()> {
        let (out, name) = (aside_name(step), step.name.as_bytes());
        let out = Place(self.staging, out.as_bytes());
        match (stamp_of(out.0, out.1)?, stamp_of(self.staging, name)?) {
            (None, _) => Ok(()),
            (Some(_), None) if step.what == Move::Exchange => {
                transfer::transfer(out, Place(self.staging, name))
            }
            (Some(_), _) => {
                let slot = self.root.open_parent(&step.path)?.ok_or(Errno::EXIST)?;
                transfer::merge(out, Place::of(&slot))
            }
        }
    }

    /// Undoes a step, unless another program wrote into what came into view, or has it open: that stays in view, or
    /// comes back when its place is free. The target is where it came from.
    pub(super) fn back(&self, step: &mut Step, target: &dyn Tree) -> Result<()> {
        self.rename(step, step.what.back())?;
        if self.is_untouched(step, target) {
            return Ok(());
        }
        if self.rename(step, step.what).is_err() {
            *step = Step::returning(&step.path, &step.name);
        }
        Err(Errno::STALE)
    }

    /// Tells whether what came into view and is out of it again is as it was made. A directory of which all is gone
    /// that was made is none any more.
    fn is_untouched(&self, step: &Step, target: &dyn Tree) -> bool {
        let name = step.name.as_bytes();
        match step.waiting.map(|waiting| waiting.kind()) {
            None => true,
            Some(Kind::Directory) => {
                let known = purge::stamps_below(self.root, self.staging, name);
                Fingerprint::of_unopened(self.root, self.staging, name).is_ok()
                    && self.holds_only(step, target).unwrap_or(false)
                    && known.is_ok_and(|known| self.purge(step, &known))
            }
            Some(_) => {
                let found = lease::unopened_stamp(self.staging, name);
                found.is_ok_and(|found| step.is_new(Some(found)))
            }
        }
    }

    /// Tells whether all that is in a directory is in the target too.
    fn holds_only(&self, step: &Step, target: &dyn Tree) -> crate::error::Result<bool> {
        let failed = |errno| Error::system(Operation::Replace, errno);
        let staging = displace::open_place(self.staging).map_err(failed)?;
        is_part_of(&staging, &TreePath::parse(&step.name)?, target, &step.path)
    }

    /// Brings into view again what was not to be taken out of it, where nothing else has its place.
    pub(super) fn put_back(&self, step: &Step) -> Result<()> {
        match self.look(&step.path, &step.name)?.0 {
            None => self.rename(step, Move::In),
            // The stamp of a directory does not tell what programs saved in it.
            Some(found) if step.what == Move::Exchange && found.kind() != Kind::Directory => {
                self.exchange_back(step)
            }
            Some(_) => Err(Errno::EXIST),
        }
    }

    /// Changes places again with what came into view, unless a program wrote into that, or has it open.
    fn exchange_back(&self, step: &Step) -> Result<()> {
        self.rename(step, Move::Exchange)?;
        let out = lease::unopened_stamp(self.staging, step.name.as_bytes());
        if out.is_ok_and(|out| step.is_new(Some(out))) {
            return Ok(());
        }
        self.rename(step, Move::Exchange).and(Err(Errno::EXIST))
    }

    /// Brings back what a call took out of view that did not end.
    pub(super) fn give_back(&self, step: &Step) -> Result<()> {
        let slot = self.root.open_parent(&step.path)?.ok_or(Errno::EXIST)?;
        let from = Place(self.staging, step.name.as_bytes());
        match transfer::merge(from, Place::of(&slot)) {
            // It never went, or is back already.
            Err(Errno::NOENT) => Ok(()),
            given => given,
        }
    }

    /// Moves what went out of view to where it is kept for an operation.
    pub(super) fn keep(&self, step: &Step, place: &Path) -> Result<()> {
        let kept = read::make_slot(place, &step.path)?;
        let (from, to) = (Place(self.staging, step.name.as_bytes()), kept.directory.as_fd());
        transfer::transfer(from, Place(to, kept.name))
    }

    /// Returns whether the staging directory holds an entry that was in view and is not the one that was to go out of
    /// it: no snapshot has that.
    pub(super) fn holds_anothers(&self, step: &Step) -> bool {
        match stamp_of(self.staging, step.name.as_bytes()) {
            Ok(None) => false,
            Ok(found) if step.is_new(found) => false,
            _ => self.displaced_another(step),
        }
    }

    fn displaced_another(&self, step: &Step) -> bool {
        let Some(expected) = step.standing.filter(|_| step.what != Move::In) else { return false };
        let found = stamp_of(self.staging, step.name.as_bytes());
        match found {
            Ok(Some(found)) if found.is_same_but_renamed(&expected) => {
                found.kind() == Kind::Directory && !self.holds_the_same(step)
            }
            _ => true,
        }
    }

    /// Returns the stamps of what is in a directory that went out of view.
    pub(super) fn known_below(&self, step: &Step) -> Option<Stamps> {
        step.inside?;
        purge::stamps_below(self.root, self.staging, step.name.as_bytes()).ok()
    }

    /// Removes a directory that went out of view; tells whether nothing is left in it that is not known.
    pub(super) fn purge(&self, step: &Step, known: &Stamps) -> bool {
        purge::purge_known(self.root, self.staging, step.name.as_bytes(), known)
    }

    /// Removes the rest of a directory that a process which died was removing; tells whether nothing of another
    /// program is left in it.
    pub(super) fn purge_rest(&self, step: &Step) -> bool {
        let Some(out) = &step.standing else { return false };
        purge::purge_older(self.root, self.staging, step.name.as_bytes(), out).unwrap_or(false)
    }

    /// Returns the stamp of a directory that went out of view.
    pub(super) fn out(&self, step: &Step) -> Option<Stamp> {
        step.inside?;
        stamp_of(self.staging, step.name.as_bytes()).ok().flatten()
    }

    /// Looks at what went out of view.
    pub(super) fn displaced(&self, step: &Step) -> Displaced {
        let name = step.name.as_bytes();
        let is_there = |found: &Stamp| step.what != Move::In && !step.is_new(Some(*found));
        let found = stamp_of(self.staging, name).map(|found| found.filter(is_there));
        let expected = match (found, step.standing) {
            (Ok(None), _) => return Displaced::Nothing,
            (Ok(Some(_)), Some(expected)) => expected,
            _ => return Displaced::Open,
        };
        let is_same = match expected.kind() {
            Kind::Directory => Fingerprint::of_closed(self.root, self.staging, name)
                .map(|found| Some(found) == step.inside),
            _ => lease::closed_stamp(self.staging, name)
                .map(|found| found.is_same_but_renamed(&expected)),
        };
        match (is_same, &step.content) {
            (Ok(false), _) => Displaced::Written,
            (_, Some(content)) if !self.has_content(step, content) => Displaced::Written,
            (Ok(true), _) => Displaced::Settled,
            (Err(_), _) => Displaced::Open,
        }
    }

    fn has_content(&self, step: &Step, content: &Left) -> bool {
        let found = content_at(self.staging, step.name.as_bytes());
        found.is_ok_and(|found| found.as_ref() == Some(content))
    }

    /// Tells whether in the directory that went out of view is what was in it.
    fn holds_the_same(&self, step: &Step) -> bool {
        let found = Fingerprint::of(self.root, self.staging, step.name.as_bytes());
        matches!((found, step.inside), (Ok(found), Some(expected)) if found == expected)
    }

    fn rename(&self, step: &Step, what: Move) -> Result<()> {
        let slot = self.root.open_parent(&step.path)?.ok_or(Errno::EXIST)?;
        let waiting = (self.staging, step.name.as_bytes());
        let standing = (slot.directory.as_fd(), slot.name);
        let (from, to, flags) = match what {
            Move::Exchange => (waiting, standing, RenameFlags::EXCHANGE),
            Move::Out => (standing, waiting, RenameFlags::NOREPLACE),
            Move::In => (waiting, standing, RenameFlags::NOREPLACE),
            Move::Keep | Move::Return | Move::Purge => return Ok(()),
        };
        rustix::fs::renameat_with(from.0, from.1, to.0, to.1, flags)
    }
}

/// Returns the content of an entry of an open directory, with all that is below it.
pub(in crate::host) fn content_at(
    directory: BorrowedFd<'_>,
    name: &[u8],
) -> crate::error::Result<Option<Left>> {
    let place = displace::open_place(directory);
    let place = place.map_err(|errno| Error::system(Operation::Read, errno))?;
    Left::at(&place, &TreePath::from_disk(name)?)
}

/// Returns the name in the staging directory of what is on its way out entry by entry.
pub(super) fn aside_name(step: &Step) -> String {
    format!("{}.out", step.name)
}

/// Tells whether everything in a directory is the same in another one.
fn is_part_of(
    tree: &dyn Tree,
    at: &TreePath,
    whole: &dyn Tree,
    path: &TreePath,
) -> crate::error::Result<bool> {
    for entry in tree.list(at)? {
        let (at, path) = (at.join(&entry.name)?, path.join(&entry.name)?);
        let is_same = match kind_at(whole, &path)? == Some(entry.kind) {
            true if entry.kind == Kind::Directory => {
                descend(|| is_part_of(tree, &at, whole, &path))?
            }
            true => Left::at(tree, &at)? == Left::at(whole, &path)?,
            false => false,
        };
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}

fn stamp_of(directory: BorrowedFd<'_>, name: &[u8]) -> Result<Option<Stamp>> {
    match stamp::look(directory, name) {
        Err(Errno::NOENT) => Ok(None),
        found => Ok(Some(Stamp::of(&found?))),
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "plays another program")]
mod tests {
    use super::*;
    use crate::filesystem::Filesystem as _;
    use crate::host::replace::scene::Scene;
    use crate::memory::MemoryBackend;
    use crate::ops;

    /// A replacement that is given up once took away what was written into a file that it had brought.
    #[test]
    fn what_a_program_wrote_into_what_came_into_view_is_not_taken_out_of_it() {
        let scene = Scene::new(&[("root/a", "old"), ("staging/1", "new")]);
        let (places, target) = (scene.places(), MemoryBackend::new());
        let mut step = scene.step(Move::Exchange, "a");
        places.forward(&mut step).unwrap();
        places.back(&mut step, &target).unwrap();
        assert_eq!(scene.read("root/a"), "old");
        places.forward(&mut step).unwrap();
        std::fs::write(scene.path("root/a"), "an hour of work").unwrap();
        assert_eq!(places.back(&mut step, &target), Err(Errno::STALE));
        assert_eq!(scene.read("root/a"), "an hour of work");
    }

    /// The program opened it while it was in view, and writes when it is not.
    #[test]
    fn what_a_program_has_open_of_what_came_into_view_is_not_taken_out_of_it() {
        let scene = Scene::new(&[("staging/1", "new")]);
        let mut step = scene.step(Move::In, "a");
        scene.places().forward(&mut step).unwrap();
        let program = std::fs::File::options().append(true).open(scene.path("root/a")).unwrap();
        let back = scene.places().back(&mut step, &MemoryBackend::new());
        assert_eq!(back, Err(Errno::STALE));
        assert!(scene.path("root/a").exists());
        drop(program);
    }

    fn target() -> MemoryBackend {
        let mut target = MemoryBackend::new();
        for name in ["k", "k/l"] {
            target.create_dir(&TreePath::parse(name).unwrap()).unwrap();
        }
        let path = TreePath::parse("k/l/m").unwrap();
        ops::write(&mut target, &path, "keep", &ops::WriteOptions::default()).unwrap();
        target
    }

    #[test]
    fn a_directory_that_came_into_view_and_is_as_it_was_goes_back() {
        let scene = Scene::new(&[("staging/1/l/m", "keep")]);
        let mut step = scene.step(Move::In, "k");
        scene.places().forward(&mut step).unwrap();
        assert_eq!(scene.read("root/k/l/m"), "keep");
        scene.places().back(&mut step, &target()).unwrap();
        assert!(!scene.path("root/k").exists() && !scene.path("staging/1").exists());
    }

    /// Once, what was saved in it went with it.
    #[test]
    fn a_directory_that_came_into_view_and_in_which_a_program_saved_stays() {
        type Save = fn(&Scene);
        let saves: [Save; 4] = [
            |scene| std::fs::write(scene.path("root/k/l/m"), "kept").unwrap(),
            |scene| std::fs::write(scene.path("root/k/l/new"), "").unwrap(),
            |scene| std::fs::create_dir(scene.path("root/k/l/new")).unwrap(),
            |scene| {
                std::fs::remove_file(scene.path("root/k/l/m")).unwrap();
                std::os::unix::fs::symlink("l", scene.path("root/k/l/m")).unwrap();
            },
        ];
        for save in saves {
            let scene = Scene::new(&[("staging/1/l/m", "keep")]);
            let mut step = scene.step(Move::In, "k");
            scene.places().forward(&mut step).unwrap();
            save(&scene);
            assert_eq!(scene.places().back(&mut step, &target()), Err(Errno::STALE));
            assert!(scene.path("root/k/l").exists());
            assert_eq!(step.what, Move::In);
        }
    }
}

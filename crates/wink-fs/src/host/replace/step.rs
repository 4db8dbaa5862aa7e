//! One step of a replacement: a rename in, out, or both.

use std::path::Path;

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{Mode, OFlags, RawMode, RenameFlags};
use rustix::io::{Errno, Result};

use super::Action;
use crate::error::{Error, Operation};
use crate::host::capture::stamp::{self, Stamp};
use crate::host::copy::transfer::{self, SlotRef};
use crate::host::displace::{self, Observed};
use crate::host::lease;
use crate::host::preimage::fingerprint::Fingerprint;
use crate::host::preimage::read;
use crate::host::purge::{self, Stamps};
use crate::host::root::Root;
use crate::oplog::ContentId;
use crate::path::TreePath;
use crate::tree::compare::kind_at;
use crate::tree::descend;
use crate::tree::{Kind, Tree};

/// What a step does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::host) enum Move {
    /// Moves the entry at the path into staging.
    Out,
    /// Moves the staged entry into view.
    In,
    /// Exchanges the two.
    Exchange,
    /// Changes the permission bits of the directory at the path to those of the second stamp; nothing is in staging.
    Mode,
    /// Keeps the displaced entry in staging as long as a program may write into it.
    Keep,
    /// Moves the displaced entry back; merges it into a directory that is there.
    Return,
    /// Deletes the displaced directory, except what programs working in it created or changed.
    Purge,
}

impl Move {
    pub(super) fn of(action: Action) -> Self {
        match action {
            Action::Remove => Self::Out,
            Action::Add(_) | Action::AddParent => Self::In,
            Action::Exchange(_) => Self::Exchange,
            Action::SetMode(_) => Self::Mode,
        }
    }

    fn back(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
            Self::Exchange => Self::Exchange,
            Self::Mode | Self::Keep | Self::Return | Self::Purge => self,
        }
    }
}

/// The state of a displaced entry in staging.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Displaced {
    Nothing,
    /// Unchanged, and no program can write into it any more.
    Unchanged,
    /// A program may write into it, or the kernel does not tell.
    Open,
    /// A program wrote into it.
    Written,
}

/// A step, with the stamps from before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::host) struct Step {
    pub(super) what: Move,
    pub(super) path: TreePath,
    /// The name in the staging directory.
    pub(super) name: String,
    pub(super) at_path: Option<Stamp>,
    pub(super) in_staging: Option<Stamp>,
    /// The content of the directory that is displaced.
    pub(super) inside: Option<Fingerprint>,
    /// The content of the displaced entry as it is kept elsewhere, if a program had it open: a write through a mapping
    /// may change no time.
    pub(super) content: Option<ContentId>,
}

impl Step {
    /// Makes a step that moves a displaced entry back.
    pub(super) fn returning(path: &TreePath, name: &str) -> Self {
        let what = Move::Return;
        let path = path.clone();
        let name = name.to_owned();
        Self { what, path, name, at_path: None, in_staging: None, inside: None, content: None }
    }

    /// Makes a step that keeps an entry in staging as long as a program may write into it.
    pub(super) fn keeping(path: &TreePath, name: &str, observed: &Observed) -> Self {
        let at_path = Some(observed.stamp);
        let inside = observed.inside;
        Self { what: Move::Keep, at_path, inside, ..Self::returning(path, name) }
    }

    /// Turns a finished step into one that keeps its displaced entry in staging.
    pub(super) fn into_keep(self) -> Self {
        Self { what: Move::Keep, in_staging: None, ..self }
    }

    /// Makes a step that deletes a displaced directory; `out` is its stamp from before it was checked.
    pub(super) fn purging(&self, out: Stamp) -> Self {
        let at_path = Some(out);
        Self { what: Move::Purge, at_path, ..Self::returning(&self.path, &self.name) }
    }

    /// Returns whether a stamp is that of the new entry.
    pub(super) fn is_new(&self, found: Option<Stamp>) -> bool {
        matches!((found, self.in_staging), (Some(found), Some(new)) if found.is_same_but_renamed(&new))
    }
}

/// The root and the staging directory, between which steps move entries.
pub(super) struct Mover<'a> {
    pub(super) root: &'a Root,
    pub(super) staging: BorrowedFd<'a>,
}

impl Mover<'_> {
    /// Stats the path and the staged entry.
    pub(super) fn look(
        &self,
        path: &TreePath,
        name: &str,
    ) -> Result<(Option<Stamp>, Option<Stamp>)> {
        let slot = match self.root.open_parent(path) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => None,
            slot => slot?,
        };
        let at_path = match slot {
            None => None,
            Some(slot) => stamp_of(slot.directory.as_fd(), slot.name)?,
        };
        Ok((at_path, stamp_of(self.staging, name.as_bytes())?))
    }

    /// Does a step; if it displaced something other than expected, that moves back.
    pub(super) fn forward(&self, step: &mut Step) -> Result<()> {
        if step.what == Move::Mode {
            return self.change_mode(step, step.at_path, step.in_staging);
        }
        let is_directory = step.at_path.is_some_and(|it| it.kind() == Kind::Directory);
        match self.rename(step, step.what) {
            Err(Errno::XDEV) if is_directory => return self.forward_by_parts(step),
            renamed => renamed?,
        }
        // Checked after the rename, because a check before it would miss a save in between.
        if !self.displaced_other_entry(step) {
            Ok(())
        } else {
            // Another program changed the entry after it was captured: its work goes back into view.
            match step.in_staging {
                // A new directory was in view only for a moment, so no check of its content is needed.
                Some(new) if new.kind() == Kind::Directory => self.rename(step, step.what)?,
                _ => self.put_back(step)?,
            }
            Err(Errno::STALE)
        }
    }

    /// Changes the permission bits of a directory from those of one stamp to those of another, unless another program
    /// changed them.
    fn change_mode(&self, step: &Step, from: Option<Stamp>, to: Option<Stamp>) -> Result<()> {
        let (from, to) = from.zip(to).ok_or(Errno::INVAL)?;
        let directory = self.root.open(&step.path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let found = Stamp::of(&stamp::look_at(&directory)?);
        if !found.is_same_with_mode(&from) {
            return Err(Errno::STALE);
        }
        rustix::fs::fchmod(&directory, Mode::from_raw_mode(RawMode::from(to.mode) & 0o7777))
    }

    /// Does a step entry by entry, because OverlayFS does not rename a directory of a lower layer.
    ///
    /// Every entry gets another stamp, so the step is updated.
    fn forward_by_parts(&self, step: &mut Step) -> Result<()> {
        let slot = self.root.open_parent(&step.path)?.ok_or(Errno::EXIST)?;
        let at_path = SlotRef::of(&slot);
        let name = step.name.as_bytes();
        let contents = |at: SlotRef<'_>| Fingerprint::of_contents(self.root, at.0, at.1);
        if Some(Fingerprint::of(self.root, at_path.0, at_path.1)?) != step.inside {
            return Err(Errno::STALE);
        }
        let before = contents(at_path)?;
        let out = partial_name(step);
        let out = SlotRef(self.staging, out.as_bytes());
        transfer::transfer(at_path, out)?;
        // Compared by content: every entry that was moved by itself has a new stamp.
        let is_same = contents(out).is_ok_and(|found| found == before);
        let moved = match (is_same, step.what) {
            (false, _) => Err(Errno::STALE),
            (true, Move::Exchange) => transfer::transfer(SlotRef(self.staging, name), at_path),
            (true, _) => Ok(()),
        };
        let moved = moved.and_then(|()| transfer::transfer(out, SlotRef(self.staging, name)));
        moved.inspect_err(|_| _ = transfer::merge(out, at_path))?;
        let inside = Fingerprint::of(self.root, self.staging, name)?;
        (step.at_path, step.inside) = (stamp_of(self.staging, name)?, Some(inside));
        Ok(())
    }

    /// Recovers from a kill in the middle of such a step: the directory moves back, unless its place is taken already.
    pub(super) fn finish_parts(&self, step: &Step) -> Result<()> {
        let out = partial_name(step);
        let name = step.name.as_bytes();
        let out = SlotRef(self.staging, out.as_bytes());
        match (stamp_of(out.0, out.1)?, stamp_of(self.staging, name)?) {
            (None, _) => Ok(()),
            (Some(_), None) if step.what == Move::Exchange => {
                transfer::transfer(out, SlotRef(self.staging, name))
            }
            (Some(_), _) => {
                let slot = self.root.open_parent(&step.path)?.ok_or(Errno::EXIST)?;
                transfer::merge(out, SlotRef::of(&slot))
            }
        }
    }

    /// Undoes a step, unless another program wrote into the new entry or has it open: that stays in view, or moves back
    /// when its place is free.
    ///
    /// `target` is the tree that the new entry came from.
    pub(super) fn back(&self, step: &mut Step, target: &dyn Tree) -> Result<()> {
        if step.what == Move::Mode {
            return self.change_mode(step, step.in_staging, step.at_path);
        }
        self.rename(step, step.what.back())?;
        if self.is_untouched(step, target) {
            return Ok(());
        }
        // The new entry was touched: back into view with it. If its place is taken by now, it waits in staging.
        if self.rename(step, step.what).is_err() {
            *step = Step::returning(&step.path, &step.name);
        }
        Err(Errno::STALE)
    }

    /// Returns whether the new entry is still as it was made, now that it is out of view again.
    ///
    /// A new directory is deleted in the process.
    fn is_untouched(&self, step: &Step, target: &dyn Tree) -> bool {
        let name = step.name.as_bytes();
        match step.in_staging.map(|in_staging| in_staging.kind()) {
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

    /// Returns whether everything in a directory is in the target too.
    fn holds_only(&self, step: &Step, target: &dyn Tree) -> crate::error::Result<bool> {
        let failed = |errno| Error::system(Operation::Replace, errno);
        let staging = displace::open_as_tree(self.staging).map_err(failed)?;
        is_part_of(&staging, &TreePath::parse(&step.name)?, target, &step.path)
    }

    /// Moves a wrongly displaced entry back into view, if its place is free or holds our new entry.
    pub(super) fn put_back(&self, step: &Step) -> Result<()> {
        match self.look(&step.path, &step.name)?.0 {
            None => self.rename(step, Move::In),
            // A directory's stamp does not show what programs saved in it.
            Some(found) if step.what == Move::Exchange && found.kind() != Kind::Directory => {
                self.exchange_back(step)
            }
            Some(_) => Err(Errno::EXIST),
        }
    }

    /// Exchanges a displaced entry with the new one again, unless a program wrote into the new one or has it open.
    fn exchange_back(&self, step: &Step) -> Result<()> {
        self.rename(step, Move::Exchange)?;
        let out = lease::unopened_stamp(self.staging, step.name.as_bytes());
        if out.is_ok_and(|out| step.is_new(Some(out))) {
            return Ok(());
        }
        self.rename(step, Move::Exchange).and(Err(Errno::EXIST))
    }

    /// Moves back what an interrupted call had displaced.
    pub(super) fn give_back(&self, step: &Step) -> Result<()> {
        let slot = self.root.open_parent(&step.path)?.ok_or(Errno::EXIST)?;
        let from = SlotRef(self.staging, step.name.as_bytes());
        match transfer::merge(from, SlotRef::of(&slot)) {
            // It was never displaced, or is back already.
            Err(Errno::NOENT) => Ok(()),
            given => given,
        }
    }

    /// Moves a displaced entry to the pre-images of an operation.
    pub(super) fn keep(&self, step: &Step, place: &Path) -> Result<()> {
        let kept = read::make_slot(place, &step.path)?;
        let from = SlotRef(self.staging, step.name.as_bytes());
        let to = kept.directory.as_fd();
        transfer::transfer(from, SlotRef(to, kept.name))
    }

    /// Returns whether staging holds an entry other than the one that was to be displaced, which no snapshot has.
    pub(super) fn holds_other_entry(&self, step: &Step) -> bool {
        match stamp_of(self.staging, step.name.as_bytes()) {
            Ok(None) => false,
            Ok(found) if step.is_new(found) => false,
            _ => self.displaced_other_entry(step),
        }
    }

    fn displaced_other_entry(&self, step: &Step) -> bool {
        let Some(expected) = step.at_path.filter(|_| step.what != Move::In) else { return false };
        let found = stamp_of(self.staging, step.name.as_bytes());
        match found {
            Ok(Some(found)) if found.is_same_but_renamed(&expected) => {
                found.kind() == Kind::Directory && !self.holds_the_same(step)
            }
            _ => true,
        }
    }

    /// Returns the stamps of everything in a displaced directory.
    pub(super) fn known_below(&self, step: &Step) -> Option<Stamps> {
        step.inside?;
        purge::stamps_below(self.root, self.staging, step.name.as_bytes()).ok()
    }

    /// Deletes a displaced directory; returns whether nothing unknown was in it.
    pub(super) fn purge(&self, step: &Step, known: &Stamps) -> bool {
        purge::purge_known(self.root, self.staging, step.name.as_bytes(), known)
    }

    /// Continues the deletion of a displaced directory after a crash; returns whether nothing of another program was in
    /// it.
    pub(super) fn purge_rest(&self, step: &Step) -> bool {
        let Some(out) = &step.at_path else { return false };
        purge::purge_older(self.root, self.staging, step.name.as_bytes(), out).unwrap_or(false)
    }

    /// Returns the stamp of a displaced directory.
    pub(super) fn out(&self, step: &Step) -> Option<Stamp> {
        step.inside?;
        stamp_of(self.staging, step.name.as_bytes()).ok().flatten()
    }

    /// Returns the state of the displaced entry.
    pub(super) fn displaced(&self, step: &Step) -> Displaced {
        let name = step.name.as_bytes();
        let is_there = |found: &Stamp| step.what != Move::In && !step.is_new(Some(*found));
        let found = stamp_of(self.staging, name).map(|found| found.filter(is_there));
        let expected = match (found, step.at_path) {
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
            (Ok(true), _) => Displaced::Unchanged,
            (Err(_), _) => Displaced::Open,
        }
    }

    fn has_content(&self, step: &Step, content: &ContentId) -> bool {
        let found = content_at(self.staging, step.name.as_bytes());
        found.is_ok_and(|found| found.as_ref() == Some(content))
    }

    /// Returns whether a displaced directory's content is unchanged.
    fn holds_the_same(&self, step: &Step) -> bool {
        let found = Fingerprint::of(self.root, self.staging, step.name.as_bytes());
        matches!((found, step.inside), (Ok(found), Some(expected)) if found == expected)
    }

    fn rename(&self, step: &Step, what: Move) -> Result<()> {
        let slot = self.root.open_parent(&step.path)?.ok_or(Errno::EXIST)?;
        let in_staging = (self.staging, step.name.as_bytes());
        let at_path = (slot.directory.as_fd(), slot.name);
        let (from, to, flags) = match what {
            Move::Exchange => (in_staging, at_path, RenameFlags::EXCHANGE),
            Move::Out => (at_path, in_staging, RenameFlags::NOREPLACE),
            Move::In => (in_staging, at_path, RenameFlags::NOREPLACE),
            Move::Mode | Move::Keep | Move::Return | Move::Purge => return Ok(()),
        };
        rustix::fs::renameat_with(from.0, from.1, to.0, to.1, flags)
    }
}

/// Returns the content of an entry of an open directory, with everything below it.
pub(in crate::host) fn content_at(
    directory: BorrowedFd<'_>,
    name: &[u8],
) -> crate::error::Result<Option<ContentId>> {
    let place = displace::open_as_tree(directory);
    let place = place.map_err(|errno| Error::system(Operation::Read, errno))?;
    ContentId::at(&place, &TreePath::from_disk(name)?)
}

/// Returns the staging name of a directory that is being moved entry by entry.
pub(super) fn partial_name(step: &Step) -> String {
    format!("{}.out", step.name)
}

/// Returns whether everything in a directory is equal in another tree.
fn is_part_of(
    tree: &dyn Tree,
    at: &TreePath,
    whole: &dyn Tree,
    path: &TreePath,
) -> crate::error::Result<bool> {
    for entry in tree.list(at)? {
        let at = at.join(&entry.name)?;
        let path = path.join(&entry.name)?;
        let is_same = match kind_at(whole, &path)? == Some(entry.kind) {
            true if entry.kind == Kind::Directory => {
                descend(|| is_part_of(tree, &at, whole, &path))?
            }
            true => ContentId::at(tree, &at)? == ContentId::at(whole, &path)?,
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
        let mover = scene.mover();
        let target = MemoryBackend::new();
        let mut step = scene.step(Move::Exchange, "a");
        mover.forward(&mut step).unwrap();
        mover.back(&mut step, &target).unwrap();
        assert_eq!(scene.read("root/a"), "old");
        mover.forward(&mut step).unwrap();
        std::fs::write(scene.path("root/a"), "an hour of work").unwrap();
        assert_eq!(mover.back(&mut step, &target), Err(Errno::STALE));
        assert_eq!(scene.read("root/a"), "an hour of work");
    }

    /// The program opened it while it was in view, and writes when it is not.
    #[test]
    fn what_a_program_has_open_of_what_came_into_view_is_not_taken_out_of_it() {
        let scene = Scene::new(&[("staging/1", "new")]);
        let mut step = scene.step(Move::In, "a");
        scene.mover().forward(&mut step).unwrap();
        let program = std::fs::File::options().append(true).open(scene.path("root/a")).unwrap();
        let back = scene.mover().back(&mut step, &MemoryBackend::new());
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
        scene.mover().forward(&mut step).unwrap();
        assert_eq!(scene.read("root/k/l/m"), "keep");
        scene.mover().back(&mut step, &target()).unwrap();
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
            scene.mover().forward(&mut step).unwrap();
            save(&scene);
            assert_eq!(scene.mover().back(&mut step, &target()), Err(Errno::STALE));
            assert!(scene.path("root/k/l").exists());
            assert_eq!(step.what, Move::In);
        }
    }
}

//! The other process: it saves again and again, and remembers what the kernel acknowledged.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags, RenameFlags};

use crate::writers::mark::Mark;
use crate::writers::scene::marks_below;

/// How the saver saves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Way {
    /// Truncates a file and writes it.
    InPlace,
    /// Appends to a file.
    Append,
    /// Writes a new file and renames it over the old one.
    ByRename,
    /// Makes files, in directories that are there and in new ones.
    NewFiles,
    /// Makes files and directories, and deletes them.
    Deletes,
    /// Saves, and renames directories into each other's places.
    DirectorySwaps,
    /// Puts a link or a directory in the place of a file, and a file in theirs.
    KindSwaps,
    /// Saves in a directory that it works in, wherever that is by now.
    WorkingDirectory,
}

impl Way {
    pub(crate) const ALL: [Self; 8] = [
        Self::InPlace,
        Self::Append,
        Self::ByRename,
        Self::NewFiles,
        Self::Deletes,
        Self::DirectorySwaps,
        Self::KindSwaps,
        Self::WorkingDirectory,
    ];
}

/// When the saver saves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pace {
    /// Again and again.
    Continuous,
    /// Once in each call of the workspace, at any time of it, so that the rest of the call is not disturbed.
    OncePerCall,
}

/// One save that the kernel acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct Save {
    pub(crate) mark: Mark,
    pub(crate) path: String,
    /// The calls of the workspace that were under way when it began and when it was acknowledged.
    pub(crate) during: [u64; 2],
}

/// What the saver did.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) saves: Vec<Save>,
    /// What the saver itself overwrote or deleted.
    pub(crate) superseded: BTreeSet<Mark>,
}

/// How far both sides are.
#[derive(Default)]
pub(crate) struct Progress {
    /// The call of the workspace that is under way.
    pub(crate) call: AtomicU64,
    /// How many nanoseconds the last one took.
    pub(crate) took: AtomicU64,
    /// How many saves were acknowledged.
    pub(crate) saves: AtomicU64,
}

/// A thread that saves until it is stopped.
pub(crate) struct Saver {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Log>,
}

impl Saver {
    /// Saves in `root`, and keeps what it displaces in `trash` until the end.
    pub(crate) fn start(
        place: &Path,
        way: Way,
        pace: Pace,
        seed: u64,
        progress: Arc<Progress>,
    ) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (root, trash) = (place.join("root"), place.join("trash"));
        fs::create_dir(&trash).unwrap();
        let log = Log::default();
        let (random, working) = (Random(2 * seed + 1), None);
        let mut hand = Hand { root, trash, progress, log, made: 0, random, working };
        let is_stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            let mut last_call = 0;
            while !is_stopped.load(Ordering::Relaxed) {
                match pace {
                    Pace::Continuous => hand.random.pause(),
                    Pace::OncePerCall if hand.call() == last_call => {
                        std::hint::spin_loop();
                        continue;
                    }
                    Pace::OncePerCall => hand.wait_within_call(),
                }
                last_call = hand.call();
                hand.save(way);
            }
            let displaced = marks_below(&hand.trash);
            hand.log.superseded.extend(displaced);
            hand.log
        });
        Self { stop, thread }
    }

    pub(crate) fn stop(self) -> Log {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// The files that are saved, the first of them most often: the calls are about it.
const PATHS: [&str; 7] = ["d/a", "d/a", "d/a", "d/b", "d/sub/c", "e/a", "top"];

struct Hand {
    root: PathBuf,
    trash: PathBuf,
    progress: Arc<Progress>,
    log: Log,
    made: u64,
    random: Random,
    /// The directory that it works in.
    working: Option<OwnedFd>,
}

impl Hand {
    /// Makes one save; where the workspace is in the way, none is acknowledged.
    fn save(&mut self, way: Way) {
        let path = PATHS[self.random.below(PATHS.len())];
        self.made += 1;
        let _ = fs::create_dir_all(self.root.join(path).parent().unwrap());
        let _ = match way {
            Way::InPlace => self.save_in_place(path),
            Way::Append => self.append(path),
            Way::ByRename => self.save_by_rename(path),
            Way::NewFiles => self.make_new(),
            Way::Deletes => self.save_or_delete(path),
            Way::DirectorySwaps => self.save_or_swap(path),
            Way::KindSwaps => self.change_kind(path),
            Way::WorkingDirectory => self.save_where_it_works(),
        };
    }

    /// Waits for some part of the time that the last call took.
    fn wait_within_call(&mut self) {
        let took = self.progress.took.load(Ordering::SeqCst);
        spin(Duration::from_nanos(self.random.below(took as usize + 1) as u64));
    }

    fn mark(&self) -> Mark {
        Mark::Save(self.made)
    }

    fn call(&self) -> u64 {
        self.progress.call.load(Ordering::SeqCst)
    }

    fn acknowledge(&mut self, path: &str, began: u64) {
        let during = [began, self.call()];
        self.log.saves.push(Save { mark: self.mark(), path: path.to_owned(), during });
        self.progress.saves.fetch_add(1, Ordering::SeqCst);
    }

    fn open(&self, path: &str, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        Ok(rustix::fs::openat(CWD, self.root.join(path), flags, mode)?.into())
    }

    fn save_in_place(&mut self, path: &str) -> io::Result<()> {
        let began = self.call();
        let file = self.open(path, OFlags::RDWR)?;
        self.save_into(file, path, began)
    }

    /// Saves in a directory that it opened some saves ago.
    fn save_where_it_works(&mut self) -> io::Result<()> {
        let working = match self.working.take() {
            Some(working) if !self.made.is_multiple_of(4) => working,
            _ => {
                let place = self.root.join(["d", "d/sub", "e"][self.random.below(3)]);
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                rustix::fs::openat(CWD, place, flags, Mode::empty())?
            }
        };
        let name = ["a", "c", "made-1", "made-2"][self.random.below(4)];
        let began = self.call();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&working, name, flags, Mode::RUSR | Mode::WUSR);
        self.working = Some(working);
        self.save_into(file?.into(), name, began)
    }

    /// What it overwrites is read from the very file that it truncates.
    fn save_into(&mut self, mut file: File, path: &str, began: u64) -> io::Result<()> {
        let mut old = Vec::new();
        file.read_to_end(&mut old)?;
        file.set_len(0)?;
        self.log.superseded.extend(Mark::all_in(&old));
        file.rewind()?;
        file.write_all(self.mark().line().as_bytes())?;
        drop(file);
        self.acknowledge(path, began);
        Ok(())
    }

    fn append(&mut self, path: &str) -> io::Result<()> {
        // So that it does not grow for ever.
        let is_long = fs::symlink_metadata(self.root.join(path)).is_ok_and(|it| it.len() > 4000);
        if is_long {
            return self.save_in_place(path);
        }
        let began = self.call();
        let mut file = self.open(path, OFlags::WRONLY | OFlags::APPEND)?;
        file.write_all(self.mark().line().as_bytes())?;
        drop(file);
        self.acknowledge(path, began);
        Ok(())
    }

    fn save_by_rename(&mut self, path: &str) -> io::Result<()> {
        let began = self.call();
        let made = self.trash.join(self.made.to_string());
        fs::write(&made, self.mark().line())?;
        self.swap_in(&made, path)?;
        self.acknowledge(path, began);
        Ok(())
    }

    /// Puts what was made in its place; what was there is in the trash then, in the same step.
    fn swap_in(&self, made: &Path, path: &str) -> io::Result<()> {
        let place = self.root.join(path);
        let rename = |flags| rustix::fs::renameat_with(CWD, made, CWD, &place, flags);
        let exchanged = rename(RenameFlags::EXCHANGE);
        Ok(exchanged.or_else(|_| rename(RenameFlags::NOREPLACE))?)
    }

    /// Deletes what is at a path, and keeps it in the trash.
    fn take_away(&self, path: &str) -> io::Result<()> {
        fs::rename(self.root.join(path), self.trash.join(format!("{}-deleted", self.made)))
    }

    fn make_new(&mut self) -> io::Result<()> {
        let below = ["d", "e", "d/sub"][self.random.below(3)];
        let number = self.random.below(5);
        let (taken_away, path) = match self.made % 3 {
            0 => (format!("{below}/new-{number}"), format!("{below}/new-{number}/file")),
            _ => (format!("{below}/made-{number}"), format!("{below}/made-{number}")),
        };
        // So that there are not more and more of them.
        let _ = self.take_away(&taken_away);
        let began = self.call();
        fs::create_dir_all(self.root.join(&path).parent().unwrap())?;
        let mut file = self.open(&path, OFlags::WRONLY | OFlags::EXCL)?;
        file.write_all(self.mark().line().as_bytes())?;
        drop(file);
        self.acknowledge(&path, began);
        Ok(())
    }

    fn save_or_delete(&mut self, path: &str) -> io::Result<()> {
        match self.made % 8 {
            0 => self.take_away("d/sub"),
            1..4 => self.take_away(path),
            _ => self.save_in_place(path),
        }
    }

    fn save_or_swap(&mut self, path: &str) -> io::Result<()> {
        let [d, e, away] = ["d", "e", "away"].map(|name| self.root.join(name));
        match self.made % 4 {
            0 => Ok(rustix::fs::renameat_with(CWD, &d, CWD, &e, RenameFlags::EXCHANGE)?),
            1 => {
                // Where the last swap stopped half way, both of them stay below the root.
                let _ = fs::rename(&away, self.root.join(format!("away-{}", self.made)));
                fs::rename(&d, &away)?;
                fs::rename(&e, &d)?;
                fs::rename(&away, &e)
            }
            _ => self.save_in_place(path),
        }
    }

    fn change_kind(&mut self, path: &str) -> io::Result<()> {
        let began = self.call();
        let made = self.trash.join(self.made.to_string());
        match self.made % 3 {
            0 => fs::write(&made, self.mark().line())?,
            1 => std::os::unix::fs::symlink(self.mark().text(), &made)?,
            _ => {
                fs::create_dir(&made)?;
                fs::write(made.join("inside"), self.mark().line())?;
            }
        }
        self.swap_in(&made, path)?;
        self.acknowledge(path, began);
        Ok(())
    }
}

/// Enough chance for a test, the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    /// Waits for a while, long or short, so that whole calls of the workspace get through at times.
    fn pause(&mut self) {
        let time = Duration::from_nanos(1 << self.below(21));
        if time > Duration::from_micros(100) {
            return std::thread::sleep(time);
        }
        spin(time);
    }
}

pub(crate) fn spin(time: Duration) {
    let started = Instant::now();
    while started.elapsed() < time {
        std::hint::spin_loop();
    }
}

//! Rounds in which a saver and a workspace work in one directory at the same time.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use wink_fs::{ErrorKind, Result, Workspace};

use crate::writers::mark::Mark;
use crate::writers::saver::{Log, Pace, Progress, Save, Saver, Way};
use crate::writers::scene::{Scene, read_marks};

/// How many calls one round makes: each is two operations at most, and 200 of them are kept.
const CALLS: std::ops::Range<u64> = 8..80;

/// How large the rounds are of each way of saving and each pace.
struct Size {
    rounds: u64,
    /// How many saves one round makes that go on whatever the workspace does.
    saves: u64,
    /// How long a round takes at most, so that slow calls are made fewer times.
    time: Duration,
}

impl Size {
    /// The ordinary run looks for what loses saves often, the long one for what hardly ever does.
    fn of_this_run() -> Self {
        match std::env::var_os("WINK_LONG_TESTS") {
            Some(_) => Self { rounds: 10, saves: 400, time: Duration::from_millis(400) },
            None => Self { rounds: 1, saves: 55, time: Duration::from_millis(75) },
        }
    }
}

/// What one call of the workspace may need.
pub(crate) struct Turn<'r> {
    number: u64,
    scene: &'r Scene,
    written: RefCell<BTreeSet<Mark>>,
}

impl Turn<'_> {
    /// The content that the call writes first, second and so on.
    pub(crate) fn mark(&self, nth: u64) -> Mark {
        Mark::Call(self.number * MARKS + nth)
    }

    pub(crate) fn text(&self, nth: u64) -> String {
        self.mark(nth).line()
    }

    /// Says that the workspace answered that it wrote a content.
    pub(crate) fn is_written(&self, nth: u64) {
        self.written.borrow_mut().insert(self.mark(nth));
    }

    /// Puts a file there that the call is about, where nothing is: as a whole, and not by the workspace.
    pub(crate) fn make_sure_of(&self, path: &str) {
        let made = self.path("made");
        let place = self.path("root").join(path);
        fs::write(&made, self.text(MARKS - 1)).unwrap();
        let _ = fs::create_dir_all(place.parent().unwrap());
        if renameat_with(CWD, &made, CWD, &place, RenameFlags::NOREPLACE).is_ok() {
            self.is_written(MARKS - 1);
        }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scene.path(name)
    }
}

/// How many contents one call may write.
const MARKS: u64 = 4;

/// One call of the workspace, or several of which the last one matters.
pub(crate) type Call = fn(&Workspace, &Turn<'_>) -> Result<()>;

/// Does a call again and again while a saver saves, in every way; panics with all that went wrong.
#[track_caller]
pub(crate) fn race(name: &str, call: Call) {
    race_in(Scene::new, name, call);
}

/// Does the same in scenes of one kind.
#[track_caller]
pub(crate) fn race_in(scene: fn() -> Scene, name: &str, call: Call) {
    let started = Instant::now();
    let mut report = Report::default();
    for way in Way::ALL {
        for seed in 0..Size::of_this_run().rounds {
            for pace in [Pace::Continuous, Pace::OncePerCall] {
                report.saves += Round::new(scene(), way).run(pace, seed, call, &mut report);
            }
        }
    }
    println!("{name}: {} saves in {:?}", report.saves, started.elapsed());
    println!("{name}: answers {:?}", report.answers);
    report.check(name);
}

/// All that went wrong in all rounds, by the way of saving.
#[derive(Default)]
struct Report {
    saves: u64,
    answers: BTreeMap<String, usize>,
    wrong: BTreeMap<(Way, &'static str), Vec<String>>,
}

impl Report {
    fn add(&mut self, way: Way, what: &'static str, detail: String) {
        self.wrong.entry((way, what)).or_default().push(detail);
    }

    #[track_caller]
    fn check(&self, name: &str) {
        let line = |((way, what), details): (&(Way, &'static str), &Vec<String>)| {
            format!("{way:?}: {} times {what}; first: {}\n", details.len(), details[0])
        };
        let lines: String = self.wrong.iter().map(line).collect();
        assert!(lines.is_empty(), "{name} while another process saves:\n{lines}");
    }
}

struct Round {
    scene: Scene,
    way: Way,
    answers: Vec<String>,
    /// What calls wrote that said so.
    written: BTreeSet<Mark>,
}

impl Round {
    fn new(scene: Scene, way: Way) -> Self {
        Self { scene, way, answers: Vec::new(), written: BTreeSet::new() }
    }

    /// Makes calls until there are enough saves or calls; returns how many saves were acknowledged.
    fn run(mut self, pace: Pace, seed: u64, call: Call, report: &mut Report) -> u64 {
        let progress = Arc::new(Progress::default());
        let files = self.scene.open();
        let saver = Saver::start(&self.scene.path(""), self.way, pace, seed, progress.clone());
        let (begun, size) = (Instant::now(), Size::of_this_run());
        for number in 1..CALLS.end {
            let is_enough = progress.saves.load(Ordering::SeqCst) >= size.saves;
            if number > CALLS.start && (is_enough || begun.elapsed() > size.time) {
                break;
            }
            let started = Instant::now();
            progress.call.store(number, Ordering::SeqCst);
            self.make_call(&files, number, call, report);
            progress.took.store(started.elapsed().as_nanos() as u64, Ordering::SeqCst);
        }
        let log = saver.stop();
        drop(files);
        // What is left in the staging is found by the next process, or by none.
        drop(self.scene.open());
        let is_kept = self.check_kept("lost", &log, report);
        if let Err(why) = self.scene.check_usable() {
            report.add(self.way, "the workspace could not go on", why);
        } else if is_kept {
            self.check_kept("lost by going on", &log, report);
        }
        log.saves.len() as u64
    }

    fn make_call(&mut self, files: &Workspace, number: u64, call: Call, report: &mut Report) {
        let turn = Turn { number, scene: &self.scene, written: RefCell::default() };
        let done = call(files, &turn);
        let answer = done.as_ref().map_or_else(|error| error.kind().to_string(), |()| "ok".into());
        self.answers.push(answer.clone());
        *report.answers.entry(answer).or_default() += 1;
        let (first, end) = (turn.mark(0), turn.mark(MARKS));
        let written = turn.written.into_inner();
        if let Err(error) = done {
            let is_failed = |mark: &Mark| (first..end).contains(mark) && !written.contains(mark);
            if let Some((path, mark)) = self.holds(is_failed) {
                let why = format!("{path} holds {mark:?} after: {error}");
                report.add(self.way, "a call that failed left what it wrote", why);
            }
            if matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Io) {
                report.add(self.way, "a call took a save for damage", error.to_string());
            }
        }
        self.written.extend(written);
    }

    /// Finds a content of a call that failed.
    ///
    /// A saver that appends to it, or moves its directory, may rightly make it stay.
    fn holds(&self, is_failed: impl Fn(&Mark) -> bool) -> Option<(String, Mark)> {
        if matches!(self.way, Way::Append | Way::DirectorySwaps) {
            return None;
        }
        let paths = ["d/a", "d/b", "d/sub/c", "e/a", "top", "new/a"];
        paths.iter().find_map(|path| {
            let found = read_marks(&self.scene.path("root").join(path));
            let mark = found.into_iter().find(&is_failed)?;
            Some(((*path).to_owned(), mark))
        })
    }

    /// Checks that all that was acknowledged, and not superseded by the saver, can be found.
    fn check_kept(&self, what: &'static str, log: &Log, report: &mut Report) -> bool {
        let saved = log.saves.iter().map(|save| save.mark);
        let all = saved.chain(self.written.iter().copied());
        let wanted = all.filter(|mark| !log.superseded.contains(mark)).collect();
        let missing = self.scene.missing(wanted);
        for mark in &missing {
            match log.saves.iter().find(|save| save.mark == *mark) {
                Some(save) => report.add(self.way, what, self.describe(save)),
                None => report.add(self.way, "a call's content was lost", format!("{mark:?}")),
            }
        }
        missing.is_empty()
    }

    fn describe(&self, save: &Save) -> String {
        let [began, ended] = save.during.map(|number| {
            let answer = number.checked_sub(1).and_then(|it| self.answers.get(it as usize));
            format!("{number} ({})", answer.map_or("", |answer| answer))
        });
        let Save { mark, path, .. } = save;
        format!("{mark:?} of {path}, begun during call {began}, acknowledged during call {ended}")
    }
}

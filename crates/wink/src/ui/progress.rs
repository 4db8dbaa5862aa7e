//! Progress of long work.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use wink_fs::Figures;

use crate::sys::process::{self, Transferred};
use crate::ui::{format, output};

/// Shorter work shows no progress.
const WORTH_SAYING: Duration = Duration::from_millis(300);

/// How often a line is printed without a terminal.
const EVERY: Duration = Duration::from_secs(10);

/// How often the terminal is redrawn.
const TICK: Duration = Duration::from_millis(120);

/// The reader of the progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    People,
    Programs,
    None,
}

/// Shows progress until it is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts to show progress: to people on stderr, to programs as JSON on stdout.
    pub(crate) fn begin(
        doing: &'static str,
        counted: &wink_fs::Progress,
        audience: Audience,
    ) -> Self {
        let (done, waiting) = channel();
        let work = Work::new(doing, counted);
        let say: Box<dyn FnOnce() + Send> = match audience {
            Audience::None => return Self { running: None },
            Audience::Programs => Box::new(move || {
                every(&waiting, EVERY, || output::say_to_programs(&work.json()));
            }),
            Audience::People if io::stderr().is_terminal() => {
                Box::new(move || draw(&waiting, &work))
            }
            Audience::People => Box::new(move || {
                every(&waiting, EVERY, || output::say(&work.line()));
            }),
        };
        Self { running: Some((done, thread::spawn(say))) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.running.take() {
            drop(done);
            let _ = thread.join();
        }
    }
}

/// The work, its start and its counters.
struct Work {
    doing: &'static str,
    counted: wink_fs::Progress,
    began: Instant,
    before: Option<Transferred>,
}

impl Work {
    fn new(doing: &'static str, counted: &wink_fs::Progress) -> Self {
        let (began, before) = (Instant::now(), process::transferred());
        Self { doing, counted: counted.clone(), began, before }
    }

    /// Returns how much the process has read and written since the start, if the system says.
    fn moved(&self) -> Option<Transferred> {
        let (before, now) = (self.before?, process::transferred()?);
        let read = now.read.saturating_sub(before.read);
        Some(Transferred { read, written: now.written.saturating_sub(before.written) })
    }

    fn message(&self) -> String {
        let figures = figures_text(self.counted.figures(), self.began.elapsed());
        if let Some(figures) = figures {
            return format!("{} · {figures}", self.doing);
        }
        match self.moved() {
            Some(Transferred { read, written }) => {
                let [read, written] = [read, written].map(format::size);
                format!("{} · {read} read, {written} written", self.doing)
            }
            None => self.doing.to_owned(),
        }
    }

    fn line(&self) -> String {
        let seconds = self.began.elapsed().as_secs();
        format!("[{}:{:02}] {}", seconds / 60, seconds % 60, self.message())
    }

    fn json(&self) -> String {
        let (moved, figures) = (self.moved(), self.counted.figures());
        let line = ProgressLine {
            schema: ProgressLine::SCHEMA,
            kind: "progress",
            doing: self.doing,
            elapsed_ms: self.began.elapsed().as_millis() as u64,
            files: figures.files,
            expected_files: figures.expected_files,
            bytes: figures.bytes,
            expected_bytes: figures.expected_bytes,
            bytes_read: moved.map(|it| it.read),
            bytes_written: moved.map(|it| it.written),
        };
        // Serializing numbers and text cannot fail.
        serde_json::to_string(&line).unwrap_or_default()
    }
}

/// A line of progress for programs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ProgressLine {
    schema: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    doing: &'static str,
    elapsed_ms: u64,
    /// Files and links that were read, if they are counted.
    files: u64,
    /// How many there will be, if known.
    expected_files: Option<u64>,
    /// Bytes of them that were read.
    bytes: u64,
    expected_bytes: Option<u64>,
    /// What the whole process read, if the system tells.
    bytes_read: Option<u64>,
    bytes_written: Option<u64>,
}

impl ProgressLine {
    pub(crate) const SCHEMA: &'static str = "wink/progress@1";
}

/// Says how far something is, such as `62% 61,204/98,311 files 412.0 MiB 103.0 MiB/s`; `None` where
/// nothing was counted.
fn figures_text(figures: Figures, time: Duration) -> Option<String> {
    let Figures { files, bytes, expected_files, expected_bytes, .. } = figures;
    if (files, bytes) == (0, 0) {
        return None;
    }
    let share = |(done, expected): (u64, Option<u64>)| {
        expected.filter(|it| *it > 0).map(|expected| done.saturating_mul(100) / expected)
    };
    // Many small files and a large one: the lesser share promises nothing.
    let shares = [(files, expected_files), (bytes, expected_bytes)].into_iter().filter_map(share);
    let percent = shares.min().map(|percent| format!("{percent}%"));
    let counted = (files > 0).then(|| match expected_files {
        Some(expected) => format!("{}/{} files", format::number(files), format::number(expected)),
        None => format::counted(files, "file", "files"),
    });
    let read = match expected_bytes {
        Some(expected) => format!("{}/{}", format::size(bytes), format::size(expected)),
        None => format::size(bytes),
    };
    let rate = bytes as f64 / time.as_secs_f64().max(0.001);
    let rate = format!("{}/s", format::size(rate as u64));
    let parts: Vec<_> = percent.into_iter().chain(counted).chain([read, rate]).collect();
    Some(parts.join(" "))
}

/// Draws a line that disappears when the work is done.
fn draw(waiting: &Receiver<()>, work: &Work) {
    if waiting.recv_timeout(WORTH_SAYING) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar.set_message(work.line());
    every(waiting, TICK, || {
        bar.set_message(work.line());
        bar.tick();
    });
    bar.finish_and_clear();
}

/// Repeats something at an interval until the work is done.
fn every(waiting: &Receiver<()>, time: Duration, mut say: impl FnMut()) {
    while waiting.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
        say();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn it_is_said_from_time_to_time_until_it_is_done() {
        let (done, waiting) = channel();
        let said = &AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(move || {
                every(&waiting, Duration::from_millis(1), || {
                    said.fetch_add(1, Ordering::Relaxed);
                });
            });
            while said.load(Ordering::Relaxed) < 3 {
                thread::yield_now();
            }
            drop(done);
        });
    }

    #[test]
    fn what_is_done_at_once_says_nothing() {
        let (done, waiting) = channel::<()>();
        drop(done);
        every(&waiting, Duration::from_secs(60), || panic!("it is done"));
        drop(Progress::begin("working", &wink_fs::Progress::default(), Audience::None));
    }

    #[test]
    fn figures_say_how_far_it_is_and_how_fast() {
        let mut figures = Figures::default();
        let shown = |figures| figures_text(figures, Duration::from_secs(4));
        assert_eq!(shown(figures), None);
        (figures.files, figures.bytes) = (61_204, 412 << 20);
        assert_eq!(shown(figures).unwrap(), "61,204 files 412.0 MiB 103.0 MiB/s");
        figures.expected_files = Some(98_311);
        assert_eq!(shown(figures).unwrap(), "62% 61,204/98,311 files 412.0 MiB 103.0 MiB/s");
        figures.expected_bytes = Some(824 << 20);
        let shown_with_bytes = "50% 61,204/98,311 files 412.0 MiB/824.0 MiB 103.0 MiB/s";
        assert_eq!(shown(figures).unwrap(), shown_with_bytes);
        (figures.files, figures.expected_files) = (0, None);
        assert_eq!(shown(figures).unwrap(), "50% 412.0 MiB/824.0 MiB 103.0 MiB/s");
    }

    #[test]
    fn people_read_a_line_and_programs_an_object() {
        let work = Work::new("pruning", &wink_fs::Progress::default());
        assert!(work.line().starts_with("[0:00] pruning · "), "{}", work.line());
        assert!(work.line().ends_with(" written"), "{}", work.line());
        let line: serde_json::Value = serde_json::from_str(&work.json()).unwrap();
        assert_eq!((&line["type"], &line["doing"]), (&"progress".into(), &"pruning".into()));
        assert!(line["bytes_read"].is_u64());
        assert_eq!((&line["files"], line["expected_files"].is_null()), (&0.into(), true));
        let untold = Work { before: None, ..work };
        assert_eq!(untold.line(), "[0:00] pruning");
    }
}

//! That something takes long, said while it does.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::disk::{self, Transferred};
use crate::{screen, words};

/// What is done sooner is not worth a word.
const WORTH_SAYING: Duration = Duration::from_millis(300);

/// How often a line is written where there is no terminal.
const EVERY: Duration = Duration::from_secs(10);

/// How often a terminal is drawn.
const TICK: Duration = Duration::from_millis(120);

/// Who wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    People,
    Programs,
    Nobody,
}

/// Says what is being done until it is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins to say it: to people on stderr, to programs before the answer on stdout.
    pub(crate) fn begin(doing: &'static str, audience: Audience) -> Self {
        let (done, waiting) = channel();
        let work = Work { doing, began: Instant::now(), before: disk::transferred() };
        let say: Box<dyn FnOnce() + Send> = match audience {
            Audience::Nobody => return Self { running: None },
            Audience::Programs => Box::new(move || {
                every(&waiting, EVERY, || screen::say_to_programs(&work.json()));
            }),
            Audience::People if io::stderr().is_terminal() => {
                Box::new(move || draw(&waiting, &work))
            }
            Audience::People => Box::new(move || {
                every(&waiting, EVERY, || screen::say(&work.line()));
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

/// What is being done, for how long, and how much the system had read and written before.
struct Work {
    doing: &'static str,
    began: Instant,
    before: Option<Transferred>,
}

impl Work {
    /// Returns how much was read and written since; nothing where the system does not tell.
    fn moved(&self) -> Option<Transferred> {
        let (before, now) = (self.before?, disk::transferred()?);
        let read = now.read.saturating_sub(before.read);
        Some(Transferred { read, written: now.written.saturating_sub(before.written) })
    }

    fn message(&self) -> String {
        match self.moved() {
            Some(Transferred { read, written }) => {
                let [read, written] = [read, written].map(words::size);
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
        let moved = self.moved();
        json!({
            "type": "progress",
            "doing": self.doing,
            "elapsed_ms": self.began.elapsed().as_millis() as u64,
            "bytes_read": moved.map(|it| it.read),
            "bytes_written": moved.map(|it| it.written),
        })
        .to_string()
    }
}

/// Draws a line that goes away when the work is done.
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

/// Does something from time to time until the work is done.
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
        drop(Progress::begin("working", Audience::Nobody));
    }

    #[test]
    fn people_read_a_line_and_programs_an_object() {
        let work = Work { doing: "pruning", began: Instant::now(), before: disk::transferred() };
        assert!(work.line().starts_with("[0:00] pruning · "), "{}", work.line());
        assert!(work.line().ends_with(" written"), "{}", work.line());
        let line: serde_json::Value = serde_json::from_str(&work.json()).unwrap();
        assert_eq!((&line["type"], &line["doing"]), (&"progress".into(), &"pruning".into()));
        assert!(line["bytes_read"].is_u64());
        let untold = Work { before: None, ..work };
        assert_eq!(untold.line(), "[0:00] pruning");
    }
}

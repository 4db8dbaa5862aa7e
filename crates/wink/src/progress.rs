//! That something takes long, said while it does.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::screen;

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
        let say: Box<dyn FnOnce() + Send> = match audience {
            Audience::Nobody => return Self { running: None },
            Audience::Programs => Box::new(move || {
                every(&waiting, EVERY, |took| screen::say_to_programs(&json_line(doing, took)));
            }),
            Audience::People if io::stderr().is_terminal() => {
                Box::new(move || draw(&waiting, doing))
            }
            Audience::People => Box::new(move || {
                every(&waiting, EVERY, |took| screen::say(&plain_line(doing, took)));
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

/// Draws a line that goes away when the work is done.
fn draw(waiting: &Receiver<()>, doing: &'static str) {
    if waiting.recv_timeout(WORTH_SAYING) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} [{elapsed_precise}] {msg}") {
        bar.set_style(style);
    }
    bar.set_message(doing);
    bar.enable_steady_tick(TICK);
    let _ = waiting.recv();
    bar.finish_and_clear();
}

/// Says from time to time how long it takes already.
fn every(waiting: &Receiver<()>, time: Duration, say: impl Fn(Duration)) {
    let began = Instant::now();
    while waiting.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
        say(began.elapsed());
    }
}

fn plain_line(doing: &str, took: Duration) -> String {
    let seconds = took.as_secs();
    format!("[{}:{:02}] {doing}", seconds / 60, seconds % 60)
}

fn json_line(doing: &str, took: Duration) -> String {
    json!({"type": "progress", "doing": doing, "elapsed_ms": took.as_millis() as u64}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn it_is_said_from_time_to_time_until_it_is_done() {
        let (done, waiting) = channel();
        let said = &Mutex::new(Vec::new());
        thread::scope(|scope| {
            scope.spawn(move || {
                every(&waiting, Duration::from_millis(1), |took| said.lock().unwrap().push(took));
            });
            while said.lock().unwrap().len() < 3 {
                thread::yield_now();
            }
            drop(done);
        });
        assert!(said.lock().unwrap().is_sorted());
    }

    #[test]
    fn what_is_done_at_once_says_nothing() {
        let (done, waiting) = channel::<()>();
        drop(done);
        every(&waiting, Duration::from_secs(60), |took| panic!("{took:?}"));
        drop(Progress::begin("working", Audience::Nobody));
    }

    #[test]
    fn people_read_a_line_and_programs_an_object() {
        let took = Duration::from_millis(61_500);
        assert_eq!(plain_line("pruning", took), "[1:01] pruning");
        let line: serde_json::Value = serde_json::from_str(&json_line("pruning", took)).unwrap();
        assert_eq!(line, json!({"type": "progress", "doing": "pruning", "elapsed_ms": 61_500}));
    }
}

//! That something takes long, said while it does.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What is done sooner is not worth a word.
const WORTH_SAYING: Duration = Duration::from_millis(300);

/// How often a line is written where there is no terminal.
const EVERY: Duration = Duration::from_secs(10);

/// How often a terminal is drawn.
const TICK: Duration = Duration::from_millis(120);

/// Says what is being done until it is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins to say it on stderr, if anybody wants to know.
    pub(crate) fn begin(doing: &'static str, is_wanted: bool) -> Self {
        let running = is_wanted.then(|| {
            let (done, waiting) = channel();
            let is_terminal = io::stderr().is_terminal();
            let say = move || match is_terminal {
                true => draw(&waiting, doing),
                false => write_lines(&waiting, doing, EVERY, crate::screen::say),
            };
            (done, thread::spawn(say))
        });
        Self { running }
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

/// Writes a line from time to time.
fn write_lines(waiting: &Receiver<()>, doing: &str, every: Duration, say: impl Fn(&str)) {
    let began = Instant::now();
    while waiting.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
        let seconds = began.elapsed().as_secs();
        say(&format!("[{}:{:02}] {doing}", seconds / 60, seconds % 60));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_line_is_written_from_time_to_time_until_it_is_done() {
        let (done, waiting) = channel();
        let lines = &Mutex::new(Vec::new());
        thread::scope(|scope| {
            scope.spawn(move || {
                write_lines(&waiting, "working", Duration::from_millis(1), |line| {
                    lines.lock().unwrap().push(line.to_owned());
                });
            });
            while lines.lock().unwrap().len() < 3 {
                thread::yield_now();
            }
            drop(done);
        });
        assert_eq!(lines.lock().unwrap()[0], "[0:00] working");
    }

    #[test]
    fn what_is_done_at_once_says_nothing() {
        let (done, waiting) = channel::<()>();
        drop(done);
        write_lines(&waiting, "working", Duration::from_secs(60), |line| panic!("{line}"));
        drop(Progress::begin("working", false));
    }
}

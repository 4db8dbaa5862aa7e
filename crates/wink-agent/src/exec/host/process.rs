//! Runs one process group.

use std::io::{self, ErrorKind as IoErrorKind, Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};
use wink_fs::ErrorKind;
use wink_fs::search::Stop;

use crate::exec::output::{Output, OutputCollector};
use crate::exec::{Ended, Executed, Outputs};
use crate::tool::error::ToolError;
use crate::util::lock;

/// How long to wait for the rest of the output after a program has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The first and the longest wait between two polls of a program.
const LOOKS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

/// How long the launcher of a sandbox may take to end everything in it.
const LAST_KILLS: Duration = Duration::from_secs(5);

/// Who ends a program and what it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ender {
    /// A signal to its process group.
    Group,
    /// The launcher of the sandbox, which finds every descendant; told to, and by itself when the program has ended.
    Launcher,
}

/// Runs a process in a group of its own, which is killed as a whole when `stop` says so and when the process has ended.
///
/// It is for executors of other crates. What leaves the group (`setsid`) is not killed.
///
/// ```
/// use wink_agent::exec::{Outputs, run_process};
/// use wink_fs::search::Stop;
///
/// let outputs = Outputs::temporary().unwrap();
/// let cat = std::process::Command::new("cat");
/// let executed = run_process(cat, "hello", &outputs, &Stop::default()).unwrap();
/// assert_eq!(executed.stdout.text(), "hello");
/// ```
pub fn run_process(
    command: Command,
    stdin: &str,
    outputs: &Outputs,
    stop: &Stop,
) -> Result<Executed, ToolError> {
    run(command, stdin, outputs, stop, Ender::Group)
}

/// Runs a program in a group of its own, of which nothing is left afterwards.
pub(super) fn run(
    command: Command,
    stdin: &str,
    outputs: &Outputs,
    stop: &Stop,
    ender: Ender,
) -> Result<Executed, ToolError> {
    let began = Instant::now();
    let mut child = start(command, stdin)?;
    let readers = connect(&mut child, stdin, outputs);
    let stopped = readers.is_ok().then(|| wait(&child, stop)).flatten();
    if ender == Ender::Launcher {
        end_launcher(&child);
    }
    // Also when it has ended: what it left running would change files behind the workspace's back.
    kill_group(&child);
    let status = child.wait()?;
    let executed = finish(readers.map_err(no_thread)?, status);
    match stopped {
        Some(ErrorKind::Cancelled) => Err(cancelled()),
        stopped => Ok(executed.duration(began.elapsed()).timed_out(stopped.is_some())),
    }
}

fn start(mut command: Command, stdin: &str) -> Result<Child, ToolError> {
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.stdin(if stdin.is_empty() { Stdio::null() } else { Stdio::piped() });
    command.spawn().map_err(cannot_start)
}

/// Starts the threads that write the input and read the output of a program.
fn connect(child: &mut Child, stdin: &str, outputs: &Outputs) -> io::Result<[Reader; 2]> {
    feed(child, stdin)?;
    Ok([
        Reader::of(child.stdout.take(), outputs, "stdout")?,
        Reader::of(child.stderr.take(), outputs, "stderr")?,
    ])
}

fn finish([stdout, stderr]: [Reader; 2], status: ExitStatus) -> Executed {
    let last = Instant::now() + LAST_WORDS;
    Executed::ended(ended(status)).stdout(stdout.finish(last)).stderr(stderr.finish(last))
}

/// Writes the input of a program, without waiting for one that does not read it.
fn feed(child: &mut Child, stdin: &str) -> io::Result<()> {
    let (Some(mut pipe), text) = (child.stdin.take(), stdin.to_owned()) else { return Ok(()) };
    in_thread(move || {
        let _ = pipe.write_all(text.as_bytes());
    })
}

/// Runs work in a detached thread, if another thread can be started.
fn in_thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().spawn(work).map(drop)
}

/// Waits until a program has ended, without reaping it, or must be ended.
fn wait(child: &Child, stop: &Stop) -> Option<ErrorKind> {
    let mut pause = LOOKS.0;
    while !has_ended(child) {
        if let Some(reason) = stop.reason() {
            return Some(reason);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LOOKS.1);
    }
    None
}

/// Polls without reaping it: until it is reaped, the kernel gives its process id to no other process.
fn has_ended(child: &Child) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(pid(child)), options).map_or(true, |status| status.is_some())
}

/// Lets the launcher end the program, and waits for it, though not for ever.
fn end_launcher(child: &Child) {
    // There is nothing to end if it has ended by itself.
    let _ = kill_process(pid(child), Signal::TERM);
    let _ = wait(child, &Stop::after(LAST_KILLS));
}

fn kill_group(child: &Child) {
    // There is nothing to kill if all have ended.
    let _ = kill_process_group(pid(child), Signal::KILL);
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exit(code),
        (None, signal) => Ended::Signal(signal.unwrap_or_default()),
    }
}

/// Reads one output in a thread of its own.
struct Reader {
    collector: Arc<Mutex<OutputCollector>>,
    done: Receiver<()>,
}

impl Reader {
    fn of(
        pipe: Option<impl Read + Send + 'static>,
        outputs: &Outputs,
        name: &'static str,
    ) -> io::Result<Self> {
        let collector = Arc::new(Mutex::new(OutputCollector::new(outputs, name)));
        let (sender, done) = channel();
        if let Some(pipe) = pipe {
            let collector = collector.clone();
            in_thread(move || read_all(pipe, &collector, &sender))?;
        }
        Ok(Self { collector, done })
    }

    /// Returns what was read; a program that escaped the group may keep the pipe open for ever.
    fn finish(self, last: Instant) -> Output {
        let left = last.saturating_duration_since(Instant::now());
        let _ = self.done.recv_timeout(left);
        lock(&self.collector).output()
    }
}

fn read_all(mut pipe: impl Read, collector: &Mutex<OutputCollector>, done: &Sender<()>) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match pipe.read(&mut buffer) {
            Err(error) if error.kind() == IoErrorKind::Interrupted => {}
            Ok(0) | Err(_) => break,
            Ok(read) => {
                lock(collector).take(&buffer[..read]);
            }
        }
    }
    let _ = done.send(());
}

fn cannot_start(error: io::Error) -> ToolError {
    match error.kind() {
        IoErrorKind::NotFound => ToolError::new(
            ErrorKind::Unsupported,
            "The program that runs this is not installed here, or `cwd` is gone; try another way.",
        ),
        _ => error.into(),
    }
}

fn no_thread(error: io::Error) -> ToolError {
    let message = format!(
        "The program was ended, because there was no thread to listen to it ({error}); try again later."
    );
    ToolError::new(ErrorKind::Unavailable, message)
}

fn cancelled() -> ToolError {
    ToolError::new(ErrorKind::Cancelled, "The call was cancelled, and nothing was changed.")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Set if the test below plays the part of a process that gets no more threads.
    const CHILD: &str = "WINK_TEST_WITHOUT_THREADS";

    #[test]
    fn a_program_whose_output_cannot_be_read_is_ended_and_refused() {
        if std::env::var_os(CHILD).is_some() {
            return without_threads();
        }
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "a_program_whose_output_cannot_be_read_is_ended_and_refused",
                "--test-threads=1",
            ])
            // More than any machine has, for each thread.
            .env("RUST_MIN_STACK", (1_u64 << 60).to_string())
            .env(CHILD, "1")
            .output();
        let child = child.unwrap();
        assert!(child.status.success(), "{child:?}");
        assert!(String::from_utf8_lossy(&child.stdout).contains("1 passed"), "{child:?}");
    }

    fn without_threads() {
        let outputs = Outputs::temporary().unwrap();
        for stdin in ["", "never read"] {
            let mut command = Command::new("sleep");
            let began = Instant::now();
            command.arg("60");
            let stop = Stop::after(Duration::from_secs(60));
            let refused = run(command, stdin, &outputs, &stop, Ender::Group).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Unavailable, "{refused:?}");
            assert!(began.elapsed() < Duration::from_secs(30), "it was ended");
        }
    }
}

//! Podman's command line.

use std::ffi::OsStr;
use std::io::{ErrorKind, Read};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use wink_fs::search::Stop;

use crate::problem::Problem;

/// The most bytes of an output that are looked at.
const MOST: u64 = 4 * 1024 * 1024;

/// How long the rest of an output is waited for once the program has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Runs Podman, always with a deadline.
#[derive(Clone, Debug)]
pub(crate) struct Podman {
    program: PathBuf,
}

/// What Podman printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Podman {
    pub(crate) fn new(program: PathBuf) -> Self {
        Self { program }
    }

    /// Prepares a call; the arguments are passed as they are, through no shell.
    pub(crate) fn command(&self, args: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(&self.program);
        // A group of its own: a Ctrl-C on the terminal is for wink, and a Podman that hangs ends as a whole.
        command.args(args).process_group(0);
        command
    }

    /// Runs Podman until time is over or `stop` says so; whatever its exit code, that is a result.
    pub(crate) fn ask(
        &self,
        args: &[impl AsRef<OsStr>],
        time: Duration,
        stop: &Stop,
    ) -> Result<Ran, Problem> {
        let deadline = Instant::now() + time;
        let mut command = self.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => Problem::Missing,
            _ => Problem::CannotStart(error.kind().to_string()),
        })?;
        let stdout = read_all(child.stdout.take());
        let stderr = read_all(child.stderr.take());
        let began = Instant::now();
        let ended = wait(&mut child, deadline, stop);
        let Some(code) = ended else {
            kill_group(&mut child);
            return Err(Problem::Hangs(began.elapsed()));
        };
        let rest = |output: Receiver<Vec<u8>>| output.recv_timeout(LAST_WORDS).unwrap_or_default();
        Ok(Ran { code, stdout: rest(stdout), stderr: rest(stderr) })
    }

    /// Runs Podman and returns what it printed; a failure is an error.
    pub(crate) fn run(
        &self,
        args: &[impl AsRef<OsStr>],
        time: Duration,
    ) -> Result<Vec<u8>, Problem> {
        let ran = self.ask(args, time, &Stop::default())?;
        if ran.code == Some(0) { Ok(ran.stdout) } else { Err(ran.problem()) }
    }
}

impl Ran {
    /// Explains a failure.
    pub(crate) fn problem(&self) -> Problem {
        Problem::failed(self.code, &self.stderr)
    }
}

/// Waits for a child, and returns its exit code; nothing if it is late.
fn wait(child: &mut Child, deadline: Instant, stop: &Stop) -> Option<Option<i32>> {
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.code()),
            Ok(None) if Instant::now() < deadline && stop.reason().is_none() => {}
            _ => return None,
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

pub(crate) fn kill_group(child: &mut Child) {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
}

/// Reads an output in a thread, because a child of the program may keep it open for ever.
fn read_all(output: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    if let Some(output) = output {
        let read = move || {
            let mut bytes = Vec::new();
            let mut output = output;
            let _ = output.by_ref().take(MOST).read_to_end(&mut bytes);
            let _ = sender.send(bytes);
            // Otherwise a program that prints more would wait for a reader.
            let _ = std::io::copy(&mut output, &mut std::io::sink());
        };
        // Without a thread the output is empty.
        let _ = thread::Builder::new().spawn(read);
    }
    receiver
}

//! A program that has the terminal until it ends.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::os::unix::process::ExitStatusExt as _;

use super::confined::Prepared;
use crate::error::CliError;

/// How a program ended.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
}

impl Ending {
    /// Returns the exit code that shells give it.
    pub(super) fn exit(&self) -> u8 {
        let code = self.code.unwrap_or_else(|| 128 + self.signal.unwrap_or_default());
        u8::try_from(code).unwrap_or(u8::MAX)
    }
}

/// Runs a program until it ends. Signals are its own to answer: the terminal sends some to it by itself, the others are
/// passed on.
pub(super) fn run(mut prepared: Prepared, directory: &Path) -> Result<Ending, CliError> {
    let failed = |error: io::Error| CliError::other(&error);
    let mut signals = Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP]).map_err(failed)?;
    let handle = signals.handle();
    let command: &mut Command = &mut prepared.command;
    let mut child =
        command.current_dir(directory).spawn().map_err(|error| prepared.not_started(&error))?;
    let pid = Pid::from_child(&child);
    let passing_on = thread::spawn(move || {
        for signal in signals.forever() {
            if matches!(signal, SIGTERM | SIGHUP) {
                // It may have ended meanwhile; until it is waited for, its number belongs to no other process.
                let _ = kill_process(pid, Signal::TERM);
            }
        }
    });
    let status = child.wait();
    handle.close();
    let _ = passing_on.join();
    Ok(ending(status.map_err(failed)?))
}

fn ending(status: ExitStatus) -> Ending {
    Ending { code: status.code(), signal: status.signal() }
}

//! The log of a command, for debugging.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Mutex;

use tracing::Level;
use tracing_subscriber::fmt;

use crate::cli::context::Context;
use crate::error::CliError;
use crate::sys::disk;

/// Where the log goes: to stderr at a level, or everything to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Log {
    Level(Level),
    File(PathBuf),
}

impl FromStr for Log {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(level) if !text.bytes().all(|it| it.is_ascii_digit()) => Ok(Self::Level(level)),
            // A misspelt level must not become a file in the user's workspace.
            _ if !text.contains(['/', '.']) => {
                Err("name a level (error, warn, info, debug, trace), \
                 or a file with a `.` or `/` in it"
                    .to_owned())
            }
            _ => Ok(Self::File(text.into())),
        }
    }
}

/// Starts the log, if requested; `verbose` is the number of `-v`.
pub(crate) fn begin(context: &Context, log: Option<&Log>, verbose: u8) -> Result<(), CliError> {
    let level = match (log, verbose) {
        (None, 0) => return Ok(()),
        (Some(Log::Level(level)), _) => *level,
        (Some(Log::File(_)), _) => Level::TRACE,
        (None, 1) => Level::INFO,
        (None, 2) => Level::DEBUG,
        (None, _) => Level::TRACE,
    };
    let builder = fmt().with_max_level(level).with_ansi(false).with_target(false);
    match log {
        Some(Log::File(path)) => {
            let path = context.host_path(path);
            let file = disk::open_to_append(&path);
            let file = file.map_err(|error| CliError::host("cannot write", &path, error))?;
            builder.with_writer(Mutex::new(file)).init();
        }
        _ => builder.with_writer(std::io::stderr).init(),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_known_by_its_name_and_a_file_by_its_look() {
        assert_eq!("debug".parse(), Ok(Log::Level(Level::DEBUG)));
        assert_eq!("WARN".parse(), Ok(Log::Level(Level::WARN)));
        assert_eq!("wink.log".parse(), Ok(Log::File("wink.log".into())));
        assert_eq!("./3".parse(), Ok(Log::File("./3".into())));
        for neither in ["", "3", "nosuchlevel"] {
            assert!(neither.parse::<Log>().is_err(), "{neither}");
        }
    }
}

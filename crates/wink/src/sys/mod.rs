//! The operating system: files of the command line itself, processes, signals, logging.

pub(crate) mod disk;
pub(crate) mod lock;
pub(crate) mod logging;
pub(crate) mod process;
pub(crate) mod signals;
pub(crate) mod stop_signals;

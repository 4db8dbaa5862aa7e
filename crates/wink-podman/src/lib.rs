//! Runs the programs of a wink workspace in a Podman container.
//!
//! The files stay on the host: they are read, written and captured through the host backend of `wink-fs`, never by
//! a program in the container. The container has the same directory at `/workspace`, and an executor for
//! `shell_execute` and `evaluate_python`.
#![cfg(target_os = "linux")]

mod cli;
mod commit;
mod conmon;
mod connection;
mod container;
mod examine;
mod executor;
mod image;
mod machine;
mod options;
mod own_container;
mod place;
mod problem;
mod seccomp;
mod section;
mod workspace;

pub use self::examine::{Finding, Level, examine};
pub use self::executor::{PodmanExecutor, RunningMode};
pub use self::image::Image;
pub use self::options::{DEFAULT_IMAGE, PodmanOptions};
pub use self::problem::Problem;
pub use self::section::PodmanSection;
pub use self::workspace::{BACKEND, builder, host_options, mount_point};

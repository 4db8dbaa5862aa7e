//! Runs programs in a sandbox that fails closed.
//!
//! A program in the sandbox, and everything that it starts,
//!
//! - writes only below the directories that it was given: Landlock says so for files, and a mount namespace in which
//!   everything else is read-only for what Landlock does not cover (modes, owners, attributes);
//! - reads the system, the directories of `PATH`, the tools of the user, and what it was given, but no other file;
//! - has no IP sockets unless it was given the network, and no Unix sockets but unnamed pairs;
//! - signals only processes of the same sandbox, traces none, and makes no namespaces of its own;
//! - gets only environment variables that hold no secret, and those that were named;
//! - inherits no open file but its three standard streams;
//! - ends, with all of its descendants, before the sandbox does.
//!
//! The rules are applied by a process of their own, the *launcher*: the embedding binary calls [`launch`] first thing in
//! `main`. Where a rule cannot be applied, no program is run.
//!
//! ```no_run
//! use wink_sandbox::Sandbox;
//!
//! // First thing in `main`: in the process that `command` starts, this does not return.
//! wink_sandbox::launch();
//! let sandbox = Sandbox::new("/home/me/project")?.protect("/home/me/.local/share/wink");
//! let status = sandbox.command("make".as_ref())?.arg("test").status();
//! # Ok::<(), wink_sandbox::SandboxError>(())
//! ```
#![cfg(target_os = "linux")]

mod environment;
mod error;
mod launcher;
mod readable;
mod sandbox;

pub use self::error::SandboxError;
pub use self::launcher::{CANNOT_INVOKE, FAILED, NOT_FOUND, launch};
pub use self::sandbox::Sandbox;

//! The supervisor of a container: its program, and the protocol that it speaks.
//!
//! The program is PID 1 of a container. It connects to a socket in a directory that is mounted into the
//! container, runs the commands that come over it, and ends every process of a command with it. It is the
//! container's PID 1 because no process of the container can signal or trace that one, and because one
//! `kill(-1)` of it ends all of them, however often they forked.

pub mod protocol;

/// The program, linked statically; empty if it could not be made.
pub const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/supervisor"));

//! Every snapshot strategy gives back what it was given, or says that it cannot.

#![cfg(target_os = "linux")]

mod archive;
mod contract;
mod damage;
mod git;
mod hostile;
mod options;
mod overlay;
mod reflink;
mod scene;
mod workspace;

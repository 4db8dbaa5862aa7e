//! The most recent calls, for the user who watches the server.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use crate::sys::lock::lock;

/// How many calls are remembered.
const MOST: usize = 50;

/// Characters of a path that are remembered.
const LONGEST_PATH: usize = 200;

/// Remembers the last calls; a clone remembers the same ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecentCalls(Arc<Mutex<VecDeque<RecentCall>>>);

/// One call, without what was in the files.
#[derive(Clone, Debug)]
pub(crate) struct RecentCall {
    pub(crate) at: SystemTime,
    pub(crate) tool: &'static str,
    pub(crate) path: String,
    /// The fork it worked in, if any.
    pub(crate) fork: Option<String>,
    /// The code of the error, if it failed.
    pub(crate) error: Option<&'static str>,
    pub(crate) took: Duration,
}

impl RecentCall {
    /// Returns its path, and its fork if any.
    pub(crate) fn place(&self) -> String {
        match &self.fork {
            Some(fork) => format!("{} (fork {fork})", self.path),
            None => self.path.clone(),
        }
    }
}

impl RecentCalls {
    pub(crate) fn add(&self, mut call: RecentCall) {
        call.path = call.path.chars().take(LONGEST_PATH).collect();
        let mut calls = lock(&self.0);
        calls.truncate(MOST - 1);
        calls.push_front(call);
    }

    /// Returns them, newest first.
    pub(crate) fn all(&self) -> Vec<RecentCall> {
        lock(&self.0).iter().cloned().collect()
    }
}

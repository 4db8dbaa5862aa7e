//! Opens the page in the user's browser, where there is one.

use std::env;
use std::io::{self, IsTerminal as _};
use std::process::{Command, Stdio};

/// Opens an address if a person at a desktop started this; otherwise the printed address is all.
pub(crate) fn open(url: &str) {
    let has_desktop = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env::var_os(name).is_some());
    if !has_desktop || !io::stdout().is_terminal() {
        return;
    }
    let mut command = Command::new("xdg-open");
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut child) = command.spawn() {
        // It may run as long as the browser does; nothing here waits for it but this thread.
        std::thread::spawn(move || child.wait());
    }
}

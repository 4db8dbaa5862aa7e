//! A person with a home, a project, and a terminal.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::cli::form::check_form;
use crate::cli::hints;
use crate::cli::mask;

pub(crate) struct Scene {
    directory: TempDir,
}

impl Scene {
    /// A project that is no workspace yet.
    pub(crate) fn empty() -> Self {
        let scene = Self { directory: tempfile::tempdir().unwrap() };
        for name in ["home", "project"] {
            std::fs::create_dir(scene.path(name)).unwrap();
        }
        scene
    }

    /// A project that is a workspace.
    pub(crate) fn new() -> Self {
        let scene = Self::empty();
        scene.ok(&["init", "-q"]);
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn project(&self, name: &str) -> PathBuf {
        self.path("project").join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.project(name).parent().unwrap()).unwrap();
        std::fs::write(self.project(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.project(name)).unwrap()
    }

    /// The directory of the project's history.
    pub(crate) fn history(&self) -> PathBuf {
        let mut all = std::fs::read_dir(self.path("data/wink")).unwrap();
        all.next().unwrap().unwrap().path()
    }

    /// The directory of the settings of a fork.
    pub(crate) fn fork_settings(&self, name: &str) -> PathBuf {
        let all = std::fs::read_dir(self.path("data/wink")).unwrap();
        let mut all = all.map(|it| it.unwrap().path().join("branches").join(name));
        all.find(|it| it.exists()).unwrap()
    }

    pub(crate) fn wink_in(&self, directory: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wink"));
        command.current_dir(directory).args(args).env_clear();
        command.env("HOME", self.path("home")).env("XDG_DATA_HOME", self.path("data"));
        command.env("TZ", "UTC");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.wink_in(&self.path("project"), args).output().unwrap()
    }

    /// Runs a command that must succeed.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        stdout(&output)
    }

    /// Runs a command that must fail; returns its exit code and what it said.
    pub(crate) fn fails(&self, args: &[&str]) -> (i32, String) {
        let output = self.run(args);
        assert!(!output.status.success(), "{args:?}: {}", stdout(&output));
        hints::check(self, &stderr(&output));
        (output.status.code().unwrap(), stderr(&output))
    }

    /// Runs a command that must succeed with a document.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let text = self.ok(&[args, &["--json"]].concat());
        let document = serde_json::from_str(&text);
        let document = document.unwrap_or_else(|error| panic!("{error}: {text}"));
        check_form(&document, "summary");
        document
    }

    /// The ids of the snapshots, oldest first.
    pub(crate) fn ids(&self) -> Vec<(String, String)> {
        let log = self.json(&["log"]);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let all = log["snapshots"].as_array().unwrap();
        all.iter().rev().map(|it| (text(&it["id"]), text(&it["short"]))).collect()
    }

    /// Runs commands; returns what a terminal would show, with what differs from run to run masked.
    pub(crate) fn transcript(&self, commands: &[&[&str]]) -> String {
        let mut text = String::new();
        for args in commands {
            self.show(&mut text, args, &self.run(args));
        }
        self.masked(text)
    }

    pub(crate) fn show(&self, text: &mut String, args: &[&str], output: &Output) {
        let _ = write!(text, "$ wink {}\n{}", args.join(" "), stdout(output));
        stderr(output).lines().for_each(|line| *text += &format!("2> {line}\n"));
        if let Some(code) = output.status.code().filter(|code| *code != 0) {
            let _ = writeln!(text, "[exit {code}]");
        }
        *text += "\n";
    }

    pub(crate) fn masked(&self, text: String) -> String {
        let mut text = text.replace(self.path("").to_str().unwrap(), "/tmp/");
        if self.path("data/wink").exists() {
            let history = self.history();
            text = text.replace(history.file_name().unwrap().to_str().unwrap(), "project-HASH");
        }
        let ids = if self.run(&["log"]).status.success() { self.ids() } else { Vec::new() };
        for (at, (id, short)) in ids.iter().enumerate() {
            text = text.replace(id, &format!("UUID-{}", at + 1));
            text = text.replace(short, &format!("snapsh-{}", at + 1));
        }
        let text = mask::pattern(&text, "####-##-## ##:##", "DATE TIME");
        let text = mask::number_before(&text, " ms", "N");
        // The time in its manifest makes an archive a byte longer or shorter.
        let text = mask::rest_of_lines(&text, "Exported ", " in ", "SIZE");
        mask::rest_of_lines(&text, "  store ", ", ", "SIZE")
    }
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn mode_of(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

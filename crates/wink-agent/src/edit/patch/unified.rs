//! The unified diff, with or without git's headers.

use super::body::Body;
use super::header::{self, Names};
use super::{Action, FilePatch, Hunk, PatchError, Target};

/// Reads all files of a patch; text before the first of them is not part of it.
pub(super) fn parse(lines: &[&str]) -> Result<Vec<FilePatch>, PatchError> {
    let mut reader = Reader { lines, at: 0 };
    let mut files = Vec::new();
    while let Some(line) = reader.line() {
        if reader.begins_file() {
            files.push(reader.file()?);
        } else if line == SIGNATURE {
            break;
        } else if line.trim().is_empty() || (files.is_empty() && !line.starts_with("@@")) {
            reader.at += 1;
        } else {
            return Err(reader.refused(
                "it belongs to no file and no hunk; begin lines of a hunk with a blank, + or -",
            ));
        }
    }
    Ok(files)
}

/// What mail programs put after a patch.
const SIGNATURE: &str = "-- ";

/// What git says of a file that needs no care.
const IGNORED: [&str; 4] = ["index ", "old mode ", "similarity ", "dissimilarity "];

/// What git says of a file that cannot be done.
const REFUSED: [(&str, &str); 3] = [
    ("GIT binary patch", "it is about a binary file, which a patch cannot change"),
    ("Binary files ", "it is about a binary file, which a patch cannot change"),
    ("copy ", "a patch cannot copy a file; write the copy with write_file"),
];

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

/// What git says of a file before its lines.
#[derive(Default)]
struct Extended {
    name: Option<String>,
    from: Option<String>,
    to: Option<String>,
    created: bool,
    deleted: bool,
    executable: Option<bool>,
}

impl<'a> Reader<'a> {
    fn line(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn refused(&self, why: impl Into<String>) -> PatchError {
        PatchError::at(self.at + 1, why)
    }

    fn begins_file(&self) -> bool {
        self.line().is_some_and(|line| line.starts_with("diff --git ")) || self.has_names()
    }

    fn has_names(&self) -> bool {
        let begins =
            |at: usize, with| self.lines.get(at).is_some_and(|line| line.starts_with(with));
        begins(self.at, "--- ") && begins(self.at + 1, "+++ ")
    }

    fn file(&mut self) -> Result<FilePatch, PatchError> {
        let start = self.at;
        let extended = self.extended()?;
        let names = self.names()?;
        let executable = extended.executable;
        let action = action(extended, names).map_err(|why| PatchError::at(start + 1, why))?;
        let hunks = self.hunks()?;
        check(&action, &hunks)?;
        Ok(FilePatch { action, hunks, executable })
    }

    fn extended(&mut self) -> Result<Extended, PatchError> {
        let mut extended = Extended::default();
        while let Some(line) = self.line().filter(|_| !self.has_names()) {
            let begins_next = line.starts_with("diff --git ") && extended.name.is_some();
            if line.starts_with("@@") || begins_next || !self.take(&mut extended, line)? {
                break;
            }
            self.at += 1;
        }
        Ok(extended)
    }

    /// Takes one of git's lines and returns whether it was one.
    fn take(&self, extended: &mut Extended, line: &str) -> Result<bool, PatchError> {
        if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| line.starts_with(refused)) {
            return Err(self.refused(*why));
        }
        let after = |prefix| line.strip_prefix(prefix);
        if let Some(rest) = after("diff --git ") {
            extended.name = Some(header::git_name(rest).unwrap_or_default());
        } else if let Some(name) = after("rename from ") {
            extended.from = header::unquoted(name);
        } else if let Some(name) = after("rename to ") {
            extended.to = header::unquoted(name);
        } else if let Some(mode) = after("new file mode ") {
            (extended.created, extended.executable) = (true, Some(self.executable(mode)?));
        } else if let Some(mode) = after("new mode ") {
            extended.executable = Some(self.executable(mode)?);
        } else if after("deleted file mode ").is_some() {
            extended.deleted = true;
        } else {
            return Ok(IGNORED.iter().any(|ignored| line.starts_with(ignored)));
        }
        Ok(true)
    }

    fn executable(&self, mode: &str) -> Result<bool, PatchError> {
        match mode.trim() {
            "100644" => Ok(false),
            "100755" => Ok(true),
            _ => Err(self.refused("only plain files can be patched, with mode 100644 or 100755")),
        }
    }

    fn names(&mut self) -> Result<Option<Names>, PatchError> {
        if !self.has_names() {
            return Ok(None);
        }
        let [old, new] = [self.at, self.at + 1].map(|at| &self.lines[at]["--- ".len()..]);
        let names = Names::parse(old, new, self.at + 1)?;
        self.at += 2;
        Ok(Some(names))
    }

    fn hunks(&mut self) -> Result<Vec<Hunk>, PatchError> {
        let mut hunks = Vec::new();
        while let Some(line) = self.line().filter(|line| line.starts_with("@@")) {
            let patch_line = self.at + 1;
            let (target, counts) = header::target(line);
            self.at += 1;
            let mut hunk = self.hunk(patch_line, target, counts)?;
            // `-5,0` means: after line 5.
            if counts.is_some_and(|counts| counts.0 == 0) && hunk.old_lines().next().is_none() {
                hunk.target.line = hunk.target.line.map(|line| line.saturating_add(1));
            }
            hunks.push(hunk);
        }
        Ok(hunks)
    }

    fn hunk(
        &mut self,
        patch_line: usize,
        target: Target,
        counts: Option<(usize, usize)>,
    ) -> Result<Hunk, PatchError> {
        let mut body = Body::default();
        while let Some(line) = self.line() {
            // A removed line may look like a name; then the header has counted it.
            let is_whole = counts.is_none_or(|counts| body.counts().0 >= counts.0);
            let is_next = is_whole && (self.has_names() || line == SIGNATURE);
            if is_next || !body.take(line, self.at + 1)? {
                break;
            }
            self.at += 1;
        }
        Ok(Hunk { patch_line, target, lines: body.finish(counts) })
    }
}

fn action(extended: Extended, names: Option<Names>) -> Result<Action, String> {
    let Extended { name, from, to, created, deleted, .. } = extended;
    if let (Some(from), Some(to)) = (from, to) {
        return Ok(Action::Move { from, to });
    }
    let name = name.filter(|name| !name.is_empty());
    let Names { old, new } = names.unwrap_or_else(|| Names {
        old: name.clone().filter(|_| !created),
        new: name.filter(|_| !deleted),
    });
    match (old, new) {
        (None, Some(path)) => Ok(Action::Create { path }),
        (Some(path), None) => Ok(Action::Delete { path }),
        (Some(old), Some(path)) if old == path => Ok(Action::Update { path }),
        (Some(old), Some(new)) => Err(format!(
            "it names two files, {old} and {new}; to move one, say `rename from` and `rename to`"
        )),
        (None, None) => Err("it names no file".to_owned()),
    }
}

/// Refuses hunks that a new file cannot have.
fn check(action: &Action, hunks: &[Hunk]) -> Result<(), PatchError> {
    let with_old = hunks.iter().find(|hunk| hunk.old_lines().next().is_some());
    match (action, with_old) {
        (Action::Create { path }, Some(hunk)) => Err(PatchError::at(
            hunk.patch_line,
            format!("{path} is to be made, so that every line of the hunk begins with +"),
        )),
        _ => Ok(()),
    }
}

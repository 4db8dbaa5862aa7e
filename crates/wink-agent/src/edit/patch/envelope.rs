//! The format between `*** Begin Patch` and `*** End Patch`.

use super::body::Body;
use super::{Action, FilePatch, Hunk, PatchError, Sign, Target, header};

pub(super) const BEGIN: &str = "*** Begin Patch";
pub(super) const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// Reads all files of a patch, from the line after its first.
pub(super) fn parse(lines: &[&str], at: usize) -> Result<Vec<FilePatch>, PatchError> {
    let mut reader = Reader { lines, at };
    let mut files = Vec::new();
    loop {
        match reader.line() {
            Some(line) if line.trim_end() == END => return Ok(files),
            Some(line) if line.trim().is_empty() => reader.at += 1,
            Some(line) => files.push(reader.file(line.trim_start())?),
            // A patch that was cut off would change less than was meant.
            None => return Err(reader.refused(format!("`{END}` is missing"))),
        }
    }
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn line(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn refused(&self, why: impl Into<String>) -> PatchError {
        PatchError::at(self.at + 1, why)
    }

    fn file(&mut self, line: &str) -> Result<FilePatch, PatchError> {
        let named = |prefix| line.strip_prefix(prefix).map(|name| name.trim().to_owned());
        let (action, hunks) = if let Some(path) = named(ADD) {
            (Action::Create { path }, self.added()?)
        } else if let Some(path) = named(DELETE) {
            self.at += 1;
            (Action::Delete { path }, Vec::new())
        } else if let Some(path) = named(UPDATE) {
            self.at += 1;
            (self.update(path), self.hunks()?)
        } else {
            return Err(self.refused(
                "it is none of `*** Add File: `, `*** Update File: `, `*** Delete File: ` and \
                 `*** End Patch`",
            ));
        };
        Ok(FilePatch { action, hunks, executable: None })
    }

    fn update(&mut self, path: String) -> Action {
        match self.line().and_then(|line| line.trim_start().strip_prefix(MOVE)) {
            Some(to) => {
                self.at += 1;
                Action::Move { from: path, to: to.trim().to_owned() }
            }
            None => Action::Update { path },
        }
    }

    fn added(&mut self) -> Result<Vec<Hunk>, PatchError> {
        let patch_line = self.at + 1;
        self.at += 1;
        let is_indented_marker = |line: &str| {
            let marker = line.trim_start();
            line != marker && [ADD, DELETE, UPDATE, END].iter().any(|it| marker.starts_with(it))
        };
        let body = self.body_until(is_indented_marker)?;
        let lines = body.finish(None);
        match lines.iter().position(|line| line.sign != Sign::Added) {
            None => Ok(vec![Hunk { patch_line, target: Target::default(), lines }]),
            Some(at) => Err(PatchError::at(
                patch_line + 1 + at,
                "every line of a file that is to be made begins with +",
            )),
        }
    }

    fn hunks(&mut self) -> Result<Vec<Hunk>, PatchError> {
        let mut hunks = Vec::new();
        let mut has_ended = false;
        while let Some(line) = self.line() {
            // After the end of the file no line of it follows, so an indented marker is one.
            let marker = if has_ended { line.trim_start() } else { line };
            if line != END_OF_FILE && marker.starts_with("*** ") {
                break;
            }
            let hunk = self.hunk()?;
            has_ended = hunk.as_ref().is_some_and(|hunk| hunk.target.at_end);
            hunks.extend(hunk);
        }
        Ok(hunks)
    }

    /// Reads a hunk; the first of a file may have no `@@` before it, and empty lines are none.
    fn hunk(&mut self) -> Result<Option<Hunk>, PatchError> {
        let patch_line = self.at + 1;
        let target = self.target();
        let body = self.body()?;
        let at_end = self.line() == Some(END_OF_FILE);
        if at_end {
            self.at += 1;
        } else if self.at + 1 == patch_line {
            return Err(self.refused(
                "it is no line of a hunk; begin those with a blank, + or -, and a hunk with @@",
            ));
        }
        let lines = body.finish(None);
        let is_none = lines.is_empty() && target == Target::default();
        let target = Target { at_end, ..target };
        Ok((!is_none).then_some(Hunk { patch_line, target, lines }))
    }

    /// Reads the lines that say where a hunk is; several name a line within a line.
    fn target(&mut self) -> Target {
        let mut target = Target::default();
        while let Some(line) = self.line().filter(|line| line.starts_with("@@")) {
            let (next, _) = header::target(line);
            target.anchors.extend(next.anchors);
            target.line = next.line.or(target.line);
            self.at += 1;
        }
        target
    }

    fn body(&mut self) -> Result<Body, PatchError> {
        self.body_until(|_| false)
    }

    fn body_until(&mut self, is_end: impl Fn(&str) -> bool) -> Result<Body, PatchError> {
        let mut body = Body::default();
        while let Some(line) = self.line().filter(|line| !is_end(line)) {
            if !body.take(line, self.at + 1)? {
                break;
            }
            self.at += 1;
        }
        Ok(body)
    }
}

//! The lines of a hunk, which both formats write alike.

use super::{Line, PatchError, Sign};

const NO_NEWLINE: &str = "\\ No newline at end of file";

/// Takes the lines of one hunk.
#[derive(Default)]
pub(super) struct Body {
    pub(super) lines: Vec<Line>,
    /// How many empty lines were last, which may not be part of the hunk.
    blank: usize,
}

impl Body {
    /// Takes a line of the patch and returns whether it is one of a hunk's.
    pub(super) fn take(&mut self, line: &str, number: usize) -> Result<bool, PatchError> {
        let mut characters = line.chars();
        let sign = match characters.next() {
            Some(' ') => Sign::Kept,
            Some('+') => Sign::Added,
            Some('-') => Sign::Removed,
            Some('\\') => return self.unend(number).map(|()| true),
            // Editors take the blank off an empty line.
            None => {
                self.push(Sign::Kept, "");
                self.blank += 1;
                return Ok(true);
            }
            Some(_) => return Ok(false),
        };
        self.blank = 0;
        self.push(sign, characters.as_str());
        Ok(true)
    }

    fn push(&mut self, sign: Sign, text: &str) {
        self.lines.push(Line { sign, text: text.to_owned(), has_newline: true });
    }

    fn unend(&mut self, number: usize) -> Result<(), PatchError> {
        match self.lines.last_mut() {
            Some(last) => last.has_newline = false,
            None => {
                return Err(PatchError::at(number, format!("`{NO_NEWLINE}` follows no line")));
            }
        }
        Ok(())
    }

    /// Counts the lines of the old file and those of the new one.
    pub(super) fn counts(&self) -> (usize, usize) {
        let count = |other| self.lines.iter().filter(|line| line.sign != other).count();
        (count(Sign::Added), count(Sign::Removed))
    }

    /// Ends the hunk, less the empty lines at its end that the header did not count.
    pub(super) fn finish(mut self, counts: Option<(usize, usize)>) -> Vec<Line> {
        let most = counts.map_or(0, |counts| counts.0);
        while self.blank > 0 && self.counts().0 > most {
            self.lines.pop();
            self.blank -= 1;
        }
        self.lines
    }
}

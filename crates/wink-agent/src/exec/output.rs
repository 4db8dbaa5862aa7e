//! What a program prints: the beginning and the end are kept, the rest is counted.

use std::collections::VecDeque;
use std::fmt;
use std::io::Write as _;

use super::outputs::{Outputs, SavedOutput};

/// Bytes that are kept of the beginning.
const HEAD: usize = 16 * 1024;

/// Bytes that are kept of the end.
const TAIL: usize = 16 * 1024;

/// Bytes of one output that are saved; what a flood has beyond them is only counted.
const MOST_SAVED: u64 = 16 * 1024 * 1024;

/// How a model gets the omitted part; the saved file is for the embedding program.
const MORE: &str = "to see them, run it again and print less at once (grep, head, tail), or write its \
                    output into a file of the workspace and read that with read_file";

/// The beginning and the end of a program's output.
///
/// ```
/// use wink_agent::exec::Output;
///
/// let flood = Output::from("x".repeat(1_000_000).as_str());
/// assert_eq!(flood.total_bytes(), 1_000_000);
/// assert!(flood.is_cut() && flood.text().len() < 40_000);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    saved: Option<String>,
    /// The path by which the next programs read it.
    shared: Option<String>,
}

impl Output {
    /// Returns how many bytes there were.
    pub fn total_bytes(&self) -> u64 {
        self.total
    }

    /// Returns whether something is left out of the text.
    pub fn is_cut(&self) -> bool {
        self.total > (HEAD + TAIL) as u64
    }

    /// Returns the name of the file in [`Outputs`] that it was saved to, if something is left out: all
    /// of it, or the first 16 MiB.
    pub fn saved(&self) -> Option<&str> {
        self.saved.as_deref()
    }

    /// Returns the text, with a note in the middle if something is left out.
    pub fn text(&self) -> String {
        let (front, back) = self.tail.as_slices();
        let tail = [front, back].concat();
        if !self.is_cut() {
            return String::from_utf8_lossy(&[&self.head[..], &tail].concat()).into_owned();
        }
        let left_out = self.total - (self.head.len() + tail.len()) as u64;
        let more = match &self.shared {
            Some(path) => format!(
                "all of it is in {path} for the next commands, such as `sed -n 100,200p {path}`"
            ),
            None => MORE.to_owned(),
        };
        format!(
            "{}\n[… {left_out} bytes left out; {more} …]\n{}",
            String::from_utf8_lossy(&self.head),
            String::from_utf8_lossy(&tail)
        )
    }

    /// Says by which path the next programs read it.
    pub(super) fn share_as(&mut self, path: String) {
        self.shared = Some(path);
    }

    fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(TAIL)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(TAIL);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }
}

impl<T: AsRef<[u8]> + ?Sized> From<&T> for Output {
    fn from(bytes: &T) -> Self {
        let mut output = Self::default();
        output.take(bytes.as_ref());
        output
    }
}

impl From<String> for Output {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

/// Collects a program's output, and saves all of it once it exceeds what is kept in memory.
///
/// ```
/// use wink_agent::exec::{OutputCollector, Outputs};
///
/// let mut collector = OutputCollector::new(&Outputs::temporary().unwrap(), "stdout");
/// collector.take(b"hello, ");
/// collector.take(b"world");
/// assert_eq!(collector.output().text(), "hello, world");
/// ```
pub struct OutputCollector {
    output: Output,
    outputs: Outputs,
    name: &'static str,
    file: Option<SavedOutput>,
    is_lost: bool,
}

impl fmt::Debug for OutputCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputCollector").field("total", &self.output.total).finish_non_exhaustive()
    }
}

impl OutputCollector {
    /// Creates a collector; saved output has this name and a number.
    pub fn new(outputs: &Outputs, name: &'static str) -> Self {
        let output = Output::default();
        let outputs = outputs.clone();
        Self { output, outputs, name, file: None, is_lost: false }
    }

    /// Adds what was printed.
    pub fn take(&mut self, bytes: &[u8]) {
        let so_far = self.output.total;
        if self.file.is_none() && !self.is_lost && so_far as usize + bytes.len() > HEAD + TAIL {
            self.begin_file();
        }
        self.save(so_far, bytes);
        self.output.take(bytes);
    }

    /// Writes what is kept so far, which is everything.
    fn begin_file(&mut self) {
        let begun = self.outputs.begin(self.name).and_then(|mut file| {
            let (front, back) = self.output.tail.as_slices();
            [&self.output.head, front, back].iter().try_for_each(|part| file.write_all(part))?;
            Ok(file)
        });
        match begun {
            Ok(file) => {
                self.output.saved = Some(file.name().to_owned());
                self.file = Some(file);
            }
            Err(_) => self.is_lost = true,
        }
    }

    fn save(&mut self, so_far: u64, bytes: &[u8]) {
        let room = MOST_SAVED.saturating_sub(so_far).min(bytes.len() as u64);
        let Some(file) = &mut self.file else { return };
        if file.write_all(&bytes[..room as usize]).is_err() {
            (self.file, self.output.saved, self.is_lost) = (None, None, true);
        }
    }

    /// Returns what was collected so far.
    pub fn output(&self) -> Output {
        self.output.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_too_much_is_kept_whole() {
        let text: String = (0..HEAD + TAIL).map(|n| char::from(b'a' + (n % 26) as u8)).collect();
        let mut output = Output::default();
        text.as_bytes().chunks(1_000).for_each(|chunk| output.take(chunk));
        assert!(!output.is_cut());
        assert_eq!(output.text(), text);
    }

    #[test]
    fn of_a_flood_the_beginning_and_the_end_are_kept_and_all_is_saved() {
        let outputs = Outputs::temporary().unwrap();
        let mut collector = OutputCollector::new(&outputs, "stdout");
        let flood: Vec<u8> = (0..1_000_000_u32).map(|n| b'a' + (n % 26) as u8).collect();
        flood.chunks(7_777).for_each(|chunk| collector.take(chunk));
        let output = collector.output();
        let text = output.text();
        assert!(text.as_bytes().starts_with(&flood[..HEAD]));
        assert!(text.as_bytes().ends_with(&flood[flood.len() - TAIL..]));
        let name = output.saved().unwrap();
        assert!(
            text.contains("[… 967232 bytes left out; to see them, run it again and print less")
        );
        assert!(!text.contains(name), "no tool reads it");
        assert!(outputs.read(name).unwrap() == flood);
    }
}

//! Files to which several processes append lines.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{open_to_append, read_end, replace};

/// Appends a line to a private file, atomically.
///
/// A file longer than twice `most` is cut to its last lines that fit into `most`.
pub(crate) fn append_line(path: &Path, line: &str, most: u64) -> io::Result<()> {
    let mut file = open_alone(path)?;
    file.write_all(format!("{line}\n").as_bytes())?;
    if file.metadata()?.len() <= most.saturating_mul(2) {
        return Ok(());
    }
    let end = read_end(path, most)?;
    let whole = end.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    replace(path, &end[whole..])
}

/// Opens and locks a file for appending; a file that was replaced meanwhile is opened again.
fn open_alone(path: &Path) -> io::Result<File> {
    loop {
        let file = open_to_append(path)?;
        file.lock()?;
        let identity = |it: fs::Metadata| (it.dev(), it.ino());
        let opened = identity(file.metadata()?);
        if fs::metadata(path).is_ok_and(|there| identity(there) == opened) {
            return Ok(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_lines_keeps_the_newest_and_does_not_grow_for_ever() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lines");
        for number in 0..1_000 {
            append_line(&path, &format!("line {number}"), 100).unwrap();
            assert!(fs::metadata(&path).unwrap().len() <= 200);
        }
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.ends_with("line 998\nline 999\n"), "{text}");
        assert!(text.lines().all(|line| line.starts_with("line ")), "{text}");
    }

    #[test]
    fn lines_that_others_add_while_a_file_is_cut_are_not_lost() {
        let directory = tempfile::tempdir().unwrap();
        let path = &directory.path().join("lines");
        let add = |who: usize| {
            (0..500).for_each(|it| append_line(path, &format!("{who} {it}"), 2_000).unwrap());
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|who| drop(scope.spawn(move || add(who))));
        });
        let text = fs::read_to_string(path).unwrap();
        for who in 0..4 {
            let own = text.lines().filter_map(|line| line.strip_prefix(&format!("{who} ")));
            let own: Vec<usize> = own.map(|it| it.parse().unwrap()).collect();
            assert!(own.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{who}: {own:?}");
        }
        assert!(text.ends_with(" 499\n"), "{text}");
    }
}

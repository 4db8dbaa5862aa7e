//! Changes that have no lines, as git writes them, so that `git apply` takes them.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::{Digest as _, Sha1};

/// The name that git gives to a file that is not there.
const NO_FILE: &str = "0000000000000000000000000000000000000000";

/// Bytes of a line; its first letter can count no more.
const LINE: usize = 52;

/// The digits of base 85, as git has them.
const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/// Writes how to get from one content to another, and back; `None` is no file.
pub(super) fn text(old: Option<&[u8]>, new: Option<&[u8]>) -> io::Result<String> {
    let id = |content: Option<&[u8]>| content.map_or(NO_FILE.to_owned(), blob_id);
    let mut text = format!("index {}..{}\nGIT binary patch\n", id(old), id(new));
    for content in [new, old] {
        literal(&mut text, content.unwrap_or_default())?;
    }
    Ok(text)
}

/// Returns the name that git gives to content.
fn blob_id(content: &[u8]) -> String {
    let hasher = Sha1::new_with_prefix(format!("blob {}\0", content.len()));
    let hash = hasher.chain_update(content).finalize();
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Adds a content as a whole, compressed.
fn literal(text: &mut String, content: &[u8]) -> io::Result<()> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content)?;
    let packed = encoder.finish()?;
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "literal {}", content.len());
    packed.chunks(LINE).for_each(|chunk| line(text, chunk));
    text.push('\n');
    Ok(())
}

/// Adds a line: a letter for how many bytes it holds, then each four of them in five digits.
fn line(text: &mut String, bytes: &[u8]) {
    let letters = (b'A'..=b'Z').chain(b'a'..=b'z');
    text.extend(letters.map(char::from).nth(bytes.len() - 1));
    for group in bytes.chunks(4) {
        let mut four = [0; 4];
        four[..group.len()].copy_from_slice(group);
        let number = u32::from_be_bytes(four);
        let digit = |at: u32| DIGITS[(number / 85_u32.pow(at) % 85) as usize];
        text.extend((0..5).rev().map(digit).map(char::from));
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What git 2.47 writes for no bytes.
    #[test]
    fn digits_are_those_of_git() {
        let mut text = String::new();
        line(&mut text, &[0x78, 0x01, 3, 0, 0, 0, 0, 1]);
        assert_eq!(text, "HcmV?d00001\n");
    }

    #[test]
    fn contents_have_the_names_that_git_gives_them() {
        assert_eq!(blob_id(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(blob_id(b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
    }

    #[test]
    fn the_first_letter_counts_the_bytes_of_a_line() {
        let first = |count: usize| {
            let mut text = String::new();
            line(&mut text, &vec![0xff; count]);
            text
        };
        assert_eq!(first(1), "A{{R30\n");
        assert_eq!(first(4), "D|NsC0\n");
        assert!(first(26).starts_with('Z') && first(27).starts_with('a'));
        assert!(first(LINE).starts_with('z'));
    }
}

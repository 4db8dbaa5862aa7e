//! The token of a server.

use std::fmt;
use std::io;
use std::path::Path;

use crate::error::CliError;
use crate::sys::disk;

/// Bytes of a secret that is made here: no attacker guesses 256 bits.
const BYTES: usize = 32;

/// The shortest token that a file may have.
const SHORTEST: usize = 32;
const LONGEST: usize = 4096;

/// A secret that every client must send; `Debug` does not show it.
#[derive(Clone)]
pub(crate) struct Token {
    text: String,
    hash: blake3::Hash,
}

impl Token {
    /// Makes a new secret.
    pub(crate) fn new() -> io::Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(io::Error::from)?;
        Ok(Self::from_text(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Reads a secret from a file that only its owner can read.
    pub(crate) fn read(path: &Path) -> Result<Self, CliError> {
        let failed = |error| CliError::host("cannot read the token in", path, error);
        let text = disk::read_private(path).map_err(failed)?;
        let text = String::from_utf8(text).unwrap_or_default().trim().to_owned();
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_plain && (SHORTEST..=LONGEST).contains(&text.len()) {
            Ok(Self::from_text(text))
        } else {
            Err(CliError::weak_token(path, SHORTEST))
        }
    }

    fn from_text(text: String) -> Self {
        let hash = blake3::hash(text.as_bytes());
        Self { text, hash }
    }

    /// Compares in constant time.
    pub(crate) fn is(&self, given: &str) -> bool {
        // Comparing such hashes takes the same time whatever they are.
        blake3::hash(given.as_bytes()) == self.hash
    }

    /// Returns the secret itself.
    pub(crate) fn reveal(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_matches_itself_and_is_never_printed() {
        let token = Token::new().expect("random");
        let other = Token::new().expect("random");
        assert_eq!(token.reveal().len(), 64);
        assert!(token.is(token.reveal()));
        assert!(!token.is(other.reveal()) && !token.is("") && !token.is(&token.reveal()[..63]));
        assert_eq!(format!("{token:?}"), "Token(…)");
    }
}

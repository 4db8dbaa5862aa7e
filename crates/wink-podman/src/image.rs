//! Names of images.

use std::fmt;

use wink_fs::{Error, ErrorKind, Operation, Result};

/// The name or digest of an image, which no program takes for an option.
///
/// ```
/// use wink_podman::Image;
///
/// assert!(Image::parse("docker.io/library/python:3.12-slim").is_ok());
/// assert!(Image::parse("--privileged").is_err());
/// assert!(Image::parse("a b").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Image(String);

/// The longest name that is accepted.
const MAX_LENGTH: usize = 255;

impl Image {
    /// Checks a name: letters, digits and `._-/:@+`, beginning with a letter or digit.
    pub fn parse(name: &str) -> Result<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/:@+".contains(c);
        let is_name = (1..=MAX_LENGTH).contains(&name.len())
            && name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.chars().all(is_plain)
            && !name.contains("://");
        if is_name {
            Ok(Self(name.to_owned()))
        } else {
            Err(Error::new(Operation::Open, ErrorKind::InvalidArgument)
                .with_path_text(name)
                .with_detail("this is not the name of an image; give one such as docker.io/library/python:3.12-slim"))
        }
    }

    pub(crate) fn known(name: &'static str) -> Self {
        Self(name.to_owned())
    }

    /// Names an image that wink made.
    pub(crate) fn own(name: String) -> Self {
        Self(name)
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

//! Options of export and import.

use std::time::SystemTime;

/// How the content of an archive is stored.
///
/// ```
/// assert_eq!(wink_fs::archive::Method::default(), wink_fs::archive::Method::Deflate);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Method {
    /// Compressed, if that makes it smaller.
    #[default]
    Deflate,
    /// Uncompressed.
    Stored,
}

/// Options of an export.
///
/// ```
/// use std::time::SystemTime;
/// use wink_fs::archive::{ExportOptions, Method};
///
/// let options = ExportOptions::default().created_at(SystemTime::UNIX_EPOCH).method(Method::Stored);
/// assert_eq!(options.method, Method::Stored);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ExportOptions {
    /// The time in the manifest; the current time if unset.
    pub created_at: Option<SystemTime>,
    /// How content is stored.
    pub method: Method,
    /// The compression level, from 1 (fast) to 12 (small); at most 9 for content over 8 MiB.
    pub level: u8,
    /// Whether an existing file is AlreadyExists instead of being replaced.
    pub only_new: bool,
    /// Whether only the owner may read the file.
    pub private: bool,
}

impl ExportOptions {
    /// Sets the time in the manifest, so that equal trees make equal archives.
    #[must_use]
    pub fn created_at(mut self, created_at: SystemTime) -> Self {
        self.created_at = Some(created_at);
        self
    }

    /// Sets how content is stored.
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// Sets the compression level, clamped to 1 to 12.
    #[must_use]
    pub fn level(mut self, level: u8) -> Self {
        self.level = level.clamp(1, 12);
        self
    }

    /// Sets whether only the owner may read the file.
    #[must_use]
    pub fn private(mut self, private: bool) -> Self {
        self.private = private;
        self
    }

    /// Sets whether an existing file is refused.
    #[must_use]
    pub fn only_new(mut self, only_new: bool) -> Self {
        self.only_new = only_new;
        self
    }
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self {
            created_at: None,
            method: Method::Deflate,
            level: 5,
            only_new: false,
            private: false,
        }
    }
}

/// Limits of an archive; a larger one is TooLarge.
///
/// ```
/// use wink_fs::archive::ArchiveLimits;
///
/// let limits = ArchiveLimits::default().max_entries(100).max_file_bytes(1 << 20);
/// assert_eq!(limits.max_total_bytes, 4 << 30);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ArchiveLimits {
    /// The number of entries, including directories and the manifest; also that of directories without an entry.
    pub max_entries: u64,
    /// The uncompressed bytes of one file.
    pub max_file_bytes: u64,
    /// The uncompressed bytes of all files.
    pub max_total_bytes: u64,
    /// The bytes of the archive's directory.
    pub max_directory_bytes: u64,
    /// Whether names that differ only in case or normalisation are refused, for systems that treat them as equal.
    pub refuse_folding_names: bool,
}

impl ArchiveLimits {
    /// Sets the most entries.
    #[must_use]
    pub fn max_entries(mut self, max_entries: u64) -> Self {
        self.max_entries = max_entries;
        self
    }

    /// Sets the most bytes of one file.
    #[must_use]
    pub fn max_file_bytes(mut self, max_file_bytes: u64) -> Self {
        self.max_file_bytes = max_file_bytes;
        self
    }

    /// Sets the most bytes of all files.
    #[must_use]
    pub fn max_total_bytes(mut self, max_total_bytes: u64) -> Self {
        self.max_total_bytes = max_total_bytes;
        self
    }

    /// Sets the most bytes of the archive's directory.
    #[must_use]
    pub fn max_directory_bytes(mut self, max_directory_bytes: u64) -> Self {
        self.max_directory_bytes = max_directory_bytes;
        self
    }

    /// Sets whether names that differ only in case or normalisation are refused.
    #[must_use]
    pub fn refuse_folding_names(mut self, refuse: bool) -> Self {
        self.refuse_folding_names = refuse;
        self
    }
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        Self {
            max_entries: 1_000_000,
            max_file_bytes: 1 << 30,
            max_total_bytes: 4 << 30,
            max_directory_bytes: 256 << 20,
            refuse_folding_names: false,
        }
    }
}

//! What a caller may choose.

use std::time::SystemTime;

/// Says how the content of an archive is packed.
///
/// ```
/// assert_eq!(wink_fs::archive::Method::default(), wink_fs::archive::Method::Deflate);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Method {
    /// Compressed, where that makes it smaller.
    #[default]
    Deflate,
    /// As it is.
    Stored,
}

/// Says how an archive is made.
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
    /// The time the manifest gives; unset is the present.
    pub created_at: Option<SystemTime>,
    /// How content is packed.
    pub method: Method,
    /// How hard to compress, from 1 (fast) to 12 (small); content over 8 MiB has no level above 9.
    pub level: u8,
    /// Whether a file that is there already is AlreadyExists, and not replaced.
    pub only_new: bool,
}

impl ExportOptions {
    /// Sets the time the manifest gives, so that equal trees make equal archives.
    #[must_use]
    pub fn created_at(mut self, created_at: SystemTime) -> Self {
        self.created_at = Some(created_at);
        self
    }

    /// Sets how content is packed.
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// Sets how hard to compress, from 1 to 12; what lies outside is brought inside.
    #[must_use]
    pub fn level(mut self, level: u8) -> Self {
        self.level = level.clamp(1, 12);
        self
    }

    /// Sets whether a file that is there already is left alone and refused.
    #[must_use]
    pub fn only_new(mut self, only_new: bool) -> Self {
        self.only_new = only_new;
        self
    }
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self { created_at: None, method: Method::Deflate, level: 5, only_new: false }
    }
}

/// Bounds what an archive may hold; an archive that holds more is TooLarge.
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
    /// Entries in all, directories and the manifest included; and directories without an entry.
    pub max_entries: u64,
    /// Bytes of one file, unpacked.
    pub max_file_bytes: u64,
    /// Bytes of all files, unpacked.
    pub max_total_bytes: u64,
    /// Bytes of the archive's own directory.
    pub max_directory_bytes: u64,
    /// Whether names that differ only by case or normalisation are refused, for a target that takes
    /// them for one.
    pub refuse_folding_names: bool,
}

impl ArchiveLimits {
    /// Sets how many entries there may be.
    #[must_use]
    pub fn max_entries(mut self, max_entries: u64) -> Self {
        self.max_entries = max_entries;
        self
    }

    /// Sets how many bytes one file may have.
    #[must_use]
    pub fn max_file_bytes(mut self, max_file_bytes: u64) -> Self {
        self.max_file_bytes = max_file_bytes;
        self
    }

    /// Sets how many bytes all files may have.
    #[must_use]
    pub fn max_total_bytes(mut self, max_total_bytes: u64) -> Self {
        self.max_total_bytes = max_total_bytes;
        self
    }

    /// Sets how many bytes the archive's own directory may have.
    #[must_use]
    pub fn max_directory_bytes(mut self, max_directory_bytes: u64) -> Self {
        self.max_directory_bytes = max_directory_bytes;
        self
    }

    /// Sets whether names that differ only by case or normalisation are refused.
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

//! Writes content, as text and as bytes.

use std::io::Write as _;

use bytes::Bytes;

use super::make::with_parents;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::filesystem::staged::{Staged, Staging};
use crate::filesystem::{Durability, Filesystem, PutCondition, PutOptions};
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::tree::FileMode;

/// How often an append is retried while other writers change the file.
const APPEND_TRIES: usize = 8;

/// What happens to existing content.
///
/// ```
/// assert_eq!(wink_fs::WriteMode::default(), wink_fs::WriteMode::Overwrite);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum WriteMode {
    /// The path must be free.
    Create,
    /// Existing content is replaced.
    #[default]
    Overwrite,
    /// The new content follows the existing one.
    Append,
}

/// Options of a write.
///
/// ```
/// use wink_fs::{ErrorKind, WriteMode, WriteOptions, Workspace};
///
/// let files = Workspace::memory();
/// let read = files.write("a.txt", "mine")?.content_hash;
/// files.write("a.txt", "another writer's")?;
/// let error = files.write_with("a.txt", "mine, edited", &WriteOptions::default().expected(read));
/// assert_eq!(error.unwrap_err().kind(), ErrorKind::Conflict);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WriteOptions {
    /// What happens to existing content.
    pub mode: WriteMode,
    /// Whether to make missing parents.
    pub create_parents: bool,
    /// The content that must be there. Anything else is a Conflict, even a missing parent. With [`WriteMode::Create`]
    /// it is InvalidArgument.
    pub expected: Option<ContentHash>,
    /// The file's mode; unset keeps the old one.
    pub file_mode: Option<FileMode>,
    /// How durable the change must be when the call returns.
    pub durability: Durability,
}

impl WriteOptions {
    /// Sets what happens to existing content.
    #[must_use]
    pub fn mode(mut self, mode: WriteMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets whether to make missing parents.
    #[must_use]
    pub fn create_parents(mut self, create_parents: bool) -> Self {
        self.create_parents = create_parents;
        self
    }

    /// Sets the content that must be there.
    #[must_use]
    pub fn expected(mut self, expected: ContentHash) -> Self {
        self.expected = Some(expected);
        self
    }

    /// Sets the file's mode.
    #[must_use]
    pub fn file_mode(mut self, mode: FileMode) -> Self {
        self.file_mode = Some(mode);
        self
    }

    /// Sets how durable the change must be when the call returns.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    fn put_options(&self, condition: PutCondition) -> PutOptions {
        PutOptions { condition, mode: self.file_mode, durability: self.durability }
    }
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            mode: WriteMode::default(),
            create_parents: true,
            expected: None,
            file_mode: None,
            durability: Durability::default(),
        }
    }
}

/// The result of a write.
///
/// ```
/// let written = wink_fs::Workspace::memory().write("a.txt", "hello")?;
/// assert_eq!((written.bytes_written, written.created), (5, true));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Written {
    /// The file.
    pub path: TreePath,
    /// How many bytes this call supplied.
    pub bytes_written: u64,
    /// What happened to existing content.
    pub mode: WriteMode,
    /// Whether the file is new.
    pub created: bool,
    /// The hash of the file's new content.
    pub content_hash: ContentHash,
    /// How durable the change is.
    pub durability: Durability,
}

/// Writes text; more characters than the limits allow are TooLarge.
///
/// On failure new parents are removed again, unless that fails too.
pub fn write(
    fs: &mut dyn Filesystem,
    path: &TreePath,
    content: &str,
    options: &WriteOptions,
) -> Result<Written> {
    check_size(fs, path, content.chars().count() as u64, "characters")?;
    write_content(fs, path, Bytes::copy_from_slice(content.as_bytes()), options)
}

/// Writes bytes; more of them than the limits allow are TooLarge.
pub fn write_bytes(
    fs: &mut dyn Filesystem,
    path: &TreePath,
    content: impl Into<Bytes>,
    options: &WriteOptions,
) -> Result<Written> {
    let content = content.into();
    check_size(fs, path, content.len() as u64, "bytes")?;
    write_content(fs, path, content, options)
}

fn check_size(fs: &dyn Filesystem, path: &TreePath, size: u64, unit: &str) -> Result<()> {
    match fs.properties().limits.max_content {
        Some(max) if size > max => Err(Error::new(Operation::Write, ErrorKind::TooLarge)
            .with_path(path)
            .with_detail(format!(
                "the content has {size} {unit} and one call takes at most {max} \
                     (limit max_content); write it in parts with mode append"
            ))),
        _ => Ok(()),
    }
}

fn write_content(
    fs: &mut dyn Filesystem,
    path: &TreePath,
    content: Bytes,
    options: &WriteOptions,
) -> Result<Written> {
    let condition = match (options.mode, options.expected) {
        (WriteMode::Append, _) => return append(fs, path, &content, options),
        (WriteMode::Overwrite, None) => PutCondition::AbsentOrFile,
        (WriteMode::Overwrite, Some(hash)) => PutCondition::Unchanged(hash),
        (WriteMode::Create, None) => PutCondition::Absent,
        (WriteMode::Create, Some(_)) => {
            return Err(Error::new(Operation::Write, ErrorKind::InvalidArgument)
                .with_path(path)
                .with_detail("a file that is to be created has no expected hash; leave it out"));
        }
    };
    put(fs, path, Staged::from_bytes(content), condition, options)
}

fn put(
    fs: &mut dyn Filesystem,
    path: &TreePath,
    mut staged: Staged,
    condition: PutCondition,
    options: &WriteOptions,
) -> Result<Written> {
    // A missing parent means that the expected file is gone: a conflict, for which no directory must be made.
    let must_exist = matches!(condition, PutCondition::Unchanged(_));
    let put_options = options.put_options(condition);
    let make = options.create_parents && !must_exist;
    let put = with_parents(fs, path, make, |fs| fs.put(path, &mut staged, &put_options))
        .map_err(|error| gone(error, path, must_exist).during(Operation::Write))?;
    Ok(Written {
        path: path.clone(),
        bytes_written: staged.bytes_supplied(),
        mode: options.mode,
        created: put.created,
        content_hash: staged.hash(),
        durability: put.durability,
    })
}

/// Turns the error for a missing file, or parent, into a conflict if the file had to exist.
fn gone(error: Error, path: &TreePath, must_exist: bool) -> Error {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory if must_exist => {
            checks::conflict(path, None)
        }
        _ => error,
    }
}

/// Replaces the file by its old content and the new one, so that a reader sees all of it or none.
fn append(
    fs: &mut dyn Filesystem,
    path: &TreePath,
    content: &[u8],
    options: &WriteOptions,
) -> Result<Written> {
    let mut tries = 1..APPEND_TRIES;
    loop {
        let result = append_once(fs, path, content, options);
        let raced =
            |error: &Error| matches!(error.kind(), ErrorKind::Conflict | ErrorKind::AlreadyExists);
        match result {
            // With an expected hash the conflict belongs to the caller, who must see the new content first.
            Err(error) if options.expected.is_none() && raced(&error) && tries.next().is_some() => {
            }
            result => return result,
        }
    }
}

fn append_once(
    fs: &mut dyn Filesystem,
    path: &TreePath,
    content: &[u8],
    options: &WriteOptions,
) -> Result<Written> {
    let failed = |error| Error::system(Operation::Write, error).with_path(path);
    let mut staging = fs.stage().map_err(|error| error.with_path(path))?;
    // A real append (`O_APPEND`) would be visible in parts, and could not be undone by an exchange.
    let before = carry_over(fs, path, &mut staging)?;
    if options.expected.is_some() && options.expected != before {
        return Err(checks::conflict(path, before));
    }
    staging.write_all(content).map_err(failed)?;
    let staged = staging.finish().map_err(failed)?;
    put(fs, path, staged, before.map_or(PutCondition::Absent, PutCondition::Unchanged), options)
}

/// Copies the content at `path` into `staging` and returns its hash; `None` if nothing is there.
fn carry_over(
    fs: &dyn Filesystem,
    path: &TreePath,
    staging: &mut Staging,
) -> Result<Option<ContentHash>> {
    let content = match fs.open(path) {
        Ok(content) => content,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.during(Operation::Write)),
    };
    staging
        .carry_over(&content)
        .map_err(|error| Error::system(Operation::Write, error).with_path(path))?;
    Ok(Some(staging.hash_so_far()))
}

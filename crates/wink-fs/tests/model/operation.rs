//! The operations of the protocol as values: how they are made, and what they come to.

use bytes::Bytes;
use proptest::prelude::*;
use wink_fs::{
    ContentHash, Error, ErrorKind, FileMode, Filesystem, Kind, Limits, ListOptions, MkdirOptions,
    MoveOptions, PageLimit, ReadOptions, Recursion, TreePath, WriteMode, WriteOptions, ops,
};

use crate::model::reference::{Condition, Model, Names, Node, Refusal};

const NAMES: [&[u8]; 4] = [b"a", b"a-b", b"b", b"\xff"];
const CONTENTS: [&[u8]; 6] =
    [b"", b"x", b"one\ntwo\n", b"1\r\n2\r\n3", b"\xff\nx\n", b"too long a line"];
const TARGETS: [&[u8]; 3] = [b"a", b"../../etc/passwd", b"/\xff"];

#[derive(Clone, Debug)]
pub(crate) enum Op {
    Write(Write),
    Delete { path: Names, recursive: bool },
    Mkdir { path: Names, parents: bool, exist_ok: bool },
    Rename(Move),
    Copy(Move),
    Symlink { path: Names, target: Bytes },
    SetMode { path: Names, mode: (bool, bool) },
    Read { path: Names, offset: u64, limit: Option<u64> },
    ReadBytes { path: Names, offset: u64, limit: Option<u64> },
    List { path: Names },
    Stat { path: Names },
    ReadLink { path: Names },
}

#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) path: Names,
    pub(crate) content: Bytes,
    pub(crate) mode: WriteMode,
    pub(crate) parents: bool,
    pub(crate) expected: Expected,
    pub(crate) file_mode: Option<(bool, bool)>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expected {
    Anything,
    WhatIsThere,
    Content(Bytes),
}

#[derive(Clone, Debug)]
pub(crate) struct Move {
    pub(crate) from: Names,
    pub(crate) to: Names,
    pub(crate) replace: bool,
    pub(crate) parents: bool,
}

/// What an operation came to.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Answer {
    Done,
    Made(bool),
    Written { bytes: u64, created: bool, hash: ContentHash },
    Counted(u64, u64, u64),
    Page { content: Bytes, total: u64, lines: u64, truncated: bool, hash: ContentHash },
    Listed(Vec<(String, Kind, Option<Bytes>, Option<u64>)>),
    Stat(Kind, u64, FileMode),
    Target(Bytes),
    Refused(Refusal),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self(error.kind(), error.current_hash())
    }
}

impl Refusal {
    /// Makes an error of the same kind, for the caller.
    pub(crate) fn error(&self) -> Error {
        Error::new(wink_fs::Operation::Write, self.0)
    }
}

fn answer<E: Into<Refusal>>(result: Result<Answer, E>) -> Answer {
    result.unwrap_or_else(|error| Answer::Refused(error.into()))
}

// --- how they are made ---------------------------------------------------------------------------

/// Mostly short paths, so that operations meet.
fn path() -> impl Strategy<Value = Names> {
    let depth =
        prop_oneof![1 => Just(0_usize), 8 => Just(1), 8 => Just(2), 3 => Just(3), 1 => Just(4)];
    let name = prop_oneof![5 => Just(0), 3 => Just(1), 2 => Just(2), 1 => Just(3_usize)];
    depth.prop_flat_map(move |depth| {
        proptest::collection::vec(
            name.clone().prop_map(|name| Bytes::from_static(NAMES[name])),
            depth,
        )
    })
}

fn pick(from: &'static [&'static [u8]]) -> impl Strategy<Value = Bytes> {
    (0..from.len()).prop_map(|nth| Bytes::from_static(from[nth]))
}

fn mode() -> impl Strategy<Value = (bool, bool)> {
    (any::<bool>(), any::<bool>())
}

fn write() -> impl Strategy<Value = Op> {
    let write_mode =
        prop_oneof![Just(WriteMode::Overwrite), Just(WriteMode::Append), Just(WriteMode::Create)];
    let expected = prop_oneof![
        4 => Just(Expected::Anything),
        2 => Just(Expected::WhatIsThere),
        1 => pick(&CONTENTS).prop_map(Expected::Content),
    ];
    let file_mode = prop_oneof![3 => Just(None), 1 => mode().prop_map(Some)];
    let parts = (path(), pick(&CONTENTS), write_mode, any::<bool>(), expected, file_mode);
    parts.prop_map(|(path, content, mode, parents, expected, file_mode)| {
        Op::Write(Write { path, content, mode, parents, expected, file_mode })
    })
}

fn moving() -> impl Strategy<Value = Move> {
    (path(), path(), any::<bool>(), any::<bool>()).prop_map(|(from, to, replace, parents)| Move {
        from,
        to,
        replace,
        parents,
    })
}

fn page() -> impl Strategy<Value = (Names, u64, Option<u64>)> {
    (path(), 0..5_u64, proptest::option::of(0..4_u64))
}

/// Makes any operation.
pub(crate) fn any_operation() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => write(),
        2 => (path(), any::<bool>()).prop_map(|(path, recursive)| Op::Delete { path, recursive }),
        4 => (path(), any::<bool>(), any::<bool>())
            .prop_map(|(path, parents, exist_ok)| Op::Mkdir { path, parents, exist_ok }),
        5 => moving().prop_map(Op::Rename),
        4 => moving().prop_map(Op::Copy),
        2 => (path(), pick(&TARGETS)).prop_map(|(path, target)| Op::Symlink { path, target }),
        2 => (path(), mode()).prop_map(|(path, mode)| Op::SetMode { path, mode }),
        2 => page().prop_map(|(path, offset, limit)| Op::Read { path, offset, limit }),
        1 => page().prop_map(|(path, offset, limit)| Op::ReadBytes { path, offset, limit }),
        1 => path().prop_map(|path| Op::List { path }),
        1 => path().prop_map(|path| Op::Stat { path }),
        1 => path().prop_map(|path| Op::ReadLink { path }),
    ]
}

impl Op {
    /// Replaces "what is there" by what is there.
    pub(crate) fn resolve(mut self, model: &Model) -> (Self, Option<ContentHash>) {
        let Self::Write(write) = &mut self else { return (self, None) };
        let hash = match &write.expected {
            Expected::Anything => None,
            Expected::Content(content) => Some(ContentHash::of(content)),
            Expected::WhatIsThere => {
                Some(ContentHash::of(&model.content(&write.path).unwrap_or_default()))
            }
        };
        (self, hash)
    }
}

/// Pages small enough for the contents to pass them.
fn limits() -> Limits {
    let mut limits = Limits::default();
    (limits.page_lines, limits.max_read_bytes) = (2, 8);
    limits
}

// --- what they come to on a backend --------------------------------------------------------------

fn at(names: &Names) -> TreePath {
    TreePath::from_disk(&names.join(&b'/')).unwrap()
}

fn file_mode((executable, private): (bool, bool)) -> FileMode {
    FileMode::default().executable(executable).private(private)
}

impl Op {
    /// Does it on a backend.
    pub(crate) fn run(&self, fs: &mut dyn Filesystem, expected: Option<ContentHash>) -> Answer {
        answer(self.try_run(fs, expected))
    }

    fn try_run(
        &self,
        fs: &mut dyn Filesystem,
        expected: Option<ContentHash>,
    ) -> Result<Answer, Error> {
        match self {
            Self::Write(write) => write.run(fs, expected),
            Self::Rename(moving) => {
                ops::rename(fs, &at(&moving.from), &at(&moving.to), &moving.options())?;
                Ok(Answer::Done)
            }
            Self::Copy(moving) => {
                let copied = ops::copy(fs, &at(&moving.from), &at(&moving.to), &moving.options())?;
                Ok(Answer::Counted(copied.files, copied.directories, copied.bytes))
            }
            Self::Delete { path, recursive } => {
                let recursion =
                    if *recursive { Recursion::Recursive } else { Recursion::OnlyEmpty };
                let removed = fs.remove(&at(path), recursion)?;
                Ok(Answer::Counted(removed.files, removed.directories, 0))
            }
            Self::Mkdir { path, parents, exist_ok } => {
                let options = MkdirOptions::default().parents(*parents).exist_ok(*exist_ok);
                ops::mkdir(fs, &at(path), &options).map(Answer::Made)
            }
            Self::Symlink { path, target } => fs.symlink(&at(path), target).map(|()| Answer::Done),
            Self::SetMode { path, mode } => {
                fs.set_mode(&at(path), file_mode(*mode)).map(|()| Answer::Done)
            }
            Self::Read { path, offset, limit } => read(fs, path, &page_options(*offset, *limit)),
            Self::ReadBytes { path, offset, limit } => {
                read_bytes(fs, path, &page_options(*offset, *limit))
            }
            Self::List { path } => list(fs, path),
            Self::Stat { path } => {
                let stat = fs.stat(&at(path))?;
                Ok(Answer::Stat(stat.kind, stat.size_bytes, stat.mode))
            }
            Self::ReadLink { path } => {
                fs.read_link(&at(path)).map(|target| Answer::Target(target.into()))
            }
        }
    }
}

impl Move {
    fn options(&self) -> MoveOptions {
        MoveOptions::default().replace(self.replace).create_parents(self.parents)
    }
}

impl Write {
    fn run(&self, fs: &mut dyn Filesystem, expected: Option<ContentHash>) -> Result<Answer, Error> {
        let mut options = WriteOptions::default().mode(self.mode).create_parents(self.parents);
        options.expected = expected;
        options.file_mode = self.file_mode.map(file_mode);
        let written = match std::str::from_utf8(&self.content) {
            Ok(text) => ops::write(fs, &at(&self.path), text, &options),
            Err(_) => ops::write_bytes(fs, &at(&self.path), self.content.clone(), &options),
        }?;
        let (bytes, created, hash) = (written.bytes_written, written.created, written.content_hash);
        Ok(Answer::Written { bytes, created, hash })
    }
}

fn page_options(offset: u64, limit: Option<u64>) -> ReadOptions {
    let limit = limit.map_or(PageLimit::Usual, PageLimit::Count);
    ReadOptions::default().offset(offset).limit(limit).hash(true)
}

fn read(fs: &dyn Filesystem, path: &Names, options: &ReadOptions) -> Result<Answer, Error> {
    let page = ops::read(fs, &at(path), options, &limits())?;
    Ok(Answer::Page {
        content: page.content.into(),
        total: page.total_lines,
        lines: page.limit,
        truncated: page.truncated,
        hash: page.content_hash.unwrap(),
    })
}

fn read_bytes(fs: &dyn Filesystem, path: &Names, options: &ReadOptions) -> Result<Answer, Error> {
    let page = ops::read_bytes(fs, &at(path), options, &limits())?;
    Ok(Answer::Page {
        content: page.content,
        total: page.total_bytes,
        lines: 0,
        truncated: page.truncated,
        hash: page.content_hash.unwrap(),
    })
}

fn list(fs: &dyn Filesystem, path: &Names) -> Result<Answer, Error> {
    let listed = ops::list(fs, &at(path), &ListOptions::default().sizes(true))?;
    let line = |entry: wink_fs::Listed| {
        (entry.name, entry.kind, entry.target.map(Bytes::from), entry.size_bytes)
    };
    Ok(Answer::Listed(listed.into_iter().map(line).collect()))
}

// --- what they come to on the model --------------------------------------------------------------

impl Op {
    /// Does it on the model, which stays as it is where that is refused.
    pub(crate) fn run_model(&self, model: &mut Model, expected: Option<ContentHash>) -> Answer {
        let before = model.clone();
        let answer = answer(self.try_run_model(model, expected));
        if matches!(answer, Answer::Refused(_)) {
            *model = before;
        }
        answer
    }

    fn try_run_model(
        &self,
        model: &mut Model,
        expected: Option<ContentHash>,
    ) -> Result<Answer, Refusal> {
        match self {
            Self::Write(write) => write.run_model(model, expected),
            Self::Rename(Move { from, to, replace, parents }) => {
                model.rename(from, to, *replace, *parents).map(|()| Answer::Done)
            }
            Self::Copy(Move { from, to, replace, parents }) => {
                let (files, directories, bytes) = model.copy(from, to, *replace, *parents)?;
                Ok(Answer::Counted(files, directories, bytes))
            }
            Self::Delete { path, recursive } => {
                let (files, directories) = model.remove(path, *recursive)?;
                Ok(Answer::Counted(files, directories, 0))
            }
            Self::Mkdir { path, parents, exist_ok } => {
                if *exist_ok && model.find(path) == Ok(Node::Directory) {
                    return Ok(Answer::Made(false));
                }
                model.make(path, Node::Directory, *parents).map(|()| Answer::Made(true))
            }
            Self::Symlink { path, target } => {
                let link = Node::Link { target: target.clone() };
                model.make(path, link, false).map(|()| Answer::Done)
            }
            Self::SetMode { path, mode } => model.set_mode(path, *mode).map(|()| Answer::Done),
            Self::Read { path, offset, limit } => {
                model_page(&model.content(path)?, *offset, *limit)
            }
            Self::ReadBytes { path, offset, limit } => {
                Ok(model_range(&model.content(path)?, *offset, *limit))
            }
            Self::List { path } => {
                Ok(Answer::Listed(model.children(path)?.into_iter().map(listed).collect()))
            }
            Self::Stat { path } => Ok(stat(&model.find(path)?)),
            Self::ReadLink { path } => match model.find(path)? {
                Node::Link { target } => Ok(Answer::Target(target)),
                _ => Err(ErrorKind::InvalidArgument.into()),
            },
        }
    }
}

impl Write {
    fn run_model(
        &self,
        model: &mut Model,
        expected: Option<ContentHash>,
    ) -> Result<Answer, Refusal> {
        let mut whole = Vec::new();
        let (condition, parents) = match (self.mode, expected) {
            (WriteMode::Create, Some(_)) => return Err(ErrorKind::InvalidArgument.into()),
            (WriteMode::Create, None) => (Condition::Absent, self.parents),
            (_, Some(hash)) => (Condition::Unchanged(hash), false),
            (_, None) => (Condition::AbsentOrFile, self.parents),
        };
        if self.mode == WriteMode::Append {
            whole = model
                .content(&self.path)
                .or_else(|refusal| match refusal.0 {
                    ErrorKind::NotFound => Ok(Bytes::new()),
                    _ => Err(refusal),
                })?
                .to_vec();
        }
        whole.extend_from_slice(&self.content);
        let hash = ContentHash::of(&whole);
        let created = model.put(&self.path, whole.into(), self.file_mode, condition, parents);
        let created = created.map_err(|refusal| match (refusal.0, expected) {
            // A file that was expected is gone, with its parent or without.
            (ErrorKind::NotFound | ErrorKind::NotADirectory, Some(_)) => {
                Refusal(ErrorKind::Conflict, None)
            }
            _ => refusal,
        })?;
        Ok(Answer::Written { bytes: self.content.len() as u64, created, hash })
    }
}

fn model_page(content: &[u8], offset: u64, limit: Option<u64>) -> Result<Answer, Refusal> {
    let limits = limits();
    let lines: Vec<&[u8]> = content.split_inclusive(|byte| *byte == b'\n').collect();
    let wanted =
        lines.iter().skip(offset as usize).take(limit.unwrap_or(limits.page_lines) as usize);
    let (mut page, mut taken) = (Vec::new(), 0);
    for line in wanted {
        if (page.len() + line.len()) as u64 > limits.max_read_bytes {
            if taken == 0 {
                return Err(ErrorKind::TooLarge.into());
            }
            break;
        }
        page.extend_from_slice(line);
        taken += 1;
    }
    if std::str::from_utf8(&page).is_err() {
        return Err(ErrorKind::NotText.into());
    }
    let total = lines.len() as u64;
    let (truncated, hash) = (offset + taken < total, ContentHash::of(content));
    Ok(Answer::Page { content: page.into(), total, lines: taken, truncated, hash })
}

fn model_range(content: &[u8], offset: u64, limit: Option<u64>) -> Answer {
    let limit = limit.unwrap_or(limits().max_read_bytes) as usize;
    let range: Bytes = content.iter().copied().skip(offset as usize).take(limit).collect();
    let (total, hash) = (content.len() as u64, ContentHash::of(content));
    let truncated = offset + (range.len() as u64) < total;
    Answer::Page { content: range, total, lines: 0, truncated, hash }
}

fn stat(node: &Node) -> Answer {
    match node {
        Node::Directory => Answer::Stat(Kind::Directory, 0, FileMode::default()),
        Node::Link { target } => {
            Answer::Stat(Kind::Symlink, target.len() as u64, FileMode::default())
        }
        Node::File { content, executable, private } => {
            Answer::Stat(Kind::File, content.len() as u64, file_mode((*executable, *private)))
        }
    }
}

fn listed((name, node): (Bytes, Node)) -> (String, Kind, Option<Bytes>, Option<u64>) {
    let name = TreePath::from_disk(&name).unwrap().to_string();
    match node {
        Node::Directory => (name, Kind::Directory, None, None),
        Node::Link { target } => (name, Kind::Symlink, Some(target), None),
        Node::File { content, .. } => (name, Kind::File, None, Some(content.len() as u64)),
    }
}

//! The reference: a plain map from paths to nodes, slow and simple.
//!
//! Every change works on the map itself; the caller takes the map back to what it was where the
//! change was refused. So no rule here needs to undo anything.

use std::collections::BTreeMap;

use bytes::Bytes;
use wink_fs::{ContentHash, ErrorKind, TreePath};

/// The names of a path from the root down; the root has none.
pub(crate) type Names = Vec<Bytes>;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Node {
    Directory,
    File { content: Bytes, executable: bool, private: bool },
    Link { target: Bytes },
}

/// Says what must be true of a path for content to be put there.
#[derive(Clone, Copy)]
pub(crate) enum Condition {
    AbsentOrFile,
    Absent,
    Unchanged(ContentHash),
}

#[derive(Clone, Default)]
pub(crate) struct Model(BTreeMap<Names, Node>);

type Answer<T> = Result<T, Refusal>;

/// Why an operation is refused, and the hash a conflict carries.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Refusal(pub(crate) ErrorKind, pub(crate) Option<ContentHash>);

impl From<ErrorKind> for Refusal {
    fn from(kind: ErrorKind) -> Self {
        Self(kind, None)
    }
}

fn refuse<T>(kind: ErrorKind) -> Answer<T> {
    Err(kind.into())
}

fn is_inside(path: &Names, directory: &Names) -> bool {
    path.len() > directory.len() && path.starts_with(directory)
}

impl Model {
    fn node(&self, path: &Names) -> Option<&Node> {
        if path.is_empty() { Some(&Node::Directory) } else { self.0.get(path) }
    }

    /// Returns the first thing on the way to a path that is no directory; inside, `None` is a gap.
    fn obstacle(&self, path: &Names) -> Option<Option<&Node>> {
        let mut above = (1..path.len()).map(|depth| self.0.get(&path[..depth]));
        above.find(|node| *node != Some(&Node::Directory))
    }

    /// Finds an entry that must be there.
    pub(crate) fn find(&self, path: &Names) -> Answer<Node> {
        match self.obstacle(path) {
            Some(Some(Node::Link { .. })) => refuse(ErrorKind::PermissionDenied),
            Some(_) => refuse(ErrorKind::NotFound),
            None => self.node(path).cloned().ok_or(ErrorKind::NotFound.into()),
        }
    }

    /// Finds what is at a place whose parent must be there, or can be made.
    fn place(&mut self, path: &Names, make_parents: bool) -> Answer<Option<Node>> {
        match self.obstacle(path) {
            Some(Some(Node::Link { .. })) => return refuse(ErrorKind::PermissionDenied),
            Some(Some(_)) => return refuse(ErrorKind::NotADirectory),
            Some(None) if !make_parents => return refuse(ErrorKind::NotFound),
            _ => {}
        }
        for depth in 1..path.len() {
            self.0.insert(path[..depth].to_vec(), Node::Directory);
        }
        Ok(self.node(path).cloned())
    }

    /// Returns the content of a file.
    pub(crate) fn content(&self, path: &Names) -> Answer<Bytes> {
        match self.find(path)? {
            Node::File { content, .. } => Ok(content),
            Node::Directory => refuse(ErrorKind::IsADirectory),
            Node::Link { .. } => refuse(ErrorKind::PermissionDenied),
        }
    }

    /// Returns the entries of a directory.
    pub(crate) fn children(&self, path: &Names) -> Answer<Vec<(Bytes, Node)>> {
        match self.find(path)? {
            Node::File { .. } => refuse(ErrorKind::NotADirectory),
            Node::Link { .. } => refuse(ErrorKind::PermissionDenied),
            Node::Directory => Ok(self
                .0
                .iter()
                .filter(|(other, _)| is_inside(other, path) && other.len() == path.len() + 1)
                .map(|(other, node)| (other[path.len()].clone(), node.clone()))
                .collect()),
        }
    }

    /// Puts content in place and returns whether the file is new.
    pub(crate) fn put(
        &mut self,
        path: &Names,
        content: Bytes,
        mode: Option<(bool, bool)>,
        condition: Condition,
        make_parents: bool,
    ) -> Answer<bool> {
        let there = self.place(path, make_parents)?;
        let old = match (there, condition) {
            (Some(_), Condition::Absent) => return refuse(ErrorKind::AlreadyExists),
            (Some(Node::Directory), _) => return refuse(ErrorKind::IsADirectory),
            (Some(Node::Link { .. }), _) => return refuse(ErrorKind::PermissionDenied),
            (Some(Node::File { content, executable, private }), _) => {
                Some((ContentHash::of(&content), (executable, private)))
            }
            (None, _) => None,
        };
        let current = old.map(|(hash, _)| hash);
        match condition {
            Condition::Unchanged(hash) if current != Some(hash) => {
                return Err(Refusal(ErrorKind::Conflict, current));
            }
            _ => {}
        }
        let (executable, private) = mode.or(old.map(|(_, mode)| mode)).unwrap_or_default();
        self.0.insert(path.clone(), Node::File { content, executable, private });
        Ok(old.is_none())
    }

    /// Makes an entry where nothing may be.
    pub(crate) fn make(&mut self, path: &Names, node: Node, make_parents: bool) -> Answer<()> {
        match self.place(path, make_parents)? {
            Some(_) => refuse(ErrorKind::AlreadyExists),
            None => {
                self.0.insert(path.clone(), node);
                Ok(())
            }
        }
    }

    pub(crate) fn set_mode(&mut self, path: &Names, mode: (bool, bool)) -> Answer<()> {
        let content = self.content(path)?;
        let (executable, private) = mode;
        self.0.insert(path.clone(), Node::File { content, executable, private });
        Ok(())
    }

    /// Returns an entry and all that is below it, with paths relative to it.
    fn subtree(&self, path: &Names) -> Vec<(Names, Node)> {
        let inside = self.0.iter().filter(|(other, _)| other.starts_with(path));
        inside.map(|(other, node)| (other[path.len()..].to_vec(), node.clone())).collect()
    }

    fn has_entries(&self, path: &Names) -> bool {
        self.0.keys().any(|other| is_inside(other, path))
    }

    fn take_away(&mut self, path: &Names) {
        self.0.retain(|other, _| !other.starts_with(path));
    }

    fn plant(&mut self, path: &Names, subtree: Vec<(Names, Node)>) {
        self.0.extend(subtree.into_iter().map(|(rest, node)| ([&path[..], &rest].concat(), node)));
    }

    /// Removes an entry and counts files and directories.
    pub(crate) fn remove(&mut self, path: &Names, recursive: bool) -> Answer<(u64, u64)> {
        if path.is_empty() {
            return refuse(ErrorKind::PermissionDenied);
        }
        self.find(path)?;
        if !recursive && self.has_entries(path) {
            return refuse(ErrorKind::NotEmpty);
        }
        let counts = count(&self.subtree(path));
        self.take_away(path);
        Ok(counts)
    }

    pub(crate) fn rename(
        &mut self,
        from: &Names,
        to: &Names,
        replace: bool,
        make_parents: bool,
    ) -> Answer<()> {
        if from.is_empty() || to.is_empty() {
            return refuse(ErrorKind::PermissionDenied);
        }
        let moved = self.find(from)?;
        if moved == Node::Directory && is_inside(to, from) {
            return refuse(ErrorKind::InvalidArgument);
        }
        let there = self.place(to, make_parents)?;
        match (&moved, there) {
            (_, None) => {}
            (_, Some(_)) if !replace => return refuse(ErrorKind::AlreadyExists),
            (Node::Directory, Some(Node::Directory)) if from != to && self.has_entries(to) => {
                return refuse(ErrorKind::NotEmpty);
            }
            (Node::Directory, Some(Node::Directory)) => {}
            (Node::Directory, Some(_)) => return refuse(ErrorKind::NotADirectory),
            (_, Some(Node::Directory)) => return refuse(ErrorKind::IsADirectory),
            (_, Some(_)) => {}
        }
        let subtree = self.subtree(from);
        self.take_away(from);
        self.plant(to, subtree);
        Ok(())
    }

    /// Copies an entry and counts files, directories and bytes.
    pub(crate) fn copy(
        &mut self,
        from: &Names,
        to: &Names,
        replace: bool,
        make_parents: bool,
    ) -> Answer<(u64, u64, u64)> {
        if to.is_empty() {
            return refuse(ErrorKind::PermissionDenied);
        }
        let copied = self.find(from)?;
        if copied == Node::Directory && is_inside(to, from) {
            return refuse(ErrorKind::InvalidArgument);
        }
        match (copied, self.place(to, make_parents)?) {
            (_, None) | (Node::File { .. }, Some(Node::File { .. })) if replace => {}
            (_, None) => {}
            (Node::File { .. }, Some(Node::Directory)) if replace => {
                return refuse(ErrorKind::IsADirectory);
            }
            (Node::File { .. }, Some(Node::Link { .. })) if replace => {
                return refuse(ErrorKind::PermissionDenied);
            }
            _ => return refuse(ErrorKind::AlreadyExists),
        }
        let subtree = self.subtree(from);
        let (files, directories) = count(&subtree);
        let bytes = subtree.iter().map(|(_, node)| content_size(node)).sum();
        self.plant(to, subtree);
        Ok((files, directories, bytes))
    }

    /// Returns what the test kit's dump of the same tree must be.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.iter().map(|(path, node)| line(path, node)).collect()
    }
}

fn count(subtree: &[(Names, Node)]) -> (u64, u64) {
    let directories = subtree.iter().filter(|(_, node)| *node == Node::Directory).count() as u64;
    (subtree.len() as u64 - directories, directories)
}

fn content_size(node: &Node) -> u64 {
    match node {
        Node::File { content, .. } => content.len() as u64,
        _ => 0,
    }
}

fn line(path: &Names, node: &Node) -> String {
    let path = TreePath::from_disk(&path.join(&b'/')).unwrap();
    match node {
        Node::Directory => format!("{path}/"),
        Node::Link { target } => format!("{path} -> \"{}\"", target.escape_ascii()),
        Node::File { content, executable, private } => {
            let executable = if *executable { " executable" } else { "" };
            let private = if *private { " private" } else { "" };
            format!("{path}{executable}{private} \"{}\"", content.escape_ascii())
        }
    }
}

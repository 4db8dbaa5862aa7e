//! Parents and children of sessions.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::id::SessionId;
use super::{Session, Shared};
use crate::util::lock;

/// A session's place in its tree. A parent owns its children, and a child has a weak reference to its parent, so
/// a tree is dropped with its root.
#[derive(Default)]
pub(super) struct Place {
    parent: Option<(SessionId, Weak<Shared>)>,
    children: Mutex<Vec<Session>>,
}

impl Place {
    pub(super) fn below(parent: &Session) -> Self {
        let parent = (parent.id(), Arc::downgrade(&parent.0));
        Self { parent: Some(parent), children: Mutex::default() }
    }

    /// The place of a session whose parent is only known by its id.
    pub(super) fn apart_from(parent: SessionId) -> Self {
        Self { parent: Some((parent, Weak::new())), children: Mutex::default() }
    }

    fn take_children(&mut self) -> Vec<Session> {
        std::mem::take(self.children.get_mut().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Place {
    /// Frees children in a loop: a chain of many would not fit on the stack.
    fn drop(&mut self) {
        let mut pending = self.take_children();
        while let Some(child) = pending.pop() {
            if let Some(mut shared) = Arc::into_inner(child.0) {
                pending.append(&mut shared.place.take_children());
            }
        }
    }
}

/// Parents and children.
impl Session {
    /// Creates an empty child session, with slices and subscribers of its own.
    ///
    /// ```
    /// use wink_agent::session::Session;
    ///
    /// let root = Session::new();
    /// let child = root.child();
    /// assert_eq!(child.parent_id(), Some(root.id()));
    /// assert_eq!(child.root().id(), root.id());
    /// assert_eq!(root.walk().len(), 2);
    /// ```
    pub fn child(&self) -> Self {
        Self::builder().parent(self).build()
    }

    pub(super) fn add_child(&self, child: Self) {
        self.children_lock(|children| children.push(child));
    }

    /// Returns the parent session, as long as the program holds it.
    pub fn parent(&self) -> Option<Self> {
        self.0.place.parent.as_ref()?.1.upgrade().map(Self)
    }

    /// Returns the id of the parent session, even if that was dropped.
    pub fn parent_id(&self) -> Option<SessionId> {
        self.0.place.parent.as_ref().map(|(id, _)| *id)
    }

    /// Returns the child sessions, oldest first.
    pub fn children(&self) -> Vec<Self> {
        self.children_lock(|children| children.clone())
    }

    /// Removes a child session from the tree and returns it.
    pub fn forget_child(&self, id: SessionId) -> Option<Self> {
        self.children_lock(|children| {
            let place = children.iter().position(|child| child.id() == id)?;
            Some(children.remove(place))
        })
    }

    /// Returns the topmost session that was not dropped.
    pub fn root(&self) -> Self {
        let mut root = self.clone();
        while let Some(parent) = root.parent() {
            root = parent;
        }
        root
    }

    /// Returns this session and all below it, each before its children.
    pub fn walk(&self) -> Vec<Self> {
        let mut walked = Vec::new();
        let mut pending = vec![self.clone()];
        while let Some(session) = pending.pop() {
            pending.extend(session.children().into_iter().rev());
            walked.push(session);
        }
        walked
    }

    fn children_lock<T>(&self, work: impl FnOnce(&mut Vec<Self>) -> T) -> T {
        work(&mut lock(&self.0.place.children))
    }
}

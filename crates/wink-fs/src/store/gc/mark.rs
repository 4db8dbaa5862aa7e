//! Everything that snapshots reach.

use std::collections::HashSet;
use std::io;

use super::places::Places;
use crate::error::damaged;
use crate::hash::ContentHash;
use crate::store::objects::object::ObjectId;
use crate::tree::hash::TreeHash;
use crate::tree::merkle::Identity;
use crate::util::parallel;

/// Holds the names of all objects that are needed.
#[derive(Debug, Default)]
pub(super) struct Needed(HashSet<ObjectId>);

impl Needed {
    pub(super) fn has(&self, id: &ObjectId) -> bool {
        self.0.contains(id)
    }

    /// Adds all that the directories reach; what was reached before is not looked at again.
    ///
    /// Anything that is missing is a failure, because what is below it cannot be known.
    pub(super) fn add(&mut self, places: &Places<'_>, roots: Vec<TreeHash>) -> io::Result<()> {
        let mut level: Vec<_> = roots.into_iter().filter(|root| self.is_new(root)).collect();
        while !level.is_empty() {
            let entries = parallel::try_map(&level, |hash| places.directory(hash))?;
            level = self.take(places, entries.into_iter().flatten())?;
        }
        Ok(())
    }

    fn is_new(&mut self, directory: &TreeHash) -> bool {
        self.0.insert(ObjectId::directory(directory))
    }

    /// Adds the entries of directories, and returns the directories among them that are new.
    fn take(
        &mut self,
        places: &Places<'_>,
        entries: impl Iterator<Item = Identity>,
    ) -> io::Result<Vec<TreeHash>> {
        let (mut below, mut files) = (Vec::new(), HashSet::new());
        for identity in entries {
            match identity {
                Identity::Directory(hash) if self.is_new(&hash) => below.push(hash),
                Identity::Directory(_) => {}
                Identity::Link(hash) => self.link(places, ObjectId::link(&hash))?,
                Identity::File { hash, .. } if !self.has_file(&hash) => drop(files.insert(hash)),
                Identity::File { .. } => {}
            }
        }
        let files: Vec<_> = files.into_iter().collect();
        let found = parallel::try_map(&files, |hash| places.file(hash))?;
        self.all_there(places, &found)?;
        self.0.extend(found.into_iter().flatten());
        Ok(below)
    }

    fn has_file(&self, hash: &ContentHash) -> bool {
        self.has(&ObjectId::blob(hash)) || self.has(&ObjectId::list(hash))
    }

    fn link(&mut self, places: &Places<'_>, id: ObjectId) -> io::Result<()> {
        self.all_there(places, &[vec![id]])?;
        self.0.insert(id);
        Ok(())
    }

    fn all_there(&self, places: &Places<'_>, ids: &[Vec<ObjectId>]) -> io::Result<()> {
        match ids.iter().flatten().find(|id| !places.has(id)) {
            None => Ok(()),
            Some(id) => Err(damaged(format!("the {id} is missing; verify the store"))),
        }
    }
}

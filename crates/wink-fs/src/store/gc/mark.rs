//! Marks everything that snapshots need.

use std::collections::HashSet;
use std::io;

use super::locations::ObjectLocations;
use crate::error::damaged;
use crate::hash::ContentHash;
use crate::store::objects::object::ObjectId;
use crate::tree::hash::TreeHash;
use crate::tree::merkle::Identity;
use crate::util::parallel;

/// The ids of all needed objects.
#[derive(Debug, Default)]
pub(super) struct Needed(HashSet<ObjectId>);

impl Needed {
    pub(super) fn has(&self, id: &ObjectId) -> bool {
        self.0.contains(id)
    }

    /// Marks everything that directories reach, each directory once.
    ///
    /// A missing object is an error: what is below it cannot be known, and would be deleted.
    pub(super) fn add(
        &mut self,
        locations: &ObjectLocations<'_>,
        roots: Vec<TreeHash>,
    ) -> io::Result<()> {
        let mut level: Vec<_> = roots.into_iter().filter(|root| self.is_new(root)).collect();
        while !level.is_empty() {
            let entries = parallel::try_map(&level, |hash| locations.directory(hash))?;
            level = self.take(locations, entries.into_iter().flatten())?;
        }
        Ok(())
    }

    fn is_new(&mut self, directory: &TreeHash) -> bool {
        self.0.insert(ObjectId::directory(directory))
    }

    /// Marks the entries of directories, and returns the new directories among them.
    fn take(
        &mut self,
        locations: &ObjectLocations<'_>,
        entries: impl Iterator<Item = Identity>,
    ) -> io::Result<Vec<TreeHash>> {
        let mut below = Vec::new();
        let mut files = HashSet::new();
        for identity in entries {
            match identity {
                Identity::Directory(hash) if self.is_new(&hash) => below.push(hash),
                Identity::Directory(_) => {}
                Identity::Link(hash) => self.link(locations, ObjectId::link(&hash))?,
                Identity::File { hash, .. } if !self.has_file(&hash) => drop(files.insert(hash)),
                Identity::File { .. } => {}
            }
        }
        let files: Vec<_> = files.into_iter().collect();
        let found = parallel::try_map(&files, |hash| locations.file(hash))?;
        self.all_there(locations, &found)?;
        self.0.extend(found.into_iter().flatten());
        Ok(below)
    }

    fn has_file(&self, hash: &ContentHash) -> bool {
        self.has(&ObjectId::blob(hash)) || self.has(&ObjectId::list(hash))
    }

    fn link(&mut self, locations: &ObjectLocations<'_>, id: ObjectId) -> io::Result<()> {
        self.all_there(locations, &[vec![id]])?;
        self.0.insert(id);
        Ok(())
    }

    fn all_there(&self, locations: &ObjectLocations<'_>, ids: &[Vec<ObjectId>]) -> io::Result<()> {
        match ids.iter().flatten().find(|id| !locations.has(id)) {
            None => Ok(()),
            Some(id) => Err(damaged(format!("the {id} is missing; verify the store"))),
        }
    }
}

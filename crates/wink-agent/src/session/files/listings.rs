//! What those who follow files do with a session's listings of them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::changed::{FileChange, FilesChanged};
use super::listing::{VirtualFileSystem, place_of};
use crate::session::Session;
use crate::session::error::SessionError;
use crate::session::slices::items::Items;

/// What a session knows of some files after it was told of changes.
pub(crate) struct Listed {
    /// The files.
    pub(crate) listing: VirtualFileSystem,
    /// How often the state had [jumped](Session::jumps) by then.
    pub(crate) jumps: u64,
    /// What the subscribers are to be told.
    pub(crate) event: Option<Arc<FilesChanged>>,
}

/// Listings of files.
impl Session {
    /// Returns how often the state became another one without an event: by a rollback, a reset, a seed or
    /// a clear.
    pub(crate) fn jumps(&self) -> u64 {
        self.0.jumps.load(Ordering::Acquire)
    }

    /// Notes that the state is another one now.
    pub(crate) fn jumped(&self) {
        self.0.jumps.fetch_add(1, Ordering::Release);
    }

    /// Changes a listing by what is found out of it and of how often the state jumped, in one turn; the
    /// caller tells the subscribers.
    pub(crate) fn change_listing(
        &self,
        key: Option<&Arc<str>>,
        changes: impl FnOnce(&VirtualFileSystem, u64) -> Vec<FileChange>,
    ) -> Result<Listed, SessionError> {
        let (rules, key_text) = (self.rules(), key.map(|key| &**key));
        let (listing, jumps) = (self.listing(key_text)?, self.jumps());
        let changes = changes(&listing, jumps);
        if changes.is_empty() {
            return Ok(Listed { listing, jumps, event: None });
        }
        let mut event = FilesChanged::new(self.now(), changes);
        event.filesystem_key = key.cloned();
        let event = Arc::new(event);
        self.reduce(&rules, &event)?;
        Ok(Listed { listing: self.listing(key_text)?, jumps, event: Some(event) })
    }

    /// Returns the listing of a section's files; where there is none, no file is known.
    pub(crate) fn listing(&self, key: Option<&str>) -> Result<VirtualFileSystem, SessionError> {
        let listings = self.query::<VirtualFileSystem>()?;
        let place = place_of(&listings, key);
        let listing = place.and_then(|place| listings.get(place));
        Ok(listing.map(|listing| (**listing).clone()).unwrap_or_default())
    }

    /// Returns the listing of the files that a section takes over: its own, or the only one there is, which
    /// another section wrote elsewhere.
    pub(crate) fn listing_to_take_over(
        &self,
        key: &str,
    ) -> Result<VirtualFileSystem, SessionError> {
        let listings = self.query::<VirtualFileSystem>()?;
        match (place_of(&listings, Some(key)), listings.len()) {
            (None, 1) => self.listing(listings.get(0).and_then(|only| only.filesystem_key())),
            _ => self.listing(Some(key)),
        }
    }

    /// Makes a listing, which may be another section's, the one of a section's files.
    pub(crate) fn take_over(
        &self,
        listing: &VirtualFileSystem,
        key: &Arc<str>,
    ) -> Result<(), SessionError> {
        let _turn = self.rules();
        let listings = self.query::<VirtualFileSystem>()?;
        let own = listing.owned_by(Some(key.clone()));
        let others = others(&listings, &[listing.filesystem_key(), Some(key)]);
        self.slices().put(others.with(own));
        self.jumped();
        Ok(())
    }

    /// Forgets the listing of a section's files, and no other.
    pub(crate) fn forget_listing(&self, key: &str) -> Result<(), SessionError> {
        self.check_outside_call()?;
        let _turn = self.rules();
        let listings = self.query::<VirtualFileSystem>()?;
        if let Some(place) = place_of(&listings, Some(key)) {
            self.slices().put(listings.without(place));
        }
        Ok(())
    }
}

/// Leaves out the listings of some keys.
fn others(listings: &Items<VirtualFileSystem>, keys: &[Option<&str>]) -> Items<VirtualFileSystem> {
    listings.all().filter(|it| !keys.contains(&it.filesystem_key())).cloned().collect()
}

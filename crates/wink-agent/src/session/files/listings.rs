//! Reads and updates a session's file listings.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::changed::{FileChange, FilesChanged};
use super::listing::{VirtualFileSystem, place_of};
use crate::session::Session;
use crate::session::error::SessionError;
use crate::session::slices::items::Items;

/// A session's listing after changes were applied to it.
pub(crate) struct Listed {
    /// The files.
    pub(crate) listing: VirtualFileSystem,
    /// The [epoch](Session::epoch) of the state by then.
    pub(crate) epoch: u64,
    /// The event to publish to the subscribers.
    pub(crate) event: Option<Arc<FilesChanged>>,
}

/// Listings of files.
impl Session {
    /// Returns how often the state was replaced without an event: by a rollback, a reset, a seed or
    /// a clear.
    pub(crate) fn epoch(&self) -> u64 {
        self.0.epoch.load(Ordering::Acquire)
    }

    /// Begins a new epoch, because the state was replaced.
    pub(crate) fn begin_epoch(&self) {
        self.0.epoch.fetch_add(1, Ordering::Release);
    }

    /// Changes a listing by the changes that a function returns for it and the epoch, in one turn; the
    /// caller tells the subscribers.
    pub(crate) fn change_listing(
        &self,
        key: Option<&Arc<str>>,
        changes: impl FnOnce(&VirtualFileSystem, u64) -> Vec<FileChange>,
    ) -> Result<Listed, SessionError> {
        let rules = self.rules();
        let key_text = key.map(|key| &**key);
        let listing = self.listing(key_text)?;
        let epoch = self.epoch();
        let changes = changes(&listing, epoch);
        if changes.is_empty() {
            return Ok(Listed { listing, epoch, event: None });
        }
        let mut event = FilesChanged::new(self.now(), changes);
        event.filesystem_key = key.cloned();
        let event = Arc::new(event);
        self.reduce(&rules, &event)?;
        Ok(Listed { listing: self.listing(key_text)?, epoch, event: Some(event) })
    }

    /// Returns the listing of a section's files, empty if there is none.
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

    /// Assigns a listing, which may be another section's, to a section.
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
        self.begin_epoch();
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

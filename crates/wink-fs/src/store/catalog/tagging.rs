//! A name for a snapshot that is there already.

use crate::error::{Operation, Result};
use crate::snapshot::{Snapshot, SnapshotId, check_tag, check_unused};
use crate::store::gc::redact;
use crate::store::{Store, failure, lock};

/// Gives a snapshot a tag, or takes it away.
pub(crate) fn set_tag(store: &Store, id: &SnapshotId, tag: Option<&str>) -> Result<Snapshot> {
    tag.map_or(Ok(()), check_tag)?;
    let _shared = lock::share(store.disk())?;
    let _turn = lock::publish(store.disk())?;
    let all = store.catalog.list(store.disk());
    let all = all.map_err(|error| failure::of(Operation::Snapshot, error))?;
    check_unused(tag, all.iter().filter(|other| other.id != *id))?;
    let mut snapshot = super::read(store.disk(), &id.to_string())?;
    snapshot.tag = tag.map(str::to_owned);
    redact::replace_record(store, &snapshot)?;
    store.catalog.forget();
    Ok(snapshot)
}

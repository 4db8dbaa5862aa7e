//! The coding agents that wink was set up for.

use super::{Check, Health, check};
use crate::cli::context::Context;
use crate::clients::config::Edit;
use crate::clients::{self, Client, Site};
use crate::hooks::record::{self, HookRecord};
use crate::project::Project;
use crate::sys::disk;
use crate::ui::format;

/// Checks the clients that are set up, and whether their hooks have ever fired in this workspace.
pub(super) fn checks(context: &Context) -> Vec<Check> {
    let Ok(site) = super::super::setup::site(context) else { return Vec::new() };
    let project = Project::find_any(&context.directory, context.store.as_deref()).ok().flatten();
    let records = project.map(|project| record::all(&project.directory)).unwrap_or_default();
    clients::NAMES
        .into_iter()
        .filter_map(|name| of(clients::named(name)?, &site, &records))
        .collect()
}

fn of(client: &'static Client, site: &Site, records: &[HookRecord]) -> Option<Check> {
    let is_set_up = |hooks: bool| client.edits(site, hooks).iter().all(is_there);
    if !is_set_up(false) {
        return None;
    }
    let name = client.name;
    if !is_set_up(true) {
        let said = format!("set up without hooks; add them: wink setup {name} --hooks");
        return Some(check(name, Health::Note, said));
    }
    Some(match records.iter().rev().find(|record| record.client == name) {
        Some(last) => {
            let at = format::local_of_utc(&last.at);
            check(name, Health::Ok, format!("set up with hooks; the last one fired {at}"))
        }
        None => {
            let said =
                format!("set up with hooks, of which none has ever fired here; {}", client.next);
            check(name, Health::Warning, said)
        }
    })
}

/// Returns whether a file has what is put into it.
fn is_there(edit: &Edit) -> bool {
    let Ok(Some(text)) = disk::read_text(&edit.path) else { return false };
    edit.content.put_into(Some(&text)).is_ok_and(|after| after == text)
}

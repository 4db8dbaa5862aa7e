//! The one table of cases. A new one is a file here and a line in the table.

mod agents;
mod archive;
mod glob_host_vs_fd;
mod grep;
mod mcp;
mod memory_create;
mod memory_read;
mod memory_scale;
mod podman;
mod read_host_vs_std;
mod read_page_vs_sed;
mod session;
mod snapshot;
mod stream_2gb_rss;
mod tool;
mod write_host_vs_std;

use anyhow::{Context as _, Result};

use crate::case::Case;

/// Every case, in the order it is run. Names stay the same for ever.
pub(crate) static ALL: &[Case] = &[
    write_host_vs_std::CASE,
    read_host_vs_std::CASE,
    read_page_vs_sed::CASE,
    memory_scale::CASE,
    memory_create::CASE,
    memory_read::CASE,
    stream_2gb_rss::CASE,
    tool::EDIT_10MB,
    tool::READ_MEMORY,
    tool::WRITE_MEMORY,
    tool::EDIT_MEMORY,
    tool::READ_HOST,
    tool::WRITE_HOST,
    tool::OVERWRITE_HOST,
    grep::HOST,
    grep::HOST_MANY,
    grep::MEMORY,
    glob_host_vs_fd::CASE,
    archive::EXPORT_VS_ZIPFILE,
    archive::EXPORT_VS_ZIP,
    archive::IMPORT_VS_ZIPFILE,
    snapshot::FIRST_VS_GIT,
    snapshot::FIRST_VS_RESTIC,
    snapshot::UNCHANGED_VS_GIT,
    snapshot::UNCHANGED_VS_WALK,
    snapshot::TEN_VS_GIT,
    snapshot::TEN_VS_RESTIC,
    snapshot::RESTORE_TEN_VS_GIT,
    snapshot::CLI_VS_GIT,
    snapshot::STORE_SIZE_VS_GIT,
    snapshot::TRANSACTION_HOST,
    snapshot::WRITE_NEW_DIRECTORY,
    snapshot::SNAPSHOT_MEMORY,
    snapshot::WRITE_AFTER_SNAPSHOT_MEMORY,
    snapshot::SNAPSHOT_100K,
    snapshot::FORK_HOST,
    snapshot::MERGE_VS_GIT,
    snapshot::PRUNE_1000,
    snapshot::GITSTRATEGY_VS_GIT,
    snapshot::REFLINK_VS_CP,
    session::DISPATCH,
    session::SNAPSHOT,
    mcp::READ_VS_REFERENCE,
    mcp::WRITE_VS_REFERENCE,
    mcp::EDIT_VS_REFERENCE,
    mcp::SEARCH_VS_REFERENCE,
    mcp::READ_VS_RUST,
    mcp::WRITE_VS_RUST,
    mcp::EDIT_VS_RUST,
    mcp::SEARCH_VS_RUST,
    mcp::START,
    mcp::MANY,
    agents::HOOK_PROMPT,
    agents::HOOK_CALL,
    agents::RUN_VS_BWRAP,
    agents::RUN_VS_PLAIN,
    podman::READ_VS_EXEC,
    podman::READ_VS_HOST,
    podman::SHELL_VS_EXEC,
    podman::SHELL_RAW,
    podman::SNAPSHOT_VS_HOST,
    podman::START,
];

/// Finds a case by its exact name.
pub(crate) fn find(name: &str) -> Result<&'static Case> {
    ALL.iter().find(|case| case.name == name).with_context(|| format!("there is no case {name}"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique_and_fit_a_command_line() {
        let names: HashSet<_> = ALL.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), ALL.len());
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(names.iter().all(|name| name.chars().all(plain)));
    }
}

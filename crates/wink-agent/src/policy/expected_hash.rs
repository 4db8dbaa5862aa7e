//! The parameter `expected_hash`: the version of a file that a caller has read.

use wink_fs::{ContentHash, TreePath};

use crate::tool::error::ToolError;

/// Reads the parameter `expected_hash`.
pub(crate) fn parse(text: Option<&str>) -> Result<Option<ContentHash>, ToolError> {
    text.map(|text| text.trim().parse()).transpose().map_err(|_| {
        ToolError::invalid_argument(
            "`expected_hash` must be the content_hash that read_file gave: 64 hexadecimal digits.",
        )
    })
}

/// Rewords the conflict of a caller that has read an older version.
pub(crate) fn stale(refusal: ToolError, path: &TreePath) -> ToolError {
    if refusal.knows_no_hash() {
        return refusal.reworded(format!(
            "Nothing is there at {path}, so that no version of it can be the one named by \
             expected_hash, and nothing was written: repeat this call without expected_hash to make \
             the file."
        ));
    }
    refusal.reworded(format!(
        "{path} has changed since the version named by expected_hash and nothing was written: read \
         it again with read_file and work from what it shows."
    ))
}

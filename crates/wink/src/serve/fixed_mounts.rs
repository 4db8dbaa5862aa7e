//! Read-only mounts.

use wink_fs::{Call, ErrorKind, Layer, Result, Tree, TreePath};

/// Refuses to change anything at or below some paths, or to remove their parents.
///
/// Going to another state of all files, as import does, is another matter: it replaces everything.
#[derive(Debug, Default)]
pub(crate) struct FixedMounts(pub(crate) Vec<TreePath>);

impl FixedMounts {
    fn is_in(&self, path: &TreePath) -> bool {
        self.0.iter().any(|fixed| path.starts_with(fixed))
    }

    fn holds(&self, path: &TreePath) -> bool {
        self.is_in(path) || self.0.iter().any(|fixed| fixed.starts_with(path))
    }
}

impl Layer for FixedMounts {
    fn before(&self, _: &dyn Tree, call: &Call<'_>) -> Result<()> {
        let is_refused = match call {
            Call::Put { path, .. }
            | Call::CreateDir { path }
            | Call::Symlink { path, .. }
            | Call::SetMode { path, .. } => self.is_in(path),
            Call::Remove { path, .. } => self.holds(path),
            Call::Rename { from, to, .. } => self.holds(from) || self.holds(to),
            _ => false,
        };
        if is_refused {
            Err(call
                .refused(ErrorKind::ReadOnly)
                .with_detail("it was mounted read-only; copy it and change the copy"))
        } else {
            Ok(())
        }
    }
}

//! What every workspace section can do.

/// Gives a section the methods of those that own a workspace.
macro_rules! owning {
    ($section:ty) => {
        impl $section {
            /// Returns the workspace; the first use makes it.
            pub fn filesystem(&self) -> Result<Workspace, SessionError> {
                self.files().workspace()
            }

            /// Returns the workspace together with the session: checkpoints, dumps, what changed.
            pub fn files(&self) -> &SessionFiles {
                &self.files.owned
            }

            /// Returns what keeps states of the workspace by name, each in an archive.
            pub fn snapshots(&self) -> Result<NamedSnapshots, SessionError> {
                self.files.snapshots()
            }

            /// Returns what the mounts brought in and what they left out, in the order of the mounts.
            pub fn mounts(&self) -> Result<Vec<MountReport>, SessionError> {
                Ok(self.files.previews()?.into_iter().map(|preview| preview.report).collect())
            }

            /// Gives the workspace up; the next use makes a fresh one and mounts anew.
            pub fn reset(&self) -> Result<(), SessionError> {
                self.files().reset()
            }
        }
    };
}

pub(crate) use owning;

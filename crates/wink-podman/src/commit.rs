//! Snapshots of the container itself, as images of Podman.

use std::time::Duration;

use wink_fs::search::Stop;
use wink_fs::{Error, ErrorKind, Operation, SnapshotId};

use crate::executor::PodmanExecutor;
use crate::image::Image;
use crate::problem::{Problem, without_paths};

/// What the names of these images begin with.
const PREFIX: &str = "localhost/wink-snapshot-";

/// How long Podman may take to make an image.
const TO_COMMIT: Duration = Duration::from_secs(120);
const TO_ANSWER: Duration = Duration::from_secs(20);

impl PodmanExecutor {
    /// Keeps the container as the image `wink-snapshot-{id}`, and returns the image's name.
    ///
    /// The files of the workspace are in the snapshot of that id and not in the image; neither is `/tmp`. The image
    /// keeps the programs as they are, whatever its name is given to later.
    pub fn commit(&self, snapshot: &SnapshotId) -> Result<String, Problem> {
        let image = image_of(snapshot);
        let container = self.container_name().ok_or(Problem::Died)?;
        self.recipe()
            .podman
            .run(&["commit", "--quiet", "--pause", &container, &image], TO_COMMIT)?;
        Ok(image)
    }

    /// Returns the snapshots whose container was kept.
    pub fn commits(&self) -> Result<Vec<SnapshotId>, Problem> {
        let listed =
            self.recipe().podman.run(&["images", "--format={{.Repository}}"], TO_ANSWER)?;
        let names = String::from_utf8(listed).map_err(|_| Problem::Garbage)?;
        let ids = names.lines().filter_map(|name| name.trim().strip_prefix(PREFIX)?.parse().ok());
        Ok(ids.collect())
    }

    /// Makes the next command start a container from the image of a snapshot.
    pub fn use_commit(&self, snapshot: &SnapshotId) -> Result<(), Problem> {
        let image = image_of(snapshot);
        let exists =
            self.recipe().podman.ask(&["image", "exists", &image], TO_ANSWER, &Stop::default())?;
        match exists.code {
            Some(0) => {
                self.set_image(Image::own(image));
                Ok(())
            }
            Some(1) => Err(Problem::NoImage(image)),
            _ => Err(exists.problem()),
        }
    }

    /// Deletes the images of all snapshots but these, and returns how many went.
    pub fn prune_commits(&self, keep: impl Fn(&SnapshotId) -> bool) -> Result<usize, Problem> {
        let gone: Vec<_> = self.commits()?.into_iter().filter(|id| !keep(id)).collect();
        for id in &gone {
            self.recipe().podman.run(&["rmi", "--force", &image_of(id)], TO_ANSWER)?;
        }
        Ok(gone.len())
    }

    /// Tries to keep the memory of the container too, which needs CRIU; where Podman cannot, it is Unsupported, with
    /// Podman's own reason.
    ///
    /// A supervisor that is connected to wink is not to be kept, so where Podman could, that is Unsupported too.
    pub fn checkpoint(&self) -> wink_fs::Result<()> {
        let unsupported = |why: String| {
            Error::new(Operation::Snapshot, ErrorKind::Unsupported)
                .with_detail(format!("this container cannot be checkpointed: {why}"))
        };
        let container = self.container_name().ok_or(Problem::Died)?;
        let args = ["container", "checkpoint", "--leave-running", &container];
        let tried = self.recipe().podman.ask(&args, TO_COMMIT, &Stop::default())?;
        Err(unsupported(match tried.code {
            Some(0) => "its supervisor has a connection that no checkpoint keeps".to_owned(),
            _ => without_paths(&tried.stderr),
        }))
    }
}

fn image_of(snapshot: &SnapshotId) -> String {
    format!("{PREFIX}{snapshot}")
}

//! How a workspace's programs are run.

use std::path::PathBuf;
use std::time::Duration;

use wink_fs::{Error, ErrorKind, Operation};

use crate::image::Image;

/// The image that programs are run in unless another one is chosen.
pub const DEFAULT_IMAGE: &str = "docker.io/library/python:3.12-slim";

const MIB: u64 = 1024 * 1024;

/// The image, the limits, and the Podman of a container.
///
/// ```
/// use wink_podman::PodmanOptions;
///
/// let options = PodmanOptions::default().allow_image("localhost/tools:1")?.image("localhost/tools:1")?;
/// assert_eq!(options.chosen_image().as_str(), "localhost/tools:1");
/// let refused = PodmanOptions::default().image("docker.io/library/alpine:3").unwrap_err();
/// assert_eq!(refused.kind(), wink_fs::ErrorKind::PermissionDenied, "it is not on the list");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct PodmanOptions {
    image: Image,
    allowed: Vec<Image>,
    /// The Podman program.
    pub program: PathBuf,
    /// The most memory that all processes together may use.
    pub memory_bytes: u64,
    /// The most processes and threads.
    pub max_processes: u32,
    /// The most time of processors, in thousandths of one.
    pub millicpus: u32,
    /// The size of `/tmp`, which counts as memory.
    pub tmp_bytes: u64,
    /// A command is ended when less space than this is left on the disk of the workspace.
    pub reserved_bytes: u64,
    /// The longest timeout that a call may set.
    pub max_timeout: Duration,
    /// Whether programs are run although this machine cannot limit their memory and processors, as a
    /// user without root on a machine with cgroups version 1 cannot.
    pub without_limits: bool,
    /// Whether a container is kept, in which a supervisor runs one command after the other. Otherwise,
    /// and where the supervisor cannot run, each command has a container of its own.
    pub supervisor: bool,
}

impl Default for PodmanOptions {
    fn default() -> Self {
        let image = Image::known(DEFAULT_IMAGE);
        Self {
            allowed: vec![image.clone()],
            image,
            program: "podman".into(),
            memory_bytes: 1024 * MIB,
            max_processes: 256,
            millicpus: 2000,
            tmp_bytes: 256 * MIB,
            reserved_bytes: 256 * MIB,
            max_timeout: Duration::from_secs(120),
            without_limits: false,
            supervisor: true,
        }
    }
}

impl PodmanOptions {
    /// Allows an image, by name or digest, beside the default one.
    pub fn allow_image(mut self, name: &str) -> wink_fs::Result<Self> {
        self.allowed.push(Image::parse(name)?);
        Ok(self)
    }

    /// Chooses an image, which must be allowed.
    pub fn image(mut self, name: &str) -> wink_fs::Result<Self> {
        let image = Image::parse(name)?;
        if !self.allowed.contains(&image) {
            return Err(Error::new(Operation::Open, ErrorKind::PermissionDenied)
                .with_path_text(name)
                .with_detail(
                    "this image is not on the list of allowed images; choose one that is",
                ));
        }
        self.image = image;
        Ok(self)
    }

    /// Chooses an image that wink made.
    pub(crate) fn with_own_image(mut self, image: Image) -> Self {
        self.image = image;
        self
    }

    /// Returns the image that was chosen.
    pub fn chosen_image(&self) -> &Image {
        &self.image
    }

    /// Sets the Podman program.
    #[must_use]
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// Sets the most memory that all processes together may use.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.memory_bytes = bytes;
        self
    }

    /// Sets the most processes and threads.
    #[must_use]
    pub fn max_processes(mut self, most: u32) -> Self {
        self.max_processes = most;
        self
    }

    /// Sets the size of `/tmp`.
    #[must_use]
    pub fn tmp_bytes(mut self, bytes: u64) -> Self {
        self.tmp_bytes = bytes;
        self
    }

    /// Sets how much space is left on the disk of the workspace.
    #[must_use]
    pub fn reserved_bytes(mut self, bytes: u64) -> Self {
        self.reserved_bytes = bytes;
        self
    }

    /// Sets the longest timeout that a call may set.
    #[must_use]
    pub fn max_timeout(mut self, time: Duration) -> Self {
        self.max_timeout = time;
        self
    }

    /// Sets whether programs are run although this machine cannot limit them.
    #[must_use]
    pub fn without_limits(mut self, without: bool) -> Self {
        self.without_limits = without;
        self
    }

    /// Sets whether a container with a supervisor is kept.
    #[must_use]
    pub fn supervisor(mut self, supervisor: bool) -> Self {
        self.supervisor = supervisor;
        self
    }
}

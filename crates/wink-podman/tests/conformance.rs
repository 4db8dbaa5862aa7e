//! The contract, on the files of a container.

use wink_fs::HostBackend;

mod podman {
    use super::*;

    wink_fs::conformance_suite!(
        HostBackend::temporary_with(&wink_podman::host_options(std::path::Path::new("/"))).unwrap()
    );
}

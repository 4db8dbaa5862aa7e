//! The contract, on every backend and decorator of this crate.

use crate::common::short;
use wink_fs::testkit::{Fault, Recorder};
use wink_fs::{Guard, HostBackend, HostOptions, Layered, Limits, MemoryBackend, Observers};

/// Bounds that no case passes.
fn roomy() -> Limits {
    let mut limits = Limits::default();
    limits.max_depth = Some(32);
    limits.max_segment = Some(255);
    limits.plain_names = false;
    limits.max_content = Some(100_000_000);
    limits
}

mod memory {
    use super::*;

    wink_fs::conformance_suite!(MemoryBackend::new());
}

#[allow(dead_code, reason = "an example has a main function")]
#[path = "../../examples/minimal_backend.rs"]
mod minimal_backend;

mod minimal {
    wink_fs::conformance_suite!(super::minimal_backend::MapBackend::default());
}

mod guard_around_memory {
    use super::*;

    wink_fs::conformance_suite!(Layered::new(MemoryBackend::new(), Guard::new(roomy())));
}

/// What a workspace is made of: observers, and the guard around them.
mod guard_and_observers_around_memory {
    use super::*;

    wink_fs::conformance_suite!(Layered::new(
        Layered::new(MemoryBackend::new(), Observers::default().and(|_| ())),
        Guard::new(roomy())
    ));
}

mod fault_layer_around_memory {
    use super::*;

    wink_fs::conformance_suite!(Layered::new(MemoryBackend::new(), Fault::default()));
}

mod recorder_around_memory {
    use super::*;

    wink_fs::conformance_suite!(Layered::new(MemoryBackend::new(), Recorder::default()));
}

mod short_reads_and_writes {
    use super::*;

    wink_fs::conformance_suite!(short::Short::default());
}

mod host {
    use super::*;

    wink_fs::conformance_suite!(HostBackend::temporary().unwrap());
}

mod host_by_component_walk {
    use super::*;

    wink_fs::conformance_suite!(
        HostBackend::temporary_with(&HostOptions::default().component_walk(true)).unwrap()
    );
}

mod guard_around_host {
    use super::*;

    wink_fs::conformance_suite!(Layered::new(
        HostBackend::temporary().unwrap(),
        Guard::new(roomy())
    ));
}

mod fault_layer_around_host {
    use super::*;

    wink_fs::conformance_suite!(Layered::new(HostBackend::temporary().unwrap(), Fault::default()));
}

/// A workspace that is mounted over a base, all of which was deleted in it.
#[cfg(target_os = "linux")]
mod host_over_a_base {
    use rayon::prelude::*;
    use wink_fs::testkit::conformance::CASES;

    use super::*;

    /// Goes with the backend.
    struct Mounted {
        _mount: wink_fs::OverlayMount,
        _place: tempfile::TempDir,
    }

    impl wink_fs::Layer for Mounted {}

    fn mounted() -> Layered<Mounted> {
        let place = tempfile::tempdir().unwrap();
        let home = wink_fs::Workspace::host(place.path()).unwrap();
        home.write("base/d/file", "of the base").unwrap();
        home.write("base/a.txt", "of the base").unwrap();
        let (base, mount) = (place.path().join("base"), place.path().join("place"));
        let mount = wink_fs::OverlayMount::mount_ambient(base, mount).unwrap();
        let files = wink_fs::Workspace::host(mount.root()).unwrap();
        files.delete_all("d").unwrap();
        files.delete("a.txt").unwrap();
        let files = HostBackend::open_ambient(mount.root()).unwrap();
        Layered::new(files, Mounted { _mount: mount, _place: place })
    }

    /// One test, because a mount for each of many processes takes longer than all cases.
    #[test]
    #[ignore = "needs root"]
    fn every_case_holds() {
        CASES.par_iter().for_each(|case| case.run(&mut mounted()));
    }
}

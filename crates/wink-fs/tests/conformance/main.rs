//! The contract, on every backend and decorator of this crate.

mod short;

use wink_fs::testkit::{Fault, Recorder};
use wink_fs::{Guard, Layered, Limits, MemoryBackend, Observers};

/// Bounds that no case passes.
fn roomy() -> Limits {
    let mut limits = Limits::default();
    limits.max_depth = Some(32);
    limits.max_segment = Some(255);
    limits.max_content = Some(100_000_000);
    limits
}

mod memory {
    use super::*;

    wink_fs::conformance_suite!(MemoryBackend::new());
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

// mod host {
//     wink_fs::conformance_suite!(wink_fs::HostBackend::temporary().unwrap());
// }

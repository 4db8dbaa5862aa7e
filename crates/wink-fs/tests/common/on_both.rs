//! The same tests on both backends.

/// Makes a test of each function named, in a module `memory` and in a module `host`.
macro_rules! on_both {
    ($($(#[$attribute:meta])* $case:ident),* $(,)?) => {
        mod memory {
            $(
                #[test]
                $(#[$attribute])*
                fn $case() {
                    super::$case(wink_fs::MemoryBackend::new())
                }
            )*
        }
        mod host {
            $(
                #[test]
                $(#[$attribute])*
                fn $case() {
                    super::$case(wink_fs::HostBackend::temporary().unwrap())
                }
            )*
        }
    };
}

pub(crate) use on_both;

//! The examples run, and say what they are shown to say.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

/// Takes an example in as a module, and makes a test of what it prints.
macro_rules! examples {
    ($($name:ident: $path:literal),* $(,)?) => {
        $(
            #[path = $path]
            #[allow(dead_code, reason = "its own `main` is not called here")]
            mod $name;
        )*

        mod prints {
            $(#[test]
            fn $name() {
                let mut printed = Vec::new();
                super::$name::run(&mut printed).unwrap();
                insta::assert_snapshot!(String::from_utf8(printed).unwrap());
            })*
        }
    };
}

examples!(
    hello_workspace: "../examples/hello_workspace.rs",
    three_attempts: "../examples/three_attempts.rs",
    custom_tool: "../examples/custom_tool.rs",
    dump_and_resume: "../examples/dump_and_resume.rs",
    workspace_tools: "../examples/workspace_tools.rs",
);

//! The examples run, and say what they are shown to say.

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

/// It read outside of its change, wrote without a condition, and made of every ending a `\n`.
mod custom_tool_is_one_to_copy {
    use std::thread;

    use serde_json::json;
    use wink_agent::{ToolContext, call};
    use wink_fs::Workspace;

    use super::custom_tool::sort_lines;

    fn sorted(content: &[u8], unique: bool) -> (Option<&'static str>, Vec<u8>) {
        let files = Workspace::memory();
        files.write_bytes("f", content.to_vec()).unwrap();
        let arguments = json!({"path": "f", "unique": unique});
        let result = sort_lines().call(&ToolContext::over(&files), arguments);
        (result.code(), files.open("f").unwrap().read_all().unwrap().to_vec())
    }

    #[test]
    fn line_endings_stay_and_bytes_that_are_no_text_are_refused() {
        for (content, unique, expected) in [
            (&b"b\r\na\r\n"[..], false, &b"a\r\nb\r\n"[..]),
            (b"c\nb\r\na", false, b"a\nb\r\nc"),
            (b"b\r\na\r\nb", true, b"a\r\nb\r\n"),
            (b"", false, b""),
        ] {
            assert_eq!(sorted(content, unique), (None, expected.to_vec()));
        }
        assert_eq!(sorted(b"b\na\xff\n", false), (Some("not_text"), b"b\na\xff\n".to_vec()));
    }

    #[test]
    fn no_line_that_another_thread_adds_meanwhile_is_lost() {
        let files = Workspace::memory();
        files.write("f", "").unwrap();
        let context = ToolContext::over(&files);
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..300 {
                    assert!(sort_lines().call(&context, json!({"path": "f"})).ok());
                }
            });
            for n in 0..300 {
                let line = json!({"path": "f", "content": format!("{n:03}\n"), "mode": "append"});
                assert!(call(&context, "write_file", line).ok());
            }
        });
        assert_eq!(files.read("f").unwrap().total_lines, 300);
    }
}

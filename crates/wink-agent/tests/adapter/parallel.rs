//! Calls of one turn happen at the same time, and none is lost.

use std::collections::BTreeSet;

use serde_json::json;
use wink_agent::adapter::{AdapterOptions, ScriptedModel};

use crate::adapter::{Scene, answers};
use crate::prompt::scene::{Backend, listing, on_each_backend};

on_each_backend!(of_a_thousand_edits_by_sixteen_threads_none_is_lost);

const EDITS: usize = 1_000;

fn of_a_thousand_edits_by_sixteen_threads_none_is_lost(backend: Backend) {
    let scene = Scene::new(backend);
    let list = |word: &str| (0..EDITS).map(|n| format!("<{n}> {word}\n")).collect::<String>();
    scene.owner.workspace().write("list", &list("todo")).unwrap();
    let edit = |n| {
        let (old, new) = (format!("<{n}> todo"), format!("<{n}> done"));
        ("edit_file", json!({"path": "list", "old_string": old, "new_string": new}))
    };
    let mut model = ScriptedModel::new().calls((0..EDITS).map(edit)).say("Done.");
    let finished = scene.run_with(AdapterOptions::default().threads(16), &mut model).unwrap();

    let content = scene.owner.workspace().open("list").unwrap().read_all().unwrap();
    assert_eq!(String::from_utf8(content.to_vec()).unwrap(), list("done"));
    let answers = answers(&finished.conversation);
    assert!(answers.iter().all(|answer| answer.result.ok()));
    let ids: Vec<_> = answers.iter().map(|answer| answer.call_id.clone()).collect();
    assert_eq!(ids, (1..=EDITS).map(|n| format!("call-1-{n}")).collect::<Vec<_>>());
    let calls = scene.calls();
    assert!(
        calls
            .iter()
            .all(|(turn, _, tool, ok)| (*turn, tool.as_str(), *ok) == (1, "edit_file", true))
    );
    let recorded: BTreeSet<_> = calls.into_iter().map(|(_, id, ..)| id).collect();
    assert_eq!(recorded, ids.into_iter().collect());
    assert_eq!(listing(&scene.session), [("list".to_owned(), EDITS as u64 + 1)]);
}

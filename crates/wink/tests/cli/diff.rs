//! `wink diff`.

use crate::cli::scene::Scene;

/// Once, `A..B` was taken for the name of one state.
#[test]
fn a_range_compares_its_two_states() {
    let scene = Scene::new();
    for (name, text) in [("one", "1"), ("two", "2"), ("three", "3")] {
        scene.write("a", text);
        scene.ok(&["snapshot", "--tag", name]);
    }
    scene.write("b", "new");
    let status = |args: &[&str]| scene.ok(&[&["diff", "--name-status"], args].concat());
    assert_eq!(status(&["one..two"]), "M\ta\n");
    assert_eq!(scene.ok(&["diff", "one..three"]), scene.ok(&["diff", "one", "three"]));
    assert_eq!(status(&["three.."]), "A\tb\n");
    assert_eq!(status(&["one..@", "--", "b"]), "A\tb\n");
}

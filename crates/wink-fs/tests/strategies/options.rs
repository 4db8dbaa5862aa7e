//! Choosing a strategy by configuration.

use wink_fs::{ErrorKind, Store, Strategy, StrategyOptions};

use crate::strategies::scene::Scene;

#[test]
fn every_name_is_the_name_of_a_strategy() {
    for name in ["auto", "store", "reflink", "git", "overlay", "archive", "copy"] {
        assert_eq!(name.parse::<Strategy>().unwrap().to_string(), name);
    }
    let error = "rsync".parse::<Strategy>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(
        error.to_string().contains("auto, store, reflink, git, overlay, archive, copy"),
        "{error}"
    );
}

#[test]
fn snapshots_are_opened_only_by_the_strategy_that_keeps_them() {
    let scene = Scene::new(Strategy::Copy);
    let other = scene.options().strategy(Strategy::Archive).open_ambient().err().unwrap();
    assert_eq!(other.kind(), ErrorKind::SnapshotIncompatible);
    assert!(other.to_string().contains("`copy`"), "{other}");
    let store = Store::open_ambient(scene.snapshots()).unwrap_err();
    assert_eq!(store.kind(), ErrorKind::SnapshotIncompatible);
}

#[test]
#[ignore = "needs root"]
fn auto_is_the_first_that_the_directory_and_the_machine_are_made_for() {
    let chosen = |place: std::path::PathBuf, root: &std::path::Path| {
        let options = StrategyOptions::new(place).strategy(Strategy::Auto);
        options.create_ambient(root).unwrap().strategy()
    };
    let cloning = Scene::new(Strategy::Reflink);
    std::fs::create_dir(cloning.root().join(".git")).unwrap();
    assert_eq!(chosen(cloning.home().join("auto"), &cloning.root()), "reflink");

    let mounted = Scene::new(Strategy::Overlay);
    assert_eq!(chosen(cloning.home().join("of another disk"), &mounted.root()), "overlay");
    assert_eq!(chosen(mounted.home().join("overlay"), &mounted.root()), "overlay");
    std::fs::create_dir(mounted.root().join(".git")).unwrap();
    assert_eq!(chosen(mounted.home().join("git"), &mounted.root()), "git");

    let plain = Scene::new(Strategy::Store);
    assert_eq!(chosen(plain.home().join("plain"), &plain.root()), "archive");
    let unsaid = StrategyOptions::new(plain.home().join("unsaid"));
    assert_eq!(unsaid.create_ambient(plain.root()).unwrap().strategy(), "store");
}

#[test]
fn nothing_is_made_where_something_is_or_should_be() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("snapshots");
    for strategy in [Strategy::Auto, Strategy::Copy, Strategy::Archive, Strategy::Git] {
        let options = StrategyOptions::new(&place).strategy(strategy);
        assert_eq!(options.open_ambient().err().unwrap().kind(), ErrorKind::NotFound);
        assert!(!place.exists());
        let options = StrategyOptions::new(directory.path()).strategy(strategy);
        std::fs::write(directory.path().join("file"), "").unwrap();
        let error = options.create_ambient(directory.path()).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    }
}
